"""One question over its runs: the verdict, whether the runs that are left could still change it,
what explains it, and what the report says of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.contracts.options import Adaptive
from ragauge.contracts.report import Rule
from ragauge.contracts.run import QuestionRuns, RunFacts, Variation
from ragauge.contracts.stability import (
    Explanation,
    QuestionStability,
    Shown,
    Stability,
)
from ragauge.contracts.trace import Trace
from ragauge.gates.rules import TOLERANCE, meets, satisfies
from ragauge.gates.stability import Failed, failed_gates
from ragauge.gates.stability import verdict as stability_of
from ragauge.metrics.factors import effects, explain, retrieval_of
from ragauge.metrics.facts import Key, Reader, error_reason, run_facts, variation_of
from ragauge.metrics.stability import METRICS, median_distance
from ragauge.runners.observations import CITED_SHOWN, CLAIM_SHOWN
from ragauge.runners.plan import Planned
from ragauge.stats.exact import ALPHA, Decision, ShareTest
from ragauge.stats.intervals import wilson

EXAMPLES = 4
PLACES = 4
"""Decimals of the numbers in the details."""
RATES = ("stability.acr", "stability.cghc", "stability.refusal_rate")
"""What the anytime test stands for: each run is right or not, at the rate these gates demand."""


class Run(Struct, frozen=True):
    """A trace with what it came to; no facts where it failed."""

    variation: Variation
    trace: Trace
    facts: RunFacts | None


class QuestionResult(Struct, frozen=True):
    """A question with all that the report says of it."""

    gold: Gold
    unit: QuestionRuns
    verdict: QuestionVerdict
    detail: QuestionStability
    cells: dict[Variation, str]
    runs: Sequence[Run]
    surplus: int
    """Lines that a later line of the same run replaced."""
    unplanned: int
    """Runs that no plan knows; they are left out."""
    unscoped: int
    """Answers that cite but do not tell what was retrieved."""


def evaluate_question(
    reader: Reader, gates: QuestionGates, gold: Gold, traces: Sequence[Trace], plan: Planned | None
) -> QuestionResult:
    """The result of a question over its traces; without a plan, these are all there should be."""
    key = reader.key(gold)
    every, surplus = _runs(reader, key, traces)
    runs = _as_planned(every, plan) if plan else every
    finished = tuple(run.facts for run in runs if run.facts)
    unit = QuestionRuns(
        gold.answerable,
        bool(gold.constraints),
        finished,
        planned=len(plan.variations) if plan else len(runs),
        failed=len(runs) - len(finished),
        question=gold.question,
    )
    verdict = gates.evaluate(gold, unit)
    # The planned runs that are not there have a letter too.
    cells = dict.fromkeys(plan.variations if plan else (), "=" if verdict.saved else "?")
    cells |= {run.variation: _cell(run.facts, answerable=gold.answerable) for run in runs}
    return QuestionResult(
        gold,
        unit,
        verdict,
        _detail(gold, unit, verdict, runs, plan),
        cells,
        runs,
        surplus,
        unplanned=len(every) - len(runs),
        unscoped=sum(
            bool(run.facts and run.facts.cited) and run.trace.retrieved_ids is None for run in runs
        ),
    )


def runs_with_cells(
    reader: Reader, gold: Gold, traces: Sequence[Trace], plan: Planned | None
) -> list[tuple[Trace, str]]:
    """The traces that a question's verdict is based on, in order, each with its letter of CELLS."""
    every, _ = _runs(reader, reader.key(gold), traces)
    runs = _as_planned(every, plan) if plan else every
    return [(run.trace, _cell(run.facts, answerable=gold.answerable)) for run in runs]


def _as_planned(runs: list[Run], plan: Planned) -> list[Run]:
    """The runs that were planned, in the order they were to be made."""
    by_variation = {run.variation: run for run in runs}
    return [by_variation[v] for v in plan.variations if v in by_variation]


def _runs(reader: Reader, key: Key, traces: Sequence[Trace]) -> tuple[list[Run], int]:
    """The question's runs, the last line of each, and how many lines were replaced by another.

    Traces without a run id are runs of their own; those that vary nothing are repeats.
    """
    last: dict[Any, Trace] = {}
    for number, trace in enumerate(traces):
        last[trace.run_id or number] = trace
    repeats: Counter[Variation] = Counter()
    runs = []
    for trace in last.values():
        variation = variation_of(trace)
        again = repeats[variation]
        repeats[variation] += 1
        variation = structs.replace(variation, repeat=variation.repeat + again)
        runs.append(Run(variation, trace, run_facts(reader, key, trace, variation)))
    return runs, len(traces) - len(last)


def _cell(run: RunFacts | None, *, answerable: bool) -> str:
    """The run's outcome as a letter of CELLS."""
    if run is None:
        return "!"
    if not answerable:
        return "+" if run.refused else "a"
    if run.refused:
        return "r"
    if run.claim_right and run.citations_right:
        return "k" if run.echoed is False else "+"
    if run.claim_right:
        return "h"
    return "c" if run.citations_right else "x"


def _detail(
    gold: Gold, unit: QuestionRuns, verdict: QuestionVerdict, runs: list[Run], plan: Planned | None
) -> QuestionStability:
    why = explain(unit) if verdict.verdict != "stable_pass" else None
    numbers: dict[str, float | None] = {}
    intervals: dict[str, tuple[float, float]] = {}
    reasons: dict[str, str] = {}
    for metric in METRICS:
        name, row, value = metric.name, verdict.rows[metric.id], verdict.values[metric.id]
        numbers[name] = None if value is None else round(value, PLACES)
        if row.reason:
            reasons[name] = row.reason
        if metric.rate and not isinstance(row, Absent) and row.counts[1] > 1:
            low, high = wilson(row.counts[0] / row.counts[1], row.counts[1])
            intervals[name] = round(low, PLACES), round(high, PLACES)
    return QuestionStability(
        verdict=verdict.verdict,
        answerable=gold.answerable,
        planned=unit.planned,
        runs=len(unit.runs),
        errors=unit.failed,
        missing=max(0, unit.planned - len(unit.runs) - unit.failed - verdict.saved),
        saved=verdict.saved,
        **numbers,
        ci=intervals,
        reasons=reasons,
        failed=tuple(map(str, verdict.failed)),
        # Those that vary here at all.
        factors={name: one for name, one in effects(unit.runs).items() if one.pairs},
        explained_by=why,
        prompts=len({run.trace.question_sent or gold.question for run in runs}),
        noop=plan.noop if plan else (),
        question=gold.question,
        examples=tuple(_examples(unit, runs, why)),
        retrieval=retrieval_of(unit.runs),
    )


def _examples(unit: QuestionRuns, runs: list[Run], why: Explanation | None) -> Iterator[Shown]:
    """A run of the commonest kind, then one of each other kind: what differs, side by side."""
    kinds: dict[Any, list[Run]] = {}
    for run in runs:
        kind: Any = None
        if facts := run.facts:
            match why.about if why else "outcome":
                case "citations":
                    kind = facts.refused, facts.cited
                case "wording":
                    kind = facts.refused, facts.claim
                case _:
                    kind = facts.outcome
        kinds.setdefault(kind, []).append(run)
    commonest = sorted(kinds.values(), key=len, reverse=True)
    for run, *_ in commonest[:EXAMPLES]:
        yield Shown(
            run_id=run.trace.run_id or str(run.variation),
            variation=run.variation,
            cell=_cell(run.facts, answerable=unit.answerable),
            question_sent=run.trace.question_sent,
            claim=answer_text(run)[:CLAIM_SHOWN],
            cited=tuple(sorted(run.facts.cited))[:CITED_SHOWN] if run.facts else (),
            error=None if run.facts else error_reason(run.trace)[:CLAIM_SHOWN],
        )


def answer_text(run: Run) -> str:
    """What the system answered, as it wrote it."""
    structured = run.trace.answer_json
    return (structured.claim if structured else None) or run.trace.answer or ""


class QuestionVerdict(Struct, frozen=True):
    """A question's rows, values and verdict."""

    verdict: Stability
    rows: dict[str, Row | Absent]
    values: dict[str, float | None]
    failed: tuple[Failed, ...]
    saved: int
    """Planned runs the verdict does without."""


class QuestionGates:
    """Holds questions to rules; of an adaptive sweep, also those with runs left out."""

    def __init__(
        self, rules: tuple[Rule, ...], adaptive: Adaptive | None = None, alpha: float = ALPHA
    ) -> None:
        self._rules, self._adaptive, self._alpha = rules, adaptive, alpha

    def evaluate(self, gold: Gold, question: QuestionRuns) -> QuestionVerdict:
        """The verdict; `question` has its runs in the order they were planned."""
        rows = {metric.id: metric(question) for metric in METRICS}
        values = {metric.id: _value(metric, rows[metric.id]) for metric in METRICS}
        left = question.planned - question.failed - len(question.runs)
        saved = left if left and self.decided(gold, question) else 0
        rules = self.rules_for(gold)
        early = self._early(rules, question) if saved else None
        if early:
            rules = tuple(rule for rule in rules if rule.metric not in RATES)
        absent = frozenset(id for id, row in rows.items() if isinstance(row, Absent))
        failed = failed_gates(rules, values, absent)
        if early == "fail":
            success = _success_rule(self.rules_for(gold))
            right = sum(map(question.right, question.runs)) / len(question.runs)
            failed = (Failed(success, right), *failed) if success else failed
        complete = bool(question.runs) and not question.failed and left == saved
        same = len({run.outcome for run in question.runs}) < 2
        single = len(question.runs) == 1 and not saved
        found = stability_of(failed, complete=complete, same=same, single=single)
        return QuestionVerdict(found, rows, values, failed, saved)

    def decided(self, gold: Gold, question: QuestionRuns) -> bool:
        """Whether an adaptive sweep may leave the question's remaining runs out."""
        if self._adaptive is None or question.failed:
            return False
        if self._adaptive == "exact":
            return certainly_flaky(question, self.rules_for(gold))
        return self._early(self.rules_for(gold), question) is not None

    def rules_for(self, gold: Gold) -> tuple[Rule, ...]:
        """The rules that speak of this question."""
        return tuple(rule for rule in self._rules if meets(gold, rule.where))

    def _early(self, rules: tuple[Rule, ...], question: QuestionRuns) -> Decision | None:
        rule = _success_rule(rules)
        if self._adaptive != "anytime" or rule is None:
            return None
        needed = math.ceil((rule.bound - TOLERANCE) * question.planned)
        test = ShareTest(question.planned, needed, self._alpha)
        return test.decide(map(question.right, question.runs))


def certainly_flaky(question: QuestionRuns, rules: tuple[Rule, ...]) -> bool:
    """Whether no outcome of the remaining runs can change the verdict.

    A question that passes so far can fail yet, and one that fails in every run alike can still
    show another outcome. Only once outcomes differ, and some gate is out of reach, it is certain.
    """
    if len({run.outcome for run in question.runs}) < 2:
        return False
    for rule in rules:
        # A rule fails for certain once the best value in reach does not satisfy it.
        ops, ideal = (("<=", "<"), 0) if rule.metric == "stability.ned50" else ((">=", ">"), 1)
        wanted = rule.op in ops or (rule.op == "=" and rule.bound == ideal)
        best = BEST.get(rule.metric)
        if best and wanted and not satisfies(rule, best(question)):
            return True
    return False


def _best_fraction(mark: Callable[[QuestionRuns], int]) -> Callable[[QuestionRuns], float]:
    """The share there will be if every remaining run counts."""
    return lambda question: (mark(question) + _left(question)) / question.planned


def _least_distance(question: QuestionRuns) -> float:
    """The median distance there will be if every remaining run repeats a claim word for word."""
    claims = Counter(run.claim for run in question.answered if run.claim)
    if claims.total() < 2:
        return 0.0
    left = _left(question)
    return median_distance(claims, left * claims.total() + left * (left - 1) // 2)


def _current_value(id: str, otherwise: float) -> Callable[[QuestionRuns], float]:
    """The value so far, of a metric that more runs can only lower."""
    metric = next(metric for metric in METRICS if metric.id == id)

    def best(question: QuestionRuns) -> float:
        value = _value(metric, metric(question))
        return otherwise if value is None else value

    return best


BEST: dict[str, Callable[[QuestionRuns], float]] = {
    "stability.acr": _best_fraction(lambda q: sum(run.claim_right for run in q.runs)),
    "stability.cghc": _best_fraction(lambda q: sum(run.citations_right for run in q.runs)),
    "stability.success": _best_fraction(lambda q: sum(map(q.right, q.runs))),
    "stability.refusal_rate": _best_fraction(lambda q: sum(run.refused for run in q.runs)),
    "stability.rcr": _best_fraction(lambda q: max(len(q.answered), len(q.runs) - len(q.answered))),
    "stability.css": _current_value("stability.css", 1.0),
    "stability.css_all": _current_value("stability.css_all", 1.0),
    "stability.scu_cons": _current_value("stability.scu_cons", 1.0),
    "stability.ned50": _least_distance,
}
"""The best value each gated metric can still reach. A rule on another metric decides nothing."""


def _left(question: QuestionRuns) -> int:
    return question.planned - len(question.runs)


def _success_rule(rules: tuple[Rule, ...]) -> Rule | None:
    """The rule that each run's success is tested against: the strictest of the rates'."""
    rates = [rule for rule in rules if rule.metric in RATES and rule.op in (">=", ">")]
    if not rates:
        return None
    strictest = max(rates, key=lambda rule: rule.bound)
    return structs.replace(strictest, metric="stability.success", op=">=")


def _value(metric: Metric, row: Row | Absent) -> float | None:
    if isinstance(row, Absent):
        return None
    import numpy as np

    return float(metric.finish(np.array(row.counts, dtype=np.int64)))
