"""GitHub Actions workflow commands: gates as errors, questions that are not stable as warnings."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.stability import StabilityReport
from ragauge.reports import numbers
from ragauge.reports.annotations import CLAIM_SHOWN, SHOWN, command, more
from ragauge.reports.foreign import shown
from ragauge.reports.stability import story
from ragauge.reports.stability.gates import Gate, gates_of
from ragauge.reports.stability.runs import outcome, two_runs


def render(report: StabilityReport) -> str:
    """One command a line: the verdict, the gates that stop the run, the questions that failed."""
    return "".join(f"{line}\n" for line in _commands(report))


def _commands(report: StabilityReport) -> Iterator[str]:
    word, words = story.verdict_words(report)
    cost = story.cost_words(report.coverage)
    yield command("notice", f"{words}\n{cost}", title=f"Ragauge stability {word}")
    stopping = [gate for gate in gates_of(report) if not gate.holds]
    # With enough stable questions the run passes, whatever the others fail.
    kind = "warning" if report.passed else "error"
    for gate in stopping[:SHOWN]:
        yield command(kind, _gate_message(gate), title=shown(f"gate {gate.rule}"))
    yield from more(stopping, "gate")
    for qid in story.some_unstable(report, SHOWN):
        title = shown(f"{report.details[qid].verdict} {qid}")
        yield command("warning", _question_message(report, qid), title=title)
    yield from more(story.unstable(report), "question")


def _gate_message(gate: Gate) -> str:
    held = f"{gate.word}: {gate.name}"
    if gate.good is not None:
        held += f" holds for {gate.good} of {numbers.counted(gate.of, 'question')}"
    return shown(f"{held} ({gate.note})" if gate.note else held)


def _question_message(report: StabilityReport, qid: str) -> str:
    one = report.details[qid]
    facts = [shown("; ".join(one.failed))]
    facts.append(shown(one.explained_by.words) if one.explained_by else "")
    facts += [
        f"{outcome(run.cell)}: {shown(run.error or run.claim, CLAIM_SHOWN)}"
        for run in two_runs(one)
    ]
    return "\n".join(fact for fact in facts if fact) or one.verdict
