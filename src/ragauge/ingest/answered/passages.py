"""The contexts of an answer as other people write them: texts, objects, or one long text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragauge.contracts.answers import Context
from ragauge.ingest.answered.written_lists import TEXTS, written_list
from ragauge.ingest.fields import BadField, expected

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
        return written_list(value, field)
    if isinstance(value, Mapping):
        return [value]
    if isinstance(value, Sequence) or hasattr(value, "tolist"):
        return list(value)
    raise BadField(field, expected("a list", value))


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
