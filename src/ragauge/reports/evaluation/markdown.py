"""The evaluation as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragauge.contracts.evaluation import EvalReport
from ragauge.reports import comment, numbers
from ragauge.reports.audit import blocks
from ragauge.reports.comment import LONGEST_ID, code, prose
from ragauge.reports.evaluation import matrix_text, story
from ragauge.reports.evaluation.errors import Browser, ToldError, kind_word
from ragauge.reports.evaluation.labels import Matrix
from ragauge.reports.evaluation.parts import browser_of, matrices_of, tables_of
from ragauge.reports.evaluation.spans import plain
from ragauge.reports.evaluation.tables import Cell, Row, Table
from ragauge.reports.terminal import bar

ROWS_SHOWN = 24
STRATA_SHOWN = 6
TABLES_OPEN = 2
"""The first tables of a task stand open; a reader opens the others."""
ERRORS_SHOWN = 20
ERRORS_OF_A_KIND = 5
BLOCK_WIDTH = 120
WIDEST_BAR = 12
_NUMBER = re.compile(r"[-+]?[\d,]+(\.\d+)?( %)?")


def render(report: EvalReport) -> str:
    told = [
        *blocks.verdict(f"eval {report.task}", story.verdict_words(report)),
        *numbers_of(report),
        *(block for matrix in matrices_of(report) for block in _matrix(matrix)),
        *_tables(tables_of(report)),
        *(block for table in _strata(report) for block in told_table(table)),
        *_errors(browser_of(report)),
        *comment.advice(report.advice),
        *comment.findings(story.findings(report)),
    ]
    return comment.page(told, prose(story.coverage_words(report.coverage)))


def numbers_of(report: EvalReport) -> Iterator[str]:
    """The gates, the metrics that every reader sees, and the others to be opened."""
    names = story.metric_names(report)
    shown, others = story.metrics_told(report)
    yield from blocks.gates(report.gates, report.metrics, names)
    yield from blocks.metrics(shown, names, story.metrics_title(report))
    if others:
        title, *tables = blocks.metrics(others, names, numbers.counted(len(others), "more metric"))
        yield from comment.details(title.removeprefix("### "), *tables)


def _strata(report: EvalReport) -> list[Table]:
    return story.strata(report, brief=True)[:STRATA_SHOWN]


def _tables(tables: list[Table]) -> Iterator[str]:
    for place, table in enumerate(tables):
        if place < TABLES_OPEN:
            yield from told_table(table)
        else:
            name = (code(table.name, LONGEST_ID),) if table.name else ()
            yield from comment.details(table.title, *name, *_blocks(table))


def told_table(table: Table) -> Iterator[str]:
    """A table under its title."""
    name = f" {code(table.name, LONGEST_ID)}" if table.name else ""
    yield f"### {table.title}{name}"
    yield from _blocks(table)


def _blocks(table: Table) -> Iterator[str]:
    if table.about:
        yield comment.sentence(prose(table.about))
    shown = table.rows[:ROWS_SHOWN]
    notes = any(row.note for row in shown)
    heads = [*map(_head, table.heads), *([""] if table.whole else []), *(["note"] if notes else [])]
    rows = [[*_row(row, table.whole), *([prose(row.note)] if notes else [])] for row in shown]
    yield comment.table(heads, rows, right=table.right)
    left = len(table.rows) - len(shown)
    more = [f"and {numbers.counted(left, 'more row')}"] if left else []
    if told := "; ".join([*more, table.more] if table.more else more):
        yield comment.sentence(prose(told))


def _row(row: Row, drawn: bool) -> list[str]:
    cells = [_cell(cell, row.strong and not place) for place, cell in enumerate(row.cells)]
    return [*cells, bar(row.share, WIDEST_BAR) if row.share else ""] if drawn else cells


def _head(title: str) -> str:
    """A column's title; the name of a metric stands in a code span, as everywhere."""
    return code(title) if any(mark in title for mark in "_@") else prose(title)


def _cell(cell: Cell, strong: bool) -> str:
    ours = cell.text if _NUMBER.fullmatch(cell.text) else prose(cell.text)
    text = code(cell.text, LONGEST_ID) if cell.foreign else ours
    return f"**{text}**" if (strong or cell.tone in ("good", "bad")) and text else text


def _matrix(matrix: Matrix) -> Iterator[str]:
    """The matrix as a block of text; nothing where it is too wide for one."""
    lines = [line.plain.rstrip() for line in matrix_text.lines(matrix.seen(), BLOCK_WIDTH)]
    if lines:
        told = comment.sentence(prose(matrix_text.LEGEND))
        yield from comment.details(matrix.title, told, comment.block(lines))


def _errors(browser: Browser | None) -> Iterator[str]:
    if browser is None:
        return
    yield from told_table(browser.table())
    told = browser.some(ERRORS_SHOWN, ERRORS_OF_A_KIND)
    rows = [_error(error) for _, errors in told for error in errors]
    heads = ("kind", "where", "text", "gold", "predicted", "rank")
    if rows:
        title = f"{numbers.count(len(rows))} of {numbers.counted(browser.total, 'error')}"
        table = comment.without_empty(heads, rows)
        yield from comment.details(title, f"Marked: {code(browser.key)}.", table)


def _error(error: ToldError) -> list[str]:
    facts = dict(error.facts)
    return [
        prose(kind_word(error.kind)),
        code(error.name, LONGEST_ID),
        code(plain(error.pieces)),
        *(code(facts.get(side), LONGEST_ID) for side in ("gold", "predicted")),
        prose(facts.get("at rank", "")),
    ]
