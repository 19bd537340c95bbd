"""One question over its runs: judged, explained and ready to be shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Absent
from ragauge.contracts.run import QuestionRuns, RunFacts, Variation
from ragauge.contracts.stability import Explanation, FactorEffect, QuestionStability, Shown
from ragauge.contracts.trace import Trace
from ragauge.metrics.factors import effects, explained, retrieval_of
from ragauge.metrics.facts import Key, Reader, error_reason, run_facts, variation_of
from ragauge.metrics.stability import METRICS
from ragauge.runners.judge import Judge, Judged
from ragauge.runners.plan import Planned
from ragauge.stats.intervals import wilson

CLAIM_SHOWN = 300
CITED_SHOWN = 10
EXAMPLES = 4
PLACES = 4
"""Decimals of the numbers in the details."""


class Run(Struct, frozen=True):
    """A trace with what it came to; no facts where it failed."""

    variation: Variation
    trace: Trace
    facts: RunFacts | None


class JudgedQuestion(Struct, frozen=True):
    """A question with all that the report says of it."""

    gold: Gold
    unit: QuestionRuns
    judged: Judged
    detail: QuestionStability
    cells: dict[Variation, str]
    runs: Sequence[Run]
    surplus: int
    """Lines that a later line of the same run replaced."""
    unplanned: int
    """Runs that no plan knows; they are left out."""
    unscoped: int
    """Answers that cite but do not tell what was retrieved."""


def judged_question(
    reader: Reader, judge: Judge, gold: Gold, traces: Sequence[Trace], plan: Planned | None
) -> JudgedQuestion:
    """The question judged on its traces; without a plan, what is there is all there should be."""
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
    judged = judge.judged(gold, unit)
    return JudgedQuestion(
        gold,
        unit,
        judged,
        _detail(gold, unit, judged, runs, plan),
        _cells(unit, judged, runs, plan),
        runs,
        surplus,
        unplanned=len(every) - len(runs),
        unscoped=sum(map(_unscoped, runs)),
    )


def lettered_runs(
    reader: Reader, gold: Gold, traces: Sequence[Trace], plan: Planned | None
) -> list[tuple[Trace, str]]:
    """The traces that a question is judged on, in their order, each with its letter of CELLS."""
    every, _ = _runs(reader, reader.key(gold), traces)
    runs = _as_planned(every, plan) if plan else every
    return [(run.trace, _cell(run.facts, answerable=gold.answerable)) for run in runs]


def _as_planned(runs: list[Run], plan: Planned) -> list[Run]:
    """The runs that were planned, in the order they were to be made."""
    by_variation = {run.variation: run for run in runs}
    return [by_variation[v] for v in plan.variations if v in by_variation]


def _cells(
    unit: QuestionRuns, judged: Judged, runs: list[Run], plan: Planned | None
) -> dict[Variation, str]:
    """The letter of each run, those that were planned and are not there among them."""
    absent = dict.fromkeys(plan.variations if plan else (), "=" if judged.saved else "?")
    return absent | {run.variation: _cell(run.facts, answerable=unit.answerable) for run in runs}


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


def _unscoped(run: Run) -> bool:
    return bool(run.facts and run.facts.cited) and run.trace.retrieved_ids is None


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
    gold: Gold, unit: QuestionRuns, judged: Judged, runs: list[Run], plan: Planned | None
) -> QuestionStability:
    why = explained(unit) if judged.verdict != "stable_pass" else None
    numbers = {metric.name: _rounded(judged.values[metric.id]) for metric in METRICS}
    return QuestionStability(
        verdict=judged.verdict,
        answerable=gold.answerable,
        planned=unit.planned,
        runs=len(unit.runs),
        errors=unit.failed,
        missing=max(0, unit.planned - len(unit.runs) - unit.failed - judged.saved),
        saved=judged.saved,
        **numbers,
        ci=dict(_intervals(judged)),
        reasons=_reasons(judged),
        failed=tuple(map(str, judged.failed)),
        factors=_told(effects(unit.runs)),
        explained_by=why,
        prompts=len({run.trace.question_sent or gold.question for run in runs}),
        noop=plan.noop if plan else (),
        question=gold.question,
        examples=tuple(_examples(unit, runs, why)),
        retrieval=retrieval_of(unit.runs),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, PLACES)


def _intervals(judged: Judged) -> Iterator[tuple[str, tuple[float, float]]]:
    for metric in METRICS:
        row = judged.rows[metric.id]
        if metric.rate and not isinstance(row, Absent) and row.counts[1] > 1:
            low, high = wilson(row.counts[0] / row.counts[1], row.counts[1])
            yield metric.name, (round(low, PLACES), round(high, PLACES))


def _reasons(judged: Judged) -> dict[str, str]:
    rows = {metric.name: judged.rows[metric.id] for metric in METRICS}
    return {name: row.reason for name, row in rows.items() if row.reason}


def _told(factors: dict[str, FactorEffect]) -> dict[str, FactorEffect]:
    """The factors that vary here at all."""
    return {factor: effect for factor, effect in factors.items() if effect.pairs}


def _examples(unit: QuestionRuns, runs: list[Run], why: Explanation | None) -> Iterator[Shown]:
    """A run of the commonest kind, then one of each other kind: what differs, side by side."""
    kinds: dict[Any, list[Run]] = {}
    for run in runs:
        kinds.setdefault(_kind(run, why), []).append(run)
    commonest = sorted(kinds.values(), key=len, reverse=True)
    for alike in commonest[:EXAMPLES]:
        run = alike[0]
        error = None if run.facts else error_reason(run.trace)[:CLAIM_SHOWN]
        yield Shown(
            run_id=run.trace.run_id or str(run.variation),
            variation=run.variation,
            cell=_cell(run.facts, answerable=unit.answerable),
            question_sent=run.trace.question_sent,
            claim=said(run)[:CLAIM_SHOWN],
            cited=tuple(sorted(run.facts.cited))[:CITED_SHOWN] if run.facts else (),
            error=error,
        )


def _kind(run: Run, why: Explanation | None) -> Any:
    if run.facts is None:
        return None
    match why.about if why else "outcome":
        case "citations":
            return run.facts.refused, run.facts.cited
        case "wording":
            return run.facts.refused, run.facts.claim
        case _:
            return run.facts.outcome


def said(run: Run) -> str:
    """What the system answered, as it wrote it."""
    structured = run.trace.answer_json
    return (structured.claim if structured else None) or run.trace.answer or ""
