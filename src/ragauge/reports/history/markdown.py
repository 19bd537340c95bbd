"""The line as a comment in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.comparison import HistoryReport
from ragauge.reports import comment
from ragauge.reports.audit.blocks import gates
from ragauge.reports.comment import code, table
from ragauge.reports.history import plot, story

WIDTH = 90
RUNS_SHOWN = 25


def render(report: HistoryReport) -> str:
    blocks = [
        f"## Ragauge history: {code(report.metric)}{_verdict(report)}",
        f"{code(story.title(report))}: {comment.prose(story.now_words(report))}.",
        comment.sentence(comment.prose("; ".join(story.movement_words(report)))),
        *gates(report.gates, {}, story.gate_names(report)),
        *_plot(report),
        *_changes(report),
        *_runs(report),
        *comment.findings(story.findings(report)),
        f"Coverage: {story.coverage_words(report)}.",
    ]
    return "\n\n".join(blocks) + "\n"


def _verdict(report: HistoryReport) -> str:
    return f" {story.verdict(report)[0]}" if report.gates else ""


def _plot(report: HistoryReport) -> Iterator[str]:
    points = report.points
    skipped = len(points) - plot.fitting(points, WIDTH)
    lines = plot.drawn(
        points[skipped:],
        {at - skipped for at in story.cuts(report) if at >= skipped},
        {one.at - skipped for one in report.change_points if one.at >= skipped},
        WIDTH,
    )
    if lines and len(points) > 1:
        yield comment.block(lines)


def _changes(report: HistoryReport) -> Iterator[str]:
    told = [[_cell(cell) for cell in cells] for cells, _ in story.changes(report)]
    if told:
        yield "### Change points"
        yield table(story.CHANGE_HEADS, told, right=range(2, 6))


def _runs(report: HistoryReport) -> Iterator[str]:
    told = story.rows(report)
    rows = [[_cell(cell) for cell in cells] for cells in told[:RUNS_SHOWN]]
    title = f"Runs, {story.runs_words(report)}"
    if len(told) > RUNS_SHOWN:
        title += f", {RUNS_SHOWN} of {len(told)} shown"
    yield from comment.details(title, table(story.HEADS, rows, right=range(2, 6)))


def _cell(text: str) -> str:
    return code(text) if text else ""
