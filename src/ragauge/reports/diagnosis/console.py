"""The diagnosis for a terminal: the verdict, the likeliest cause, and all they rest on."""

from __future__ import annotations

from rich.text import Text

from ragauge.contracts.diagnosis import DiagnosisReport, Severity
from ragauge.reports import envelope, numbers
from ragauge.reports.diagnosis import console_causes, console_parts, console_samples, story
from ragauge.reports.diagnosis.labels import Labels
from ragauge.reports.diagnosis.story import ToldMetric
from ragauge.reports.diagnosis.verdict import verdict_words
from ragauge.reports.diagnosis.wide_page import WidePage
from ragauge.reports.foreign import shown
from ragauge.reports.terminal import GAP, MARGIN, head, metric_cells, note, words

STYLES: dict[Severity, str] = {
    "critical": "bold red",
    "warning": "yellow",
    "none": "green",
    "not_evaluable": "magenta",
    "no_rule": "dim",
}

LONGEST_VERDICT = 800
"""Characters: it names metrics, and where it is worse."""
LONGEST_FINDING = 4_000
"""Characters: one finding may list dozens of metrics."""


def render(report: DiagnosisReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = WidePage(color, width)
    say = story.words(report)
    _verdict(page, report)
    console_causes.lead(page, story.lead(report), say)
    _metrics(page, report, say)
    console_causes.ranked(page, report, say)
    console_causes.untested(page, report, say)
    console_causes.struck_out(page, report, say)
    console_parts.slices(page, report, say)
    console_parts.symptoms(page, report, say)
    console_parts.addresses(page, report, say)
    console_parts.replay(page, report, say)
    console_samples.worst(page, report, say)
    _recorded(page, report, say)
    _unknown(page, report, say)
    _findings(page, report, say)
    _coverage(page, report, say)
    return page.text()


def _verdict(page: WidePage, report: DiagnosisReport) -> None:
    word, told = verdict_words(report)
    first = Text.assemble((word, "bold green" if report.passed else "bold red"), " " * GAP)
    page.paragraph(Text(shown(told, LONGEST_VERDICT), "bold"), first.cell_len, first)


def _metrics(page: WidePage, report: DiagnosisReport, say: Labels) -> None:
    told = story.metrics(report)
    page.section(say.heads.metrics)
    if not told:
        page.paragraph(note(say.no_metrics))
        return
    heads = say.heads
    rows = [
        head(heads.metric, heads.severity, heads.value, heads.limits, heads.valid, heads.invalid),
        *map(_metric, told),
    ]
    shares = [note(heads.beyond), *(Text(one.share) for one in told)]
    rows = [[*row, share] for row, share in zip(rows, shares, strict=True)]
    narrow = not page.fits(rows)
    if narrow:
        rows = [[*row[:4], row[6]] for row in rows]
    notes = [note(_below(one, say, narrow)) for one in told]
    page.titled_table(rows, {4, 5, 6}, notes, say.signs.comma)


def _metric(one: ToldMetric) -> list[Text]:
    return [
        words(one.name, "bold" if one.severity in story.LOW else ""),
        Text(one.word, STYLES[one.severity]),
        Text(one.value),
        note(one.limits),
        note(one.valid),
        Text(one.invalid),
    ]


def _below(one: ToldMetric, say: Labels, narrow: bool) -> str:
    """What a metric's row has no column for."""
    valid = f"{one.valid} {say.heads.valid}" if narrow else ""
    numbers_of = say.listed([number or id for number, id in one.causes])
    causes = f"{say.goes_with} {numbers_of}" if numbers_of else ""
    counts = "" if one.severity == "none" else one.counts  # nobody asks where all is well
    return say.told([valid, counts, *one.notes, causes])


def _recorded(page: WidePage, report: DiagnosisReport, say: Labels) -> None:
    """What a recorded run says besides: its gates, and scores that were not diagnosed."""
    heads = say.heads
    if report.gates:
        page.section(heads.gates, note(heads.gates_about))
        rows = [head(heads.metric, heads.value, heads.bound, heads.verdict)]
        for gate in report.gates:
            word = say.gate_verdicts[gate.verdict]
            value = numbers.value_beside(gate.value, gate.bound)
            style = "green" if gate.verdict == "pass" else "" if gate.holds else "bold red"
            bound = shown(numbers.bound(gate))
            rows.append([words(gate.metric), Text(value), Text(bound), Text(word, style)])
        notes = [note(envelope.gate_note(gate)) for gate in report.gates]
        page.titled_table(rows, {1}, notes, say.signs.comma)
    others = story.other_metrics(report)
    if others:
        page.section(heads.other_metrics)
        rows = [head(heads.metric, heads.value, heads.interval, heads.scored)]
        for id, score in others:
            cells = metric_cells(id, score)
            rows.append([*cells[:3], note(say.n_of(score.n, score.of))])
        notes = [note(score.reason) for _, score in others]
        page.titled_table(rows, {1, 3}, notes, say.signs.comma)


def _unknown(page: WidePage, report: DiagnosisReport, say: Labels) -> None:
    page.section(say.heads.unknown)
    for text in report.unknown:
        page.paragraph(words(text), 2 * MARGIN, Text("  - "))
    if not report.unknown:
        page.paragraph(note(say.no_unknown))


def _findings(page: WidePage, report: DiagnosisReport, say: Labels) -> None:
    found = envelope.findings_by_code(report.findings, report.finding_counts)
    if not found:
        return
    page.section(say.heads.findings)
    for code, times, places in found:
        page.line(Text.assemble(" " * MARGIN, words(code, "bold"), f"  {numbers.count(times)}"))
        for place in places:
            text = shown(envelope.finding_text(place), LONGEST_FINDING)
            page.paragraph(Text(text, "dim"), 2 * MARGIN)
        if times > len(places) > 0:
            more = say.more.format(n=numbers.count(times - len(places)))
            page.paragraph(note(more), 2 * MARGIN)


def _coverage(page: WidePage, report: DiagnosisReport, say: Labels) -> None:
    title = Text(f"{say.heads.coverage}  ", "bold")
    page.line(Text())
    page.paragraph(words(story.coverage_words(report)), title.cell_len, title)
