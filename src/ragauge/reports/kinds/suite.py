"""The report of `ragauge run`: the tasks of a suite."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from math import floor
from typing import Literal

from ragauge.contracts.comparison import ComparisonReport
from ragauge.contracts.history import ID_SHOWN
from ragauge.contracts.report import Verdict as Gate
from ragauge.contracts.suite import SuiteReport, TaskReport
from ragauge.gates.rules import TOLERANCE
from ragauge.gates.stability import STABLE
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.cases import Case, Suite, gate_suite
from ragauge.reports.document import Block, Cell, Document, Text, Tone, names
from ragauge.reports.kinds import comparison
from ragauge.reports.phrasing import PER_QUESTION

STATUS: dict[str, tuple[str, Tone]] = {
    "passed": ("pass", "good"),
    "ungated": ("no quality gate", "soft"),
    "failed": ("FAIL", "bad"),
    "error": ("ERROR", "bad"),
    "skipped": ("skipped", "dim"),
}
ENOUGH = ("passed", "ungated")
"""Tasks that passed; a few of their gates may not hold, where a setting allows that."""
DECIDED = ("worse", "better", "not_worse")
"""Verdicts of changes that are shown even without a gate."""
PROBLEMS_SHOWN = 10
VALUES_SHOWN = 8


def document(report: SuiteReport) -> Document:
    return Document("suite", list(_blocks(report)))


def _blocks(report: SuiteReport) -> Iterator[Block]:
    def gates(task: TaskReport) -> Cell:
        own = gates_of(report, task)
        holding = sum(gate.holds for gate in own)
        return Cell(phrasing.n_of(holding, len(own)) if own else "", holding, "dim")

    def of(task: TaskReport) -> str:
        return f"{task.kind} of {task.dataset}" if task.dataset else task.kind

    def verdict(task: TaskReport) -> Cell:
        word, tone = STATUS[task.status]
        return Cell(word, task.status, tone)

    yield doc.Verdict(*verdict_text(report))
    yield doc.table(
        report.tasks,
        {
            "task": lambda task: names(task.name),
            "kind": lambda task: Cell(task.kind),
            "data set": lambda task: names(task.dataset),
            "gates": gates,
            "verdict": verdict,
            "run": lambda task: names((task.run or "")[:ID_SHOWN], "dim"),
        },
        strong=lambda task: task.status in ("failed", "error"),
        title="Tasks",
    )
    for task in report.tasks:
        if task.status != "skipped":
            yield doc.Section(title=task.name, remark=of(task), blocks=[])
            yield from _task(report, task)
    yield doc.findings(report)
    # One that failed, or the first.
    recorded = sorted(report.tasks, key=lambda task: task.status != "failed")
    runs = [task.run[:ID_SHOWN] for task in recorded if task.run]
    store = report.identity.get("store")
    where = f" --store {shlex.quote(store)}" if store else ""
    steps = [f"ragauge runs show {run}{where}" for run in runs[:1]]
    if report.coverage.error:
        steps.append("fix what could not be measured, then run the same command again")
    yield from doc.steps(steps)


def _task(report: SuiteReport, task: TaskReport) -> Iterator[Block]:
    for problem in task.problems[:PROBLEMS_SHOWN]:
        yield Text(doc.foreign(problem), "bad")
    if len(task.problems) > PROBLEMS_SHOWN:
        yield Text(f"and {phrasing.count(len(task.problems) - PROBLEMS_SHOWN)} more", "dim")
    own = gates_of(report, task)
    yield from doc.gates(
        own,
        report.metrics,
        {gate.metric: _name(task, gate) for gate in own},
        title="",
        value=_value,
        demand=lambda gate: _bound_text(report, task, gate),
    )
    for stratum, by in task.strata.items():
        ids = dict.fromkeys(id for scores in by.values() for id in scores)
        yield doc.slices(stratum, by, phrasing.short_names(ids), ids, shown=VALUES_SHOWN)
    if task.comparison:
        compared = task.comparison.compared
        # Gates on other changes are above.
        decided = {id: one for id, one in compared.items() if one.verdict in DECIDED}
        names = {id: id for id in decided}
        changes = comparison.changes_of(task.comparison, comparison.overall(decided), names)
        remark = reference_text(task.comparison)
        yield doc.Section(title="Comparison", remark=remark, blocks=[changes] if decided else [])


def verdict_text(report: SuiteReport) -> tuple[str, str]:
    """PASS or FAIL, and how many tasks ended in each way."""
    found = report.coverage
    text = doc.listed(
        f"{found.passed:,} of {phrasing.pluralize(found.tasks - found.skipped, 'task')} passed",
        found.ungated and f"{found.ungated:,} without a quality gate",
        found.failed and f"{found.failed:,} failed",
        found.error and f"{found.error:,} could not be measured",
        found.skipped and f"{found.skipped:,} not selected",
    )
    word = phrasing.verdict_word(report.passed, report.gates)
    return word, f"suite {report.suite}: {text}"


def reference_text(given: ComparisonReport) -> str:
    """One line about the comparison: with which run, and how many metrics have each verdict."""
    if given.before is None:
        return "nothing to compare with yet"
    ways = [f"{len(ids)} {word}" for word, ids in comparison.by_verdict(given).items()]
    flips = [f"{n:,} {way}" for way, n in sorted(given.flip_counts.items()) if n]
    before = f"against {given.before.id[:ID_SHOWN]} ({given.before.name})"
    questions = f"; questions {', '.join(flips)}" if flips else ""
    return f"{before}: {', '.join(ways)}{questions}"


def gates_of(report: SuiteReport, task: TaskReport) -> list[Gate]:
    """All gates of a task, those of its comparison too."""
    return [gate for gate in report.gates if gate.metric.startswith(f"{task.name}/")]


def _is_per_question(gate: Gate) -> bool:
    return phrasing.restriction(gate).startswith(PER_QUESTION)


def _name(task: TaskReport, gate: Gate) -> str:
    """What a gate is on; of a rule for each question, with the value that each must have."""
    name = gate.metric.removeprefix(f"{task.name}/")
    return f"{name} {phrasing.bound(gate)}" if _is_per_question(gate) else name


def _value(gate: Gate) -> str:
    """A gate's value; of a rule for each question, how many questions pass it."""
    if gate.value is not None and _is_per_question(gate):
        return f"{phrasing.n_of(round(gate.value * gate.n), gate.n)} hold"
    return phrasing.value_against(gate.value, gate.bound)


def _bound_text(report: SuiteReport, task: TaskReport, gate: Gate) -> str:
    """What decides a gate: its bound; of a rule for each question, how many may fail it.

    In a stability task `min_stable` says that, over all questions there are.
    """
    if not _is_per_question(gate):
        return phrasing.bound(gate)
    for stable in report.gates:
        if stable.metric == f"{task.name}/{STABLE}":
            return f"at most {floor((1 - stable.bound) * stable.n + TOLERANCE):,} fail"
    part = re.match(rf"{PER_QUESTION} (\d+ of \d+)", phrasing.restriction(gate))
    return f"{part[1]} hold" if part else "all hold"


def cases(report: SuiteReport) -> Iterator[Suite]:
    """A suite of tasks, and one of gates for each task."""

    def case(task: TaskReport) -> Case:
        if task.status in ENOUGH:
            return Case(task.name)
        if task.status == "skipped":
            return Case(task.name, "not selected", kind="skipped")
        stopping = (gate.rule for gate in gates_of(report, task) if not gate.holds)
        lines = list(task.problems or stopping) or [task.status]
        compared = [reference_text(task.comparison)] if task.comparison else []
        kind: Literal["error", "failure"] = "error" if task.status == "error" else "failure"
        title = f"{STATUS[task.status][0]} {task.name}"
        return Case(task.name, lines[0], [*lines[1:], *compared], kind, task.status, title=title)

    yield Suite("tasks", map(case, report.tasks))
    for task in report.tasks:
        if own := gates_of(report, task):
            # In a task that passed, a setting allows that some gates do not hold.
            yield gate_suite(own, f" of {task.name}", passed=task.status in ENOUGH)
