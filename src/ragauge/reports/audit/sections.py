"""Sections of a terminal page that every audit has: gates, codes with their places, metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from ragauge.contracts.report import Score
from ragauge.contracts.verdict import Verdict
from ragauge.reports import comment, envelope, numbers, terminal
from ragauge.reports.audit import story
from ragauge.reports.audit.story import ToldCode
from ragauge.reports.terminal import GAP, MARGIN, Page, head, note, styled, widths, words

ARROW = "→ "


def verdict(page: Page, headline: tuple[str, str], beside: str = "") -> None:
    """The verdict in a word and in a sentence; below it what it is about."""
    word, told = headline
    indent = len(word) + GAP
    page.paragraph(words(told, "bold"), indent, Text.assemble(styled(word), " " * GAP))
    if beside:
        page.paragraph(note(beside), indent)


def gates(
    page: Page, given: Sequence[Verdict], metrics: Mapping[str, Score], names: Mapping[str, str]
) -> None:
    if not given:
        return
    page.section("Gates")
    rows = [head("metric", "value", envelope.interval_title(given), "scored", "bound", "verdict")]
    rows += [
        [
            words(names[gate.metric], "" if gate.holds else "bold"),
            Text(numbers.value_beside(gate.value, gate.bound)),
            note(numbers.interval(gate.ci)),
            note(numbers.n_of(gate.n, envelope.scored_of(metrics, gate))),
            Text(numbers.bound(gate)),
            styled(envelope.gate_word(gate)),
        ]
        for gate in given
    ]
    notes = [Text(), *(note(envelope.gate_note(gate)) for gate in given)]
    page.table(rows, right={1, 3}, notes=notes)


def metrics(
    page: Page, told: Sequence[tuple[str, Score]], names: Mapping[str, str], title: str
) -> None:
    if not told:
        return
    page.section(title)
    rows = [head("metric", "value", "95 % interval", "scored")]
    rows += [terminal.metric_cells(names[id], score) for id, score in told]
    page.table(rows, right={1, 3}, notes=[Text(), *(note(score.reason) for _, score in told)])


def codes(page: Page, told: Sequence[ToldCode], why: str = "") -> None:
    """Each code with what it means, the next step and its first places; before them `why`."""
    if not told:
        return
    page.section("Codes", note("the worst first"))
    if why:
        page.paragraph(Text(comment.sentence(why), "bold"))
        page.line(Text())
    rows = _aligned([_code(one) for one in told])
    for number, (row, one) in enumerate(zip(rows, told, strict=True)):
        if number:
            page.line(Text())
        _counts(page, row)
        _told(page, one)


def _told(page: Page, told: ToldCode) -> None:
    page.paragraph(words(told.one.means), 2 * MARGIN)
    arrow = Text(" " * 2 * MARGIN + ARROW, "cyan")
    page.paragraph(words(told.one.tip, "cyan"), len(arrow), arrow)
    for place in told.places:
        page.paragraph(note(story.finding_words(place)), 3 * MARGIN, Text(" " * 2 * MARGIN))
    if told.more and told.places:
        page.paragraph(note(f"and {numbers.count(told.more)} more"), 2 * MARGIN)


def _code(told: ToldCode) -> list[Text]:
    return [
        words(told.one.code, "bold yellow" if told.warning else "bold red"),
        Text(numbers.counted(told.one.answers, "answer")),
        note(numbers.counted(told.one.findings, "finding")),
        note(told.one.depth),
    ]


def _counts(page: Page, row: list[Text]) -> None:
    """A code beside its counts; where there is no room, above them."""
    if MARGIN + sum(widths([row])) + GAP * (len(row) - 1) <= page.width:
        page.table([row])
        return
    page.table([row[:1]])
    page.paragraph(note(", ".join(cell.plain.strip() for cell in row[1:])), 2 * MARGIN)


def _aligned(rows: list[list[Text]]) -> list[list[Text]]:
    """Rows whose cells are as wide as their columns, so that each can be printed alone."""
    wide = widths(rows)
    for row in rows:
        for place, (cell, width) in enumerate(zip(row, wide, strict=True)):
            cell.align("right" if place in (1, 2) else "left", width)
    return rows
