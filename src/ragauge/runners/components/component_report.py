"""The tasks of a model as one report."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct, field, structs

from ragauge import __version__
from ragauge.contracts.evaluation import (
    TASKS,
    EvalAllReport,
    EvalReport,
    SummaryNumber,
    Task,
    TaskFailure,
)
from ragauge.contracts.finding import Findings
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.score import Measured, Outcome, UnitRows
from ragauge.contracts.verdict import Decision, Rule, Verdict
from ragauge.gates.decide import passed
from ragauge.gates.presets import demanded, undecided
from ragauge.runners.components.component_gold import ComponentGold
from ragauge.runners.evaluation import Evaluation

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array


SUMMARY: dict[str, tuple[Task, str]] = {
    "ner_f1_strict": ("ner", "entities.f1_strict"),
    "ner_f1_partial": ("ner", "entities.f1_partial"),
    "type_classification_accuracy": ("types", "labels.accuracy"),
    "entity_linking_mrr": ("linking", "linking.mrr"),
    "entity_linking_hits@1": ("linking", "linking.hits@1"),
    "retrieval_ndcg@10": ("retrieval", "retrieval.ndcg@10"),
    "qa_faithfulness": ("qa", "answers.lexical_faithfulness"),
    "qa_relevance": ("qa", "answers.relevance"),
}
"""The numbers of the summary: the task each belongs to, and the metric it is."""
_encode = msgspec.json.Encoder(order="sorted").encode


class TaskResults(Struct, kw_only=True):
    """What became of each task."""

    outcomes: dict[Task, Outcome[EvalReport]] = field(default_factory=dict)
    failures: dict[Task, str] = field(default_factory=dict)
    absent: dict[Task, str] = field(default_factory=dict)
    """Why a task was not begun."""
    unasked: set[Task] = field(default_factory=set)
    """Those of them that the user left out."""
    rules: dict[Task, tuple[Rule, ...]] = field(default_factory=dict)
    failed_calls: int = 0


def outcome_of_all(
    model: str,
    gold: ComponentGold,
    results: TaskResults,
    findings: Findings,
    options: Mapping[str, Any],
) -> Outcome[EvalAllReport]:
    """The report of all tasks, with the rows it is made of; without one finished it fails."""
    reports = {task: outcome.report for task, outcome in results.outcomes.items()}
    decided = tuple(gate for report in reports.values() for gate in report.gates)
    gates = (*decided, *_undecided(results))
    failures = tuple(
        TaskFailure(task=task, error=results.failures[task])
        for task in TASKS
        if task in results.failures
    )
    _add_all(findings, reports)
    metrics = {id: one for each in reports.values() for id, one in each.metrics.items()}
    evaluation = Evaluation(given=metrics)
    report = evaluation.report(
        EvalAllReport,
        findings,
        _identity(model, gold, reports, options),
        passed=passed(gates) if reports and not failures else False,
        model=model,
        summary={key: _number(key, results) for key in SUMMARY},
        gates=gates,
        tasks={str(task): report for task, report in reports.items()},
        failures=failures,
        coverage=_coverage(gold, results),
    )
    units = joined_units({task: outcome.units for task, outcome in results.outcomes.items()})
    answers = partial(_answers, results.outcomes)
    return structs.replace(evaluation.outcome(report, answers=answers), units=units)


def _answers(outcomes: Mapping[Task, Outcome[EvalReport]]) -> Iterator[tuple[str, KeptAnswer]]:
    """The answers of all tasks, under the ids that their units have here."""
    for task, outcome in outcomes.items():
        for unit, answer in outcome.answers() if outcome.answers else ():
            yield unit_id(task, unit), answer


def _undecided(results: TaskResults) -> Iterator[Verdict]:
    """The gates of tasks that came to nothing: what was demanded of them was not shown to hold."""
    for task, rules in results.rules.items():
        if task in results.failures:
            for rule in rules:
                yield undecided(rule, "not_evaluated", f"the task failed: {results.failures[task]}")
        elif task in results.absent:
            verdict: Decision = "not_applicable" if task in results.unasked else "not_evaluated"
            for rule in demanded(rules, task):
                yield undecided(rule, verdict, results.absent[task])


def _number(key: str, results: TaskResults) -> SummaryNumber:
    task, metric = SUMMARY[key]
    outcome = results.outcomes.get(task)
    if outcome is None:
        reason = results.failures.get(task) or results.absent[task]
        return SummaryNumber(metric=metric, value=None, n=0, ci=None, reason=reason)
    score = outcome.report.metrics[metric]
    return SummaryNumber(
        metric=metric, value=score.value, n=score.n, ci=score.ci, reason=score.reason
    )


def _coverage(gold: ComponentGold, results: TaskResults) -> dict[str, int]:
    each = {
        f"{task}.{key}": count
        for task, outcome in results.outcomes.items()
        for key, count in outcome.report.coverage.items()
    }
    return {
        "entries": len(gold.entries),
        "queries": len(gold.queries),
        "tasks": len(results.outcomes),
        "failed_tasks": len(results.failures),
        "failed_calls": results.failed_calls,
        "scored": sum(
            outcome.report.coverage.get("scored", 0) for outcome in results.outcomes.values()
        ),
        **each,
    }


def _identity(
    model: str,
    gold: ComponentGold,
    reports: Mapping[Task, EvalReport],
    options: Mapping[str, Any],
) -> dict[str, Any]:
    said = [one.record for one in gold.entries], gold.queries, gold.judgements
    return {
        "command": "eval all",
        "model": model,
        "ragauge": __version__,
        "gold_file_sha256": hashlib.sha256(_encode(said)).hexdigest(),
        "options": dict(options),
        "tasks": {task: report.identity for task, report in reports.items()},
        "metrics": {
            id: version
            for report in reports.values()
            for id, version in report.identity["metrics"].items()
        },
    }


def _add_all(findings: Findings, reports: Mapping[Task, EvalReport]) -> None:
    """Add the findings of all tasks, those that are only counted too."""
    for report in reports.values():
        kept: dict[str, int] = {}
        for finding in report.findings:
            findings.add(finding)
            kept[finding.code] = kept.get(finding.code, 0) + 1
        for code, count in report.finding_counts.items():
            findings.count(code, count - kept.get(code, 0))


def unit_id(task: Task, id: str) -> str:
    """What a unit of one task is called among those of all.

    >>> unit_id("qa", "q1")
    'qa/q1'
    """
    return f"{task}/{id}"


def joined_units(tasks: Mapping[Task, UnitRows]) -> UnitRows:
    """The units of all tasks, one after the other, each under its task's name.

    A metric has no value for the units of another task, and they add nothing to its counts.
    """
    total = sum(len(rows.ids) for rows in tasks.values())
    measured: dict[str, Measured] = {}
    names = sorted({name for rows in tasks.values() for name in rows.details})
    details: dict[str, list[Any]] = {name: [] for name in names}
    start = 0
    for rows in tasks.values():
        count = len(rows.ids)
        for name in names:
            details[name] += rows.details.get(name, [None] * count)
        for id, one in rows.measured.items():
            measured[id] = _placed(one, start, total)
        start += count
    ids = [unit_id(task, id) for task, rows in tasks.items() for id in rows.ids]
    details["task"] = [task for task, rows in tasks.items() for _ in rows.ids]
    return UnitRows(
        ids=ids,
        labels=_joined([rows.labels for rows in tasks.values()]),
        right=_joined([rows.right for rows in tasks.values()]),
        details=dict(sorted(details.items())),
        measured=measured,
    )


def _joined(columns: Sequence[Sequence[Any]]) -> list[Any]:
    return [value for column in columns for value in column]


def _placed(one: Measured, start: int, total: int) -> Measured:
    values: Array = np.full(total, np.nan)
    counts: Array = np.zeros((total, one.counts.shape[1]), dtype=one.counts.dtype)
    values[start : start + len(one.values)] = one.values
    counts[start : start + len(one.counts)] = one.counts
    return structs.replace(one, values=values, counts=counts)
