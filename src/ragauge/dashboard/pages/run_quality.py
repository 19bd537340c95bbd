"""The quality of a score: how the questions ended, slice by slice, compared with its baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragauge.contracts.score import ScoreReport
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.label_drawing import label_kind
from ragauge.dashboard.pages.opened_run import QUESTIONS, OpenedRun, TabView, ToRun
from ragauge.dashboard.rendering import render
from ragauge.reports.document import Bar, Cell, Row, Table, columns, count, plot, share
from ragauge.reports.formats.html import written


def view(opened: OpenedRun) -> TabView:
    """The fractions of labels and of the triage, then the slices and the baseline."""
    report: ScoreReport = opened.report
    document = opened.fragments.document if opened.fragments else None
    links = ToRun(opened)
    body = render(
        "run_quality.html",
        counts=written(_tables(opened, report), links=links),
        parts=written(document.part("slices", "baseline"), links=links) if document else "",
        has_slices=bool(report.strata),
        links=opened.links,
    )
    figures = {"labels": lambda: _share_figures(report), "slices": lambda: _slices(report)}
    return TabView(body=body, figures=figures)


def _tables(opened: OpenedRun, report: ScoreReport) -> Iterator[Table]:
    yield from _shares(
        "Labels",
        "How each question ended; a label leads to its questions",
        "label",
        report.labels,
        opened,
    )
    about = "Where each question was decided, from the refusal to the citations"
    yield from _shares("Triage", about, "step", report.triage)
    about = "The words of refusals, whatever counts as a refusal"
    yield from _shares("Refusals", about, "words", report.refusals)


def _shares(
    title: str, about: str, first: str, counts: Mapping[str, int], opened: OpenedRun | None = None
) -> Iterator[Table]:
    """The counts, the largest first; labels of a run lead to its questions."""
    total = sum(counts.values())
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    rows = []
    for name, times in ranked:
        if not times:
            continue
        kind, cell = "plain", Cell(name.replace("_", " "), foreign=True)
        if opened:
            href = opened.links.run(opened.run.id, QUESTIONS, label=name)
            kind, cell = label_kind(opened.kind, name), Cell(name, foreign=True, href=href or "")
        bar = plot(Bar(times / total, kind="" if kind == "plain" else kind))
        rows.append(Row((cell, count(times), share(times, total), bar)))
    if rows:
        yield Table(
            title=title,
            remark=about,
            columns=columns(
                *(first, "questions", "fraction", "plot"),
                right=("questions", "fraction"),
                plots=("plot",),
            ),
            rows=rows,
        )


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
