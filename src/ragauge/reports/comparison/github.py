"""GitHub Actions workflow commands: gates as errors, what is worse or broken as warnings."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.comparison import ComparisonReport, Flip
from ragauge.reports.annotations import CLAIM_SHOWN, SHOWN, command, more
from ragauge.reports.comparison import story
from ragauge.reports.foreign import shown


def render(report: ComparisonReport) -> str:
    """One command a line: the verdict, the gates that stop the run, the questions that broke."""
    return "".join(f"{line}\n" for line in _commands(report))


def _commands(report: ComparisonReport) -> Iterator[str]:
    word, told = story.headline(report)
    yield command("notice", shown(told), title=f"Ragauge comparison {word}")
    stopping = [gate for gate in report.gates if not gate.holds]
    for gate in stopping[:SHOWN]:
        yield command("error", shown(story.gate_words(gate)), title=shown(f"gate {gate.rule}"))
    yield from more(stopping, "gate")
    if not report.gates:
        for id in dict(story.by_verdict(report)).get("worse", ())[:SHOWN]:
            told = story.sentence(report.compared[id])
            yield command("warning", shown(f"{id} {told}"), title=shown(f"worse {id}"))
    broken = story.flips(report, "broken")
    for flip in broken[:SHOWN]:
        yield command("warning", _message(flip), title=shown(f"broken {flip.qid}"))
    yield from more(broken, "question")


def _message(flip: Flip) -> str:
    facts = [shown(flip.question or "", CLAIM_SHOWN)]
    for when, side in (("was", flip.was), ("now", flip.now)):
        said = f": {shown(side.claim, CLAIM_SHOWN)}" if side.claim else ""
        why = f" (explained by {shown(side.why, CLAIM_SHOWN)})" if side.why else ""
        facts.append(f"{when} {shown(side.label or 'unlabelled')}{said}{why}")
    return "\n".join(fact for fact in facts if fact)
