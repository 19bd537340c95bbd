"""The entities that were not found as they are, and those that are nowhere in gold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct

from ragauge.contracts.entities import EntityColumns
from ragauge.contracts.evaluation import ERRORS_KEPT, EntityError, ShownSpan
from ragauge.contracts.score import ROWS_KEPT
from ragauge.metrics.entity_kernel import Both, Judged, same_place
from ragauge.runners.components.entity_join import NOBODY, Joined
from ragauge.runners.components.entity_marked import Marked

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

CONTEXT = 40
"""Characters of the text that are shown on either side."""
Kind = Literal["boundary", "type", "boundary_and_type", "missed", "spurious"]
KINDS: tuple[Kind, ...] = ("boundary", "type", "boundary_and_type", "missed", "spurious")


class Errors(Struct, frozen=True):
    """Errors as columns, by document and reading order."""

    found: Joined
    kind: Array
    """(errors,): places in KINDS."""
    document: Array
    gold: Array
    """(errors,): the gold entity's row; -1 where there is none."""
    predicted: Array

    def counts(self) -> dict[str, int]:
        """How often each kind is met."""
        times = np.bincount(self.kind, minlength=len(KINDS)).tolist()
        return dict(zip(KINDS, times, strict=True))

    def shown(self) -> tuple[EntityError, ...]:
        """The first of each kind, as a reader meets them."""
        kept = [np.flatnonzero(self.kind == kind)[:ERRORS_KEPT] for kind in range(len(KINDS))]
        rows = np.sort(np.concatenate(kept))
        found = self.found
        golds = _shown(found, found.both.gold, found.gold_row, found.gold, self.gold[rows])
        others = _shown(
            found, found.both.predicted, found.predicted_row, found.predicted, self.predicted[rows]
        )
        kinds, documents = self.kind[rows].tolist(), self.document[rows].tolist()
        return tuple(map(self._error, kinds, documents, golds, others))

    def faults(self) -> list[tuple[str, str]]:
        """Documents with what went wrong there, of those that advice looks at."""
        units = self.found.units
        rows = np.flatnonzero(self.document < ROWS_KEPT)
        pairs = zip(self.document[rows].tolist(), self.kind[rows].tolist(), strict=True)
        lost = np.flatnonzero(~self.found.answered[:ROWS_KEPT]).tolist()
        return [
            *((units[document], KINDS[kind]) for document, kind in pairs),
            *((units[document], "missing_document") for document in lost),
        ]

    def _error(
        self, kind: int, document: int, gold: ShownSpan | None, predicted: ShownSpan | None
    ) -> EntityError:
        found, text = self.found, self.found.texts[document]
        spans = [span for span in (gold, predicted) if span is not None]
        first, last = min(span.start for span in spans), max(span.end for span in spans)
        return EntityError(
            kind=KINDS[kind],
            document=found.units[document],
            gold=gold,
            predicted=predicted,
            before=_left(text, first) if text else "",
            after=_right(text, last) if text else "",
            where=(
                found.predicted.where(int(found.predicted_place[document]))
                if gold is None
                else found.gold.where(int(found.gold_place[document]))
            ),
        )


def _left(text: str, at: int) -> str:
    """The words before a place, and a sign where more stand before them."""
    if at <= CONTEXT:
        return text[:at]
    cut = text[at - CONTEXT : at]
    blank = cut.find(" ")
    return "…" + (cut[blank + 1 :] if blank >= 0 else cut)


def _right(text: str, at: int) -> str:
    if at + CONTEXT >= len(text):
        return text[at:]
    cut = text[at : at + CONTEXT]
    blank = cut.rfind(" ")
    return (cut[:blank] if blank >= 0 else cut) + "…"


def _shown(
    found: Joined, columns: EntityColumns, given: Array, side: Marked, rows: Array
) -> list[ShownSpan | None]:
    """The entities of these rows as a reader meets them; None for a row that is none."""
    numbers = (_at(column, rows).tolist() for column in (columns.doc, columns.start, columns.end))
    types = [*columns.types, ""]
    names = [types[place] for place in _at(columns.type, rows).tolist()]
    shown: list[ShownSpan | None] = []
    for row, document, start, end, type in zip(rows.tolist(), *numbers, names, strict=True):
        if row == NOBODY:
            shown.append(None)
            continue
        text, parts = found.texts[document], columns.fragments.get(row, ((start, end),))
        if text is None:
            words = side.surface(int(given[row]))
        else:
            words = " … ".join([text[first:last] for first, last in parts])
        shown.append(ShownSpan(start=start, end=end, type=type, text=words))
    return shown


def errors_of(found: Joined, verdict: Judged) -> Errors:
    """What is wrong with the pairs, and all that has no partner."""
    both = found.both
    place = same_place(both, verdict.gold, verdict.predicted)
    type = both.gold.type[verdict.gold] == both.predicted.type[verdict.predicted]
    kind = np.select([place & ~type, ~place & type], [1, 0], 2)
    wrong = ~(place & type)
    missed = _others(len(both.gold.doc), verdict.gold)
    spurious = _others(len(both.predicted.doc), verdict.predicted)
    gold = np.concatenate([verdict.gold[wrong], missed, np.full_like(spurious, NOBODY)])
    predicted = np.concatenate([verdict.predicted[wrong], np.full_like(missed, NOBODY), spurious])
    kind = np.concatenate([kind[wrong], np.full_like(missed, 3), np.full_like(spurious, 4)])
    order = _reading_order(both, kind, gold, predicted)
    document = _of_either(both, gold, predicted, "doc")
    return Errors(found, kind[order], document[order], gold[order], predicted[order])


def _reading_order(both: Both, kind: Array, gold: Array, predicted: Array) -> Array:
    """By document, by where the error begins, and then by all else that tells two apart."""
    first = [_of_either(both, gold, predicted, name) for name in ("doc", "start", "layer")]
    rest = [
        _at(getattr(side, name), rows)
        for side, rows in ((both.gold, gold), (both.predicted, predicted))
        for name in ("end", "type", "start")
    ]
    return np.lexsort([*rest[::-1], kind, *first[::-1]])


def _of_either(both: Both, gold: Array, predicted: Array, name: str) -> Array:
    """A column of the gold entity, or of the predicted one where there is no gold."""
    one, other = _at(getattr(both.gold, name), gold), _at(getattr(both.predicted, name), predicted)
    return np.where(gold != NOBODY, one, other)


def _others(size: int, taken: Array) -> Array:
    free = np.ones(size, dtype=bool)
    free[taken] = False
    return np.flatnonzero(free)


def _at(column: Array, rows: Array) -> Array:
    """The column at these rows, 0 for those that are none."""
    padded = np.append(column, 0)
    found: Array = padded[rows]
    return found
