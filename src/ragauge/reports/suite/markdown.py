"""The suite as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.suite import SuiteReport, TaskReport
from ragauge.contracts.verdict import Verdict
from ragauge.reports import comment, envelope, numbers
from ragauge.reports.comment import code, table, without_empty
from ragauge.reports.suite import story

PROBLEMS_SHOWN = 20


def render(report: SuiteReport) -> str:
    blocks = [*_verdict(report), *_tasks(report)]
    for task in report.tasks:
        blocks += _task(report, task)
    blocks += comment.findings(story.findings(report))
    return "\n\n".join(blocks) + "\n"


def _verdict(report: SuiteReport) -> Iterator[str]:
    word, told = story.verdict_words(report)
    yield f"## Ragauge suite: {word}"
    yield comment.sentence(comment.prose(told))


def _tasks(report: SuiteReport) -> Iterator[str]:
    rows = [
        [
            code(task.name),
            task.kind,
            code(task.dataset),
            story.gates_word(report, task) or numbers.ABSENT,
            _status(task),
            code(story.run_word(task)),
        ]
        for task in report.tasks
    ]
    yield table(("task", "kind", "data set", "gates", "verdict", "run"), rows, right={3})


def _status(task: TaskReport) -> str:
    word = story.STATUS_WORDS[task.status]
    return f"**{word}**" if task.status in ("failed", "error") else word


def _task(report: SuiteReport, task: TaskReport) -> Iterator[str]:
    parts = [*_problems(task), *_gates(report, task), *_strata(task), *_against(report, task)]
    if parts:
        yield f"### {comment.prose(task.name)}"
        yield from parts


def _problems(task: TaskReport) -> Iterator[str]:
    told = [f"- {code(problem)}" for problem in task.problems[:PROBLEMS_SHOWN]]
    if len(task.problems) > PROBLEMS_SHOWN:
        told.append(f"- and {numbers.count(len(task.problems) - PROBLEMS_SHOWN)} more")
    if told:
        yield "\n".join(told)


def _gates(report: SuiteReport, task: TaskReport) -> Iterator[str]:
    rows = [_gate(report, task, gate) for gate in story.own_gates(report, task)]
    if rows:
        heads = ("metric", "value", "95 % interval", "scored", "bound", "verdict", "note")
        yield without_empty(heads, rows, right={1, 3})


def _gate(report: SuiteReport, task: TaskReport, gate: Verdict) -> list[str]:
    word, about = envelope.gate_word(gate), envelope.gate_note(gate)
    return [
        code(story.name_word(task, gate)),
        story.value_word(gate),
        numbers.interval(gate.ci),
        numbers.n_of(gate.n, envelope.scored_of(report.metrics, gate)),
        code(story.demand_word(report, task, gate)),
        word if gate.holds else f"**{word}**",
        code(about) if about else "",
    ]


def _strata(task: TaskReport) -> Iterator[str]:
    for stratum, values in task.strata.items():
        ids = list(next(iter(values.values())))
        names = envelope.short_names(ids)
        rows = [
            [code(value), *(numbers.value(scores[id].value) for id in ids)]
            for value, scores in values.items()
        ]
        heads = (code(stratum), *(code(names[id]) for id in ids))
        yield table(heads, rows, right=range(1, len(ids) + 1))


def _against(report: SuiteReport, task: TaskReport) -> Iterator[str]:
    if task.comparison is None:
        return
    yield comment.sentence(comment.prose(story.against_words(task.comparison)))
    rows = [
        [
            code(id),
            numbers.value(one.before),
            numbers.value(one.after),
            numbers.signed(one.change),
            numbers.signed_interval(one.ci),
            story.OUTLOOK_WORDS[one.verdict],
            envelope.gate_word(gate) if gate else numbers.ABSENT,
        ]
        for id, one, gate in story.moved(report, task)
    ]
    if rows:
        heads = ("metric", "was", "now", "change", "95 % interval", "verdict", "gate")
        yield table(heads, rows, right={1, 2, 3})
