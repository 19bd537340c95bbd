"""What a record consists of: fields with their names, aliases and checks, declared in a table.

A `Shape` is that table. Readers, `--map`, `ragauge inspect` and the reference pages read it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from msgspec import Struct

from ragauge.errors import UsageError
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


Check = Callable[[Any, str], Any]
"""The checked value of a field, from what is written and under which name; raises BadField."""


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


def filled(value: Any, field: str) -> str:
    """Text that is not empty."""
    if not text(value, field).strip():
        raise BadField(field, "is empty")
    return str(value)


def an_id(value: Any, field: str) -> str:
    """An id: text, or a whole number, as many tools write it.

    >>> an_id(7, "qid"), an_id("q7", "qid")
    ('7', 'q7')
    """
    return str(value) if type(value) is int else filled(value, field)


def texts(value: Any, field: str) -> tuple[str, ...]:
    """A list of texts."""
    if type(value) is not list:
        raise BadField(field, expected("a list of texts", value))
    for place, member in enumerate(value):
        if type(member) is not str:
            raise BadField(f"{field}[{place}]", expected("text", member))
    return tuple(value)


def all_filled(value: Any, field: str) -> tuple[str, ...]:
    """A list of texts, none of them empty."""
    found = texts(value, field)
    for place, member in enumerate(found):
        if not member.strip():
            raise BadField(f"{field}[{place}]", "is empty")
    return found


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


def anything(value: Any, field: str) -> Any:
    return value


YES_NO = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
"""What cells of true and false hold."""


def _boolean_cell(cell: str, field: str) -> bool:
    meant = YES_NO.get(cell.strip().lower())
    if meant is None:
        raise BadField(field, f"expected true or false, got {quoted(cell)}")
    return meant


def _number_cell(cell: str, field: str) -> float:
    try:
        return number(float(cell), field)
    except ValueError:
        raise BadField(field, f"expected a number, got {quoted(cell)}") from None


def _whole_cell(cell: str, field: str) -> int:
    if not re.fullmatch(r"\s*[+-]?\d{1,18}\s*", cell, re.ASCII):
        raise BadField(field, f"expected a whole number, got {quoted(cell)}")
    return int(cell)


_CELLS: dict[Check, Check] = {boolean: _boolean_cell, number: _number_cell, whole: _whole_cell}
"""How a cell of a table, which is text, is read where a record has another type."""


class Field(Struct, frozen=True):
    """One field of a record."""

    name: str
    check: Check
    doc: str
    """What it holds, for the reference page."""
    aliases: tuple[str, ...] = ()
    """Other names it is known by, the usual one first; a name with dots is a field in another."""
    many: bool = False
    """Whether a record may have a list here."""
    missing: str | None = None
    """What to write, where the field must be there; None where it may be absent."""
    hints: tuple[str, ...] = ()
    """Names that may be meant for it, and are not read: they often hold something else."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)

    def read(self, value: Any, written: str, *, cell: bool) -> Any:
        """The checked value; raises BadField."""
        check = _CELLS.get(self.check, self.check) if cell and type(value) is str else self.check
        return check(value, written)


Columns = Mapping[str, str]
"""For fields by our name, where a file has them: a column, or a path such as `spans[*].text`."""
Reads = tuple[tuple[Field, tuple[str, ...]], ...]
"""For each field that a record may have, the names there that feed it, the best first."""
STRATA = "strata"
_STRATUM = "strata."
"""How the name of a table's column begins that is a stratum."""


class Shape(Struct, frozen=True, eq=False):  # one is itself alone, so that it is quick to look up
    """A kind of record: its fields, and how files hold many of them."""

    name: str
    """What one is called: `judgement`."""
    fields: tuple[Field, ...]
    doc: str = ""
    wrappers: tuple[str, ...] = ()
    """Keys under which a file that is one object keeps its records."""
    keyed: str | None = None
    """The field that the values of an object by id are, where a file may be one."""
    empty_cells: frozenset[str] = frozenset(("",))
    """Cells of a table that hold nothing."""
    keeps: bool = False
    """Whether fields that it does not name are kept with the record."""
    own: tuple[str, ...] = ()
    """Fields that an object has which is one record and does not hold some; all, where empty."""
    others: Callable[[str], bool] | None = None
    """Whether a column that no field names belongs to the record too, such as one of scores."""
    elsewhere: frozenset[str] = frozenset()
    """Columns that such files have for other commands: not read here, and nothing to report."""
    refused: tuple[tuple[str, str], ...] = ()
    """Keys under which a file that is one object keeps what is no such record, and what it is."""

    def field(self, name: str) -> Field:
        """A field by its name; raises UsageError that lists them all."""
        for one in self.fields:
            if one.name == name:
                return one
        raise UsageError(f"--map {name}: {did_you_mean(name, [one.name for one in self.fields])}")

    def required(self) -> list[Field]:
        return [one for one in self.fields if one.missing is not None]

    def reads(self, keys: tuple[str, ...], columns: Columns | None = None) -> Reads:
        """Which keys of a record feed which field; case and spaces of the keys do not matter."""
        return _reads(self, keys, tuple(sorted((columns or {}).items())))

    def unread(self, keys: Iterable[str], columns: Columns | None = None) -> list[str]:
        """The keys that feed no field."""
        keys = tuple(keys)
        fed = {name.partition(".")[0] for _, names in self.reads(keys, columns) for name in names}
        fed |= {re.split(r"[.\[]", path, maxsplit=1)[0] for path in (columns or {}).values()}
        has_strata = any(one.name == STRATA for one in self.fields)
        return [
            key
            for key in keys
            if key not in fed
            and key not in self.elsewhere
            and not (has_strata and key.startswith(_STRATUM))
        ]

    def near(self, key: str) -> str | None:
        """The name of the field that a key nobody reads may be meant to be."""
        hinted = next((one.name for one in self.fields if squeezed(key) in one.hints), None)
        if hinted is not None:
            return hinted
        names = [name for one in self.fields for name in one.names]
        near = get_close_matches(
            squeezed(key), [squeezed(name) for name in names], n=1, cutoff=0.75
        )
        return next((name for name in names if near and squeezed(name) == near[0]), None)


@lru_cache(maxsize=4096)  # most records of a file have the same keys
def _reads(shape: Shape, keys: tuple[str, ...], columns: tuple[tuple[str, str], ...]) -> Reads:
    mapped = dict(columns)
    known: dict[str, list[str]] = {}
    for key in keys:
        known.setdefault(squeezed(key), []).append(key)
    found: list[tuple[Field, tuple[str, ...]]] = []
    for field in shape.fields:
        if field.name in mapped:
            found.append((field, (mapped[field.name],)))
            continue
        names: list[str] = []
        for name in field.names:
            head = name.partition(".")[0]
            if name in keys:
                names.append(name)
            elif same := known.get(squeezed(name)):
                names += same
            elif head != name and head in keys:
                names.append(name)
        if names or (field.name == STRATA and any(key.startswith(_STRATUM) for key in keys)):
            found.append((field, tuple(names)))
    return tuple(found)


def squeezed(name: str) -> str:
    """A name as names are compared: without case, spaces, dashes and underscores at its ends.

    >>> squeezed(" Gold Label"), squeezed("gold_label")
    ('gold_label', 'gold_label')
    """
    return re.sub(r"[\s-]+", "_", name.strip().strip("\ufeff")).casefold()


def value_at(record: Any, path: str) -> Any:
    """The value of a field, or by a path with dots and `[*]` of one inside others; None without.

    >>> value_at({"spans": [{"text": "a"}, {"text": "b"}]}, "spans[*].text")
    ['a', 'b']
    >>> value_at({"a.b": 1}, "a.b"), value_at({"a": {"b": 2}}, "a.b"), value_at({}, "a.b")
    (1, 2, None)
    """
    if isinstance(record, Mapping) and path in record:
        return record[path]
    outer, mark, inner = path.partition("[*]")
    if mark:
        held = value_at(record, outer) if outer else record
        if not isinstance(held, list | tuple):
            return None
        inner = inner.removeprefix(".")
        each = [value_at(one, inner) for one in held] if inner else list(held)
        return [one for one in each if one is not None]
    head, dot, rest = path.partition(".")
    held = record.get(head) if isinstance(record, Mapping) else None
    return value_at(held, rest) if dot and isinstance(held, Mapping | list) else None


def strata_of(record: Mapping[str, Any], given: Any) -> Any:
    """What a record says of its strata: an object, or cells of columns called `strata.…`."""
    cells = {
        key.removeprefix(_STRATUM): value.strip() if type(value) is str else value
        for key, value in record.items()
        if key.startswith(_STRATUM) and len(key) > len(_STRATUM)
    }
    cells = {name: value for name, value in cells.items() if value not in (None, "")}
    return {**given, **cells} if isinstance(given, Mapping) else (cells or None)


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """That there is no such name, with the nearest, or all of them."""
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known) or 'none'}"
    return f"there is no {name}; {hint}"
