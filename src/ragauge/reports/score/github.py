"""GitHub Actions workflow commands: gates as errors, questions as warnings on their lines."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.score import QuestionRow, ScoreReport
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope, numbers
from ragauge.reports.annotations import CLAIM_SHOWN, SHOWN, command, more
from ragauge.reports.foreign import shown
from ragauge.reports.score import story


def render(report: ScoreReport) -> str:
    """One command a line: the verdict, the gates that stop the run, the questions that failed."""
    return "".join(f"{line}\n" for line in _commands(report))


def _commands(report: ScoreReport) -> Iterator[str]:
    word, words = story.verdict_words(report)
    yield command("notice", words, title=f"Ragauge {word}")
    stopping = [gate for gate in report.gates if not gate.holds]
    for gate in stopping[:SHOWN]:
        yield command("error", _gate_message(gate), title=shown(f"gate {gate.rule}"))
    yield from more(stopping, "gate")
    wrong = story.wrong_questions(report)
    for row in story.wrong_questions(report, SHOWN):
        title = shown(f"{row.label} {row.qid}")
        yield command("warning", _question_message(row), **_place(row.where), title=title)
    yield from more(wrong, "question")


def _gate_message(gate: Verdict) -> str:
    value = numbers.value_beside(gate.value, gate.bound)
    facts = [f"{gate.metric} is {value} {numbers.interval(gate.ci)}".rstrip()]
    facts.append(f"over {numbers.count(gate.n)}, must be {numbers.bound(gate)}")
    note = envelope.gate_note(gate)
    return shown(f"{envelope.gate_word(gate)}: {' '.join(facts)}{f' ({note})' if note else ''}")


def _question_message(row: QuestionRow) -> str:
    facts = [row.triage or "", shown(row.claim or row.reason or "", CLAIM_SHOWN)]
    facts.append(f"cited: {shown(', '.join(row.cited))}" if row.cited else "")
    return "\n".join(fact for fact in facts if fact) or row.label


def _place(where: str | None) -> dict[str, str]:
    """The file and line of `path:line`; nothing where a question has no trace."""
    path, _, line = (where or "").rpartition(":")
    return {"file": shown(path), "line": line} if path and line.isdecimal() else {}
