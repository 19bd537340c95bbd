"""Foreign values as JSON knows them: text, numbers, lists and objects of these."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from ragauge.citations.adapters.found import failure, field_names

TEXTS = (
    "doc_id",
    "section_id",
    "snippet_id",
    "source_url",
    "index_hash",
    "embed_model",
    "analyzer",
    "rev",
)
COUNTS = ("tokens", "page", "k_pos", "k_final")
DEEPEST = 3
"""Nothing in a payload is nested deeper; a value that holds itself is."""


class NotPlain(Exception):
    """A value that is not written down, as its own form would have to be made up."""


def plain(field: str, value: Any, notes: list[str]) -> Any:
    """The value as it goes into the payload; None, with a note, where it cannot.

    Only its form changes: a number of numpy's becomes a number, a UUID or a numbered id text. What
    is plain but of the wrong kind stays as it is, for the validator to name.

    >>> plain("snippet_id", 7, []), plain("tokens", 188.0, []), plain("tokens", "188", [])
    ('7', 188, '188')
    """
    try:
        return _fitted(field, _plain(value, DEEPEST))
    except NotPlain as fault:
        notes.append(f"{field}: {fault}; left out")
    except Exception as error:  # a foreign value can fail in any way when it is read
        notes.append(f"{field}: {failure(error)}; left out")
    return None


def whole(value: Any) -> int | None:
    """The whole number, 0 or more, that a value is; stores without integers give 120.0 for 120."""
    if not is_number(value):
        return None
    number = unboxed(value)
    return int(number) if number >= 0 and number == number // 1 and math.isfinite(number) else None


def _fitted(field: str, value: Any) -> Any:
    if field in TEXTS and type(value) is int:
        return str(value)
    if field in COUNTS and isinstance(value, float):
        count = whole(value)
        return value if count is None else count
    return value


def _plain(value: Any, depth: int) -> Any:
    value = unboxed(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return _finite(float(value))
    return str(value) if isinstance(value, UUID) else _nested(value, depth)


def _nested(value: Any, depth: int) -> Any:
    names = field_names(value)
    if depth and names is not None:
        return {name: _plain(getattr(value, name), depth - 1) for name in names}
    if depth and isinstance(value, Mapping):
        return {str(key): _plain(inner, depth - 1) for key, inner in value.items()}
    if depth and isinstance(value, (list, tuple)):
        return [_plain(inner, depth - 1) for inner in value]
    raise NotPlain(f"a {type(value).__name__} is no plain value")


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise NotPlain(f"{number} is no number to go by")
    return number


def unboxed(value: Any) -> Any:
    """A scalar of numpy's or a tensor's as Python's own; anything else as it is."""
    if hasattr(type(value), "item") and getattr(value, "ndim", None) == 0:
        return value.item()
    return value


def is_number(value: Any) -> bool:
    try:
        number = unboxed(value)
    except Exception:  # a foreign value can fail in any way when it is read
        return False
    return isinstance(number, (int, float)) and not isinstance(number, bool)
