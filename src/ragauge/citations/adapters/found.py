"""What a foreign object tells, read so that nothing it does can stop the reader."""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ragauge.text.visible import one_line

SHOWN = 120


class Found(Struct, frozen=True, kw_only=True):
    """A retrieved object taken apart: what its framework calls by other names than ours."""

    source: Any
    """Where a mapping's path may begin, and what a mapping's function is given."""
    text: str | None = None
    metadata: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    """Fields of the payload that the framework itself knows."""
    span: tuple[Any, Any] | None = None
    """Where the framework says that the text starts and ends, not yet checked."""


def tell(thing: Any, name: str, notes: list[str]) -> Any:
    """The attribute or key of that name; None where there is none, or it cannot be read."""
    try:
        return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
    except Exception as error:  # a property of foreign code can fail in any way
        notes.append(f"{name}: {failure(error)}")
        return None


def has(thing: Any, *names: str) -> bool:
    """Whether the object has all these attributes or keys; one that fails when read is there."""
    return all(_has(thing, name) for name in names)


def _has(thing: Any, name: str) -> bool:
    try:
        return name in thing if isinstance(thing, Mapping) else hasattr(thing, name)
    except Exception:  # a property of foreign code can fail in any way
        return True


def as_text(name: str, value: Any, notes: list[str]) -> str | None:
    """The value where it is text; None otherwise, with a note."""
    if value is None:
        return None
    if isinstance(value, str):
        return str.__str__(value)
    notes.append(f"{name}: a {type(value).__name__} is no text; not used")
    return None


def tell_text(thing: Any, name: str, notes: list[str]) -> str | None:
    """The text of that name; None where it is no text."""
    return as_text(name, tell(thing, name, notes), notes)


def tell_metadata(thing: Any, name: str, notes: list[str]) -> dict[str, Any]:
    """The metadata of that name, copied; empty where there is none."""
    found = tell(thing, name, notes)
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
        listed = tell(kind, names, [])
        if listed is not None:
            return tuple(listed)
    return None


def failure(error: Exception) -> str:
    """What went wrong in foreign code, on one line."""
    return one_line("".join(traceback.format_exception_only(error)), SHOWN)
