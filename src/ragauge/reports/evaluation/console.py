"""The evaluation for a terminal: the verdict, the gates, the numbers, then what went wrong."""

from __future__ import annotations

from rich.text import Text

from ragauge.contracts.evaluation import AnswerDetail, EvalReport
from ragauge.reports import numbers, terminal
from ragauge.reports.audit import sections
from ragauge.reports.evaluation import families, matrix_text, story, support_text, table_text
from ragauge.reports.evaluation.errors import Browser, ToldError, kind_word
from ragauge.reports.evaluation.gates import gates_table
from ragauge.reports.evaluation.parts import answers_of, browser_of, matrices_of, tables_of
from ragauge.reports.evaluation.spans import Piece, bracketed
from ragauge.reports.terminal import GAP, MARGIN, Page, labelled, note, words

ERRORS_SHOWN = 15
ERRORS_OF_A_KIND = 4


def render(report: EvalReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    sections.verdict(page, story.verdict_words(report), story.about(report))
    numbers_of(page, report)
    for matrix in matrices_of(report):
        matrix_text.told(page, matrix)
    for table in (*tables_of(report), *story.strata(report, brief=True)):
        table_text.told(page, table)
    if browser := browser_of(report):
        _errors(page, browser)
    support_text.told(page, answers_of(report))
    terminal.advice(page, report.advice)
    terminal.findings(page, story.findings(report))
    terminal.coverage(page, story.coverage_words(report.coverage))
    return page.text()


def numbers_of(page: Page, report: EvalReport) -> None:
    """The gates, and the metrics that every reader sees."""
    names = story.metric_names(report)
    shown, others = story.metrics_told(report)
    if gates := gates_table(report.gates, report.metrics, names):
        table_text.told(page, gates)
    if isinstance(report.detail, AnswerDetail):
        _families(page, report)
    sections.metrics(page, shown, names, story.metrics_title(report))
    if others:
        more = numbers.counted(len(others), "more metric")
        page.paragraph(note(f"and {more}; --report FILE.html shows them"))


def _families(page: Page, report: EvalReport) -> None:
    """The metrics of answers, and what is to be said of those that are absent."""
    if metrics := families.metrics_table(report):
        table_text.told(page, metrics)
    else:
        page.section("Metrics")
    for remark in families.remarks(report):
        page.paragraph(note(remark))


def _errors(page: Page, browser: Browser) -> None:
    table_text.told(page, browser.table())
    page.line(Text())
    page.paragraph(note(browser.key))
    told = browser.some(ERRORS_SHOWN, ERRORS_OF_A_KIND)
    for kind, errors in told:
        page.paragraph(Text(kind_word(kind), "bold"))
        for error in errors:
            _error(page, error)
    left = browser.total - sum(len(errors) for _, errors in told)
    if left:
        page.paragraph(note(f"and {numbers.count(left)} more; --report FILE.html shows them"))


def _error(page: Page, error: ToldError) -> None:
    text = Text()
    for part, piece in bracketed(error.pieces):
        text.append(part, _style(piece))
    page.paragraph(text, 2 * MARGIN)
    facts = [labelled(name, told) for name, told in error.facts]
    page.paragraph(Text(" " * GAP).join((words(error.name, "dim"), *facts)), 3 * MARGIN)


def _style(piece: Piece | None) -> str:
    if piece is None:
        return "dim"
    if piece.gold and piece.predicted:
        return "bold yellow"
    return "bold green" if piece.gold else "bold red" if piece.predicted else ""
