"""The suite for a terminal: the verdict, a line a task, then what each rests on."""

from __future__ import annotations

from rich.text import Text

from ragauge.contracts.suite import SuiteReport, TaskReport
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope, numbers, terminal
from ragauge.reports.suite import story
from ragauge.reports.terminal import MARGIN, Page, head, note, styled, words

PROBLEMS_SHOWN = 10
VALUES_SHOWN = 8


def render(report: SuiteReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    word, told = story.verdict_words(report)
    page.line(Text.assemble(styled(word), "  ", words(told, "bold")))
    _tasks(page, report)
    for task in report.tasks:
        _task(page, report, task)
    terminal.findings(page, story.findings(report))
    _next(page, report)
    return page.text()


def _tasks(page: Page, report: SuiteReport) -> None:
    page.section("Tasks")
    rows = [head("task", "kind", "data set", "gates", "verdict", "run")]
    rows += [
        [
            words(task.name, "bold" if task.status in ("failed", "error") else ""),
            Text(task.kind),
            words(task.dataset),
            Text(story.gates_word(report, task), "dim"),
            _status(task),
            note(story.run_word(task)),
        ]
        for task in report.tasks
    ]
    page.table(rows, right={3})


def _status(task: TaskReport) -> Text:
    styles = {
        "passed": "green",
        "ungated": "yellow",
        "failed": "bold red",
        "error": "bold red",
        "skipped": "dim",
    }
    return Text(story.STATUS_WORDS[task.status], styles[task.status])


def _task(page: Page, report: SuiteReport, task: TaskReport) -> None:
    if task.status == "skipped":
        return
    page.section(task.name, note(f"{task.kind} of {task.dataset}"))
    for problem in task.problems[:PROBLEMS_SHOWN]:
        page.paragraph(words(problem, "red"))
    if len(task.problems) > PROBLEMS_SHOWN:
        page.paragraph(note(f"and {numbers.count(len(task.problems) - PROBLEMS_SHOWN)} more"))
    _gates(page, report, task)
    _strata(page, task)
    _against(page, report, task)


def _gates(page: Page, report: SuiteReport, task: TaskReport) -> None:
    gates = story.own_gates(report, task)
    if not gates:
        return
    interval = envelope.interval_title(gates)
    rows = [head("metric", "value", interval, "scored", "bound", "verdict")]
    rows += [_gate(report, task, gate) for gate in gates]
    page.table(rows, right={1, 3}, notes=[Text(), *(note(envelope.gate_note(g)) for g in gates)])


def _gate(report: SuiteReport, task: TaskReport, gate: Verdict) -> list[Text]:
    return [
        words(story.name_word(task, gate), "" if gate.holds else "bold"),
        Text(story.value_word(gate)),
        Text(numbers.interval(gate.ci), "dim"),
        Text(numbers.n_of(gate.n, envelope.scored_of(report.metrics, gate)), "dim"),
        Text(story.demand_word(report, task, gate)),
        styled(envelope.gate_word(gate)),
    ]


def _strata(page: Page, task: TaskReport) -> None:
    for stratum, values in task.strata.items():
        told = list(values.items())[:VALUES_SHOWN]
        ids = list(told[0][1])
        names = envelope.short_names(ids)
        rows = [head(f"by {stratum}", *(names[id] for id in ids))]
        rows += [
            [words(value), *(Text(numbers.value(scores[id].value)) for id in ids)]
            for value, scores in told
        ]
        page.line(Text())
        page.table(rows, right=range(1, len(ids) + 1))
        if len(values) > len(told):
            more = numbers.counted(len(values) - len(told), "more value")
            page.paragraph(note(f"and {more}"))


def _against(page: Page, report: SuiteReport, task: TaskReport) -> None:
    if task.comparison is None:
        return
    page.line(Text())
    page.paragraph(words(story.against_words(task.comparison)))
    moved = story.moved(report, task)
    if moved:
        rows = [head("metric", "was", "now", "change", "95 % interval", "verdict", "gate")]
        rows += [
            [
                words(id, "" if gate is None or gate.holds else "bold"),
                Text(numbers.value(one.before)),
                Text(numbers.value(one.after)),
                Text(numbers.signed(one.change)),
                note(numbers.signed_interval(one.ci)),
                styled(story.OUTLOOK_WORDS[one.verdict]),
                styled(envelope.gate_word(gate)) if gate else Text(),
            ]
            for id, one, gate in moved
        ]
        notes = [note(gate.reason if gate else one.reason) for _, one, gate in moved]
        page.table(rows, right={1, 2, 3}, notes=[Text(), *notes])


def _next(page: Page, report: SuiteReport) -> None:
    steps = story.next_steps(report)
    if steps:
        page.section("Next")
        for step in steps:
            page.line(Text(" " * MARGIN) + words(step))
