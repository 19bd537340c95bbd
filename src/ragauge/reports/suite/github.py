"""GitHub Actions workflow commands: tasks that failed or could not be measured, as errors."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.suite import SuiteReport, TaskReport
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope
from ragauge.reports.annotations import SHOWN, command, more
from ragauge.reports.foreign import shown
from ragauge.reports.kinds import suite as story


def render(report: SuiteReport) -> str:
    """One command a line: the verdict, then each task that did not pass, with its gates."""
    return "".join(f"{line}\n" for line in _commands(report))


def _commands(report: SuiteReport) -> Iterator[str]:
    word, told = story.verdict_words(report)
    yield command("notice", shown(told), title=f"Ragauge suite {word}")
    bad = [task for task in report.tasks if task.status in ("failed", "error")]
    for task in bad[:SHOWN]:
        title = shown(f"{story.STATUS[task.status][0]} {task.name}")
        yield command("error", _message(report, task), title=title)
    yield from more(bad, "task")


def _message(report: SuiteReport, task: TaskReport) -> str:
    told = [shown(problem) for problem in task.problems]
    told += [_gate(report, task, gate) for gate in story.stopping(report, task)]
    if task.comparison:
        told.append(shown(story.against_words(task.comparison)))
    return "\n".join(told[:SHOWN])


def _gate(report: SuiteReport, task: TaskReport, gate: Verdict) -> str:
    name, value = story.name_word(task, gate), story.value_word(gate)
    note = envelope.gate_note(gate)
    demand = story.demand_word(report, task, gate)
    told = f"{envelope.gate_word(gate)}: {task.name}/{name}: {value}, wanted {demand}"
    return shown(f"{told} ({note})" if note else told)
