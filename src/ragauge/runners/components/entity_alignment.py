"""Predictions brought into the terms of gold: its text, where only blanks differ, and its layer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ragauge.contracts.entities import AnnotatedText, Entity, EntityColumns, Fragment
from ragauge.contracts.finding import Finding
from ragauge.errors import InputRejected
from ragauge.ingest.annotated.entity_reading import Given, Reading, ReadingOptions
from ragauge.ingest.fields import quoted
from ragauge.metrics.entity_kernel import entity_at, first_of_each, rows_at, whole
from ragauge.runners.components.entity_marked import Marked, repeated_entities

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array


def aligned(gold: Marked, predicted: Marked, problems: list[str], *, reanchor: bool) -> Marked:
    """The predictions with places in gold's texts and, where each side has one layer, in gold's.

    A text that differs from gold's in more than blanks is a problem: its places say nothing of
    gold's. Places without a text must fit gold's, as gold's own do.
    """
    there = placed(gold, predicted, problems, reanchor=reanchor)
    return _in_gold_layer(gold, _in_gold_texts(gold, there, problems))


def by_order(gold: Marked, predicted: Marked) -> tuple[Marked, Marked]:
    """Both sides with the same documents, where one of two token files gives no document ids.

    Its tokens must be those of the other side, one by one; then it is cut into the documents of
    the other side. Raises InputRejected where a token differs.
    """
    if predicted.unnamed and not _joined_by_id(predicted, gold):
        return gold, _recut(predicted, gold, "gold")
    if gold.unnamed and not _joined_by_id(gold, predicted):
        return _recut(gold, predicted, "the predictions"), predicted
    return gold, predicted


def _joined_by_id(side: Marked, other: Marked) -> bool:
    """Whether ids decide: without tokens, or where the other side has the same numbers as ids."""
    in_tokens = all(one is not None for one in (*side.tokens, *other.tokens))
    return not in_tokens or not other.ids or (not other.unnamed and {*side.ids} == {*other.ids})


def _recut(side: Marked, other: Marked, name: str) -> Marked:
    mine, theirs = _words(side), _words(other)
    fact = "gives no document ids, so documents are aligned by order"
    remedy = "give both files document ids, or the same tokens"
    if len(mine) != len(theirs):
        there = f"it has {len(mine):,} tokens and {name} {len(theirs):,}"
        raise InputRejected(f"{side.where(0)}: {fact}, but {there}; {remedy}")
    for number, (one, two) in enumerate(zip(mine, theirs, strict=True), 1):
        if one.text != two.text:
            unlike = f"token {number:,} is {quoted(one.text)} and in {name} {quoted(two.text)}"
            raise InputRejected(f"{side.where(one.doc)}: {fact}, but {unlike}; {remedy}")
    starts = {(one.doc, one.start): number for number, one in enumerate(mine)}
    ends = {(one.doc, one.end): number for number, one in enumerate(mine)}
    columns = side.columns
    doc, start, end = columns.doc.copy(), columns.start.copy(), columns.end.copy()
    for row, old in enumerate(columns.doc.tolist()):
        first = theirs[starts[old, int(columns.start[row])]]
        last = theirs[ends[old, int(columns.end[row])]]
        if first.doc != last.doc:
            crossing = f"the entity at {quoted(first.text)} goes on into the next document"
            raise InputRejected(f"{side.where(old)}: {fact}, but {crossing}; {remedy}")
        doc[row], start[row], end[row] = first.doc, first.start, last.end
    firsts = {two.doc: one.doc for one, two in zip(reversed(mine), reversed(theirs), strict=True)}
    found = Finding(
        "aligned_by_order",
        side.where(0),
        f"gives no document ids; its {len(mine):,} tokens are those of {name}, and its documents "
        "were aligned by order",
    )
    return replace(
        side,
        columns=replace(columns, documents=other.ids, doc=doc, start=start, end=end),
        texts=other.texts,
        tokens=other.tokens,
        strata=side.strata if len(side.ids) == len(other.ids) else other.strata,
        where=lambda place: side.where(firsts[place]),
        findings=(*side.findings, found),
        unnamed=False,
    )


class _Word(Struct, frozen=True):
    """A token: its document, by number, its place there and its text."""

    doc: int
    start: int
    end: int
    text: str


def _words(side: Marked) -> list[_Word]:
    return [
        _Word(doc, start, end, (text or "")[start:end])
        for doc, (text, tokens) in enumerate(zip(side.texts, side.tokens, strict=True))
        for start, end in tokens or ()
    ]


def _in_gold_texts(gold: Marked, predicted: Marked, problems: list[str]) -> Marked:
    if not any(predicted.texts):
        return predicted
    known = {id: place for place, id in enumerate(gold.ids)}
    moves: dict[int, Respacing] = {}
    findings: list[Finding] = []
    for place, (id, text) in enumerate(zip(predicted.ids, predicted.texts, strict=True)):
        there = known.get(id)
        other = None if there is None else gold.texts[there]
        if text is None or other is None or text == other:
            continue
        where = predicted.where(place)
        if _dense(text) != _dense(other):
            problems.append(f"{where}: {_unlike(id, text, other)}")
            continue
        moves[place] = Respacing(text, other)
        fact = f"the text of {quoted(id)} has other blanks than gold's; places are counted anew"
        findings.append(Finding("text_respaced", where, fact))
    if not moves:
        return predicted
    columns = _moved(predicted.columns, moves)
    return replace(predicted, columns=columns, findings=(*predicted.findings, *findings))


class Respacing:
    """Places of one text in another that differs in blanks alone."""

    def __init__(self, text: str, other: str) -> None:
        filled = (not character.isspace() for character in text)
        self._before = [0, *accumulate(filled)]
        self._other = [place for place, one in enumerate(other) if not one.isspace()]

    def __call__(self, start: int, end: int) -> Fragment:
        """Where the same characters stand; an entity of blanks alone keeps an empty place.

        >>> Respacing("( NL-1 )", "(NL-1)")(2, 6)
        (1, 5)
        """
        first, past = self._before[start], self._before[end]
        if first == past:
            return start, end
        return self._other[first], self._other[past - 1] + 1


def _moved(columns: EntityColumns, moves: dict[int, Respacing]) -> EntityColumns:
    start, end = columns.start.copy(), columns.end.copy()
    fragments = dict(columns.fragments)
    for row in np.flatnonzero(np.isin(columns.doc, list(moves))).tolist():
        move = moves[int(columns.doc[row])]
        start[row], end[row] = move(int(start[row]), int(end[row]))
        if row in fragments:
            fragments[row] = tuple(move(*part) for part in fragments[row])
    return replace(columns, start=start, end=end, fragments=fragments)


def _dense(text: str) -> str:
    return "".join(text.split())


def _unlike(id: str, text: str, other: str) -> str:
    same = next(
        (place for place, pair in enumerate(zip(text, other, strict=False)) if pair[0] != pair[1]),
        min(len(text), len(other)),
    )
    return (
        f"text: of {quoted(id)}, differs from gold's at character {same}: "
        f"{quoted(text[same : same + 20])}, not {quoted(other[same : same + 20])}; "
        "places in one text say nothing of another"
    )


def _in_gold_layer(gold: Marked, predicted: Marked) -> Marked:
    one, other = _only(gold.layers), _only(predicted.layers)
    if one is None or other is None or one == other:
        return predicted
    fact = f"the layer {quoted(other)} is taken for gold's {quoted(one)}, as each has no other"
    columns = replace(
        predicted.columns,
        layers=[one if layer == other else layer for layer in predicted.columns.layers],
    )
    found = Finding("layer_renamed", quoted(other), fact)
    return replace(predicted, columns=columns, layers=[one], findings=(*predicted.findings, found))


def _only(layers: Sequence[str]) -> str | None:
    return layers[0] if len({*layers}) == 1 else None


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
