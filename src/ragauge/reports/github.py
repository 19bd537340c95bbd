"""GitHub Actions workflow commands: gates as errors, questions as warnings on their lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.contracts.score import QuestionRow, ScoreReport
from ragauge.contracts.verdict import Verdict
from ragauge.reports import numbers, story
from ragauge.reports.foreign import shown

SHOWN = 10
"""GitHub shows this many annotations of a kind for a step, and drops the rest in silence."""
CLAIM_SHOWN = 200


def render(report: ScoreReport) -> str:
    """One command a line: the verdict, the gates that stop the run, the questions that failed."""
    return "".join(f"{line}\n" for line in _commands(report))


def _commands(report: ScoreReport) -> Iterator[str]:
    word, words = story.verdict_words(report)
    yield command("notice", words, title=f"Ragauge {word}")
    stopping = [gate for gate in report.gates if not gate.holds]
    for gate in stopping[:SHOWN]:
        yield command("error", _gate_message(gate), title=shown(f"gate {gate.rule}"))
    yield from _more(stopping, "gate")
    wrong = story.wrong_questions(report)
    for row in story.wrong_questions(report, SHOWN):
        title = shown(f"{row.label} {row.qid}")
        yield command("warning", _question_message(row), **_place(row.where), title=title)
    yield from _more(wrong, "question")


def command(kind: str, message: str, **properties: str) -> str:
    """A workflow command, escaped as the toolkit of GitHub does it.

    >>> command("warning", "50% of\\nthem", file="a,b:c.jsonl", line="3")
    '::warning file=a%2Cb%3Ac.jsonl,line=3::50%25 of%0Athem'
    """
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    return f"::{kind}{' ' if listed else ''}{listed}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _gate_message(gate: Verdict) -> str:
    value = numbers.value_beside(gate.value, gate.bound)
    facts = [f"{gate.metric} is {value} {numbers.interval(gate.ci)}".rstrip()]
    facts.append(f"over {numbers.count(gate.n)}, must be {numbers.bound(gate)}")
    note = story.gate_note(gate)
    return shown(f"{story.gate_word(gate)}: {' '.join(facts)}{f' ({note})' if note else ''}")


def _question_message(row: QuestionRow) -> str:
    facts = [row.triage or "", shown(row.claim or row.reason or "", CLAIM_SHOWN)]
    facts.append(f"cited: {shown(', '.join(row.cited))}" if row.cited else "")
    return "\n".join(fact for fact in facts if fact) or row.label


def _place(where: str | None) -> dict[str, str]:
    """The file and line of `path:line`; nothing where a question has no trace."""
    path, _, line = (where or "").rpartition(":")
    return {"file": shown(path), "line": line} if path and line.isdecimal() else {}


def _more(everyone: Sequence[object], one: str) -> Iterator[str]:
    if len(everyone) > SHOWN:
        total = numbers.counted(len(everyone), one)
        yield command("notice", f"{SHOWN} of {total} that failed are annotated", title="Ragauge")
