"""What a foreign object tells, read so that nothing it does can stop the reader.

Values come out as JSON knows them: text, numbers, lists and objects of these.
"""

from __future__ import annotations

import dataclasses
import math
import traceback
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from ragauge.text.visible import one_line

SHOWN = 120


def value_of(thing: Any, name: str, notes: list[str]) -> Any:
    """The attribute or key of that name; None where there is none, or it cannot be read."""
    try:
        return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
    except Exception as error:  # a property of foreign code can fail in any way
        notes.append(f"{name}: {failure(error)}")
        return None


def has(thing: Any, *names: str) -> bool:
    """Whether the object has all these attributes or keys; one that fails when read is there."""
    for name in names:
        try:
            there = name in thing if isinstance(thing, Mapping) else hasattr(thing, name)
        except Exception:  # a property of foreign code can fail in any way
            there = True
        if not there:
            return False
    return True


def as_text(name: str, value: Any, notes: list[str]) -> str | None:
    """The value where it is text; None otherwise, with a note."""
    if value is None:
        return None
    if isinstance(value, str):
        return str.__str__(value)
    notes.append(f"{name}: a {type(value).__name__} is no text; not used")
    return None


def read_text(thing: Any, name: str, notes: list[str]) -> str | None:
    """The text of that name; None where it is no text."""
    return as_text(name, value_of(thing, name, notes), notes)


def read_metadata(thing: Any, name: str, notes: list[str]) -> dict[str, Any]:
    """The metadata of that name, copied; empty where there is none."""
    found = value_of(thing, name, notes)
    if found is None:
        return {}
    try:
        return {key: value for key, value in dict(found).items() if isinstance(key, str)}
    except Exception as error:  # foreign code, or no mapping
        notes.append(f"{name}: {failure(error)}")
        return {}


def field_names(thing: Any) -> tuple[str, ...] | None:
    """The fields of a dataclass, a pydantic model or a Struct; None of anything else."""
    kind = type(thing)
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    for names in ("model_fields", "__struct_fields__"):
        listed = value_of(kind, names, [])
        if listed is not None:
            return tuple(listed)
    return None


def failure(error: Exception) -> str:
    """What went wrong in foreign code, on one line."""
    return one_line("".join(traceback.format_exception_only(error)), SHOWN)


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
        read = _plain(value, DEEPEST)
        if field in TEXTS and type(read) is int:
            return str(read)
        count = as_integer(read) if field in COUNTS and isinstance(read, float) else None
        return read if count is None else count
    except NotPlain as fault:
        notes.append(f"{field}: {fault}; left out")
    except Exception as error:  # a foreign value can fail in any way when it is read
        notes.append(f"{field}: {failure(error)}; left out")
    return None


def as_integer(value: Any) -> int | None:
    """The whole number, 0 or more, that a value is; stores without integers give 120.0 for 120."""
    if not is_number(value):
        return None
    number = unboxed(value)
    return int(number) if number >= 0 and number == number // 1 and math.isfinite(number) else None


def _plain(value: Any, depth: int) -> Any:
    value = unboxed(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotPlain(f"{float(value)} is no number to go by")
        return float(value)
    if isinstance(value, UUID):
        return str(value)
    names = field_names(value)
    if depth and names is not None:
        return {name: _plain(getattr(value, name), depth - 1) for name in names}
    if depth and isinstance(value, Mapping):
        return {str(key): _plain(inner, depth - 1) for key, inner in value.items()}
    if depth and isinstance(value, (list, tuple)):
        return [_plain(inner, depth - 1) for inner in value]
    raise NotPlain(f"a {type(value).__name__} is no plain value")


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
