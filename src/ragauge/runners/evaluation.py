"""The end of every evaluation: scores, gates, slices and rows from the sums of its units."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from ragauge.contracts.gold import ANSWERABLE, Gold
from ragauge.contracts.score import Score, UnitRows
from ragauge.contracts.verdict import Rule, Verdict
from ragauge.errors import UsageError
from ragauge.gates.decide import MIN_COVERAGE, decide, decide_each
from ragauge.metrics.sums import QuestionSums
from ragauge.runners.numbers import each_value, grouped, measured, scored, why_missing

if TYPE_CHECKING:
    from ragauge.runners.numbers import Floats, Mask

Settle = Callable[[Rule, Verdict, "Mask | None"], Verdict]
"""What a command makes of a gate's verdict over the units of a mask, by what it alone knows."""


class Slicing(Struct, frozen=True):
    """What the units can be sliced by: the value that each has, by the name of a stratum."""

    column: Callable[[str], Sequence[str | None] | None]
    """The value of each unit; None where no unit has one."""
    names: Callable[[], str]
    """All strata, for an error message."""
    unit: str = "question"

    def mask(self, rule: Rule) -> Mask | None:
        """The units that meet the conditions of a rule; None where it has none."""
        mask: Mask | None = None
        for key, wanted in rule.where.items():
            column = self.column(key)
            if column is None:
                fact = f'no {self.unit} has "{key}"; there are {self.names()}'
                raise UsageError(f'gate "{rule}": {fact}')
            word = str(wanted).lower()
            met = np.array([value is not None and value.lower() == word for value in column])
            mask = met if mask is None else mask & met
        return mask


def by_columns(columns: Mapping[str, Sequence[str | None]]) -> Slicing:
    """Units sliced by columns of values."""
    return Slicing(
        columns.get, lambda: ", ".join(sorted(columns)) or "none in this gold", unit="unit"
    )


def by_gold(gold: Sequence[Gold], strays: int = 0) -> Slicing:
    """Questions sliced by what the gold set says of them; strays after them have no strata."""

    def column(key: str) -> list[str | None] | None:
        told = [str(value) if known else None for known, value in (_told(one, key) for one in gold)]
        return [*told, *[None] * strays] if any(value is not None for value in told) else None

    def names() -> str:
        known = {ANSWERABLE}.union(*(question.strata for question in gold))
        return ", ".join(sorted(known)) if gold else "none without --gold"

    return Slicing(column, names)


def _told(question: Gold, key: str) -> tuple[bool, Any]:
    if key == ANSWERABLE:
        return True, question.answerable
    return key in question.strata, question.strata.get(key)


class Numbers:
    """What the sums of units come to: over all of them, over a slice, and against rules."""

    def __init__(
        self,
        sums: Mapping[str, QuestionSums],
        ids: Sequence[str],
        slicing: Slicing,
        signature: str,
        *,
        made_with: Mapping[str, str] = {},
        weights: Floats | None = None,
        groups: Sequence[str] | None = None,
        intervals: bool = True,
        min_coverage: float = MIN_COVERAGE,
        settle: Settle | None = None,
    ) -> None:
        self._sums, self._ids, self._slicing = sums, ids, slicing
        self._signature, self._made_with = signature, made_with
        self._weights, self._groups, self._intervals = weights, groups, intervals
        self._least, self._settle = min_coverage, settle

    def score(self, id: str, mask: Mask | None = None, confidence: float | None = None) -> Score:
        """The score of a metric over all units, or those of a mask."""
        sums, weights = self._sums[id], self._weights
        made = (self._signature, self._made_with.get(id))
        signature = "|".join((id, f"v{sums.metric.version}", *filter(None, made)))
        if self._groups is not None:
            sums, mask = grouped(sums, self._groups, mask), None
            signature += f"|groups:{len(sums.units)}"
        intervals = self._intervals or confidence is not None
        return scored(sums, signature, mask, confidence, weights, intervals=intervals)

    def scores(self) -> dict[str, Score]:
        return {id: self.score(id) for id in sorted(self._sums)}

    def verdicts(self, rules: Sequence[Rule]) -> tuple[Verdict, ...]:
        return tuple(self.verdict(rule) for rule in rules)

    def verdict(self, rule: Rule) -> Verdict:
        mask = self._slicing.mask(rule)
        verdict = self._decided(rule, mask)
        return self._settle(rule, verdict, mask) if self._settle else verdict

    def _decided(self, rule: Rule, mask: Mask | None) -> Verdict:
        sums = self._sums.get(rule.metric)
        if sums is None:
            reason = "this evaluation does not measure it"
            return decide(rule, Score(value=None, n=0, of=len(self._ids), reason=reason))
        if rule.per == "question":
            return decide_each(rule, each_value(sums, self._ids, mask), self._least)
        why = why_missing(sums) if mask is None else ""
        return decide(rule, self.score(rule.metric, mask, rule.confidence), self._least, why)

    def by_value(
        self, values: Sequence[str | None], metrics: Sequence[str]
    ) -> dict[str, dict[str, Score]]:
        """These metrics for each value that units have, in order."""
        column = np.array([value or "" for value in values], dtype=object)
        return {
            value: {id: self.score(id, column == value) for id in metrics}
            for value in sorted({value for value in values if value})
        }

    def units(
        self,
        labels: Sequence[str | None],
        right: Sequence[bool | None],
        details: dict[str, Sequence[Any]],
    ) -> UnitRows:
        """What each unit came to."""
        return UnitRows(
            ids=self._ids,
            labels=labels,
            right=right,
            details=details,
            measured={id: measured(sums, "sums") for id, sums in self._sums.items()},
        )
