"""The report as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.consistency import ConsistencyReport, Disagreement
from ragauge.contracts.verdict import Verdict
from ragauge.reports import comment, envelope, numbers
from ragauge.reports.comment import LONGEST_ID, code, table, without_empty
from ragauge.reports.consistency import story

SHOWN = 25


def render(report: ConsistencyReport) -> str:
    blocks = [
        *_verdict(report),
        *_gates(report),
        *_labels(report),
        *_confusion(report),
        *_disagreements(report),
        *comment.findings(story.findings(report)),
        f"Coverage: {story.coverage_words(report.coverage)}.",
    ]
    return "\n\n".join(blocks) + "\n"


def _verdict(report: ConsistencyReport) -> Iterator[str]:
    word, words = story.verdict_words(report)
    yield f"## Ragauge consistency: {word}"
    yield comment.sentence(words)
    yield "\n".join(f"- {code(judge)}" for judge in story.judge_words(report))


def _gates(report: ConsistencyReport) -> Iterator[str]:
    interval = envelope.interval_title(report.gates)
    heads = ("gate", "value", interval, "scored", "bound", "verdict", "note")
    rows = [_gate(report, gate) for gate in report.gates]
    yield without_empty(heads, rows, right={1, 3})


def _gate(report: ConsistencyReport, gate: Verdict) -> list[str]:
    word, note = envelope.gate_word(gate), envelope.gate_note(gate)
    return [
        code(gate.metric.partition(".")[2]),
        numbers.value_beside(gate.value, gate.bound),
        numbers.interval(gate.ci),
        numbers.n_of(gate.n, envelope.scored_of(report.metrics, gate)),
        code(numbers.bound(gate)),
        word if gate.holds else f"**{word}**",
        code(note) if note else "",
    ]


def _labels(report: ConsistencyReport) -> Iterator[str]:
    rows = [
        (code(label), *map(numbers.count, (a, b, both)), numbers.value(agreement), str(final))
        for label, a, b, both, agreement, final in story.label_rows(report)
    ]
    if rows:
        yield "### Labels"
        yield table(("label", "A", "B", "both", "agreement", "final"), rows, right=range(1, 6))


def _confusion(report: ConsistencyReport) -> Iterator[str]:
    labels = story.confused_labels(report)
    if report.disagreement_count:
        yield "### Confusion"
        rows = [
            [code(label), *(numbers.count(report.confusion[label][other]) for other in labels)]
            for label in labels
        ]
        heads = ["A down, B across", *map(code, labels)]
        yield table(heads, rows, right=range(1, len(heads)))


def _disagreements(report: ConsistencyReport) -> Iterator[str]:
    told = report.disagreements[:SHOWN]
    if told:
        total = report.disagreement_count
        title = numbers.counted(total, "disagreement")
        if len(told) < total:
            title += f", {len(told)} shown"
        heads = ("question", "A", "B", "final", "why", "A says", "B says")
        yield from comment.details(title, table(heads, map(_disagreement, told)))


def _disagreement(one: Disagreement) -> list[str]:
    return [
        code(one.qid, LONGEST_ID),
        code(one.label_a),
        code(one.label_b),
        code(one.final),
        code(one.why),
        code(one.reason_a),
        code(one.reason_b),
    ]
