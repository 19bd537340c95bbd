"""Traceability: findings by code, each place with its question; depths or λ; the answers."""

from __future__ import annotations

from ragauge.contracts.audit import AuditReport
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.opened_run import (
    QUESTIONS,
    TRACEABILITY,
    Fragments,
    OpenedRun,
    TabView,
    ToRun,
)
from ragauge.dashboard.pages.run_questions import unit_table, units_body
from ragauge.dashboard.rendering import render
from ragauge.reports.kinds.trace_eval import states

ANSWER = "answer"
"""Where on its page the answer to a question stands."""


def view(opened: OpenedRun) -> TabView:
    """The codes with their places, then how deep answers hold, then the answers themselves."""
    report: AuditReport | TraceEvalReport = opened.report
    fragments = Fragments(report, ToRun(opened, anchor=ANSWER))
    is_audit = isinstance(report, AuditReport)
    asked = _by_code(opened.asked)
    # The questions of a trace evaluation are drawn above; a code lists those that have it.
    with_table = is_audit or asked is not opened.asked
    table = unit_table(opened, asked) if with_table else None
    middle = ("depths",) if is_audit else ("states", "at_k", "questions")
    body = render(
        "run_traceability.html",
        codes=fragments.part("codes") if report.codes else None,
        ways=_ways(opened, report),
        code=opened.asked.text("code"),
        parts=[fragments.part(name) for name in middle],
        is_audit=is_audit,
        cut=None if is_audit else _cut(opened, report),
        all_questions=opened.links.run(opened.run.id, QUESTIONS),
        units=units_body(opened, table, asked, TRACEABILITY) if table else None,
        links=opened.links,
    )
    figures = {
        "codes": lambda: _code_figures(report),
        "depths": lambda: _depth_figures(report),
    }
    if table:
        figures["questions"] = table.figures
    if not is_audit:
        figures["states"] = figures.pop("depths")
    return TabView(body=body, figures=figures)


def _by_code(asked: Asked) -> Asked:
    """The units with a code are those whose label it is: their worst one."""
    code = asked.text("code")
    return asked.but(label=code, code=None) if code else asked


def _ways(
    opened: OpenedRun, report: AuditReport | TraceEvalReport
) -> list[tuple[str, int, str | None]]:
    """Each code that is the worst of some unit: its units, and the way to them."""
    counts = opened.counts.labels
    return [
        (one.code, counts[one.code], opened.links.run(opened.run.id, TRACEABILITY, code=one.code))
        for one in report.codes
        if counts.get(one.code)
    ]


def _cut(opened: OpenedRun, report: AuditReport | TraceEvalReport) -> int | None:
    """How many questions the list has of all, where the summary has not all of them."""
    shown = len(report.questions) if isinstance(report, TraceEvalReport) else 0
    return shown if shown < opened.run.record.units else None


def _code_figures(report: AuditReport | TraceEvalReport) -> Figures:
    rows = [(one.code, one.depth, one.answers, one.findings, one.means) for one in report.codes]
    return Figures(("code", "depth", "answers", "findings", "means"), rows)


def _depth_figures(report: AuditReport | TraceEvalReport) -> Figures:
    if isinstance(report, AuditReport):
        depths = [(name, one.checked, one.ok) for name, one in report.depths.items()]
        return Figures(("depth", "checked", "ok"), depths)
    return Figures(("state", "retrieval", "answers"), states(report))
