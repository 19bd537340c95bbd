"""The contexts of an answer as other people write them: texts, objects, or one long text."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from ragauge.contracts.answers import Context
from ragauge.ingest.fields import BadField, expected
from ragauge.ingest.strict_json import BadJson, decode

TEXTS = ("text", "content", "page_content", "snippet", "passage", "chunk", "body")
IDS = ("id", "snippet_id", "chunk_id", "context_id", "doc_id", "document_id")


def passages(value: Any, field: str) -> tuple[Context, ...]:
    """Contexts in their order; one without an id is called by its place, from 1 on.

    >>> passages(["a b", {"id": "p1", "text": "c"}], "contexts")
    (Context(id='1', text='a b'), Context(id='p1', text='c'))
    """
    found = [_passage(one, place, field) for place, one in enumerate(listed(value, field))]
    return tuple(_told_apart(found))


def listed(value: Any, field: str) -> list[Any]:
    """A list as a record or a table's cell holds it; a text that is none is a list of one.

    >>> listed('["a", "b"]', "contexts"), listed("['a', 'b']", "contexts"), listed("a", "contexts")
    (['a', 'b'], ['a', 'b'], ['a'])
    """
    if isinstance(value, str):
        return _written_list(value)
    if isinstance(value, Mapping):
        return [value]
    if isinstance(value, Sequence) or hasattr(value, "tolist"):
        return list(value)
    raise BadField(field, expected("a list", value))


def _written_list(cell: str) -> list[Any]:
    """A list that a table holds as text: JSON, or as Python shows it; else the text itself."""
    if not cell.strip():
        return []
    if cell.lstrip().startswith("[") and cell.rstrip().endswith("]"):
        for read in (_json, ast.literal_eval):
            try:
                found = read(cell.strip())
            except (BadJson, ValueError, SyntaxError, MemoryError, RecursionError):
                continue
            if isinstance(found, list) and all(isinstance(one, str | dict) for one in found):
                return found
    return [cell]


def _json(cell: str) -> Any:
    return decode(cell.encode())


def _passage(value: Any, place: int, field: str) -> Context:
    where = f"{field}[{place}]"
    if isinstance(value, str):
        return Context(str(place + 1), value)
    if not isinstance(value, Mapping):
        raise BadField(where, expected("text, or an object with id and text", value))
    text = next((value[name] for name in TEXTS if value.get(name) is not None), None)
    if not isinstance(text, str):
        fact = "missing" if text is None else expected("text", text)
        raise BadField(f"{where}.text", f"{fact}; a passage has its text")
    id = next((value[name] for name in IDS if value.get(name) not in (None, "")), place + 1)
    if not isinstance(id, str | int):
        raise BadField(f"{where}.id", expected("text", id))
    return Context(str(id), text)


def _told_apart(contexts: Sequence[Context]) -> list[Context]:
    """The same contexts, where one has an earlier one's id under another."""
    met: set[str] = set()
    found = []
    for context in contexts:
        id, times = context.id, 1
        while id in met:
            times += 1
            id = f"{context.id}#{times}"
        met.add(id)
        found.append(context if id == context.id else Context(id, context.text))
    return found
