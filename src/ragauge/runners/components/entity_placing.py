"""Predictions that come without a text, checked against gold's: places, and given surfaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from ragauge.contracts.entities import AnnotatedText, Entity
from ragauge.ingest.annotated.entity_reading import Given, Reading, ReadingOptions
from ragauge.metrics.entity_columns import entity_at, first_of_each, rows_at, whole
from ragauge.runners.components.entity_marked import Marked, repeated_entities

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array


def placed(gold: Marked, predicted: Marked, problems: list[str], *, reanchor: bool) -> Marked:
    """The predictions that can stand in gold's texts, as the reader of gold would have them.

    One that ends past the text is a problem; one whose surface stands elsewhere is a finding with
    the right place, and moved there where that is asked for. What came with a text of its own was
    checked when it was read.
    """
    texts = _gold_texts(gold, predicted)
    amiss = _amiss(predicted, texts)
    if not amiss.any():
        return predicted
    reading = Reading(problems, ReadingOptions(reanchor=reanchor))
    found: dict[int, Entity | None] = {}
    for doc, rows in _of_documents(predicted.columns.doc, amiss).items():
        found |= _read_again(predicted, doc, rows, texts[doc], reading)
    return _with(replace(predicted, findings=(*predicted.findings, *reading.findings)), found)


def _gold_texts(gold: Marked, predicted: Marked) -> list[str | None]:
    """For each predicted document without a text that of gold, where gold has one."""
    known = dict(zip(gold.ids, gold.texts, strict=True))
    own = zip(predicted.ids, predicted.texts, strict=True)
    return [known.get(id) if text is None else None for id, text in own]


def _amiss(predicted: Marked, texts: Sequence[str | None]) -> Array:
    """(entities,): whether one may not stand at its place; nearly all do, at a glance."""
    columns = predicted.columns
    if all(text is None for text in texts):
        return np.zeros(len(columns.doc), dtype=bool)
    unknown = np.iinfo(np.int64).max
    size = whole([unknown if text is None else len(text) for text in texts])
    amiss: Array = columns.end > size[columns.doc]
    places = zip(*(one.tolist() for one in (columns.doc, columns.start, columns.end)), strict=True)
    for row, (doc, start, end) in enumerate(places):
        text, surface = texts[doc], predicted.surface(row)
        if surface is not None and text is not None and text[start:end] != surface:
            amiss[row] = True
    return amiss


def _of_documents(doc: Array, amiss: Array) -> dict[int, list[int]]:
    """All rows of the documents in which something is amiss.

    A whole document is checked at once: only then does another unit of counting show.
    """
    found: dict[int, list[int]] = {}
    for row in np.flatnonzero(np.isin(doc, doc[amiss])).tolist():
        found.setdefault(int(doc[row]), []).append(row)
    return found


def _given(predicted: Marked, row: int) -> Entity:
    """An entity with its surface, and its row for an id, by which it is known when it moved."""
    return replace(entity_at(predicted.columns, row), text=predicted.surface(row), id=str(row))


def _read_again(
    predicted: Marked, doc: int, rows: Sequence[int], text: str | None, reading: Reading
) -> dict[int, Entity | None]:
    """By row the entities of a document as they stand in the text; None for what cannot."""
    where = predicted.where(doc)
    given = [_given(predicted, row) for row in rows]
    document = AnnotatedText(id=predicted.ids[doc], text=text, where=where)
    named = [Given(one, f"{where}: {one.type} at {one.start}–{one.end}") for one in given]
    kept = {one.entity.id: one.entity for one in reading.checked(document, named)}
    return {row: kept.get(str(row)) for row in rows}


def _with(predicted: Marked, found: dict[int, Entity | None]) -> Marked:
    """The predictions with these entities in place of those of their rows, each once."""
    columns = predicted.columns
    start, end = columns.start.copy(), columns.end.copy()
    fragments = dict(columns.fragments)
    for row, entity in found.items():
        if entity is not None:
            start[row], end[row] = entity.start, entity.end
            fragments |= {row: entity.fragments} if entity.fragments else {}
    lost = [row for row, entity in found.items() if entity is None]
    standing = np.delete(np.arange(len(columns.doc)), lost)
    columns = rows_at(replace(columns, start=start, end=end, fragments=fragments), standing)
    once = first_of_each(columns)
    rows = standing[once].tolist()
    twice = repeated_entities(columns, once, lambda row: predicted.where(int(columns.doc[row])))
    return replace(
        predicted,
        columns=rows_at(columns, once),
        surface=lambda row: predicted.surface(rows[row]),
        findings=(*predicted.findings, *twice),
    )
