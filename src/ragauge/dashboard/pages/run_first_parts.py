"""What an overview has besides parts of its report: the gates of all tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.contracts.evaluation import EvalAllReport
from ragauge.dashboard.pages.opened_run import OpenedRun, ToRun
from ragauge.reports.document import gates
from ragauge.reports.formats.html import written

if TYPE_CHECKING:
    from markupsafe import Markup


def every_gate(opened: OpenedRun) -> Markup:
    """The gates of all tasks: the report has those that hold with their tasks."""
    report: EvalAllReport = opened.report
    names = {gate.metric: gate.metric for gate in report.gates}
    return written(gates(report.gates, report.metrics, names), links=ToRun(opened))
