"""One score as a tool wrote it: a number, or what stands in its place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite, isnan
from typing import Any

from msgspec import Struct

from ragauge.ingest.fields import kind, quoted

NULL, NAN, INFINITE, ABSENT = "null", "NaN", "infinite", "absent"
EMPTY = (NULL, NAN, INFINITE)
"""What says of a column no more than that a score is missing."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"0,\d+|1,0{1,2}", re.ASCII)
"""A share with the decimal comma of many spreadsheets; no other comma can stand there."""
_WORDS: dict[str, float | str] = {
    **dict.fromkeys(("", "none", "null", "<na>", "nat"), NULL),
    **dict.fromkeys(("nan", "-nan", "+nan"), NAN),
    **dict.fromkeys(("inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"), INFINITE),
    "true": 1.0,
    "false": 0.0,
}


class Failed(Struct, frozen=True):
    """A metric that could not be measured, as the tool says itself."""

    why: str


def score_of(value: Any) -> float | str:
    """A finite score, or in words what stood there.

    A verdict counts as 1 or 0, and text that is a number as that number: a table's cells are
    nothing else.

    >>> score_of(0.5), score_of("0.5"), score_of(True), score_of(None), score_of("n/a")
    (0.5, 0.5, 1.0, 'null', 'text "n/a"')
    """
    if value is None:
        return NULL
    if isinstance(value, str):
        return _written(value.strip())
    if isinstance(value, Failed):
        return f"error {quoted(value.why)}" if value.why.strip() else "error"
    if isinstance(value, Mapping):  # as `ragauge eval answers --out` writes a score
        return score_of(value["value"]) if "value" in value else kind({})
    return kind([]) if hasattr(value, "__len__") else _number(value)


def is_verdict(value: Any) -> bool:
    """Whether a cell holds true or false, in JSON or as a table writes it."""
    if isinstance(value, str):
        return value.strip().casefold() in ("true", "false")
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _written(text: str) -> float | str:
    known = _WORDS.get(text.casefold())
    if known is not None:
        return known
    if _COMMA.fullmatch(text):
        text = text.replace(",", ".")
    return _number(float(text)) if _NUMBER.fullmatch(text) else f"text {quoted(text)}"


def _number(value: Any) -> float | str:
    """Of whatever calls itself a number: Python's, numpy's, a decimal."""
    try:
        number = float(value)
    except OverflowError:
        return INFINITE
    except (TypeError, ValueError):
        return _written(str(value))
    if isnan(number):
        return NAN
    return number if isfinite(number) else INFINITE
