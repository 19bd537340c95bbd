"""Slices, symptoms, addresses of claims and the replay, on a terminal page."""

from __future__ import annotations

from rich.text import Text

from ragauge.contracts.diagnosis import DiagnosisReport
from ragauge.reports import numbers
from ragauge.reports.diagnosis import addresses as claims
from ragauge.reports.diagnosis import parts, story
from ragauge.reports.diagnosis.labels import Labels
from ragauge.reports.diagnosis.wide_page import WidePage
from ragauge.reports.terminal import GAP, MARGIN, bar, head, note, words

WIDEST_BAR = 30
REPAIRED_SHOWN = 10
ADDRESS_STYLES = {
    "grounded": "green",
    "self_knowledge": "cyan",
    "misled_by_relevant": "yellow",
    "misled_by_noise": "magenta",
    "invented": "red",
    "said": "green",
    "unused": "yellow",
    "retriever_missed": "red",
    "unjudged": "dim",
}


def slices(page: WidePage, report: DiagnosisReport, say: Labels) -> None:
    told = parts.slices(report)
    if not told and not story.is_low(report):
        return
    page.section(say.heads.slices)
    if not told:
        page.paragraph(note(say.no_slice))
        return
    heads = say.heads
    rows = [
        head(
            heads.slice,
            heads.metric,
            heads.samples,
            heads.beyond,
            heads.value,
            heads.elsewhere,
            heads.corrected_p,
        )
    ]
    for one in told:
        texts = (numbers.count(one.one.n), one.beyond, one.value, one.elsewhere, one.p)
        cells = [words(one.name, "bold"), words(one.one.metric), *map(Text, texts)]
        rows.append(cells)
    page.titled_table(rows, range(2, 7), [note(one.one.text) for one in told], say.signs.comma)


def symptoms(page: WidePage, report: DiagnosisReport, say: Labels) -> None:
    told = parts.symptoms(report)
    if not told and not story.is_low(report):
        return
    page.section(say.heads.symptoms, note(say.heads.symptoms_about) if told else None)
    if not told:
        page.paragraph(note(say.no_symptom))
        return
    _bars(page, [(name, "red", times) for name, times in told])


def _bars(page: WidePage, told: list[tuple[str, str, int]], total: int = 0) -> None:
    """Names with bars and counts; with shares where they are parts of a total."""
    most = max(times for _, _, times in told)
    names = [words(name) for name, _, _ in told]
    taken = MARGIN + max(name.cell_len for name in names) + 3 * GAP + len("10,000  100.0 %")
    room = min(WIDEST_BAR, max(4, page.width - taken))
    rows = [
        [name, Text(bar(times / most, room), style), Text(numbers.count(times))]
        for name, (_, style, times) in zip(names, told, strict=True)
    ]
    if total:
        for row, (_, _, times) in zip(rows, told, strict=True):
            row.append(note(numbers.share(times, total)))
    page.table(rows, right={2, 3})


def addresses(page: WidePage, report: DiagnosisReport, say: Labels) -> None:
    stacks = claims.stacks(report)
    if not stacks and not story.is_low(report):
        return
    about = note(claims.judge_words(report))
    page.section(say.heads.addresses, about if stacks else None)
    if not stacks:
        page.paragraph(about)
    for stack in stacks:
        page.paragraph(Text(stack.title, "bold"))
        if not stack.parts:
            page.paragraph(note(stack.none))
            continue
        total = sum(times for _, _, times in stack.parts)
        _bars(page, [(name, ADDRESS_STYLES[kind], n) for kind, name, n in stack.parts], total)
        for line in stack.sums:
            page.paragraph(note(line))


def replay(page: WidePage, report: DiagnosisReport, say: Labels) -> None:
    if report.replay is None and not story.is_low(report):
        return
    page.section(say.heads.replay)
    if report.replay is None:
        page.paragraph(note(say.no_replay))
        return
    page.paragraph(words(parts.replay_words(report.replay, say)))
    _interventions(page, report, say)
    repaired = parts.repaired_by(report)
    if repaired:
        page.line(Text())
        rows = [head(say.heads.sample, say.heads.repaired_by)]
        rows += [[words(id, "bold"), words(by)] for id, by in repaired[:REPAIRED_SHOWN]]
        page.table(rows)
    left = len(repaired) - REPAIRED_SHOWN
    if left > 0:
        page.paragraph(note(say.more_in_html.format(n=numbers.count(left))))


def _interventions(page: WidePage, report: DiagnosisReport, say: Labels) -> None:
    told = parts.interventions(report)
    if not told:
        return
    heads = say.heads
    titles = [heads.asked, heads.effective, heads.repaired, heads.failed, heads.impossible]
    rows = [head(heads.intervention, *titles)]
    rows += [
        [
            words(one.name),
            *map(Text, (one.asked, one.effective, one.repaired)),
            *map(note, (one.failed, one.impossible)),
        ]
        for one in told
    ]
    page.titled_table(rows, range(1, 6), [note(one.note) for one in told], say.signs.comma)
