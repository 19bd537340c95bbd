"""Verdicts: what the questions of a sweep came to, added up one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Absent, Row
from ragauge.contracts.report import ROWS_KEPT, Measured, Rule, Score, Verdict
from ragauge.contracts.run import FACTORS
from ragauge.contracts.stability import (
    STABILITIES,
    FactorEffect,
    OverQuestions,
    QuestionStability,
    Stability,
    StabilityCoverage,
)
from ragauge.diagnosis.advice import StabilityFacts, stability_facts
from ragauge.gates.rules import meets
from ragauge.gates.stability import MORE_RUNS, STABLE, rule_verdict
from ragauge.metrics.factors import effect
from ragauge.metrics.stability import METRICS
from ragauge.metrics.sums import Sums
from ragauge.runners.evaluation import Evaluation, weights_of
from ragauge.runners.heat_map import HeatMap
from ragauge.runners.question_stability import JudgedQuestion
from ragauge.runners.run_lines import RunLines
from ragauge.runners.sweep_findings import Outputs
from ragauge.stats.intervals import mean_of_shares

if TYPE_CHECKING:
    from ragauge.runners.evaluation import Floats

STABLE_VERSION = 2


class Verdicts:
    """What the questions came to, added up as they are judged."""

    def __init__(self, gold: list[Gold], rules: tuple[Rule, ...], heat_map: HeatMap) -> None:
        self._gold, self._rules, self.heat_map = gold, rules, heat_map
        self.details: dict[str, QuestionStability] = {}
        """The questions a report holds; the rest are in the sums."""
        self.outputs = Outputs()
        self._pairs: Counter[str] = Counter()
        self._differ: Counter[str] = Counter()
        self.failures: list[StabilityFacts] = []
        self.strata = {question.qid: question.strata for question in gold}
        self._verdicts: list[Stability] = []
        self._shown: dict[str, list[Any]] = {
            name: [] for name in ("claim", "cited", "error", "explained_by", "failed")
        }
        self._rows: dict[str, list[Row | Absent]] = {metric.id: [] for metric in METRICS}
        self._failing: dict[str, list[str]] = {str(rule): [] for rule in rules}
        self._applied: Counter[str] = Counter()
        self._unjudged: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._asked: list[tuple[int, tuple[str, ...], str | None]] = []

    def add(self, place: int, one: JudgedQuestion) -> None:
        """Take in a question, in the order of the gold set."""
        detail = one.detail
        if len(self.details) < ROWS_KEPT:
            self.details[one.gold.qid] = detail
        self.heat_map.add(one.cells)
        self._verdicts.append(detail.verdict)
        self._show(detail)
        self._asked.append((detail.prompts, detail.noop, detail.blamed))
        for factor, found in detail.factors.items():
            self._pairs[factor] += found.pairs
            self._differ[factor] += found.differ
        self.failures.append(stability_facts(one.gold.qid, detail))
        self.outputs.add(one)
        for id, rows in self._rows.items():
            rows.append(one.judged.rows[id])
        self._apply(one)
        for name in ("planned", "runs", "errors", "missing", "saved"):
            self._counts[name] += getattr(detail, name)
        self._counts["questions"] += bool(detail.runs or detail.errors)
        self._counts["surplus"] += one.surplus

    def cells(self) -> dict[str, str]:
        """The rows of the heat map that a report holds."""
        return dict(zip(self.details, self.heat_map.rows(), strict=False))

    def over_questions(self) -> OverQuestions:
        """What is counted over all questions, also those that a report has no room for."""
        return OverQuestions.of(
            (prompts for prompts, _, _ in self._asked),
            (jitter for _, noops, _ in self._asked for jitter in noops),
            (factor for *_, factor in self._asked if factor),
        )

    def _show(self, detail: QuestionStability) -> None:
        """Keep the commonest answer, and what the variation goes with."""
        first = detail.examples[0] if detail.examples else None
        why = detail.explained_by
        self._shown["claim"].append(first.claim if first else None)
        self._shown["cited"].append(first.cited if first else ())
        self._shown["error"].append(first.error if first else None)
        self._shown["explained_by"].append(why.words if why else None)
        self._shown["failed"].append(detail.failed)

    def _apply(self, one: JudgedQuestion) -> None:
        failed = {str(failed.rule) for failed in one.judged.failed}
        for rule in filter(lambda rule: meets(one.gold, rule.where), self._rules):
            name = str(rule)
            if name in failed:
                self._failing[name].append(one.gold.qid)
            told = one.judged.values[rule.metric] is not None or name in failed
            self._applied[name] += told
            self._unjudged[name] += not told and len(one.unit.runs) < 2

    @property
    def saved(self) -> int:
        """Planned runs that were not needed."""
        return self._counts["saved"]

    def factors(self) -> dict[str, FactorEffect]:
        """Each factor's effect over all questions."""
        return {factor: effect(self._pairs[factor], self._differ[factor]) for factor in FACTORS}

    def evaluation(self, reading: str) -> Evaluation:
        """Each metric's mean over the questions it applies to, each counting once."""
        weights = weights_of(self._gold)
        weighted = "" if weights is None else "|weighted"
        return Evaluation(
            ids=[question.qid for question in self._gold],
            sums={metric.id: Sums.of(metric, self._rows[metric.id]) for metric in METRICS},
            given={STABLE: self._stable(weights, weighted)},
            signature=reading + weighted,
            weights=weights,
            total="mean",
        )

    def _stable(self, weights: Floats | None, weighted: str) -> Score:
        """The fraction of questions with two runs or more that are stable and correct."""
        values = self.stable_units().values
        evaluated = ~np.isnan(values)
        n, of = int(evaluated.sum()), len(values)
        signature = f"{STABLE}|v{STABLE_VERSION}{weighted}|n:{n}"
        if not n:
            reason = f"one run per question shows nothing about stability: {MORE_RUNS}"
            return Score(value=None, n=0, of=of, reason=reason, signature=signature)
        values, heavy = values[evaluated], None if weights is None else weights[evaluated]
        share = float(values.mean() if heavy is None else np.average(values, weights=heavy))
        ends = mean_of_shares(values, weights=heavy)
        return Score(value=share, n=n, of=of, ci=ends, signature=signature)

    def rule_verdicts(self, least: float) -> Iterator[Verdict]:
        for rule in self._rules:
            name = str(rule)
            counts = self._applied[name], self._unjudged[name]
            yield rule_verdict(rule, *counts, self._failing[name], len(self._gold), least)

    def totals(self) -> dict[str, int]:
        answerable = sum(question.answerable for question in self._gold)
        verdicts: dict[str, int] = {name: self._verdicts.count(name) for name in STABILITIES}
        stable = verdicts["stable_pass"]
        return {
            "questions": len(self._gold),
            "answerable": answerable,
            "unanswerable": len(self._gold) - answerable,
            "pass": stable,
            "fail": len(self._gold) - stable - verdicts["not_evaluated"],
            **verdicts,
        }

    def coverage(self, lines: RunLines) -> StabilityCoverage:
        return StabilityCoverage(
            gold=len(self._gold),
            unknown=lines.strays,
            rejected=lines.rejected,
            single=self._verdicts.count("not_evaluated"),
            **{
                name: self._counts[name]
                for name in (
                    "questions",
                    "planned",
                    "runs",
                    "errors",
                    "missing",
                    "saved",
                    "surplus",
                )
            },
        )

    def labels(self) -> list[Stability]:
        return list(self._verdicts)

    def right(self) -> list[bool | None]:
        return [_right(verdict) for verdict in self._verdicts]

    def shown(self) -> dict[str, list[Any]]:
        """Of each question, the commonest answer and what its variation goes with."""
        return {**self._shown, "cells": list(self.heat_map.rows())}

    def stable_units(self) -> Measured:
        """The verdicts as a metric: 1 for a question that is stable and correct."""
        right = np.array([_right(verdict) is True for verdict in self._verdicts], dtype=np.int64)
        of = np.array([_right(verdict) is not None for verdict in self._verdicts], dtype=np.int64)
        return Measured(
            version=STABLE_VERSION,
            better="higher",
            values=np.where(of > 0, right.astype(np.float64), np.nan),
            counts=np.stack([right, of], axis=1),
            total="mean",
        )


def _right(verdict: Stability) -> bool | None:
    """Whether a question is stable and correct; None where that was not evaluated."""
    return None if verdict == "not_evaluated" else verdict == "stable_pass"
