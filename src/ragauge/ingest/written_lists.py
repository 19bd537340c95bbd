"""Lists and contexts as a table's cell or a record holds them: JSON, Python's own, numpy's."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from ragauge.contracts.answers import Context
from ragauge.ingest.fields import BadField, expected, quoted, unlike
from ragauge.ingest.lines import BadJson, decode

_ARRAY = re.compile(r"array\((\[.*\])(?:,\s*dtype=[\w<>=|']+)?\)", re.DOTALL)
_TEXT = r"""(?:'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+")"""
_TEXTS = re.compile(rf"\[\s*(?:{_TEXT}(?:\s*,\s*{_TEXT}|\s+{_TEXT})*+\s*,?\s*)?\]")
_EACH = re.compile(_TEXT)
_BEGUN = re.compile(r"""\[\s*(?:['"]|\{\s*['"])|\{\s*['"]""")
"""How a list or an object begins, and hardly any prose does."""
_BRACKETED = re.compile(r"\[[^\[\]]*\]")
TEXTS = ("text", "content", "page_content", "snippet", "passage", "chunk", "body")
"""Where an object that is a passage keeps its text."""
_REMEDY = 'write a JSON list of texts, such as ["one", "two"]'


def written_list(cell: str, field: str) -> list[Any]:
    r"""The members of a list written as text; a text that is no list is a list of one.

    Raises BadField for what begins as a list and cannot be read as one: taken for one text, it
    would be measured wrongly and nobody would know.

    >>> written_list('["a", "b"]', "contexts"), written_list("['a', \"it's b\"]", "contexts")
    (['a', 'b'], ['a', "it's b"])
    >>> written_list("['a'\n 'b']", "contexts"), written_list("[1] Of old.", "contexts")
    (['a', 'b'], ['[1] Of old.'])
    """
    text = cell.strip()
    if not text:
        return []
    array = _ARRAY.fullmatch(text)
    found = _list(array[1] if array else text)
    if found is not None:
        return found
    if text.startswith("{"):
        shown = _literal(text)
        if isinstance(shown, Mapping):
            # What a data-to-text answer rests on is often an object, and then it is the text.
            return [shown if isinstance(text_of(shown), str) else cell]
    if _BEGUN.match(text) or _BRACKETED.fullmatch(text):
        what = "an object" if text.startswith("{") else "a list"
        fact = f"begins as {what} and cannot be read as one: {quoted(text)}"
        raise BadField(field, f"{fact}; {_REMEDY}")
    return [cell]


def _list(text: str) -> list[Any] | None:
    """The members of a list; None where the text is none."""
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        found = decode(text.encode())
    except (BadJson, UnicodeEncodeError):
        if _TEXTS.fullmatch(text):  # Python would join texts without commas between them
            try:
                return [ast.literal_eval(one) for one in _EACH.findall(text)]
            except (ValueError, SyntaxError):
                return None
        shown = _literal(text)
        objects = isinstance(shown, list) and shown and all(isinstance(one, dict) for one in shown)
        return shown if objects else None
    return found if isinstance(found, list) else None


def _literal(text: str) -> Any:
    """A value as JSON or Python writes it; None where it is neither."""
    with suppress(BadJson, UnicodeEncodeError):  # then it may be Python's own way of writing
        return decode(text.encode())
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


IDS = ("id", "snippet_id", "chunk_id", "context_id", "doc_id", "document_id", "id_", "node_id")
_INSIDE = ("node", "kwargs")
"""Where LlamaIndex and LangChain keep a passage in the object that they write out."""


def text_of(passage: Mapping[str, Any]) -> Any:
    """What an object that is a passage has as its text; None where it has none.

    >>> text_of({"page_content": "a"}), text_of({"node": {"text": "b"}, "score": 0.5})
    ('a', 'b')
    """
    inside = _inside(passage)
    return next((inside[name] for name in TEXTS if inside.get(name) is not None), None)


def _inside(passage: Mapping[str, Any]) -> Mapping[str, Any]:
    if any(passage.get(name) is not None for name in TEXTS):
        return passage
    held = (passage.get(name) for name in _INSIDE)
    return next((one for one in held if isinstance(one, Mapping)), passage)


def passages(value: Any, field: str) -> tuple[Context, ...]:
    """Contexts in their order; one without an id is called by its place, from 1 on.

    >>> passages(["a b", {"id": "p1", "text": "c"}], "contexts")
    (Context(id='1', text='a b'), Context(id='p1', text='c'))
    """
    found: dict[str, Context] = {}
    for place, one in enumerate(listed(value, field)):
        context = _passage(one, place, field)
        id = unlike(context.id, found)
        found[id] = context if id == context.id else Context(id, context.text)
    return tuple(found.values())


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
    text = text_of(value)
    if not isinstance(text, str):
        fact = "missing" if text is None else expected("text", text)
        raise BadField(f"{where}.text", f"{fact}; a passage has its text")
    inside = _inside(value)
    metadata = inside.get("metadata")
    named = (
        one[name]
        for one in (inside, metadata)
        if isinstance(one, Mapping)
        for name in IDS
        if one.get(name) not in (None, "")
    )
    id = next(named, place + 1)
    if not isinstance(id, str | int):
        raise BadField(f"{where}.id", expected("text", id))
    return Context(str(id), text)
