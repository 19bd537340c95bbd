"""The evaluation of all components for a terminal: the summary, then each task's numbers."""

from __future__ import annotations

from ragauge.contracts.evaluation import EvalAllReport, EvalReport
from ragauge.reports import terminal
from ragauge.reports.audit import sections
from ragauge.reports.eval_all import story
from ragauge.reports.evaluation import story as evaluation
from ragauge.reports.evaluation import table_text
from ragauge.reports.evaluation.console import numbers_of
from ragauge.reports.terminal import Page, note, styled


def render(report: EvalAllReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    names = story.metric_names(report)
    sections.verdict(page, story.verdict_words(report), story.model_words(report))
    table_text.told(page, story.summary(report))
    if failures := story.failures(report):
        table_text.told(page, failures)
    if gates := story.gates(report):
        table_text.told(page, gates)
    sections.metrics(page, story.other_metrics(report), names, "Other numbers")
    for name, one in story.tasks(report):
        _task(page, name, one)
    if report.tasks:
        page.section("Errors and tables")
        page.paragraph(note("--report FILE.html shows them for each task"))
    terminal.findings(page, story.findings(report))
    terminal.coverage(page, story.coverage_words(report))
    return page.text()


def _task(page: Page, name: str, one: EvalReport) -> None:
    word, told = evaluation.verdict_words(one)
    page.section(story.title(name), styled(word))
    page.paragraph(note(told))
    page.paragraph(note(evaluation.coverage_words(one.coverage)))
    numbers_of(page, one)
