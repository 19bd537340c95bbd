"""The report for a terminal: the verdict, before and after, controls, and what moves a judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from ragauge.contracts.answer_calibration import AnswerCalibrationReport
from ragauge.reports import terminal
from ragauge.reports.answer_calibration import story
from ragauge.reports.terminal import GAP, Page, head, note, styled, words


def render(report: AnswerCalibrationReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    word, told = story.verdict_words(report)
    indent = len(word) + GAP
    page.paragraph(words(told, "bold"), indent, styled(word).append(" " * GAP))
    page.paragraph(note(story.meaning(report)), indent)
    scores, controls = story.score_rows(report), story.control_rows(report)
    _table(page, "Agreement with people", story.SCORE_HEADS, scores, story.SCORE_RIGHT)
    reasons = story.kind_reasons(report)
    kinds = story.kind_rows(report)
    _table(page, "Kinds of answers", story.KIND_HEADS, kinds, story.KIND_RIGHT, reasons)
    _table(page, "Controls", story.CONTROL_HEADS, controls, story.CONTROL_RIGHT)
    reasons = story.bias_reasons(report)
    _table(page, "Bias", story.BIAS_HEADS, story.bias_rows(report), story.BIAS_RIGHT, reasons)
    terminal.findings(page, story.findings(report))
    terminal.coverage(page, story.coverage_words(report))
    return page.text()


def _table(
    page: Page,
    title: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Iterable[int],
    reasons: Sequence[str] = (),
) -> None:
    """A section with a table, and below each row what is to be said of it."""
    if not rows:
        return
    page.section(title)
    notes = [Text(), *map(note, reasons)] if reasons else []
    cells = [[words(cell) for cell in row] for row in rows]
    page.table([head(*heads), *cells], right=right, notes=notes)
