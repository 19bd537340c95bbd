"""The quality of a score: what became of the questions, slice by slice, beside its baseline."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ragauge.contracts.score import ScoreReport
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.label_drawing import label_kind
from ragauge.dashboard.pages.opened_run import QUESTIONS, OpenedRun, TabView
from ragauge.dashboard.rendering import render


class Share(Struct, frozen=True):
    """A label or a step of the triage, with the questions it has."""

    name: str
    kind: str
    times: int
    total: int
    href: str | None = None

    @property
    def share(self) -> float:
        return self.times / self.total if self.total else 0.0


def view(opened: OpenedRun) -> TabView:
    """The shares of labels and of the triage, then the slices and the baseline."""
    report: ScoreReport = opened.report
    fragments = opened.fragments
    body = render(
        "run_quality.html",
        labels=_labels(opened, report),
        triage=_shares(report.triage),
        refusals=_shares(report.refusals),
        parts=[fragments.part(name) for name in ("slices", "baseline")] if fragments else [],
        has_slices=bool(report.strata),
        links=opened.links,
    )
    figures = {"labels": lambda: _share_figures(report), "slices": lambda: _slices(report)}
    return TabView(body=body, figures=figures)


def _labels(opened: OpenedRun, report: ScoreReport) -> list[Share]:
    total = sum(report.labels.values())
    ranked = sorted(report.labels.items(), key=lambda pair: (-pair[1], pair[0]))
    return [
        Share(
            label,
            label_kind(opened.kind, label),
            times,
            total,
            opened.links.run(opened.run.id, QUESTIONS, label=label),
        )
        for label, times in ranked
        if times
    ]


def _shares(counts: Mapping[str, int]) -> list[Share]:
    total = sum(counts.values())
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [Share(name.replace("_", " "), "plain", n, total) for name, n in ranked if n]


def _share_figures(report: ScoreReport) -> Figures:
    told = {"label": report.labels, "triage": report.triage, "refusal": report.refusals}
    rows = [(what, name, n) for what, counts in told.items() for name, n in sorted(counts.items())]
    return Figures(("what", "name", "questions"), rows)


def _slices(report: ScoreReport) -> Figures:
    columns = ("stratum", "value", "metric", "score", "low", "high", "n", "of")
    rows = [
        (stratum, value, id, one.value, *(one.ci or (None, None)), one.n, one.of)
        for stratum, values in sorted(report.strata.items())
        for value, scores in sorted(values.items())
        for id, one in sorted(scores.items())
    ]
    return Figures(columns, rows)
