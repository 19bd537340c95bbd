"""The report of `ragauge run`: the tasks of a suite."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from math import floor
from typing import Literal

from ragauge.contracts.comparison import Compared, ComparisonReport, Outlook
from ragauge.contracts.history import ID_SHOWN
from ragauge.contracts.suite import CHANGE, SuiteReport, TaskReport
from ragauge.contracts.verdict import Verdict as Gate
from ragauge.gates.decide import TOLERANCE
from ragauge.gates.stability import STABLE
from ragauge.reports import envelope, numbers
from ragauge.reports.document import (
    Block,
    Cell,
    Column,
    Document,
    Heading,
    Row,
    Steps,
    Table,
    Text,
    Tone,
    Verdict,
    columns,
    findings,
    gate_word,
    gates,
    names,
    number,
    rows,
)
from ragauge.reports.formats import github, junit

STATUS: dict[str, tuple[str, Tone]] = {
    "passed": ("pass", "good"),
    "ungated": ("no quality gate", "soft"),
    "failed": ("FAIL", "bad"),
    "error": ("ERROR", "bad"),
    "skipped": ("skipped", "dim"),
}
OUTLOOKS: dict[Outlook, tuple[str, Tone]] = {
    "worse": ("worse", "bad"),
    "better": ("better", "good"),
    "not_worse": ("not worse", ""),
    "cannot_tell": ("cannot tell", ""),
    "not_comparable": ("not comparable", ""),
}
TOLD: tuple[Outlook, ...] = ("worse", "better", "not_worse")
"""Changes a reader wants to see even where no gate is on them."""
PER_QUESTION = "per question"
_SHARE = re.compile(rf"{PER_QUESTION} (?P<share>\d+ of \d+)")
PROBLEMS_SHOWN = 10
VALUES_SHOWN = 8


def document(report: SuiteReport) -> Document:
    blocks: list[Block] = [Verdict(*verdict_words(report)), _tasks(report)]
    for task in report.tasks:
        if task.status != "skipped":
            blocks += _task(report, task)
    return Document("suite", [*blocks, findings(report), Steps(_next_steps(report))])


def verdict_words(report: SuiteReport) -> tuple[str, str]:
    """PASS or FAIL, and how many tasks ended how."""
    found = report.coverage
    ran = found.tasks - found.skipped
    parts = [f"{found.passed:,} of {numbers.counted(ran, 'task')} passed"]
    parts += [f"{found.ungated:,} without a quality gate"] if found.ungated else []
    parts += [f"{found.failed:,} failed"] if found.failed else []
    parts += [f"{found.error:,} could not be measured"] if found.error else []
    parts += [f"{found.skipped:,} not selected"] if found.skipped else []
    words = f"suite {report.suite}: {', '.join(parts)}"
    return envelope.verdict_word(report.passed, report.gates), words


def _tasks(report: SuiteReport) -> Table:
    def row(task: TaskReport) -> list[Cell]:
        word, tone = STATUS[task.status]
        own = gates_of(report, task)
        held = numbers.n_of(sum(gate.holds for gate in own), len(own)) if own else ""
        return [
            names(task.name, "strong" if tone == "bad" else ""),
            Cell(task.kind),
            names(task.dataset),
            Cell(held, tone="dim"),
            Cell(word, task.status, tone),
            names(run_word(task), "dim"),
        ]

    return Table(
        title="Tasks",
        columns=columns("task", "kind", "data set", "gates", "verdict", "run", right=("gates",)),
        rows=rows(map(row, report.tasks)),
    )


def _task(report: SuiteReport, task: TaskReport) -> Iterator[Block]:
    yield Heading(task.name, f"{task.kind} of {task.dataset}")
    for problem in task.problems[:PROBLEMS_SHOWN]:
        yield Text(problem, "bad", foreign=True)
    if len(task.problems) > PROBLEMS_SHOWN:
        yield Text(f"and {numbers.count(len(task.problems) - PROBLEMS_SHOWN)} more", "dim")
    own = own_gates(report, task)
    yield from gates(
        own,
        report.metrics,
        {gate.metric: name_word(task, gate) for gate in own},
        title="",
        value=value_word,
        demand=lambda gate: demand_word(report, task, gate),
    )
    for stratum, values in task.strata.items():
        ids = list(next(iter(values.values())))
        shown_names = envelope.short_names(ids)
        heads = [Column(f"by {stratum}"), *(Column(shown_names[id], right=True) for id in ids)]
        yield Table(
            columns=heads,
            rows=rows(
                [names(value), *(number(scores[id].value) for id in ids)]
                for value, scores in values.items()
            ),
            shown=VALUES_SHOWN,
        )
    if task.comparison is not None:
        yield Text(against_words(task.comparison))
        moved = list(_moved(report, task, task.comparison))
        if moved:
            yield _changes(moved)


def _changes(moved: list[tuple[str, Compared, Gate | None]]) -> Table:
    def row(id: str, one: Compared, gate: Gate | None) -> Row:
        word, tone = OUTLOOKS[one.verdict]
        cells = (
            names(id, "" if gate is None or gate.holds else "strong"),
            number(one.before),
            number(one.after),
            number(one.change, numbers.signed(one.change)),
            Cell(numbers.signed_interval(one.ci), one.ci, "dim"),
            Cell(word, one.verdict, tone),
            gate_word(gate) if gate else Cell(""),
        )
        return Row(cells, (gate.reason if gate else one.reason) or "")

    return Table(
        columns=columns(
            *("metric", "was", "now", "change", "95 % interval", "verdict", "gate"),
            right=("was", "now", "change"),
        ),
        rows=[row(*one) for one in moved],
    )


def _moved(
    report: SuiteReport, task: TaskReport, comparison: ComparisonReport
) -> Iterator[tuple[str, Compared, Gate | None]]:
    """What changed against the baseline, or must not: metrics by id, with the gate on each."""
    own = f"{task.name}/{CHANGE}"
    known = {gate.metric.removeprefix(own): gate for gate in gates_of(report, task)}
    for id, one in comparison.compared.items():
        gate = known.get(id)
        if one.verdict in TOLD or (gate is not None and not gate.holds):
            yield id, one, gate


def gates_of(report: SuiteReport, task: TaskReport) -> list[Gate]:
    """All gates of a task, those of its comparison too."""
    return [gate for gate in report.gates if gate.metric.startswith(f"{task.name}/")]


def own_gates(report: SuiteReport, task: TaskReport) -> list[Gate]:
    """The gates on what a task measured."""
    change = f"{task.name}/{CHANGE}"
    return [gate for gate in gates_of(report, task) if not gate.metric.startswith(change)]


def stopping(report: SuiteReport, task: TaskReport) -> list[Gate]:
    """The gates that stop a task; one that passed has enough of what the others demand."""
    if task.status in ("passed", "ungated"):
        return []
    return [gate for gate in gates_of(report, task) if not gate.holds]


def name_word(task: TaskReport, gate: Gate) -> str:
    """What a gate is on; of a rule for each question, with what each must reach."""
    name = gate.metric.removeprefix(f"{task.name}/")
    return f"{name} {numbers.bound(gate)}" if _is_per_question(gate) else name


def value_word(gate: Gate) -> str:
    """A gate's value; of a rule for each question, how many questions pass it."""
    if gate.value is not None and _is_per_question(gate):
        return f"{numbers.n_of(round(gate.value * gate.n), gate.n)} hold"
    return numbers.value_beside(gate.value, gate.bound)


def demand_word(report: SuiteReport, task: TaskReport, gate: Gate) -> str:
    """What decides a gate: its bound; of a rule for each question, how many may fail it.

    In a stability task that is `min_stable`'s to say, of all questions there are.
    """
    if not _is_per_question(gate):
        return numbers.bound(gate)
    for stable in gates_of(report, task):
        if stable.metric == f"{task.name}/{STABLE}":
            return f"at most {floor((1 - stable.bound) * stable.n + TOLERANCE):,} fail"
    share = _SHARE.match(numbers.restriction(gate))
    return f"{share['share']} hold" if share else "all hold"


def _is_per_question(gate: Gate) -> bool:
    return numbers.restriction(gate).startswith(PER_QUESTION)


def run_word(task: TaskReport) -> str:
    return task.run[:ID_SHOWN] if task.run else ""


def against_words(comparison: ComparisonReport) -> str:
    """A line on the comparison: with which run, and how many metrics went which way."""
    if comparison.before is None:
        return "nothing to compare with yet"
    verdicts = Counter(one.verdict for one in comparison.compared.values())
    told = [f"{verdicts[name]} {words}" for name, (words, _) in OUTLOOKS.items() if verdicts[name]]
    flips = [f"{times:,} {way}" for way, times in sorted(comparison.flip_counts.items()) if times]
    questions = f"; questions {', '.join(flips)}" if flips else ""
    before = comparison.before
    return f"against {before.id[:ID_SHOWN]} ({before.name}): {', '.join(told)}{questions}"


def _next_steps(report: SuiteReport) -> list[str]:
    runs = [task for task in report.tasks if task.run]
    failed = [task for task in runs if task.status == "failed"]
    store = report.identity.get("store")
    where = f" --store {shlex.quote(store)}" if store else ""
    steps = [f"ragauge runs show {run_word(task)}{where}" for task in (failed or runs)[:1]]
    if report.coverage.error:
        steps.append("fix what could not be measured, then run the same command again")
    return steps


def cases(report: SuiteReport) -> Iterator[junit.Suite]:
    """A suite of tasks, and one of gates for each task."""
    yield junit.Suite(
        "tasks", [junit.Case(task.name, _problem(report, task)) for task in report.tasks]
    )
    for task in report.tasks:
        if found := gates_of(report, task):
            yield junit.Suite(
                f"gates of {task.name}", [_gate_case(task, gate) for gate in found], "gates"
            )


def _problem(report: SuiteReport, task: TaskReport) -> junit.Problem | None:
    if task.status in ("passed", "ungated"):
        return None
    if task.status == "skipped":
        return junit.Problem("skipped", "not asked for")
    lines = task.problems or tuple(gate.rule for gate in stopping(report, task))
    kind: Literal["error", "failure"] = "error" if task.status == "error" else "failure"
    return junit.Problem(kind, "; ".join(lines[:1]), task.status, tuple(lines))


def _gate_case(task: TaskReport, gate: Gate) -> junit.Case:
    """The task decides: in one that passed, no gate turns CI red."""
    if gate.holds or task.status not in ("passed", "ungated"):
        return junit.gate_case(gate)
    skipped = junit.Problem("skipped", f"{gate.verdict}; the task passed without it")
    return junit.Case(gate.rule, skipped)


def notes(report: SuiteReport) -> Iterator[github.Notes]:
    """The verdict, then each task that did not pass, with its gates."""
    word, words = verdict_words(report)
    yield github.Notes([github.Note("notice", words, f"Ragauge suite {word}")])
    bad = [task for task in report.tasks if task.status in ("failed", "error")]
    yield github.Notes(
        [
            github.Note("error", _message(report, task), f"{STATUS[task.status][0]} {task.name}")
            for task in bad
        ],
        "task",
    )


def _message(report: SuiteReport, task: TaskReport) -> list[str]:
    lines = list(task.problems)
    for gate in stopping(report, task):
        note = envelope.gate_note(gate)
        value, demand = value_word(gate), demand_word(report, task, gate)
        words = f"{task.name}/{name_word(task, gate)}: {value}, wanted {demand}"
        lines.append(f"{envelope.gate_word(gate)}: {words}{f' ({note})' if note else ''}")
    if task.comparison:
        lines.append(against_words(task.comparison))
    return lines[: github.SHOWN]
