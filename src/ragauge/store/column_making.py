"""Columns made of unit rows and gold questions, so that pages can be sorted and filtered quickly.

A column is packed: the places that have a value as 4-byte integers, then the values: 8-byte floats
of a metric, else integers, which count into names (a JSON array in `text`) or along an order. What
has no value takes no room, so that columns together are never larger than what they are drawn from.
Words are the exception: `text` has a line a place, some lines a row.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ragauge.contracts.gold import ANSWERABLE, Gold, value_of
from ragauge.contracts.history import NewRun, RunRecord, canonical
from ragauge.store.database import BATCH
from ragauge.store.recorded import gold_columns, plain, unit_columns

OWN, METRIC, STRATUM, WORDS = "own", "metric", "stratum", "words"
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

    def add(self, columns: Mapping[str, Any]) -> None:
        """Take a unit, as the table of units has it."""
        place = len(self._units)
        self._units.append(columns["unit"])
        self._right.add(place, columns["right"])
        self._label.add(place, columns["label"])
        for metric, value in columns["values"].items():
            self._values.setdefault(metric, _Filled()).add(place, value)

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


def units_packed(run: NewRun) -> UnitColumns:
    """The columns of a run that is to be recorded."""
    columns = UnitColumns(plain(question.qid) for question in run.gold)
    for row in run.units:
        columns.add(unit_columns(row))
    return columns


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
    """Where each text comes in the order of their bytes; the same for the same text."""
    ranks = {text: rank for rank, text in enumerate(sorted(set(texts)))}
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
