"""The overview of a run: gates with their intervals, metrics, findings, advice, coverage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ragauge.contracts.history import Run
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.opened_run import OpenedRun, TabView, ToRun
from ragauge.dashboard.rendering import render
from ragauge.reports import envelope

PARTS: Mapping[str, tuple[str, ...]] = {
    "score": ("bounds", "advice", "metrics", "findings", "coverage"),
    "stability": ("gates", "advice", "metrics", "findings", "coverage"),
    "audit": ("bounds", "advice", "metrics", "findings", "coverage"),
    "trace_eval": ("bounds", "advice", "metrics", "findings", "coverage"),
    "evaluation": (
        "bounds",
        "eval_metrics",
        "eval_families",
        "advice",
        "findings",
        "coverage",
    ),
    "eval_all": ("eval_summary", "bounds", "metrics", "findings", "coverage"),
}
"""The fragments that an overview is made of, by the kind of the report."""


def view(opened: OpenedRun) -> TabView:
    """The parts of the report that its other tabs do not show; the record's where it is gone."""
    fragments = opened.fragments
    names = PARTS.get(opened.kind, ())
    parts = [fragments.part(name) for name in names] if fragments else []
    body = render(
        "run_overview.html",
        parts=parts,
        no_report="" if parts else opened.no_report or "this version has no view of its kind",
        view=None if parts else Recorded(opened.run),
        to=ToRun(opened),
        links=opened.links,
    )
    return TabView(body=body, figures=record_figures(opened.run))


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
    columns = ("rule", "metric", "op", "bound", "value", "low", "high", "n", "verdict", "reason")
    rows = (
        (
            one.rule,
            one.metric,
            one.op,
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


class Recorded:
    """What the fragments ask for, from a run's record alone: its report cannot be shown."""

    finding_text = staticmethod(envelope.finding_text)
    metrics_title = "Metrics"
    next_steps = ()

    def __init__(self, run: Run) -> None:
        record = run.record
        names = {id: id for id in (*record.metrics, *(gate.metric for gate in record.gates))}
        self.bounds = envelope.bounds(record.gates, record.metrics, names)
        self.interval_title = envelope.interval_title(record.gates)
        self.metrics = [(id, "", score) for id, score in sorted(record.metrics.items())]
        self.findings: list[tuple[str, int, Any]] = envelope.findings_by_code(
            (), record.finding_counts
        )
        told = (f"{name} {value}" for name, value in record.coverage.items())
        self.coverage = ", ".join(told) or "nothing is said of it"
        self.identity = envelope.identity_words(record.identity)
