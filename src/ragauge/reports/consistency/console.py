"""The report for a terminal: the verdict, where the judges part, and what became of it."""

from __future__ import annotations

from rich.text import Text

from ragauge.contracts.consistency import ConsistencyReport
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope, numbers, terminal
from ragauge.reports.consistency import story
from ragauge.reports.terminal import GAP, Page, head, note, styled, words

SHOWN = 10


def render(report: ConsistencyReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    _verdict(page, report)
    _gates(page, report)
    _labels(page, report)
    _confusion(page, report)
    _disagreements(page, report)
    terminal.findings(page, story.findings(report))
    terminal.coverage(page, story.coverage_words(report.coverage))
    return page.text()


def _verdict(page: Page, report: ConsistencyReport) -> None:
    word, told = story.verdict_words(report)
    indent = len(word) + GAP
    page.paragraph(Text(told, "bold"), indent, styled(word) + Text(" " * GAP))
    for judge in story.judge_words(report):
        page.paragraph(note(judge), indent)


def _gates(page: Page, report: ConsistencyReport) -> None:
    page.section("Gates")
    interval = envelope.interval_title(report.gates)
    rows = [head("metric", "value", interval, "scored", "bound", "verdict")]
    rows += [_gate(report, gate) for gate in report.gates]
    notes = [Text(), *(note(envelope.gate_note(gate)) for gate in report.gates)]
    page.table(rows, right={1, 3}, notes=notes)


def _gate(report: ConsistencyReport, gate: Verdict) -> list[Text]:
    return [
        Text(gate.metric.partition(".")[2], "" if gate.holds else "bold"),
        Text(numbers.value_beside(gate.value, gate.bound)),
        Text(numbers.interval(gate.ci), "dim"),
        Text(numbers.n_of(gate.n, envelope.scored_of(report.metrics, gate)), "dim"),
        Text(numbers.bound(gate)),
        styled(envelope.gate_word(gate)),
    ]


def _labels(page: Page, report: ConsistencyReport) -> None:
    told = story.label_rows(report)
    if not told:
        return
    page.section("Labels", note("agreement on a label: twice both, over A and B"))
    rows = [head("label", "A", "B", "both", "agreement", "final")]
    for label, a, b, both, agreement, final in told:
        counts = [Text(numbers.count(number)) for number in (a, b, both)]
        shared = Text(numbers.value(agreement))
        rows.append([Text(label), *counts, shared, Text(numbers.count(final))])
    page.table(rows, right=range(1, 6))


def _confusion(page: Page, report: ConsistencyReport) -> None:
    labels = story.confused_labels(report)
    if not report.disagreement_count:
        return
    page.section("Confusion", note("the label of A down, of B across"))
    rows = [head("", *labels)]
    for label in labels:
        counts = report.confusion[label]
        rows.append([note(label), *(_cell(counts[other], label == other) for other in labels)])
    page.table(rows, right=range(1, len(labels) + 1))


def _cell(times: int, agreed: bool) -> Text:
    return Text(numbers.count(times), "green" if agreed else "red" if times else "dim")


def _disagreements(page: Page, report: ConsistencyReport) -> None:
    if not report.disagreement_count:
        return
    page.section("Disagreements", note("the stricter label is final; an abstention never is"))
    told = report.disagreements[:SHOWN]
    rows = [head("question", "A", "B", "final", "why")]
    rows += [
        [
            words(one.qid, "bold"),
            Text(one.label_a),
            Text(one.label_b),
            Text(one.final),
            note(one.why),
        ]
        for one in told
    ]
    reasons = [_reasons(one.reason_a, one.reason_b) for one in told]
    page.table(rows, notes=[Text(), *reasons])
    more = report.disagreement_count - len(told)
    if more:
        every = "--disagreements FILE.tsv writes them all"
        page.paragraph(note(f"and {numbers.count(more)} more; {every}"))


def _reasons(a: str | None, b: str | None) -> Text:
    """What the judges said for themselves."""
    told = [f"{name}: {reason}" for name, reason in (("A", a), ("B", b)) if reason]
    return note("; ".join(told))
