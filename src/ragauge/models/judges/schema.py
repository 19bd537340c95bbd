"""Whether a value fits a JSON Schema, for the words of it that our prompts use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ragauge.text.visible import one_line

_KEYWORDS = frozenset(
    {
        "additionalProperties",
        "description",
        "enum",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "properties",
        "required",
        "title",
        "type",
    }
)
_SHOWN = 60


def faults(value: Any, schema: dict[str, Any], place: str = "$") -> Iterator[str]:
    """What keeps the value from fitting, each with its place; nothing where it fits.

    >>> wanted = {"type": "object", "properties": {"score": {"type": "integer", "maximum": 5}}}
    >>> list(faults({"score": 7}, wanted))
    ['$.score: 7 is more than 5']
    """
    _refuse_unknown(schema)
    allowed = schema.get("type", list(_KINDS))
    kinds = allowed if isinstance(allowed, list) else [allowed]
    if not any(_KINDS[kind](value) for kind in kinds):
        yield f"{place}: {_shown(value)} is not of type {' or '.join(kinds)}"
        return
    if "enum" in schema and not any(_same(value, choice) for choice in schema["enum"]):
        choices = ", ".join(map(_shown, schema["enum"]))
        yield f"{place}: {_shown(value)} is none of {choices}"
    if _is_number(value):
        yield from _number_faults(value, schema, place)
    elif type(value) is list:
        yield from _array_faults(value, schema, place)
    elif type(value) is dict:
        yield from _object_faults(value, schema, place)


def without_others(value: Any, schema: dict[str, Any]) -> Any:
    """The value less the members that its schema does not want, at every depth.

    >>> wanted = {"properties": {"score": {"type": "integer"}}, "additionalProperties": False}
    >>> without_others({"score": 4, "confidence": "high"}, wanted)
    {'score': 4}
    """
    if type(value) is list:
        return [without_others(member, schema.get("items", {})) for member in value]
    if type(value) is not dict:
        return value
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    beside = others if isinstance(others, dict) else {}
    return {
        name: without_others(member, known.get(name, beside))
        for name, member in value.items()
        if name in known or others is not False
    }


def _refuse_unknown(schema: dict[str, Any]) -> None:
    """A word that is not looked at would let everything pass; that is a fault of the prompt."""
    unknown = sorted(schema.keys() - _KEYWORDS)
    if unknown:
        raise ValueError(f"the schema says {unknown[0]}, which is not checked; leave it out")


def _number_faults(value: float, schema: dict[str, Any], place: str) -> Iterator[str]:
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{place}: {_shown(value)} is less than {schema['minimum']}"
    if "maximum" in schema and value > schema["maximum"]:
        yield f"{place}: {_shown(value)} is more than {schema['maximum']}"


def _array_faults(value: list[Any], schema: dict[str, Any], place: str) -> Iterator[str]:
    least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
    if len(value) < least:
        yield f"{place}: has {len(value)} members, and at least {least} are wanted"
    if len(value) > most:
        yield f"{place}: has {len(value)} members, and at most {most} are wanted"
    for at, member in enumerate(value):
        yield from faults(member, schema.get("items", {}), f"{place}[{at}]")


def _object_faults(value: dict[str, Any], schema: dict[str, Any], place: str) -> Iterator[str]:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{place}: {name} is missing"
    others = schema.get("additionalProperties", True)
    for name, member in value.items():
        if name in known:
            yield from faults(member, known[name], f"{place}.{name}")
        elif others is False:
            yield f"{place}: {_shown(name)} is not wanted"
        elif isinstance(others, dict):
            yield from faults(member, others, f"{place}.{name}")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_whole(value: Any) -> bool:
    return type(value) is int or (type(value) is float and value.is_integer())


def _same(value: Any, choice: Any) -> bool:
    """Whether two values are the same JSON; true is no 1, but 1.0 is."""
    if _is_number(value) and _is_number(choice):
        return bool(value == choice)
    return type(value) is type(choice) and _shown_whole(value) == _shown_whole(choice)


def _shown_whole(value: Any) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()


def _shown(value: Any) -> str:
    return one_line(_shown_whole(value), _SHOWN)


_KINDS: dict[str, Callable[[Any], bool]] = {
    "array": lambda value: type(value) is list,
    "boolean": lambda value: type(value) is bool,
    "integer": _is_whole,
    "null": lambda value: value is None,
    "number": _is_number,
    "object": lambda value: type(value) is dict,
    "string": lambda value: type(value) is str,
}
