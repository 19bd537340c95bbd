"""What an overview has beside parts of its report: all gates, a summary with links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from ragauge.contracts.evaluation import EvalAllReport
from ragauge.dashboard.pages.opened_run import OpenedRun, ToRun
from ragauge.dashboard.pages.run_recorded import Recorded
from ragauge.dashboard.rendering import render
from ragauge.reports.eval_all import story
from ragauge.reports.evaluation.tables import Row, Table

if TYPE_CHECKING:
    from markupsafe import Markup


def every_gate(opened: OpenedRun) -> Markup:
    """The gates of all tasks: the page of the report has those that hold with their tasks."""
    return render("bounds.html", view=Recorded(opened.run), to=ToRun(opened))


def linked_summary(opened: OpenedRun) -> Markup:
    """The numbers of all tasks, each with the way to the tab of its task."""
    report: EvalAllReport = opened.report
    view = opened.fragments.view if opened.fragments else None
    tables = [_linked(opened, report, table) for table in view.summary] if view else []
    return render("run_summary.html", tables=tables)


def _linked(opened: OpenedRun, report: EvalAllReport, table: Table) -> Table:
    """The table with its first cells leading to the tab of the task that a row is of."""
    by_metric = {id: name for name, one in story.tasks(report) for id in one.metrics}
    by_number = {name: by_metric.get(one.metric) for name, one in report.summary.items()}

    def linked(row: Row) -> Row:
        first = row.cells[0]
        task = by_number.get(first.text)
        href = opened.links.run(opened.run.id, task) if task else None
        return structs.replace(row, cells=(structs.replace(first, href=href), *row.cells[1:]))

    return structs.replace(table, rows=tuple(map(linked, table.rows)))
