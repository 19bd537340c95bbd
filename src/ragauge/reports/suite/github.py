"""GitHub Actions workflow commands: tasks that failed or could not be measured, as errors."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.suite import SuiteReport, TaskReport
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope, numbers
from ragauge.reports.annotations import SHOWN, command, more
from ragauge.reports.foreign import shown
from ragauge.reports.suite import story


def render(report: SuiteReport) -> str:
    """One command a line: the verdict, then each task that did not pass, with its gates."""
    return "".join(f"{line}\n" for line in _commands(report))


def _commands(report: SuiteReport) -> Iterator[str]:
    word, told = story.verdict_words(report)
    yield command("notice", shown(told), title=f"Ragauge suite {word}")
    bad = [task for task in report.tasks if task.status in ("failed", "error")]
    for task in bad[:SHOWN]:
        title = shown(f"{story.STATUS_WORDS[task.status]} {task.name}")
        yield command("error", _message(report, task), title=title)
    yield from more(bad, "task")


def _message(report: SuiteReport, task: TaskReport) -> str:
    told = [shown(problem) for problem in task.problems]
    told += [_gate(gate) for gate in story.stopping(report, task)]
    if task.comparison:
        told.append(shown(story.against_words(task.comparison)))
    return "\n".join(told[:SHOWN])


def _gate(gate: Verdict) -> str:
    value = story.value_word(gate)
    note = envelope.gate_note(gate)
    told = f"{envelope.gate_word(gate)}: {gate.metric} is {value}, must be {numbers.bound(gate)}"
    return shown(f"{told} ({note})" if note else told)
