"""The evaluation as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragauge.contracts.evaluation import AnswerDetail, EvalReport
from ragauge.reports import comment, numbers
from ragauge.reports.audit import blocks
from ragauge.reports.comment import LONGEST_ID, code, prose
from ragauge.reports.evaluation import families, matrix_text, story, support
from ragauge.reports.evaluation.errors import Browser, ToldError, kind_word
from ragauge.reports.evaluation.labels import Matrix
from ragauge.reports.evaluation.parts import answers_of, browser_of, matrices_of, tables_of
from ragauge.reports.evaluation.spans import plain
from ragauge.reports.evaluation.support import ToldAnswer
from ragauge.reports.evaluation.tables import Cell, Row, Table
from ragauge.reports.terminal import bar

ROWS_SHOWN = 24
STRATA_SHOWN = 6
TABLES_OPEN = {"answers": 0, "qa": 0}
"""Of a task, the first tables that stand open, 2 of most; a reader opens the others."""
ERRORS_SHOWN = 20
ERRORS_OF_A_KIND = 5
ANSWERS_SHOWN = 8
BLOCK_WIDTH = 120
WIDEST_BAR = 12
_NUMBER = re.compile(r"[-+]?[\d,]+(\.\d+)?( %)?")


def render(report: EvalReport) -> str:
    told = [
        *blocks.verdict(f"eval {report.task}", story.verdict_words(report), story.about(report)),
        *numbers_of(report),
        *(block for matrix in matrices_of(report) for block in _matrix(matrix)),
        *_tables(tables_of(report), TABLES_OPEN.get(report.task, 2)),
        *(block for table in _strata(report) for block in told_table(table)),
        *_errors(browser_of(report)),
        *_answers(answers_of(report)),
        *comment.advice(report.advice),
        *comment.findings(story.findings(report)),
    ]
    return comment.page(told, prose(story.coverage_words(report.coverage)))


def numbers_of(report: EvalReport) -> Iterator[str]:
    """The gates, the metrics that every reader sees, and the others to be opened."""
    names = story.metric_names(report)
    shown, others = story.metrics_told(report)
    yield from blocks.gates(report.gates, report.metrics, names)
    if isinstance(report.detail, AnswerDetail):
        yield from _families(report)
    yield from blocks.metrics(shown, names, story.metrics_title(report))
    if others:
        title, *tables = blocks.metrics(others, names, numbers.counted(len(others), "more metric"))
        yield from comment.details(title.removeprefix("### "), *tables)


def _families(report: EvalReport) -> Iterator[str]:
    """The metrics of answers that the verdict names, and all to be opened."""
    if first := families.headline_table(report, story.HEADLINES[report.task]):
        yield from told_table(first)
    table = families.metrics_table(report)
    remarks = [f"- {prose(remark)}" for remark in families.remarks(report)]
    told = [
        *(_blocks(table, len(table.rows)) if table else ()),
        *(["\n".join(remarks)] if remarks else []),
    ]
    if told:
        yield from comment.details(f"All {numbers.counted(len(report.metrics), 'metric')}", *told)


def _strata(report: EvalReport) -> list[Table]:
    return story.strata(report, brief=True)[:STRATA_SHOWN]


def _tables(tables: list[Table], open: int) -> Iterator[str]:
    for place, table in enumerate(tables):
        if place < open:
            yield from told_table(table)
        else:
            name = (code(table.name, LONGEST_ID),) if table.name else ()
            yield from comment.details(table.title, *name, *_blocks(table))


def told_table(table: Table) -> Iterator[str]:
    """A table under its title."""
    name = f" {code(table.name, LONGEST_ID)}" if table.name else ""
    yield f"### {table.title}{name}"
    yield from _blocks(table)


def _blocks(table: Table, most: int = ROWS_SHOWN) -> Iterator[str]:
    if table.about:
        yield comment.sentence(prose(table.about))
    shown = table.rows[:most]
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


def _answers(found: list[ToldAnswer]) -> Iterator[str]:
    """The least grounded answers, each with its weakest sentence."""
    weak = [one for one in found if one.is_weak]
    heads = (
        "answer",
        "value",
        "weakest sentence",
        "score",
        "nearest",
        "not in the contexts",
    )
    rows = [_answer(one) for one in weak[:ANSWERS_SHOWN]]
    if rows:
        title = f"{support.title(found)}: {numbers.n_of(len(rows), len(weak))}"
        yield from comment.details(title, comment.without_empty(heads, rows, right={1, 3}))


def _answer(one: ToldAnswer) -> list[str]:
    id, value = code(one.id, LONGEST_ID), numbers.value(one.value)
    sentence = one.weakest
    if sentence is None:
        return [id, value, code(one.answer) if one.answer else "no answer", "", "", ""]
    return [
        id,
        value,
        code("".join(piece for piece, _ in sentence.pieces)),
        f"{sentence.level.mark} {sentence.value}",
        code(sentence.evidence.chunk, LONGEST_ID) if sentence.evidence else "",
        code(sentence.missing_words) if sentence.missing else "",
    ]
