"""Columns compared with the rows they are drawn from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from ragauge.contracts.history import RunRecord
from ragauge.store.column_filling import gold_repacked, units_repacked
from ragauge.store.column_making import run_packed
from ragauge.store.tables import packed_gold, packed_units, run_words, unit_keys


def unit_column_faults(
    connection: Connection, number: int, record: RunRecord, id: str
) -> Iterator[str]:
    """What is wrong with the columns of a run whose rows are whole."""
    try:
        drawn = units_repacked(connection, number, record.gold_sha256)
    except msgspec.DecodeError:
        return  # and the rows are told to be at fault
    kept = select(packed_units).where(packed_units.c.run == number)
    if not _are(connection, kept.order_by(packed_units.c.number), drawn.rows()):
        yield "units: the columns are not as the rows"
    places = select(unit_keys).where(unit_keys.c.run == number)
    if not _are(connection, places.order_by(unit_keys.c.key, unit_keys.c.place), drawn.keys()):
        yield "units: their places are not as the rows"
    words = select(run_words.c.words).where(run_words.c.run == number)
    if connection.execute(words).scalar() != run_packed(record, id):
        yield "words: the table is not as the record"


def gold_column_faults(connection: Connection, sha256: str) -> Iterator[str]:
    """What is wrong with the columns of a gold set whose rows are whole."""
    kept = select(packed_gold).where(packed_gold.c.gold_sha256 == sha256)
    try:
        drawn = gold_repacked(connection, sha256)
    except msgspec.DecodeError:
        return
    if not _are(connection, kept.order_by(packed_gold.c.number), drawn):
        yield f"gold set {sha256[:12]}: the columns are not as the rows"


def _are(connection: Connection, kept: Any, drawn: Iterable[dict[str, Any]]) -> bool:
    """Whether the rows of a table are these, in this order."""
    found = connection.execute(kept).mappings().all()
    expected = list(drawn)
    return len(found) == len(expected) and all(
        {name: row[name] for name in one} == one for row, one in zip(found, expected, strict=True)
    )
