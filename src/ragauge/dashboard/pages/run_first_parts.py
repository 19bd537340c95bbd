"""What an overview has besides parts of its report: all gates, and codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ragauge.contracts.audit import AuditReport, CodeCount
from ragauge.contracts.evaluation import EvalAllReport
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.dashboard.pages.opened_run import OpenedRun, ToRun
from ragauge.dashboard.rendering import render
from ragauge.reports.audit.story import POINTER_HOLDS
from ragauge.reports.document import gates
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
    """The gates of all tasks: the report has those that hold with their tasks."""
    report: EvalAllReport = opened.report
    names = {gate.metric: gate.metric for gate in report.gates}
    return written(gates(report.gates, report.metrics, names), links=ToRun(opened))


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
