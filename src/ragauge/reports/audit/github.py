"""GitHub Actions workflow commands: gates as errors, answers as warnings on their lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.contracts.audit import AuditedAnswer, AuditFinding, AuditReport
from ragauge.reports.annotations import CLAIM_SHOWN, SHOWN, command, more
from ragauge.reports.audit import story
from ragauge.reports.foreign import shown


def render(report: AuditReport) -> str:
    """One command a line: the verdict, the gates that stop the run, the answers that failed."""
    return "".join(f"{line}\n" for line in _commands(report))


def _commands(report: AuditReport) -> Iterator[str]:
    word, told = story.verdict_words(report)
    yield command("notice", shown(told), title=f"Ragauge audit {word}")
    stopping = [gate for gate in report.gates if not gate.holds]
    for gate in stopping[:SHOWN]:
        yield command("error", shown(story.gate_words(gate)), title=shown(f"gate {gate.rule}"))
    yield from more(stopping, "gate")
    found = story.findings_by_answer(report)
    for row in story.wrong_answers(report, SHOWN):
        title = shown(f"{row.code} {story.answer_name(row)}")
        message = _message(row, found.get((row.where, row.qid), ()))
        yield command("warning", message, **_place(row.where), title=title)
    yield from more(story.wrong_answers(report), "answer")


def _message(row: AuditedAnswer, found: Sequence[AuditFinding]) -> str:
    """What was found first, and the next step; the code where no place of it was kept."""
    facts = [shown(finding.message, CLAIM_SHOWN) for finding in found]
    facts += dict.fromkeys(shown(f"→ {finding.tip}") for finding in found if finding.tip)
    return "\n".join(fact for fact in facts if fact) or row.code


def _place(where: str) -> dict[str, str]:
    place = story.place_of(where)
    return {"file": shown(place[0]), "line": str(place[1])} if place else {}
