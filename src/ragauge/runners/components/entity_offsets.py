"""Predictions whose start and end count tokens that only gold has, at their places in the text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from ragauge.contracts.entities import Fragment
from ragauge.metrics.entity_columns import rows_at
from ragauge.runners.components.entity_marked import Marked

Rows = dict[int, list[int]]
"""By document the rows of its entities."""
_NO_TOKENS = "start and end are to count tokens, and there are none"
_UNSAID = "gold counts tokens here, and nothing tells what these start and end count"
_REMEDY = (
    "; say --offsets tokens, or --offsets characters where both sides count them, or give each "
    "entity its text"
)


def in_characters(gold: Marked, predicted: Marked, problems: list[str]) -> Marked:
    """The predictions with places in gold's texts; those that count tokens count gold's.

    Where gold counted tokens, a prediction that does not show what it counts is a problem: read as
    characters it would be wrong, and nobody would see it.
    """
    if not (gold.in_tokens or gold.unplaced or predicted.unplaced):
        return predicted
    there = {id: place for place, id in enumerate(predicted.ids)}
    problems += _unplaced_gold(gold, predicted, there)
    known = {id: place for place, id in enumerate(gold.ids) if id not in gold.unplaced}
    tokens: dict[int, Sequence[Fragment]] = {}
    lost: list[int] = []
    unsaid = 0
    by_document = _rows(predicted)
    for place, rows in by_document.items():
        if predicted.ids[place] not in known:
            continue
        told = _tokens(gold, known[predicted.ids[place]], predicted, place, rows)
        if isinstance(told, str):
            # a file that does not say so does so throughout: once is enough for the remedy
            unsaid += told == _UNSAID
            remedy = _REMEDY if told == _UNSAID and unsaid == 1 else ""
            problems.append(f"{predicted.where(place)}: entities: {told}{remedy}")
            lost += rows
        elif told is not None:
            tokens[place] = told
    moved, outside = _moved(predicted, tokens, by_document, problems)
    return _without(moved, [*lost, *outside])


def _rows(marked: Marked) -> Rows:
    found: Rows = {}
    for row, doc in enumerate(marked.columns.doc.tolist()):
        found.setdefault(doc, []).append(row)
    return found


def _unplaced_gold(gold: Marked, predicted: Marked, there: dict[str, int]) -> list[str]:
    """What is wrong with gold that counts tokens it does not have.

    Two sides without texts and tokens count the same; that is all one needs to know of them.
    """
    found = []
    for place in sorted(_rows(gold)):
        id = gold.ids[place]
        alike = gold.texts[place] is None and (id not in there or id in predicted.unplaced)
        if id in gold.unplaced and not alike:
            remedy = "give tokens, or say --offsets characters"
            found.append(f"{gold.where(place)}: entities: {_NO_TOKENS}; {remedy}")
    return found


def _tokens(
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


def _moved(
    predicted: Marked, tokens: dict[int, Sequence[Fragment]], rows: Rows, problems: list[str]
) -> tuple[Marked, list[int]]:
    """The predictions of some documents at the places of their tokens, and those that have none."""
    columns = predicted.columns
    start, end = columns.start.copy(), columns.end.copy()
    fragments = dict(columns.fragments)
    outside: list[int] = []
    for place, known in tokens.items():
        for row in rows[place]:
            parts = fragments.get(row, ((int(start[row]), int(end[row])),))
            if parts[-1][1] > len(known):
                fact = f"goes to token {parts[-1][1]}, and gold has {len(known)} tokens there"
                name = columns.types[columns.type[row]]
                problems.append(f"{predicted.where(place)}: {name} at {parts[0][0]}: {fact}")
                outside.append(row)
                continue
            at = tuple((known[first][0], known[past - 1][1]) for first, past in parts)
            start[row], end[row] = at[0][0], at[-1][1]
            if row in fragments:
                fragments[row] = at
    moved = replace(columns, start=start, end=end, fragments=fragments)
    # their text is gold's, by which their surfaces are checked from here on
    texts = [None if place in tokens else text for place, text in enumerate(predicted.texts)]
    return replace(predicted, columns=moved, texts=texts), outside


def _without(predicted: Marked, lost: Sequence[int]) -> Marked:
    if not lost:
        return predicted
    kept = np.delete(np.arange(len(predicted.columns.doc)), lost)
    rows = kept.tolist()
    return replace(
        predicted,
        columns=rows_at(predicted.columns, kept),
        surface=lambda row: predicted.surface(rows[row]),
    )
