"""The report for a terminal: the verdict, before and after, controls, and what moves a judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragauge.contracts.answer_calibration import AnswerCalibrationReport
from ragauge.reports import terminal
from ragauge.reports.answer_calibration import story
from ragauge.reports.evaluation import table_text
from ragauge.reports.evaluation.tables import Cell, Row, Table
from ragauge.reports.terminal import GAP, Page, note, styled, words


def render(report: AnswerCalibrationReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    word, told = story.verdict_words(report)
    indent = len(word) + GAP
    page.paragraph(words(told, "bold"), indent, styled(word).append(" " * GAP))
    page.paragraph(note(story.meaning(report)), indent)
    for table in _tables(report):
        if table.rows:
            table_text.told(page, table)
    terminal.findings(page, story.findings(report))
    terminal.coverage(page, story.coverage_words(report))
    return page.text()


def _tables(report: AnswerCalibrationReport) -> Iterator[Table]:
    scores, controls = story.score_rows(report), story.control_rows(report)
    yield _table(
        "Agreement with people", story.SCORE_HEADS, scores, story.SCORE_RIGHT, story.SCORE_SPARE
    )
    yield _table(
        "Kinds of answers",
        story.KIND_HEADS,
        story.kind_rows(report),
        story.KIND_RIGHT,
        story.KIND_SPARE,
        story.kind_reasons(report),
    )
    yield _table(
        "Controls", story.CONTROL_HEADS, controls, story.CONTROL_RIGHT, story.CONTROL_SPARE
    )
    yield _table(
        "Bias",
        story.BIAS_HEADS,
        story.bias_rows(report),
        story.BIAS_RIGHT,
        reasons=story.bias_reasons(report),
    )


def _table(
    title: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Iterable[int],
    spare: Sequence[int] = (),
    reasons: Sequence[str] = (),
) -> Table:
    """A table with, below each row, what is to be said of it."""
    return Table(
        title=title,
        heads=tuple(heads),
        rows=tuple(
            Row(tuple(map(Cell, row)), note=reason)
            for row, reason in zip(rows, reasons or [""] * len(rows), strict=True)
        ),
        right=frozenset(right),
        spare=tuple(spare),
    )
