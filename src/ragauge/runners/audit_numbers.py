"""The numbers of an audit: scores and gates, over the questions it met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ragauge.contracts.calibration import Calibration, no_gate
from ragauge.contracts.gold import Gold
from ragauge.contracts.score import Score, UnitRows
from ragauge.contracts.verdict import Rule, Verdict
from ragauge.errors import UsageError
from ragauge.gates.decide import MIN_COVERAGE, decide, decide_each, meets
from ragauge.gates.traceability import about_deltas, uncalibrated
from ragauge.metrics.sums import QuestionSums
from ragauge.runners.numbers import each_value, measured, scored, weights_of, why_missing


class AuditNumbers:
    """Scores by metric, and the verdicts of rules about them."""

    def __init__(
        self,
        sums: Mapping[str, QuestionSums],
        questions: Sequence[str],
        gold: Sequence[Gold],
        reading: str,
        calibration: Calibration | None = None,
        min_coverage: float = MIN_COVERAGE,
    ) -> None:
        self._sums, self._questions, self._reading = sums, questions, reading
        self._gold = {question.qid: question for question in gold}
        self._weights = self._weights_of(gold)
        self._calibration, self._least = calibration, min_coverage

    def scores(self) -> dict[str, Score]:
        return {id: self._score(id) for id in sorted(self._sums)}

    def verdicts(self, rules: Sequence[Rule]) -> tuple[Verdict, ...]:
        return tuple(self._verdict(rule) for rule in rules)

    def units(self, labels: Sequence[str | None], details: dict[str, Sequence[Any]]) -> UnitRows:
        """What each question came to."""
        return UnitRows(
            ids=self._questions,
            labels=labels,
            right=[None if label is None else label == "ok" for label in labels],
            details=details,
            measured={id: measured(sums, "sums") for id, sums in self._sums.items()},
        )

    def _score(
        self, id: str, where: Mapping[str, object] | None = None, confidence: float | None = None
    ) -> Score:
        sums = self._sums[id]
        signature = f"{id}|v{sums.metric.version}|{self._reading}"
        mask = np.array([self._inside(qid, where) for qid in self._questions]) if where else None
        return scored(sums, signature, mask, confidence, self._weights)

    def _verdict(self, rule: Rule) -> Verdict:
        if about_deltas(rule) and (reason := no_gate(self._calibration)):
            return uncalibrated(rule, self._score(rule.metric), reason)
        self._check_conditions(rule)
        if rule.per == "question":
            inside = np.array([self._inside(qid, rule.where) for qid in self._questions])
            each = each_value(self._sums[rule.metric], self._questions, inside)
            return decide_each(rule, each, self._least)
        why = "" if rule.where else why_missing(self._sums[rule.metric])
        score = self._score(rule.metric, rule.where, rule.confidence)
        return decide(rule, score, self._least, why)

    def _inside(self, qid: str, where: Mapping[str, object] | None) -> bool:
        question = self._gold.get(qid)
        return not where or (question is not None and meets(question, dict(where)))

    def _check_conditions(self, rule: Rule) -> None:
        known = {"answerable"}.union(*(one.strata for one in self._gold.values()))
        for key in rule.where:
            if key not in known or not self._gold:
                names = ", ".join(sorted(known)) if self._gold else "none without --gold"
                raise UsageError(f'gate "{rule}": no question has "{key}"; there are {names}')

    def _weights_of(self, gold: Sequence[Gold]) -> np.ndarray | None:
        """How many questions each stands for; one the gold set does not have stands for itself."""
        weights = weights_of(gold)
        if weights is None:
            return None
        strays = len(self._questions) - len(gold)
        return np.concatenate([weights, np.ones(strays)])
