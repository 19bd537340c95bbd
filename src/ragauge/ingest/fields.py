"""Fields of a decoded record, checked one by one; the same fault is always said in one wording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ragauge.text.visible import one_line

_SHOWN = 40
_LARGEST = 1.7e308
"""JSON has no largest number, but what we compute with has."""
_KINDS = {
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


class BadField(Exception):
    """A field has the wrong shape: its name and the fact."""

    def __init__(self, field: str, fact: str) -> None:
        super().__init__(f"{field}: {fact}")


class BadRecord(Exception):
    """A record has wrong fields: all of them."""

    def __init__(self, fields: list[BadField]) -> None:
        super().__init__("; ".join(map(str, fields)))
        self.fields = fields


def kind(value: object) -> str:
    """What a decoded JSON value is, in a reader's words."""
    return _KINDS.get(type(value), type(value).__name__)


def quoted(value: str) -> str:
    """Foreign text as a message shows it: in quotes, on one line, not too long."""
    return '"' + one_line(value, _SHOWN).replace('"', '\\"') + '"'


def expected(what: str, value: object) -> str:
    return f"expected {what}, got {kind(value)}"


def text(value: Any, field: str) -> str:
    if type(value) is not str:
        raise BadField(field, expected("text", value))
    return value


def texts(value: Any, field: str) -> tuple[str, ...]:
    """A list of texts."""
    if type(value) is not list:
        raise BadField(field, expected("a list of texts", value))
    for place, member in enumerate(value):
        if type(member) is not str:
            raise BadField(f"{field}[{place}]", expected("text", member))
    return tuple(value)


def boolean(value: Any, field: str) -> bool:
    if type(value) is not bool:
        shown = " " + quoted(value) if type(value) is str else ""
        raise BadField(field, f"expected true or false, got {kind(value)}{shown}")
    return value


def number(value: Any, field: str) -> float:
    if type(value) is not int and type(value) is not float:
        raise BadField(field, expected("a number", value))
    if not -_LARGEST <= value <= _LARGEST:
        raise BadField(field, "the number is out of range")
    return value


def whole(value: Any, field: str) -> int:
    if type(value) is float:
        raise BadField(field, f"expected a whole number, got {value}")
    if type(value) is not int:
        raise BadField(field, expected("a whole number", value))
    return value


def mapping(value: Any, field: str) -> dict[str, Any]:
    if type(value) is not dict:
        raise BadField(field, expected("an object", value))
    return value


def mappings(value: Any, field: str) -> tuple[dict[str, Any], ...]:
    if type(value) is not list:
        raise BadField(field, expected("a list of objects", value))
    return tuple(mapping(member, f"{field}[{place}]") for place, member in enumerate(value))


def record_id(record: dict[str, Any], names: Sequence[str], remedy: str) -> str:
    """What a record is called, under the first of these names that it has; a number is a name.

    >>> record_id({"qid": 7}, ("id", "qid"), "name the item")
    '7'
    """
    for name in names:
        value = record.get(name)
        if value is None:
            continue
        if type(value) is int:
            return str(value)
        if not text(value, name).strip():
            raise BadField(name, "is empty")
        return str(value)
    raise BadField(names[0], f"missing; {remedy}")


Check = Callable[[Any, str], Any]


def gathered(
    parts: Iterable[tuple[str, Callable[[], Any]]], faults: Sequence[BadField] = ()
) -> dict[str, Any]:
    """What each part reads, by its name; raises BadRecord with all faults, the known ones first."""
    known: dict[str, Any] = {}
    found = list(faults)
    for name, read in parts:
        try:
            known[name] = read()
        except BadField as fault:
            found.append(fault)
    if found:
        raise BadRecord(found)
    return known
