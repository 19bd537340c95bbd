"""What an overview has beside parts of its report: all gates, a summary with links, codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, structs

from ragauge.contracts.audit import AuditReport, CodeCount
from ragauge.contracts.evaluation import EvalAllReport
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.dashboard.pages.opened_run import OpenedRun, ToRun
from ragauge.dashboard.pages.run_recorded import recorded_gates
from ragauge.dashboard.rendering import render
from ragauge.reports.audit.story import POINTER_HOLDS
from ragauge.reports.eval_all import story
from ragauge.reports.evaluation.tables import Row, Table
from ragauge.reports.formats.html import written

if TYPE_CHECKING:
    from markupsafe import Markup

CODES_TAB = "traceability"


class CodeHead(Struct, frozen=True):
    """A code with how much it struck, and the way to its answers."""

    one: CodeCount
    warning: bool
    href: str | None


def every_gate(opened: OpenedRun) -> Markup:
    """The gates of all tasks: the page of the report has those that hold with their tasks."""
    return written(recorded_gates(opened.run), links=ToRun(opened))


def linked_summary(opened: OpenedRun) -> Markup:
    """The numbers of all tasks, each with the way to the tab of its task."""
    report: EvalAllReport = opened.report
    view = opened.fragments.view if opened.fragments else None
    tables = [_linked(opened, report, table) for table in view.summary] if view else []
    return render("run_summary.html", tables=tables)


def code_heads(opened: OpenedRun) -> Markup | None:
    """How many answers each code struck, and what to do; None where there is none."""
    report: AuditReport | TraceEvalReport = opened.report
    if not report.codes:
        return None
    worst = opened.counts.labels
    heads = [
        CodeHead(one, one.code in POINTER_HOLDS, _to_code(opened, one.code, one.code in worst))
        for one in report.codes
    ]
    tab = opened.links.run(opened.run.id, CODES_TAB)
    return render("run_codes.html", heads=heads, tab=tab)


def _to_code(opened: OpenedRun, code: str, is_worst: bool) -> str | None:
    """Answers are listed by their worst code; another code has its places on the same tab."""
    fields = {"code": code} if is_worst else {}
    return opened.links.run(opened.run.id, CODES_TAB, **fields)


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
