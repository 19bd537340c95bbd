"""NaN and Infinity as Python writes them into JSON, kept until it is known where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

_SUSPECT = re.compile(rb"NaN|Infinity|[eE]\+?\d{3}|\d{300}")
_TOKENS = re.compile(
    rb'"(?:[^"\\\n]++|\\.)*+"?'
    rb"|-?\bInfinity\b|\bNaN\b|-?\d[\d.]*[eE]\+?\d{3,}|-?\d{300,}(?:\.\d+)?(?:[eE]\+?\d+)?"
)
_PRIVATE = range(0xE000, 0xF900)
"""Characters without a meaning of their own; a file hardly has one of them, never all."""


class Marks(Struct, frozen=True):
    """The texts that stand for tokens, each of which the file does not hold itself."""

    nan: str
    infinite: str


def marked(content: bytes) -> tuple[bytes, Marks | None]:
    r"""The content with a text in place of every number that is none; None where there is none.

    Strict JSON goes on from there: every other fault is still found, at the same column.

    >>> content, marks = marked(b'{"a": NaN, "b": "NaN"}')
    >>> content.decode().count(marks.nan), len(content.decode())
    (1, 22)
    """
    if not _SUSPECT.search(content):
        return content, None
    free = _free(content)
    marks = Marks(next(free), next(free))

    def replaced(found: re.Match[bytes]) -> bytes:
        token = found[0]
        if token.startswith(b'"'):
            return token
        if token != b"NaN" and not token.endswith(b"Infinity") and abs(float(token)) < float("inf"):
            return token
        mark = marks.nan if token == b"NaN" else marks.infinite
        return f'"{mark}"'.ljust(len(token)).encode()

    return _TOKENS.sub(replaced, content), marks


def unmarked(value: Any, marks: Marks) -> Any:
    """The value with numbers in place of the marks."""
    if isinstance(value, str):
        return {marks.nan: float("nan"), marks.infinite: float("inf")}.get(value, value)
    if isinstance(value, list):
        return [unmarked(one, marks) for one in value]
    if isinstance(value, dict):
        return {key: unmarked(one, marks) for key, one in value.items()}
    return value


def misplaced(value: Any, field: str) -> tuple[str, str] | None:
    """Where a number that is none stands within a value, and which; None where there is none.

    >>> misplaced({"a": ["x", float("nan")]}, "strata")
    ('strata.a[1]', 'NaN')
    """
    if isinstance(value, float) and not abs(value) < float("inf"):
        return field, "Infinity" if value == value else "NaN"
    if isinstance(value, dict):
        places = ((f"{field}.{key}", one) for key, one in value.items())
    elif isinstance(value, list):
        places = ((f"{field}[{place}]", one) for place, one in enumerate(value))
    else:
        return None
    return next((found for name, one in places if (found := misplaced(one, name))), None)


def _free(content: bytes) -> Iterator[str]:
    """Private characters that a file has neither as they are nor escaped."""
    escapes = {match.lower() for match in re.findall(rb"\\u[eEfF][0-9a-fA-F]{3}", content)}
    for code in _PRIVATE:
        if chr(code).encode() not in content and b"\\u%04x" % code not in escapes:
            yield chr(code)
