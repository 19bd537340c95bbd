"""The records of any source, each with its place and its fields under our names.

A source is a file (JSON Lines, a JSON array or object, CSV, TSV, Parquet, Arrow or Feather, plain
or packed, or the folder of a saved Hugging Face data set), standard input, a data frame, a mapping
or anything that gives mappings. What a record consists of is a `Shape`. What cannot be read goes
into a list of problems, each with its place, so that a user learns of all of them at once.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from ragauge.contracts.report import Finding, Findings
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import (
    BadField,
    BadRecord,
    Columns,
    Shape,
    did_you_mean,
    expected,
    quoted,
    refuse,
    squeezed,
    value_at,
)
from ragauge.ingest.lines import (
    MAX_LINE,
    OVERLONG,
    STDIN,
    BadJson,
    decode,
    decode_columns,
    decode_lines,
    head_of,
    open_bytes,
    read_whole,
    refuse_expansion,
    refuse_long_lines,
)

if TYPE_CHECKING:
    from polars import DataFrame

Source = Any
"""A path, bytes, a data frame, a mapping, or mappings in any order, or `Row`s with their places."""
Form = Literal["json", "jsonl", "csv", "tsv", "parquet", "arrow"]
FORMS: tuple[Form, ...] = ("json", "jsonl", "csv", "tsv", "parquet", "arrow")
Placed = Iterable[tuple[str, Any]]
"""Each decoded value with its place."""
COLUMNS_SHOWN = 12
TOGETHER = 1 << 20
"""Bytes of lines that are decoded together, where records are taken one by one."""
MOST_KEYS = 100
"""Keys of an object that may be a record, and not one that holds records by their ids."""
_CELL = 16
"""Bytes that a cell of a frame takes in memory, whatever it holds."""
_FILLED = re.compile(rb"\S")
_ARROW_FILE, _ARROW_STREAM, _PARQUET = b"ARROW1", b"\xff\xff\xff\xff", b"PAR1"


class Row(Struct, gc=False):
    """One record of a source."""

    place: str
    record: dict[str, Any]
    """As it is there."""
    values: dict[str, Any] = {}
    """By our names, what the record has for each field; checked where `Records.each` gave it."""
    written: dict[str, str] = {}
    """By our names, what the source calls the field."""

    def __getitem__(self, field: str) -> Any:
        return self.values.get(field)


class Places(Sequence[str]):
    """The places of records that are all there, each made when somebody asks for it."""

    def __init__(self, count: int, place: Callable[[int], str]) -> None:
        self._count, self._place = count, place

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: Any) -> Any:
        numbers = range(self._count)[at]
        return self._place(numbers) if type(numbers) is int else [*map(self._place, numbers)]


class Table(Sequence[dict[str, Any]]):
    """Records that have the same keys, as columns; each is made when somebody asks for it."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns, self._first = columns, next(iter(columns.values()))

    def __len__(self) -> int:
        return len(self._first)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[one] for one in range(len(self))[at]]
        return {key: column[at] for key, column in self.columns.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        rows = zip(*self.columns.values(), strict=True)
        return (dict(zip(self.columns, row, strict=True)) for row in rows)


class Batch(Struct, frozen=True):
    """The values of a source that are all there, with their places."""

    places: Sequence[str]
    values: Sequence[Any]

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return zip(self.places, self.values, strict=True)


class Unreadable(Struct, frozen=True):
    """A record that could not be decoded, or is no object."""

    place: str
    fact: str


def note_unread(unread: Mapping[str, str | None], where: str, findings: Findings) -> None:
    """Add the columns that no field reads, each with the field it may be meant for, if any."""
    listed = [f"{key} (did you mean {near}?)" if near else key for key, near in unread.items()]
    more = f", and {len(listed) - COLUMNS_SHOWN} more" if len(listed) > COLUMNS_SHOWN else ""
    if listed:
        fact = f"columns not read: {', '.join(listed[:COLUMNS_SHOWN])}{more}"
        findings.add(Finding("unread_columns", where, fact))


class Records:
    """The records of one source; iterate once.

    `columns` says for fields of the shape where this source has them. `adapt` changes a decoded
    value before its fields are looked for. `table` reads text that is no JSON, in place of the
    reader of CSV and TSV; `decode` the value of a JSON text, in place of the strict reader.
    """

    def __init__(
        self,
        source: Source,
        shape: Shape,
        problems: list[str],
        *,
        form: str | None = None,
        name: str = "records",
        columns: Columns | None = None,
        adapt: Callable[[Any], Any] | None = None,
        table: Callable[[str, bytes, list[str]], Placed] | None = None,
        decode: Callable[[bytes], Any] = decode,
    ) -> None:
        if form not in (None, *FORMS):
            raise UsageError(f"format {quoted(str(form))} is none of {', '.join(FORMS)}")
        is_file = isinstance(source, str | os.PathLike)
        self.name = ("stdin" if source == STDIN else str(source)) if is_file else name
        self.shape, self.problems, self.columns = shape, problems, dict(columns or {})
        for field in self.columns:
            shape.field(field)
        self.seen = 0
        """Records that could be decoded, good or bad."""
        self.unreadable: dict[int, Unreadable] = {}
        """Those that could not, by their place among all, counted from 0."""
        self.keys: Counter[tuple[str, ...]] = Counter()
        """How often each set of keys was met."""
        self.around: dict[str, Any] = {}
        """What the object that holds the records says besides."""
        self._mapped: set[str] = set()
        """The fields that a mapped column fed in some record."""
        self._decode, self._at_once = decode, False
        self.read_as = "records"
        """The form of the source in words, once reading began."""
        self.tabular = False
        """Whether the records are rows of text: each value is what a cell holds."""
        self.in_rows = False
        """Whether they are rows of a table or of a frame."""
        self._source, self._form, self._adapt, self._table = source, form, adapt, table

    def objects(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every record that is an object, with its place."""
        return self._objects(self._within_each())

    def _objects(self, values: Placed) -> Iterator[tuple[str, dict[str, Any]]]:
        known = self.keys
        for place, value in values:
            if type(value) is not dict and not isinstance(value, Mapping):
                self._reject(place, f"record: {expected('an object', value)}")
                continue
            record: Any = value
            keys = tuple(value)
            if type(value) is not dict or keys not in known:
                record = {str(key): one for key, one in value.items()}
                keys = tuple(record)
            known[keys] += 1
            self.seen += 1
            yield place, record

    def rows(self) -> Iterator[Row]:
        """Every record that is an object, its fields unchecked."""
        known = len(self.problems)
        for place, record in self.objects():
            yield self.row(place, record)
        if not self.seen and not self.unreadable and len(self.problems) == known:
            fact = f"holds no {self.shape.name}; write one JSON object a line"
            self.problems.append(f"{self.name}: {fact}")
        self.refuse_missed()

    def refuse_missed(self, but: str | None = None) -> None:
        """Note the mapped columns that no row had, once all rows were made."""
        self.problems += [
            f"{self.name}: {field}: no {self.shape.name} has {quoted(column)}; {self.there()}"
            for field, column in self.columns.items()
            if self.seen and field not in (*self._mapped, but)
        ]

    def row(self, place: str, value: Mapping[Any, Any]) -> Row:
        """A record with what it has for each field, unchecked."""
        keys = tuple(value)
        record: Any = value
        if type(value) is not dict or keys not in self.keys:
            record = {str(key): one for key, one in value.items()}
            keys = tuple(record)
        row = Row(place, record, *self.shape.found(record, keys, self.columns))
        if self.columns:
            self._mapped.update(row.written)
        return row

    def within(self, place: str, value: Any) -> Iterable[tuple[str, Any]]:
        """The records that a decoded value holds: as a rule itself, under its place."""
        return ((place, self._adapt(value) if self._adapt else value),)

    def _within_each(self) -> Placed:
        if type(self).within is Records.within:
            adapt = self._adapt
            return ((place, adapt(one)) for place, one in self.placed()) if adapt else self.placed()
        return (one for place, value in self.placed() for one in self.within(place, value))

    def each(self) -> Iterator[Row]:
        """Every record whose fields are right; what is wrong with the others is a problem.

        A field that must be there and is in no record is one problem, not one for each.
        """
        return self.checked(self.rows())

    def all_objects(self) -> tuple[Sequence[str], Sequence[dict[str, Any]]]:
        """The places of all records that are objects, and the records, for `lists`."""
        self._at_once = True
        held = self._within_each()
        if isinstance(held, Batch) and isinstance(held.values, Table):
            self.keys[tuple(held.values.columns)] += len(held.values)
            self.seen += len(held.values)
            return held.places, held.values
        if isinstance(held, Batch) and {*map(type, held.values)} == {dict}:
            alike = {*map(tuple, held.values)}
            if all(type(key) is str for each in alike for key in each):
                once = len(alike) == 1
                counts = dict.fromkeys(alike, len(held.values)) if once else map(tuple, held.values)
                self.keys.update(counts)
                self.seen += len(held.values)
                return held.places, held.values
        found = list(self._objects(held))
        return [place for place, _ in found], [record for _, record in found]

    def lists(
        self, places: Sequence[str], objects: Sequence[dict[str, Any]], shape: Shape
    ) -> tuple[Sequence[str], dict[str, list[Any]]]:
        """The places and the values by field of the objects that are right, by this shape.

        The same as row by row. Where nothing is wrong and nothing is nested, a field is read in
        one go, and a text that many share is checked once.
        """
        self.shape = shape
        every = self._lists(objects)
        if every is not None:
            return places, every
        rows = [*self.checked(map(self.row, places, objects))]
        by_field = {field.name: [row[field.name] for row in rows] for field in shape.fields}
        return [row.place for row in rows], by_field

    def _lists(self, objects: Sequence[dict[str, Any]]) -> dict[str, list[Any]] | None:
        """By field its values; None where they must be looked at one by one."""
        reads = [(keys, dict(self.shape.reads(keys, self.columns))) for keys in self.keys]
        found: dict[str, list[Any]] = {}
        for field in self.shape.fields:
            feeding = [(keys, fed[field]) for keys, fed in reads if field in fed]
            names = {name for _, some in feeding for name in some}
            if len(names) > 1 or any(not {*some} <= {*keys} for keys, some in feeding):
                return None
            if not names:
                if field.missing is not None:
                    return None
                found[field.name] = [None] * len(objects)
                continue
            (name,) = names
            if isinstance(objects, Table):
                values = objects.columns[name]
            elif len(feeding) == len(reads):
                values = [*map(itemgetter(name), objects)]
            else:
                values = [record.get(name) for record in objects]
            kinds = {*map(type, values)}
            if float in kinds or (field.missing is not None and type(None) in kinds):
                return None
            try:
                if kinds == {str} and field.same is not None and field.same(values):
                    found[field.name] = values
                elif kinds <= {str, type(None)}:
                    of_text = {
                        text: field.read(text, field.name, cell=self.tabular)
                        for text in {*values}
                        if text is not None
                    }
                    found[field.name] = [*map(of_text.get, values)]
                else:
                    found[field.name] = [
                        None if value is None else field.check(value, field.name)
                        for value in values
                    ]
            except BadField:
                return None  # which row by row has its name and place
        return found

    def checked(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Of these rows, those whose fields are right, as `each` gives them."""
        begin, lacking, looked_at = len(self.problems), Counter[str](), 0
        for row in rows:
            looked_at += 1
            try:
                self.check(row)
            except BadRecord as fault:
                for name in {field.name for field in self.shape.required()} - row.values.keys():
                    lacking[name] += 1
                self.problems += [f"{row.place}: {field}" for field in fault.fields]
                continue
            yield row
        for field in reversed(self.shape.required()):
            if (
                looked_at > 1
                and lacking[field.name] == looked_at
                and field.name not in self.columns
            ):
                lost = f": {field.name}: {field.missing}"
                kept = [one for one in self.problems[begin:] if not one.endswith(lost)]
                fact = f"no {self.shape.name} has {' or '.join(field.names[:4])}"
                remedy = f"name it with --map {field.name}=COLUMN"
                self.problems[begin:] = [f"{self.name}: {fact}; {self.there()}: {remedy}", *kept]

    def check(self, row: Row) -> None:
        """Check the values of a row; raises BadRecord with every field that is wrong."""
        row.values = self.shape.checked(row.values, row.written, cell=self.tabular)

    def reject(self, row: Row, field: str, fact: str) -> None:
        """Note what only all records together show to be wrong with one."""
        self.problems.append(f"{row.place}: {row.written.get(field, field)}: {fact}")

    def once(self, field: str, rows: Iterable[Row] | None = None) -> Iterator[Row]:
        """As `each`, without records that say again what an earlier one says of the same item."""
        places: dict[Any, str] = {}
        for row in self.each() if rows is None else rows:
            key = row.values.get(field)
            first = places.setdefault(key, row.place)
            if first != row.place:
                self.reject(row, field, f"{quoted(str(key))} is at {first} already; keep one")
            else:
                yield row

    def unread(self) -> dict[str, str | None]:
        """The columns that no field reads, each with the field it may be meant for.

        Where other fields are kept, those alone that look like a field which their record lacks.
        """
        found: dict[str, str | None] = {}
        near = cache(self.shape.near)
        for keys in self.keys:
            fed = {
                name
                for one, names in self.shape.reads(keys, self.columns)
                if names
                for name in one.names
            }
            for key in self.shape.unread(keys, self.columns):
                if not self.shape.keeps or (near(key) and near(key) not in fed):
                    found[key] = near(key)
        return found

    def note_unread(self, findings: Findings) -> tuple[str, ...]:
        """The columns that no field reads, said once as a finding."""
        unread = self.unread()
        note_unread(unread, self.name, findings)
        return tuple(unread)

    def there(self) -> str:
        """The columns there are, in words."""
        keys = list(dict.fromkeys(key for keys in self.keys for key in keys))
        shown = ", ".join(map(quoted, keys[:COLUMNS_SHOWN])) or "nothing"
        return f"there is {shown}{' and more' if len(keys) > COLUMNS_SHOWN else ''}"

    def _reject(self, place: str, fact: str) -> None:
        self.unreadable[self.seen + len(self.unreadable)] = Unreadable(place, fact)
        self.problems.append(f"{place}: {fact}")

    def placed(self) -> Placed:
        """Every value of the source, whatever its form."""
        source, name = self._source, self.name
        if isinstance(source, bytes):
            return self._of_content(source)
        if self._form is None and isinstance(source, str | os.PathLike):
            # Imported here because it reads frames and lines as records do.
            from ragauge.ingest.envelopes.table import recognised, traces_in

            if envelope := recognised(name):
                if not self.shape.imported:
                    fact = f"holds {envelope.title}; a file of {self.shape.name}s is needed"
                    self.problems.append(f"{name}: {fact}")
                    return iter(())
                self.read_as = envelope.title
                made = enumerate(traces_in([name], envelope), 1)
                return ((f"{name}: trace {number}", one) for number, one in made)
        if framed := frame_in(source, self._form):
            read_as, frame = framed
            self.read_as, self.in_rows = read_as or self.read_as, True
            rows = enumerate(frame_rows(frame), 1)
            return ((f"{name}: row {number}", row) for number, row in rows)
        if isinstance(source, str | os.PathLike):
            return self._of_content(read_whole(str(source), long_lines=True))
        if isinstance(source, Mapping):
            if any(hasattr(one, "features") for one in islice(source.values(), MOST_KEYS)):
                first = quoted(str(next(iter(source))))
                raise UsageError(f"{name}: holds several splits: give one of them, such as {first}")
            return self._of_object(source, name)
        if type(source) is list and Row not in {*map(type, source)}:
            return self._items(source)
        if isinstance(source, Iterable):
            return (
                (one.place, one.record) if type(one) is Row else (f"{name}: item {number}", one)
                for number, one in enumerate(source, 1)
            )
        raise UsageError(
            f"{name}: {type(source).__name__} is not a source of records: give a path, a "
            "data frame, or a list of mappings"
        )

    def _of_content(self, content: bytes) -> Placed:
        """The records of a text, in the form that it has or is said to have."""
        name, form, start = self.name, self._form, content.lstrip()[:1]
        if not start:
            fact = "the file has only empty lines" if content else "the file is empty"
            self.problems.append(f"{name}: {fact}; write one JSON object a line")
        elif form in ("csv", "tsv") or (form is None and start not in (b"{", b"[")):
            refuse_long_lines(name, content, len(content))
            content = content.replace(b"\r", b"\n") if b"\n" not in content else content
            self.read_as = "a table"
            return (self._table or self.headed)(name, content, self.problems)
        elif start not in (b"{", b"["):
            fact = f"is not JSON, as --input-format {form} says; name the right format"
            self.problems.append(f"{name}: {fact}")
        elif form == "jsonl" or (form is None and has_lines(content)):
            self.read_as = "JSON Lines"
            values: Sequence[Any] | None = None
            if self._at_once and self._decode is decode:
                by_key = decode_columns(content)
                values = Table(by_key) if by_key else decode_lines(content)
            if values is not None:
                return Batch(Places(len(values), lambda at: f"{name}:{at + 1}"), values)
            return self._of_lines(content)
        elif max(map(len, content.split(b"\n"))) > MAX_LINE:
            self.problems.append(f"{name}: {OVERLONG}; write one record a line")
        else:
            place = name if b"\n" in content.strip() else f"{name}:1"
            try:
                value = self._decode(content)
            except BadJson as fault:
                self._reject(place, str(fault))
                return ()
            self.read_as = "a JSON object" if isinstance(value, dict) else "a JSON array"
            return self._of_object(value, place) if type(value) is dict else self._items(value)
        return ()

    def _items(self, values: list[Any]) -> Batch:
        name = self.name
        return Batch(Places(len(values), lambda at: f"{name}: item {at + 1}"), values)

    def _of_lines(self, content: bytes) -> Placed:
        """The values of lines, of which many are decoded together where they are clean."""
        start, first = 0, 1
        while start < len(content):
            end = content.find(b"\n", start + TOGETHER) + 1 or len(content)
            part = content[start:end]
            values = decode_lines(part) if self._decode is decode else None
            if values is not None:
                yield from ((f"{self.name}:{at}", one) for at, one in enumerate(values, first))
            for number, line in enumerate(part.split(b"\n") if values is None else (), first):
                if not line or line.isspace():
                    continue
                try:
                    if len(line) > MAX_LINE:
                        raise BadJson(OVERLONG)
                    yield f"{self.name}:{number}", self._decode(line)
                except BadJson as fault:
                    self._reject(f"{self.name}:{number}", str(fault))
            start, first = end, first + part.count(b"\n")

    def _of_object(self, value: Mapping[str, Any], place: str) -> Placed:
        """The records that an object holds in columns, under a key or by id; else itself."""
        keyed = self.shape.keyed
        if not keyed or len(value) <= MOST_KEYS or {*map(type, value.values())} != {str}:
            return self._in_object(value, place)
        # So many texts are what is said of as many ids.
        name, named, ids = self.name, self.shape.fields[0].name, list(value)
        places = Places(len(ids), lambda at: f"{name}: {quoted(str(ids[at]))}")
        return Batch(places, Table({keyed: list(value.values()), named: ids}))

    def _in_object(self, value: Mapping[str, Any], place: str) -> Placed:
        if self._adapt and self._adapt(value) is not value:
            yield place, value
            return
        if is_table(value, self.shape):
            yield from self._of_columns(value)
            return
        is_record = self._is_record(value)
        held = next((key for key in self.shape.wrappers if isinstance(value.get(key), list)), None)
        if not is_record or held in self.shape.wrappers[:1]:
            inner = value
            if held is None:
                inner = next((one for one in value.values() if _holds(one, self.shape)), value)
                held = next(
                    (key for key in self.shape.wrappers if isinstance(inner.get(key), list)), None
                )
            for key, fact in self.shape.refused:
                if inner.get(key):
                    self.problems.append(f"{self.name}: {key}: {len(inner[key]):,} {fact}")
            if held is None and not self.shape.keyed:
                lists = [key for key, one in inner.items() if self._are_records(one)]
                held = lists[0] if len(lists) == 1 else None
            if held is not None:
                self.around = {key: one for key, one in inner.items() if key != held}
                for number, one in enumerate(inner[held], 1):
                    yield f"{self.name}: item {number}", one
                return
        if self.shape.keyed and not is_record:
            keyed, named = self.shape.keyed, self.shape.fields[0].name
            for id, one in value.items():
                whole = type(one) is not str and isinstance(one, Mapping)
                record = {**one, named: id} if whole else {keyed: one, named: id}
                yield f"{self.name}: {quoted(str(id))}", record
        elif not is_record and self._are_records(list(value.values())):
            yield from ((f"{self.name}: row {key}", one) for key, one in value.items())
        else:
            yield place, value

    def _is_record(self, value: Mapping[str, Any]) -> bool:
        """Whether an object is one record, and does not hold some."""
        own, reads = self.shape.own, self.shape.reads(tuple(map(str, value)), self.columns)
        return any(
            value_at(value, name) is not None
            for field, names in reads
            if not own or field.name in own
            for name in names
        )

    def _are_records(self, values: Any) -> bool:
        others = self.shape.others or (lambda _: False)
        return (
            isinstance(values, list)
            and bool(values)
            and all(
                isinstance(one, Mapping) and (self._is_record(one) or any(map(others, one)))
                for one in values
            )
        )

    def _of_columns(self, table: Mapping[str, Any]) -> Placed:
        """The rows of an object that holds columns; a problem where these do not fit together."""
        if _is_split(table):
            titles = [str(title) for title in table["columns"]]
            cells = [[row[place] for row in table["data"]] for place in range(len(titles))]
        else:
            titles = list(map(str, table))
            cells = [
                list(one.values()) if isinstance(one, Mapping) else one for one in table.values()
            ]
        uneven = [
            title for title, one in zip(titles, cells, strict=True) if not isinstance(one, list)
        ]
        lengths = {len(one) for one in cells if isinstance(one, list)}
        if uneven or len(lengths) > 1:
            counts = " and ".join(map(str, sorted(lengths)))
            fact = "is not a list of cells" if uneven else f"have {counts} cells"
            listed = ", ".join(map(quoted, uneven or titles))
            fact = f"columns: {listed} {fact}; give each one cell a row"
            self.problems.append(f"{self.name}: {fact}")
            return
        for number, row in enumerate(zip(*cells, strict=True), 1):
            yield f"{self.name}: row {number}", dict(zip(titles, row, strict=True))

    def headed(self, name: str, content: bytes, problems: list[str]) -> Placed:
        """The rows of CSV or TSV under the names of their columns; an empty cell is no value."""
        self.tabular = self.in_rows = True
        rows = cells_of(name, content, problems)
        place, titles = next(rows, (name, []))
        titles = [title.strip().removeprefix("\ufeff") for title in titles]
        times = Counter(map(squeezed, filter(None, titles)))
        twice = {squeezed(title): title for title in titles if times[squeezed(title)] > 1}
        if twice:
            problems += [
                f"{place}: {times[name]} columns are called {quoted(title)}; keep one"
                for name, title in twice.items()
            ]
            return
        reads = self.shape.reads(tuple(titles), self.columns)
        fed = {field.name for field, names in reads if names}
        lacking = [field for field in self.shape.required() if field.name not in fed]
        shown = ", ".join(map(quoted, titles[:COLUMNS_SHOWN]))
        if titles and not fed and self.shape.others is None:
            known = ", ".join(field.name for field in self.shape.fields[:COLUMNS_SHOWN])
            article = "an" if self.shape.name[0] in "aeio" else "a"
            fact = f"the first line names no column of {article} {self.shape.name} ({known})"
            remedy = "name them with --map FIELD=COLUMN"
            problems.append(f"{place}: {fact}; there is {shown}: {remedy}")
            return
        if titles and lacking:
            problems += [
                f"{place}: no column is called {' or '.join(field.names[:4])}; there is {shown}: "
                f"name it with --map {field.name}=COLUMN"
                for field in lacking
            ]
            return
        empty = self.shape.empty_cells
        # A score that is not a number says more than that its cell is empty.
        kept = self.shape.others is not None
        as_written = set(self.shape.unread(titles, self.columns)) if kept else set[str]()
        for place, cells in rows:
            if len(cells) != len(titles):
                fact = f"cells: {len(cells)}, but the header has {len(titles)}"
                self._reject(place, fact)
                continue
            yield (
                place,
                {
                    title: None if cell.strip() in empty and title not in as_written else cell
                    for title, cell in zip(titles, cells, strict=True)
                },
            )


def frame_in(source: Source, form: str | None = None) -> tuple[str, Any] | None:
    """The frame that a source is, or that its file or folder holds, with what the file is."""
    if isinstance(source, str | os.PathLike):
        path, name = Path(source), str(source)
        if name != STDIN and path.is_dir():
            return "a saved data set", saved_dataset(path)
        head = head_of(name) or b""
        is_parquet = head.startswith(_PARQUET) or path.suffix == ".parquet"
        if form == "parquet" or (form is None and is_parquet):
            return "Parquet", _parquet(name)
        if form == "arrow" or head.startswith((_ARROW_FILE, _ARROW_STREAM)):
            return "Arrow", _arrow(name)
        return None
    if any(hasattr(source, name) for name in ("iter_rows", "to_pylist", "iloc")):
        return "", source
    if hasattr(source, "to_pandas") and not isinstance(source, Iterable):  # a result of ragas
        return "", source.to_pandas()
    return None


def is_frame(head: bytes) -> bool:
    """Whether a file that begins so holds a frame: Parquet, Arrow or Feather."""
    return head.startswith((_PARQUET, _ARROW_FILE, _ARROW_STREAM))


def has_lines(content: bytes) -> bool:
    """Whether JSON is a value a line, and not one value over several lines.

    >>> has_lines(b'{"a": 1}\\n{"a": 2}'), has_lines(b'{"a":\\n1}'), has_lines(b'{"a": 1}')
    (True, False, False)
    """
    # Nothing is copied: a file may be large.
    begin = _FILLED.search(content)
    end = content.find(b"\n", begin.start()) if begin else -1
    if begin is None or end < 0 or not _FILLED.search(content, end):
        return False
    first, opening = content[begin.start() : end].strip(), begin[0]
    if opening == b"{" and first.endswith(b"}"):
        return True
    # A broken first line must not make one value of all lines.
    return content.find(b"\n" + opening, end) >= 0 and first != opening


def is_table(value: Mapping[str, Any], shape: Shape) -> bool:
    """Whether an object holds columns: a list or an object by row for what is one value a record.

    >>> from ragauge.ingest.fields import Field, text
    >>> shape = Shape(name="answer", fields=(Field("answer", text, "What was answered."),))
    >>> is_table({"answer": ["a", "b"]}, shape), is_table({"answer": "a", "tags": ["b"]}, shape)
    (True, False)
    """
    if _is_split(value):
        return True
    columns = list(value.values())
    if not columns:
        return False
    keys = tuple(map(str, value))
    reads = [(field, names) for field, names in shape.reads(keys) if names]
    others = [key for key in keys if shape.others is not None and shape.others(key)]
    if all(isinstance(one, Mapping) for one in columns):  # as pandas writes: by column, then by row
        rows = columns[0].keys()
        by_row = bool(rows) and all(one.keys() == rows for one in columns)
        return by_row and bool(reads or others)
    single = [
        value[name]
        for field, names in [one for one in reads if one[0].name in shape.own] or reads
        if not field.many
        for name in names
        if value.get(name) is not None
    ]
    single += [value.get(key) for key in others]
    return bool(single) and all(isinstance(one, list) for one in single)


def _is_split(value: Mapping[str, Any]) -> bool:
    """Whether columns, index and cells are apart: pandas's form `split`."""
    columns, cells = value.get("columns"), value.get("data")
    return (
        isinstance(columns, list)
        and isinstance(cells, list)
        and all(isinstance(row, list) and len(row) == len(columns) for row in cells)
    )


def _holds(value: Any, shape: Shape) -> bool:
    return isinstance(value, Mapping) and any(
        isinstance(value.get(key), list) for key in shape.wrappers
    )


def cells_of(name: str, content: bytes, problems: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The filled rows of CSV or TSV, each with the line it begins at.

    The first line shows what separates the cells.
    """
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        problems.append(f"{name}:{number}: is not UTF-8 text; save the table as UTF-8")
        return
    delimiter = max("\t,;", key=lines[0].count)
    complete_lines = (line.removesuffix("\r") + "\n" for line in lines)
    csv.field_size_limit(MAX_LINE)
    reader = csv.reader(complete_lines, delimiter=delimiter, strict=True)
    number = 1
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield f"{name}:{number}", cells
            number = reader.line_num + 1
    except csv.Error as error:
        problems.append(f"{name}:{number}: not a row of cells: {error}")


def frame_rows(frame: Any) -> Iterator[dict[str, Any]]:
    """The rows of a frame of polars, pandas or pyarrow, with Python's own values."""
    if hasattr(frame, "iter_rows"):
        yield from frame.iter_rows(named=True)
    elif hasattr(frame, "to_batches"):
        for batch in frame.to_batches():
            yield from batch.to_pylist()
    elif hasattr(frame, "to_pylist"):
        yield from frame.to_pylist()
    else:
        titles = [str(title) for title in frame.columns]
        for cells in frame.itertuples(index=False, name=None):
            yield {title: _plain(cell) for title, cell in zip(titles, cells, strict=True)}


def _plain(cell: Any) -> Any:
    """A cell of pandas as Python's own value: lists are arrays there, and nothing is NaN or NA."""
    if hasattr(cell, "tolist"):
        return cell.tolist()
    if isinstance(cell, float):
        return None if cell != cell else cell
    return None if type(cell).__name__ in ("NAType", "NaTType") else cell


def _parquet(name: str) -> DataFrame:
    import polars as pl

    try:
        with open_bytes(name) as file:
            size, columns = os.fstat(file.fileno()).st_size, len(pl.read_parquet_schema(file))
        rows = pl.scan_parquet(name).select(pl.len()).collect().item()
        refuse_expansion(name, rows * columns * _CELL, size)
        frame = pl.read_parquet(name)
    except (pl.exceptions.PolarsError, OSError) as error:
        fact = str(error).partition("\n")[0]
        raise InputRejected(f"{name}: cannot be read as Parquet: {fact}") from None
    return _bounded(name, frame, size)


def _arrow(name: str) -> DataFrame:
    """An Arrow file (which is what Feather is) or an Arrow stream."""
    import polars as pl

    with open_bytes(name) as file:
        content = file.read()
    try:
        is_file = content.startswith(_ARROW_FILE)
        frame = pl.read_ipc(content) if is_file else pl.read_ipc_stream(content)
    except (pl.exceptions.PolarsError, OSError) as error:
        fact = str(error).partition("\n")[0]
        raise InputRejected(f"{name}: cannot be read as Arrow: {fact}") from None
    return _bounded(name, frame, len(content))


def _bounded(name: str, frame: DataFrame, size: int) -> DataFrame:
    """The frame, unless its texts grow beyond all reason: each once here, in every row below."""
    import polars as pl

    held = 0
    for column in frame.iter_columns():
        texts = column.explode() if column.dtype == pl.List(pl.String) else column
        if texts.dtype == pl.String:
            lengths = texts.str.len_bytes()
            held += int(lengths.sum())
            longest = lengths.max()
            if isinstance(longest, int) and longest > MAX_LINE:
                place = f"{name}: {quoted(column.name)}"
                raise InputRejected(f"{place}: a value is longer than {MAX_LINE >> 20} MiB")
    refuse_expansion(name, held, size)
    return frame


def saved_dataset(folder: Path) -> DataFrame:
    """A data set that Hugging Face's `save_to_disk` wrote; InputRejected for other folders."""
    import polars as pl

    if (folder / "dataset_dict.json").exists():
        splits = sorted(one.name for one in folder.iterdir() if (one / "state.json").exists())
        listed = ", ".join(str(folder / split) for split in splits)
        raise InputRejected(f"{folder}: holds several splits; name one of them: {listed}")
    state = folder / "state.json"
    if not state.exists():
        raise InputRejected(f"{folder}: is a folder; name the files in it")
    try:
        parts = [str(one["filename"]) for one in json.loads(state.read_bytes())["_data_files"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputRejected(f"{state}: does not list the files of a data set: {error}") from None
    return pl.concat([_arrow(str(folder / Path(part).name)) for part in parts])


def read_rows(
    source: Source, shape: Shape, *, columns: Columns | None = None, name: str = "records"
) -> list[Row]:
    """The checked records of a source; raises InputRejected with all that is wrong with any."""
    problems: list[str] = []
    rows = list(Records(source, shape, problems, columns=columns, name=name).each())
    refuse(problems)
    return rows


def is_stdin(source: Source) -> bool:
    """Whether a source is standard input, which can be read once."""
    return isinstance(source, str | os.PathLike) and str(source) == STDIN


def file_of(place: str) -> str:
    """The name that a place begins with.

    >>> file_of("gold.tsv:3"), file_of("gold.json: item 2"), file_of('labels.json: "a1"')
    ('gold.tsv', 'gold.json', 'labels.json')
    """
    return re.sub(r'(:\d+|: (item|row) \d+|: ".*"|(: \w+)?\[\d+\])$', "", place)


def columns_for(columns: Columns | None, **shapes: Shape) -> dict[str, dict[str, str]]:
    """The mapped columns of each of several sources, by what the sources are called.

    A field that several have is meant of the first; `gold.question` says which is meant. Raises
    UsageError for a field that none has.
    """
    found: dict[str, dict[str, str]] = {name: {} for name in shapes}
    for field, path in (columns or {}).items():
        source, _, inner = field.partition(".")
        if source in shapes and inner:
            shapes[source].field(inner)
            found[source][inner] = path
            continue
        having = [name for name, one in shapes.items() if field in one.by_name]
        if not having:
            first, *others = shapes
            known = [*shapes[first].by_name]
            known += [f"{name}.{one}" for name in others for one in shapes[name].by_name]
            raise UsageError(f"--map {field}: {did_you_mean(field, known)}")
        found[having[0]][field] = path
    return found


def refuse_columns(source: Source, form: str, columns: Columns | None) -> None:
    """Raise UsageError where columns are mapped of a form that has none."""
    if columns:
        fact = f"{source} is read as {form}, whose fields cannot be mapped"
        remedy = "JSON, CSV, TSV, Parquet and Arrow have columns"
        raise UsageError(f"--map {next(iter(columns))}: {fact}; {remedy}")


def no_table(name: str, content: bytes, problems: list[str]) -> Placed:
    """The `table` of shapes whose fields no table can hold."""
    problems.append(f"{name}: is not JSON; write one object a line")
    return iter(())
