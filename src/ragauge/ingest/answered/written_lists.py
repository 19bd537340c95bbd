"""Lists that the cell of a table holds as text: JSON, Python's own, or numpy's without commas."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ragauge.ingest.fields import BadField, quoted
from ragauge.ingest.strict_json import BadJson, decode

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
    found = _list(_within_array(text))
    if found is not None:
        return found
    if text.startswith("{"):
        shown = _literal(text)
        if isinstance(shown, Mapping):
            # What a data-to-text answer rests on is often an object, and then it is the text.
            return [shown if _holds_text(shown) else cell]
    if _BEGUN.match(text) or _BRACKETED.fullmatch(text):
        what = "an object" if text.startswith("{") else "a list"
        fact = f"begins as {what} and cannot be read as one: {quoted(text)}"
        raise BadField(field, f"{fact}; {_REMEDY}")
    return [cell]


def _within_array(text: str) -> str:
    found = _ARRAY.fullmatch(text)
    return found[1] if found else text


def _list(text: str) -> list[Any] | None:
    """The members of a list; None where the text is none."""
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        found = decode(text.encode())
    except (BadJson, UnicodeEncodeError):
        return _texts(text) if _TEXTS.fullmatch(text) else _objects(text)
    return found if isinstance(found, list) else None


def _texts(text: str) -> list[Any] | None:
    """Quoted texts with commas or blanks between them: Python would join those without commas."""
    try:
        return [ast.literal_eval(one) for one in _EACH.findall(text)]
    except (ValueError, SyntaxError):
        return None


def _objects(text: str) -> list[Any] | None:
    """A list of objects as Python shows it."""
    found = _literal(text)
    members = found if isinstance(found, list) else []
    return members if members and all(isinstance(one, dict) for one in members) else None


def _literal(text: str) -> Any:
    """A value as JSON or Python writes it; None where it is neither."""
    with suppress(BadJson, UnicodeEncodeError):  # then it may be Python's own way of writing
        return decode(text.encode())
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _holds_text(shown: Mapping[str, Any]) -> bool:
    return any(isinstance(shown.get(name), str) for name in TEXTS)
