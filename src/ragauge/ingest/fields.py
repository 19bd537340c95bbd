"""What a record consists of: fields with their names, aliases and checks, declared in a table.

A `Shape` is that table. Readers, `--map`, `ragauge inspect` and the reference pages read it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from typing import Any

from msgspec import Struct

from ragauge.errors import InputRejected, RagaugeError, UsageError
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
    plain = len(value) <= _SHOWN and value.isascii() and value.isprintable()
    if plain and " " not in value and '"' not in value:
        return f'"{value}"'  # as most ids are
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
    for member in value:
        if type(member) is not str:
            at = next(at for at, one in enumerate(value) if type(one) is not str)
            raise BadField(f"{field}[{at}]", expected("text", member))
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


def slices(value: Any, field: str) -> dict[str, Any]:
    """What a record is sliced by: values by their stratum."""
    for name, member in mapping(value, field).items():
        if isinstance(member, list | dict):
            fact = f"expected text, a number or a boolean, got {kind(member)}"
            raise BadField(f"{field}.{name}", fact)
    return dict(value)


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


_TYPES: dict[Check, str] = {
    an_id: "text or whole number",
    all_filled: "list of texts",
    texts: "list of texts",
    boolean: "true or false",
    number: "number",
    whole: "whole number",
    mapping: "object",
    mappings: "list of objects",
    anything: "any",
}
"""What a check takes, in words; text, where it is not here."""
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
    says: str = ""
    """What it holds in words, where its check does not tell."""
    missing: str | None = None
    """What to write, where the field must be there; None where it may be absent."""
    cell: Check | None = None
    """The value that a cell of a table stands for, where it is no plain text, number or boolean."""
    same: Callable[[Sequence[str]], bool] | None = None
    """Whether texts, which may be very many, are all as the check would give them."""
    hints: tuple[str, ...] = ()
    """Names that may be meant for it, and are not read: they often hold something else."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)

    @property
    def type(self) -> str:
        """What it holds, in words."""
        return self.says or _TYPES.get(self.check, "list" if self.many else "text")

    def read(self, value: Any, written: str, *, cell: bool) -> Any:
        """The checked value; raises BadField."""
        if not (cell and type(value) is str):
            return self.check(value, written)
        if self.cell is not None:
            return self.check(self.cell(value, written), written)
        return _CELLS.get(self.check, self.check)(value, written)


Columns = Mapping[str, str]
"""For fields by our name, where a file has them: a column, or a path such as `spans[*].text`."""
Reads = tuple[tuple[Field, tuple[str, ...]], ...]
"""For each field that a record may have, the names there that feed it, the best first."""
PLANS_KEPT = 4096
STRATA = "strata"
STRATUM = "strata."
"""How the name of a table's column begins that is a stratum."""


class Shape(Struct, frozen=True, dict=True):
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
    imported: bool = False
    """Whether the traces in files of other tools are such records."""
    refused: tuple[tuple[str, str], ...] = ()
    """Keys under which a file that is one object keeps what is no such record, and what it is."""

    def field(self, name: str) -> Field:
        """A field by its name; raises UsageError that lists them all."""
        for one in self.fields:
            if one.name == name:
                return one
        raise UsageError(f"--map {name}: {did_you_mean(name, [one.name for one in self.fields])}")

    @cached_property
    def by_name(self) -> dict[str, Field]:
        return {one.name: one for one in self.fields}

    @cached_property
    def needed(self) -> frozenset[str]:
        """The fields that must be there."""
        return frozenset(one.name for one in self.fields if one.missing is not None)

    @cached_property
    def _plans(self) -> dict[Any, Reads]:
        """What `reads` found, by keys: most records of a file have the same."""
        return {}

    def required(self) -> list[Field]:
        return [one for one in self.fields if one.missing is not None]

    def reads(self, keys: tuple[str, ...], columns: Columns | None = None) -> Reads:
        """Which keys of a record feed which field; case and spaces of the keys do not matter."""
        mapped = tuple(sorted(columns.items())) if columns else ()
        plan = self._plans.get((keys, mapped))
        if plan is None:
            if len(self._plans) >= PLANS_KEPT:
                self._plans.clear()
            plan = self._plans[keys, mapped] = _reads(self, keys, dict(mapped))
        return plan

    def found(
        self, record: Mapping[str, Any], keys: tuple[str, ...], columns: Columns | None = None
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """What a record has for each field, unchecked, and what it calls the field there."""
        values: dict[str, Any] = {}
        written: dict[str, str] = {}
        for field, names in self.reads(keys, columns):
            for name in names:
                held = record.get(name)
                if held is None and name not in record:
                    held = value_at(record, name)
                # a frame has NaN where nothing is
                if held is not None and (not isinstance(held, float) or held == held):
                    values[field.name], written[field.name] = held, name
                    break
            if names[-1] == STRATUM:
                cells = strata_of(record, values.get(STRATA))
                if cells is not None:
                    values[STRATA] = cells
        return values, written

    def checked(
        self, values: dict[str, Any], written: Mapping[str, str], *, cell: bool = False
    ) -> dict[str, Any]:
        """The checked values; raises BadRecord with every field that is wrong."""
        fields = self.by_name
        checked: dict[str, Any] = {}
        faults: list[BadField] = []
        for name, value in values.items():
            try:
                at = written.get(name, name)
                field = fields[name]
                checked[name] = field.read(value, at, cell=True) if cell else field.check(value, at)
            except BadField as fault:
                faults.append(fault)
        if faults or not self.needed <= values.keys():
            lacking = [one for one in self.required() if one.name not in values]
            missing = [BadField(one.name, one.missing or "") for one in lacking]
            raise BadRecord(missing + faults)
        return checked

    def read(self, record: Any) -> dict[str, Any]:
        """The checked fields of one object, by our names; raises BadRecord."""
        if type(record) is not dict:
            raise BadRecord([BadField("record", expected("an object", record))])
        values, written = self.found(record, tuple(record))
        return self.checked(values, written)

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
            and not (has_strata and key.startswith(STRATUM))
        ]

    def near(self, key: str) -> str | None:
        """The name of the field that a key nobody reads may be meant to be.

        Where other fields are kept, only a name that is almost the same is meant to be one of ours.
        """
        hinted = next((one.name for one in self.fields if squeezed(key) in one.hints), None)
        if hinted is not None:
            return hinted
        names = {squeezed(name): name for one in self.fields for name in one.names}
        near = get_close_matches(squeezed(key), names, n=1, cutoff=0.85 if self.keeps else 0.75)
        return names[near[0]] if near else None


def _reads(shape: Shape, keys: tuple[str, ...], mapped: Columns) -> Reads:
    known: dict[str, list[str]] = {}
    for key in keys:
        known.setdefault(squeezed(key), []).append(key)
    found: list[tuple[Field, tuple[str, ...]]] = []
    for field in shape.fields:
        if field.name in mapped:
            path = mapped[field.name]
            spelled = [path] if path in keys else known.get(squeezed(path), [path])
            found.append((field, tuple(spelled)))
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
        if field.name == STRATA and any(key.startswith(STRATUM) for key in keys):
            names.append(STRATUM)
        if names:
            found.append((field, tuple(names)))
    return tuple(found)


def squeezed(name: str) -> str:
    """A name as names are compared: without case and outer spaces, and with `_` for
    inner spaces and dashes.

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
    if (type(record) is dict or isinstance(record, Mapping)) and path in record:
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
        key.removeprefix(STRATUM): value.strip() if type(value) is str else value
        for key, value in record.items()
        if key.startswith(STRATUM)
    }
    cells = {name: value for name, value in cells.items() if value not in (None, "")}
    return {**given, **cells} if isinstance(given, Mapping) else (cells or None)


def unlike(name: str, taken: Container[str]) -> str:
    """The name, with a number where an earlier one is called the same.

    >>> unlike("a", {"b"}), unlike("a", {"a", "a#2"})
    ('a', 'a#3')
    """
    times, found = 1, name
    while found in taken:
        times += 1
        found = f"{name}#{times}"
    return found


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """That there is no such name, with the nearest, or all of them."""
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known) or 'none'}"
    return f"there is no {name}; {hint}"


def allowed_bad(text: str) -> Callable[[int], int | Fraction]:
    """How many bad records a number of records may hold: `N`, or `P%` of them."""
    written = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)%", text, re.ASCII)
    if not written or float(written[2] or 0) > 100:
        raise UsageError(f'--max-bad "{text}" is neither a count nor a percentage such as 1%')
    if written[1]:
        return lambda records: int(written[1])
    return lambda records: Fraction(written[2]) / 100 * records


def refuse(problems: Sequence[str], error: type[RagaugeError] = InputRejected) -> None:
    """Raise the error where there are problems."""
    if problems:
        raise error(*problems)
