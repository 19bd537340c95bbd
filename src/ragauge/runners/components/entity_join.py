"""Gold and predicted entities of the same documents: brought into gold's terms, joined by id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ragauge.contracts.entities import AnnotatedText, EntityColumns, Fragment
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.annotated.entity_reading import Given, Reading, ReadingOptions
from ragauge.ingest.fields import quoted
from ragauge.metrics.entity_kernel import (
    AlignedColumns,
    align,
    entity_at,
    first_of_duplicates,
    int_column,
    rows_at,
)
from ragauge.runners.components.entity_sides import Marked, repeated_entities

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

NOBODY = -1
_NO_TOKENS = "start and end are to count tokens, and there are none"
_UNSAID = "gold counts tokens here, and nothing tells what these start and end count"
_REMEDY = (
    "; say --offsets tokens, or --offsets characters where both sides count them, or give each "
    "entity its text"
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


def by_order(gold: Marked, predicted: Marked) -> tuple[Marked, Marked]:
    """Both sides with the same documents, where one of two token files gives no document ids.

    Its tokens must be those of the other side, one by one; then it is cut into the documents of
    the other side. Raises InputRejected where a token differs.
    """

    def by_id(side: Marked, other: Marked) -> bool:
        """Whether ids decide: without tokens, or where the other side has the same numbers."""
        in_tokens = all(one is not None for one in (*side.tokens, *other.tokens))
        return not in_tokens or not other.ids or (not other.unnamed and {*side.ids} == {*other.ids})

    if predicted.unnamed and not by_id(predicted, gold):
        return gold, _recut(predicted, gold, "gold")
    if gold.unnamed and not by_id(gold, predicted):
        return _recut(gold, predicted, "the predictions"), predicted
    return gold, predicted


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


def in_characters(gold: Marked, predicted: Marked, problems: list[str]) -> Marked:
    """The predictions with places in gold's texts; those that count tokens count gold's.

    Where gold counted tokens, a prediction that does not show what it counts is a problem: read as
    characters it would be wrong, and nobody would see it.
    """
    if not (gold.in_tokens or gold.unplaced or predicted.unplaced):
        return predicted
    there = {*predicted.ids}
    for place in np.unique(gold.columns.doc).tolist():
        # Two sides without texts and tokens count the same; nothing else need be known of them.
        id = gold.ids[place]
        alike = gold.texts[place] is None and (id not in there or id in predicted.unplaced)
        if id in gold.unplaced and not alike:
            remedy = "give tokens, or say --offsets characters"
            problems.append(f"{gold.where(place)}: entities: {_NO_TOKENS}; {remedy}")
    known = {id: place for place, id in enumerate(gold.ids) if id not in gold.unplaced}
    rows_of: dict[int, list[int]] = {}
    for row, doc in enumerate(predicted.columns.doc.tolist()):
        rows_of.setdefault(doc, []).append(row)
    tokens: set[int] = set()
    moved: dict[int, tuple[Fragment, ...]] = {}
    unsaid = 0
    for place, rows in rows_of.items():
        if predicted.ids[place] not in known:
            continue
        found = _gold_tokens(gold, known[predicted.ids[place]], predicted, place, rows)
        if isinstance(found, str):
            # a file that does not say so does so throughout: once is enough for the remedy
            unsaid += found == _UNSAID
            remedy = _REMEDY if found == _UNSAID and unsaid == 1 else ""
            problems.append(f"{predicted.where(place)}: entities: {found}{remedy}")
            moved |= dict.fromkeys(rows, ())
            continue
        if found is None:
            continue
        tokens.add(place)
        for row in rows:
            parts = predicted.parts(row)
            if parts[-1][1] > len(found):
                fact = f"goes to token {parts[-1][1]}, and gold has {len(found)} tokens there"
                name = predicted.columns.types[predicted.columns.type[row]]
                problems.append(f"{predicted.where(place)}: {name} at {parts[0][0]}: {fact}")
                moved[row] = ()
            else:
                moved[row] = tuple((found[first][0], found[past - 1][1]) for first, past in parts)
    # Their text is gold's, by which their surfaces are checked from here on.
    texts = [None if place in tokens else text for place, text in enumerate(predicted.texts)]
    return replace(predicted.moved(moved), texts=texts)


def _gold_tokens(
    gold: Marked, known: int, predicted: Marked, place: int, rows: Sequence[int]
) -> Sequence[Fragment] | str | None:
    """Gold's tokens where the prediction counts them, what is wrong, or None where it does not."""
    id, text, tokens = gold.ids[known], predicted.texts[place], gold.tokens[known]
    if id not in predicted.unplaced:
        shown = text is not None or predicted.tokens[place] is not None
        shown = shown or any(predicted.surface(row) is not None for row in rows)
        return None if shown or id not in gold.in_tokens else _UNSAID
    if tokens is None:
        return f"{_NO_TOKENS}, nor has gold any; give tokens, or say --offsets characters"
    if text is not None and text != gold.texts[known]:
        return f"{_NO_TOKENS}; gold's are those of another text; give tokens"
    return tokens


def aligned(gold: Marked, predicted: Marked, problems: list[str], *, reanchor: bool) -> Marked:
    """The predictions with places in gold's texts and, where each side has one layer, in gold's.

    A text that differs from gold's in more than spaces is a problem: its places say nothing of
    gold's. Places without a text must fit gold's, as gold's own do.
    """
    predicted = _placed(gold, predicted, problems, reanchor=reanchor)
    predicted = _in_gold_texts(gold, predicted, problems)
    mine, theirs = {*gold.layers}, {*predicted.layers}
    if len(mine) != 1 or len(theirs) != 1 or mine == theirs:
        return predicted
    (one,), (other,) = mine, theirs
    fact = f"the layer {quoted(other)} is taken for gold's {quoted(one)}, as each has no other"
    columns = predicted.columns
    layers = [one if layer == other else layer for layer in columns.layers]
    found = Finding("layer_renamed", quoted(other), fact)
    return replace(
        predicted,
        columns=replace(columns, layers=layers),
        layers=[one],
        findings=(*predicted.findings, found),
    )


def _in_gold_texts(gold: Marked, predicted: Marked, problems: list[str]) -> Marked:
    if not any(predicted.texts):
        return predicted
    known = dict(zip(gold.ids, gold.texts, strict=True))
    moves: dict[int, Respacing] = {}
    findings: list[Finding] = []
    for place, (id, text) in enumerate(zip(predicted.ids, predicted.texts, strict=True)):
        other = known.get(id)
        if text is None or other is None or text == other:
            continue
        where = predicted.where(place)
        if "".join(text.split()) == "".join(other.split()):
            moves[place] = Respacing(text, other)
            fact = f"the text of {quoted(id)} has other blanks than gold's; places are counted anew"
            findings.append(Finding("text_respaced", where, fact))
            continue
        pairs = enumerate(zip(text, other, strict=False))
        same = next((at for at, pair in pairs if pair[0] != pair[1]), min(len(text), len(other)))
        problems.append(
            f"{where}: text: of {quoted(id)}, differs from gold's at character {same}: "
            f"{quoted(text[same : same + 20])}, not {quoted(other[same : same + 20])}; "
            "places in one text say nothing of another"
        )
    if not moves:
        return predicted
    doc = predicted.columns.doc
    moved = {
        row: tuple(moves[int(doc[row])](*part) for part in predicted.parts(row))
        for row in np.flatnonzero(np.isin(doc, list(moves))).tolist()
    }
    return replace(predicted.moved(moved), findings=(*predicted.findings, *findings))


class Respacing:
    """Places of one text in another that differs in spaces alone."""

    def __init__(self, text: str, other: str) -> None:
        filled = (not character.isspace() for character in text)
        self._before = [0, *accumulate(filled)]
        self._other = [place for place, one in enumerate(other) if not one.isspace()]

    def __call__(self, start: int, end: int) -> Fragment:
        """Where the same characters are; an entity of spaces alone keeps an empty place.

        >>> Respacing("( NL-1 )", "(NL-1)")(2, 6)
        (1, 5)
        """
        first, past = self._before[start], self._before[end]
        if first == past:
            return start, end
        return self._other[first], self._other[past - 1] + 1


def _placed(gold: Marked, predicted: Marked, problems: list[str], *, reanchor: bool) -> Marked:
    """The predictions that fit gold's texts, as the reader of gold would have them.

    One that ends past the text is a problem; one whose surface is elsewhere is a finding with the
    right place, and moved there where that is requested. What came with a text of its own was
    checked when it was read.
    """
    known = dict(zip(gold.ids, gold.texts, strict=True))
    own = zip(predicted.ids, predicted.texts, strict=True)
    texts = [known.get(id) if text is None else None for id, text in own]
    if all(text is None for text in texts):
        return predicted
    columns = predicted.columns
    unknown = np.iinfo(np.int64).max
    size = int_column([unknown if text is None else len(text) for text in texts])
    amiss: Array = columns.end > size[columns.doc]
    places = zip(*(one.tolist() for one in (columns.doc, columns.start, columns.end)), strict=True)
    for row, (doc, start, end) in enumerate(places):
        text, surface = texts[doc], predicted.surface(row)
        if surface is not None and text is not None and text[start:end] != surface:
            amiss[row] = True
    if not amiss.any():
        return predicted
    # A document is checked as a unit: only then does another unit of counting show.
    rows_of: dict[int, list[int]] = {}
    for row in np.flatnonzero(np.isin(columns.doc, columns.doc[amiss])).tolist():
        rows_of.setdefault(int(columns.doc[row]), []).append(row)
    reading = Reading(problems, ReadingOptions(reanchor=reanchor))
    moved: dict[int, tuple[Fragment, ...]] = {}
    for doc, rows in rows_of.items():
        where = predicted.where(doc)
        document = AnnotatedText(id=predicted.ids[doc], text=texts[doc], where=where)
        given = []
        for row in rows:  # which has its row for an id, by which it is known when it moved
            entity = replace(entity_at(columns, row), text=predicted.surface(row), id=str(row))
            given.append(Given(entity, f"{where}: {entity.type} at {entity.start}–{entity.end}"))
        kept = {one.entity.id: one.entity for one in reading.checked(document, given)}
        for row in rows:
            one = kept.get(str(row))
            moved[row] = () if one is None else one.fragments or ((one.start, one.end),)
    placed = predicted.moved(moved)
    once = first_of_duplicates(placed.columns)
    twice = repeated_entities(
        placed.columns, once, lambda row: predicted.where(int(placed.columns.doc[row]))
    )
    findings = (*predicted.findings, *reading.findings, *twice)
    return replace(placed.rows(once), findings=findings)


class Joined(Struct, frozen=True, kw_only=True):
    """The gold documents by id, with the predictions for them."""

    gold: Marked
    predicted: Marked
    units: Sequence[str]
    gold_place: Array
    """(documents,): the place of each among the gold documents given."""
    predicted_place: Array
    """(documents,): the same among the predicted ones; -1 where there is no record."""
    both: AlignedColumns
    gold_row: Array
    """(entities,): the row that each gold entity had as it was given."""
    predicted_row: Array
    texts: Sequence[str | None]
    """(documents,): gold's, else the prediction's."""
    tokens: Sequence[Sequence[Fragment] | None]
    """(documents,): gold's; the prediction's where gold has neither tokens nor text."""

    @property
    def answered(self) -> Array:
        answered: Array = self.predicted_place != NOBODY
        return answered


def joined(gold: Marked, predicted: Marked, layer: str | None) -> Joined:
    """The two sides by document; of one layer, where it is named."""
    layers = sorted({*gold.layers, *predicted.layers})
    if layer is not None and layer not in layers:
        there = ", ".join(map(quoted, layers))
        raise UsageError(f"there is no layer {quoted(layer)}; there are {there}")
    gold_place = int_column(sorted(range(len(gold.ids)), key=gold.ids.__getitem__))
    units = [gold.ids[place] for place in gold_place.tolist()]
    unit_of = {id: unit for unit, id in enumerate(units)}
    found = int_column([unit_of.get(id, NOBODY) for id in predicted.ids])
    predicted_place = np.full(len(units), NOBODY, dtype=np.int64)
    known = np.flatnonzero(found != NOBODY)
    predicted_place[found[known]] = known
    moved = np.empty_like(gold_place)
    moved[gold_place] = np.arange(len(units))
    one, gold_row = _in_units(gold.columns, moved, units, layer)
    other, predicted_row = _in_units(predicted.columns, found, units, layer)
    texts = [gold.texts[place] for place in gold_place.tolist()]
    tokens = [gold.tokens[place] for place in gold_place.tolist()]
    for unit, place in enumerate(predicted_place.tolist()):
        if texts[unit] is None and tokens[unit] is None and place != NOBODY:
            texts[unit], tokens[unit] = predicted.texts[place], predicted.tokens[place]
    return Joined(
        gold=gold,
        predicted=predicted,
        units=units,
        gold_place=gold_place,
        predicted_place=predicted_place,
        both=align(one, other),
        gold_row=gold_row,
        predicted_row=predicted_row,
        texts=texts,
        tokens=tokens,
    )


def _in_units(
    columns: EntityColumns, unit: Array, units: Sequence[str], layer: str | None
) -> tuple[EntityColumns, Array]:
    """The entities of the units, by unit and else in the order given, and their rows before."""
    doc = unit[columns.doc] if len(unit) else columns.doc
    keep = doc != NOBODY
    if layer is not None:
        keep &= columns.layer == ([*columns.layers].index(layer) if layer in columns.layers else -1)
    rows = np.flatnonzero(keep)
    if (np.diff(doc[rows]) < 0).any():
        rows = rows[np.argsort(doc[rows], kind="stable")]
    unmoved = len(rows) == len(doc) and (rows == np.arange(len(rows))).all()
    kept = columns if unmoved else rows_at(columns, rows)
    return replace(kept, doc=doc[rows], documents=units), rows


def relabelled(found: Joined, name: Callable[[str], str]) -> Joined:
    """The same with other types; entities that are then of one place and type count once."""
    both = renamed(found.both, name)
    kept = [first_of_duplicates(side) for side in (both.gold, both.predicted)]
    return replace(
        found,
        both=AlignedColumns(rows_at(both.gold, kept[0]), rows_at(both.predicted, kept[1])),
        gold_row=found.gold_row[kept[0]],
        predicted_row=found.predicted_row[kept[1]],
    )


def renamed(both: AlignedColumns, name: Callable[[str], str]) -> AlignedColumns:
    """The same with other types."""
    sides = []
    for side in (both.gold, both.predicted):
        types = sorted({name(type) for type in side.types})
        number = int_column([types.index(name(type)) for type in side.types])
        sides.append(replace(side, type=number[side.type], types=types))
    return align(*sides)


def join_findings(found: Joined, findings: Findings) -> None:
    """What a reader should know of the two sides."""
    for finding in (*found.gold.findings, *found.predicted.findings):
        findings.add(finding)
    for unit in np.flatnonzero(~found.answered).tolist():
        where = found.gold.where(found.gold_place[unit])
        fact = f"{quoted(found.units[unit])} has no prediction record; all of it is missed"
        findings.add(Finding("missing_document", where, fact))
    known = set(found.units)
    for place, id in enumerate(found.predicted.ids):
        if id not in known:
            fact = f"gold has no document {quoted(id)}; it is not scored"
            findings.add(Finding("unknown_document", found.predicted.where(place), fact))
    met = {
        side.layers[place]
        for side in (found.both.gold, found.both.predicted)
        for place in np.unique(side.layer)
    }
    gold, predicted = {*found.gold.layers}, {*found.predicted.layers}
    for layer in sorted(met & (predicted - gold)):
        fact = f"gold has no layer {quoted(layer)}; what is predicted in it counts as spurious"
        findings.add(Finding("layer_not_in_gold", quoted(layer), fact))
    for layer in sorted(met & (gold - predicted)):
        fact = f"nothing was predicted in the layer {quoted(layer)}; all of it is missed"
        findings.add(Finding("layer_not_predicted", quoted(layer), fact))
