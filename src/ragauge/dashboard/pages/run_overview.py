"""The overview of a run: gates with their intervals, metrics, findings, advice, coverage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from ragauge.contracts.history import Run
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.opened_run import OpenedRun, TabView, ToRun
from ragauge.dashboard.pages.run_first_parts import every_gate
from ragauge.dashboard.pages.run_recorded import recorded
from ragauge.dashboard.rendering import render
from ragauge.reports.formats.html import written

if TYPE_CHECKING:
    from markupsafe import Markup

PARTS: Mapping[str, tuple[str, ...]] = {
    "score": ("gates", "advice", "metrics", "findings", "coverage"),
    "stability": ("gates", "advice", "metrics", "findings", "coverage", "next"),
    "audit": ("gates", "codes", "advice", "metrics", "findings", "coverage"),
    "trace_eval": ("gates", "codes", "advice", "metrics", "findings", "coverage"),
    "evaluation": ("gates", "metrics", "advice", "findings", "coverage"),
    "eval_all": ("summary", "gates", "metrics", "findings", "coverage"),
}
"""What an overview is made of, by the kind of the report: its fragments, and parts of `OWN`."""
OWN: Mapping[tuple[str, str], Callable[[OpenedRun], Markup | None]] = {
    ("eval_all", "gates"): every_gate,
}
"""Parts that are the dashboard's own."""


def view(opened: OpenedRun) -> TabView:
    """The parts of the report that its other tabs do not show; the record's where it is gone."""
    parts = [part for name in PARTS.get(opened.kind, ()) if (part := _part(opened, name))]
    body = render(
        "run_overview.html",
        parts=parts,
        no_report="" if parts else opened.no_report or "this version has no view of its kind",
        recorded=None if parts else written(recorded(opened.run), links=ToRun(opened)),
        links=opened.links,
    )
    return TabView(body=body, figures=record_figures(opened.run))


def _part(opened: OpenedRun, name: str) -> Markup | None:
    own = OWN.get((opened.kind, name))
    if own is not None:
        return own(opened)
    return opened.fragments.part(name) if opened.fragments else None


def record_figures(run: Run) -> dict[str, Callable[[], Figures]]:
    """The numbers of a run's record, as tables."""
    return {"metrics": lambda: metric_figures(run), "gates": lambda: gate_figures(run)}


def metric_figures(run: Run) -> Figures:
    columns = ("metric", "value", "low", "high", "n", "of", "better", "reason")
    rows = (
        (id, one.value, *_ends(one.ci), one.n, one.of, one.better, one.reason)
        for id, one in sorted(run.record.metrics.items())
    )
    return Figures(columns, rows)


def gate_figures(run: Run) -> Figures:
    # The rule says how its bound is meant: "=" alone is a formula to a spreadsheet.
    columns = ("rule", "metric", "bound", "value", "low", "high", "n", "verdict", "reason")
    rows = (
        (
            one.rule,
            one.metric,
            one.bound,
            one.value,
            *_ends(one.ci),
            one.n,
            one.verdict,
            one.reason,
        )
        for one in run.record.gates
    )
    return Figures(columns, rows)


def _ends(ci: Iterable[float] | None) -> Iterable[float | None]:
    return (None, None) if ci is None else ci
