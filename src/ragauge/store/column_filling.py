"""Columns made of unit rows and gold questions, so that pages can be sorted and filtered quickly.

A column is packed: the places that have a value as 4-byte integers, then the values: 8-byte floats
of a metric, else integers, which count into names (a JSON array in `text`) or along an order. What
has no value takes no room, so that columns together are never larger than what they are drawn from.
Words are the exception: `text` has a line a place, some lines a row.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from statistics import median
from typing import Any, TypeVar

import msgspec
import numpy as np
from sqlalchemy import Connection, Select, insert, select

from ragauge.contracts.gold import ANSWERABLE, Gold, value_of
from ragauge.contracts.history import NewRun, RunRecord, canonical
from ragauge.contracts.kept import ANSWERS, SPENT, spent_by
from ragauge.errors import UsageError
from ragauge.store.database import BATCH, Database, add_rows, insert_unless_there
from ragauge.store.packed import Group, groups_in
from ragauge.store.recorded import (
    decode_gold,
    decode_record,
    decode_unit,
    gold_columns,
    plain,
    unit_columns,
)
from ragauge.store.tables import (
    gold_questions,
    packed_gold,
    packed_units,
    run_units,
    run_words,
    runs,
    unit_keys,
)
from ragauge.text.natural import natural

OWN, METRIC, STRATUM, TAKEN, WORDS = "own", "metric", "stratum", "taken", "words"
PLACE, CODE, KEY, VALUE = map(np.dtype, ("<i4", "<i4", "<i8", "<f8"))


class UnitColumns:
    """The columns of a run's units, filled in the order of the units."""

    def __init__(self, qids: Iterable[str]) -> None:
        self._places: dict[str, int] = {}
        for place, qid in enumerate(qids):
            self._places.setdefault(qid, place)
        self._units: list[str] = []
        self._right, self._label = _Filled(), _Filled()
        self._values: dict[str, _Filled] = {}
        self._spent: dict[str, _Filled] = {}

    def add(self, columns: Mapping[str, Any]) -> None:
        """Take a unit, as the table of units has it."""
        place = len(self._units)
        self._units.append(columns["unit"])
        self._right.add(place, columns["right"])
        self._label.add(place, columns["label"])
        for metric, value in columns["values"].items():
            self._values.setdefault(metric, _Filled()).add(place, value)

    def add_answers(self, answers: Iterable[Group]) -> None:
        """Take what the answers to the units took: latency in the middle, tokens and cost in all.

        What cannot be read is passed over: `runs verify` compares the file with its seal.
        """
        places: dict[str, int] = {}
        for place, unit in enumerate(self._units):
            places.setdefault(unit, place)
        taken: dict[str, dict[int, float]] = {name: {} for name in SPENT}
        for group in answers:
            place = places.get(plain(group.key), -1)
            given: dict[str, list[float]] = {}
            for line in group.lines if place >= 0 else ():
                with suppress(msgspec.DecodeError):
                    for name, value in spent_by(line).items():
                        given.setdefault(name, []).append(value)
            for name, values in given.items():
                taken[name][place] = median(values) if name == "latency_ms" else sum(values)
        for name, by_place in taken.items():
            for place, value in sorted(by_place.items()):
                self._spent.setdefault(name, _Filled()).add(place, value)

    def rows(self) -> Iterator[dict[str, Any]]:
        """The columns as a table takes them."""
        return _numbered(self._columns())

    def keys(self) -> list[dict[str, Any]]:
        """Where each unit is, in the order the table is kept in."""
        found = sorted((key_of(unit), place) for place, unit in enumerate(self._units))
        return [{"key": key, "place": place} for key, place in found]

    def _columns(self) -> Iterator[dict[str, Any]]:
        asked = _Filled()
        for place, unit in enumerate(self._units):
            asked.add(place, self._places.get(unit))
        yield _ranked("unit", self._units)
        yield _packed(OWN, "question", asked.places, asked.values)
        yield _packed(OWN, "right", self._right.places, self._right.values)
        yield _named(OWN, "label", self._label)
        for metric, filled in sorted(self._values.items()):
            yield _packed(METRIC, metric, filled.places, filled.values, VALUE)
        for name, filled in self._spent.items():
            yield _packed(TAKEN, name, filled.places, filled.values, VALUE)
        if len(asked.places) < len(self._units):
            yield from _lines(folded(unit) for unit in self._units)


class _Filled:
    """Values with their places, where there are any."""

    def __init__(self) -> None:
        self.places = array("i")
        self.values: list[Any] = []

    def add(self, place: int, value: Any) -> None:
        if value is not None:
            self.places.append(place)
            self.values.append(value)


def gold_packed(gold: Iterable[Gold]) -> Iterator[dict[str, Any]]:
    """The columns of a gold set as a table takes them."""
    qids, questions, answerable, lines = [], [], [], []
    strata: dict[str, _Filled] = {}
    for place, question in enumerate(gold):
        drawn = gold_columns(question)
        qids.append(drawn["qid"])
        questions.append(drawn["question"])
        answerable.append(drawn["answerable"])
        lines.append(folded(f"{question.qid} {question.question}"))
        for stratum in sorted({*question.strata, ANSWERABLE}):
            value = plain(value_of(question, stratum))
            strata.setdefault(plain(stratum), _Filled()).add(place, value)
    return _numbered(
        [
            _ranked("qid", qids),
            _ranked("question", questions),
            _packed(OWN, ANSWERABLE, range(len(qids)), answerable),
            _packed(OWN, "key", range(len(qids)), list(map(key_of, qids)), KEY),
            *(_named(STRATUM, stratum, filled) for stratum, filled in sorted(strata.items())),
            *_lines(lines),
        ]
    )


def run_packed(record: RunRecord, id: str) -> str:
    """What a run is searched by, but for its tags, which may move."""
    git = (record.git.commit, record.git.branch or "") if record.git else ()
    labels = [f"{key}={value}" for key, value in sorted(record.labels.items())]
    return folded(" ".join([record.name, record.command, id, *git, *labels]))


def folded(text: str) -> str:
    """Text in one case and on one line, so that a word stands in it whatever its case."""
    return " ".join(plain(text).casefold().split())


def key_of(text: str) -> int:
    """A number that stands for an id, be it ever so long."""
    digest = hashlib.sha256(plain(text).encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _ranked(name: str, texts: Sequence[str]) -> dict[str, Any]:
    """Where each text comes as people count, q2 before q10; the same for the same text."""
    ordered = sorted(set(texts), key=lambda text: (natural(text), text))
    ranks = {text: rank for rank, text in enumerate(ordered)}
    return _packed(OWN, name, range(len(texts)), [ranks[text] for text in texts])


def _named(kind: str, name: str, filled: _Filled) -> dict[str, Any]:
    names = sorted(set(filled.values))
    codes = {each: code for code, each in enumerate(names)}
    column = _packed(kind, name, filled.places, [codes[each] for each in filled.values])
    return column | {"text": canonical(names).decode()}


def _packed(
    kind: str, name: str, places: Sequence[int], values: Sequence[Any], type: Any = CODE
) -> dict[str, Any]:
    content = np.asarray(places, PLACE).tobytes() + np.asarray(values, type).tobytes()
    return {"kind": kind, "name": name, "text": None, "content": content}


def _lines(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    coming = iter(lines)
    while some := list(islice(coming, BATCH)):
        yield {"kind": WORDS, "name": "", "text": "\n".join(some), "content": b""}


def _numbered(columns: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for number, column in enumerate(columns):
        yield {"number": number, **column}


Kind = TypeVar("Kind")


def columns_of(run: NewRun, database: Database) -> Callable[[Connection, int], None]:
    """What keeps the columns of a run, and of its gold set where that is new, beside its rows.

    They are made before: whatever takes long is done before the database is locked.
    """
    record, units = run.record, UnitColumns(plain(question.qid) for question in run.gold)
    for row in run.units:
        units.add(unit_columns(row))
    if ANSWERS in run.files:
        with suppress(UsageError, OSError):  # whoever takes the file says what is wrong with it
            units.add_answers(groups_in(run.files[ANSWERS]))
    with database.reading() as connection:
        known = _has_columns(connection, record.gold_sha256)

    def gold_columns() -> list[dict[str, Any]]:
        # As the questions will be read again: the keys in a stratum's value are sorted by then.
        return list(gold_packed(decode_gold(canonical(question)) for question in run.gold))

    gold = [] if known else gold_columns()

    def keep(connection: Connection, number: int) -> None:
        _insert_columns(connection, number, units, record, run.id)
        if record.gold_sha256 is not None:
            # Packed now only where the set was there a moment ago, and then removed.
            _insert_gold(connection, record.gold_sha256, lambda: gold or gold_columns())

    return keep


def fill_columns(connection: Connection) -> None:
    """Draw the columns of every run and gold set from their rows.

    Rows that cannot be read are passed over: who would look for the damage must be able to open
    the history, and a page of that run says that its columns are gone.
    """
    sets = select(gold_questions.c.gold_sha256).distinct()
    for sha256 in connection.execute(sets).scalars().all():
        with suppress(msgspec.DecodeError):
            _insert_gold(connection, sha256, partial(gold_repacked, connection, sha256))
    known = select(runs.c.number, runs.c.id, runs.c.gold_sha256, runs.c.document)
    for number in connection.execute(select(runs.c.number)).scalars().all():
        run = connection.execute(known.where(runs.c.number == number)).one()
        with suppress(msgspec.DecodeError):
            columns = units_repacked(connection, number, run.gold_sha256)
            _insert_columns(connection, number, columns, decode_record(run.document), run.id)


def units_repacked(connection: Connection, number: int, sha256: str | None) -> UnitColumns:
    """The columns of a run's units, drawn from their rows."""
    qids = select(gold_questions.c.qid).where(gold_questions.c.gold_sha256 == sha256)
    ordered = connection.execute(qids.order_by(gold_questions.c.place)).scalars().all()
    columns = UnitColumns(ordered)
    which = select(run_units.c.line).where(run_units.c.run == number).order_by(run_units.c.place)
    for row in _decoded(connection, which, decode_unit):
        columns.add(unit_columns(row))
    return columns


def gold_repacked(connection: Connection, sha256: str) -> list[dict[str, Any]]:
    """The columns of a gold set, drawn from its rows."""
    which = select(gold_questions.c.line).where(gold_questions.c.gold_sha256 == sha256)
    return list(
        gold_packed(_decoded(connection, which.order_by(gold_questions.c.place), decode_gold))
    )


def _insert_columns(
    connection: Connection, number: int, columns: UnitColumns, record: RunRecord, id: str
) -> None:
    for table, rows in ((packed_units, columns.rows()), (unit_keys, columns.keys())):
        add_rows(connection, insert(table), ({"run": number, **row} for row in rows))
    connection.execute(insert(run_words), {"run": number, "words": run_packed(record, id)})


def _insert_gold(
    connection: Connection, sha256: str, rows: Callable[[], Iterable[dict[str, Any]]]
) -> None:
    if not _has_columns(connection, sha256):
        new = ({"gold_sha256": sha256, **row} for row in rows())
        add_rows(connection, insert_unless_there(connection, packed_gold), new)


def _has_columns(connection: Connection, sha256: str | None) -> bool:
    known = select(packed_gold.c.number).where(packed_gold.c.gold_sha256 == sha256)
    return connection.execute(known.limit(1)).first() is not None


def _decoded(
    connection: Connection, lines: Select[Any], decode: Callable[[str], Kind]
) -> Iterator[Kind]:
    """The rows of a table, some in memory at a time; decoded here, so that a failure closes it."""
    with connection.execute(lines.execution_options(yield_per=BATCH)) as found:
        for line in found.scalars():
            yield decode(line)
