"""The page of a metric over recorded runs: its line, where it changed, and the runs themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from ragauge.contracts.comparison import HistoryReport
from ragauge.contracts.history import canonical
from ragauge.contracts.paging import RunKind, RunQuery
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.jobs import PATIENCE_S
from ragauge.dashboard.links import Links
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Page
from ragauge.dashboard.pages.history_view import LineView
from ragauge.dashboard.pages.runs import labels_asked
from ragauge.dashboard.rendering import render
from ragauge.errors import InputRejected, UsageError
from ragauge.reports.runs import story
from ragauge.runners.run_history import LAST, HistoryOptions, run_history
from ragauge.store.recorded import plain

if TYPE_CHECKING:
    from markupsafe import Markup

LONGEST = 1_000
"""Runs of a line at most."""
LINES_OFFERED = 200
LONG_S = 60.0
"""Who asks for figures waits until they are there."""


class Choice(Struct, frozen=True, kw_only=True):
    """Which line: the metric, the runs, and the label that divides them."""

    metric: str
    options: HistoryOptions
    by: str | None


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The line of the metric an address names; of the newest run's headline where it names none."""
    metrics = material.pages.metrics()
    if not metrics:
        return _page(links, "History", render("history_empty.html", links=links))
    choice = _choice(material, asked, metrics)
    kinds = material.pages.kinds(choice.metric, LINES_OFFERED)
    form = {"choice": choice, "metrics": metrics, "kinds": kinds, "links": links}
    try:
        report = _report(material, choice, asked)
    except InputRejected:
        return _page(links, choice.metric, render("history_unmatched.html", **form))
    except UsageError as error:
        raise Missing(*error.problems) from error
    if report is None:
        body = render("history_computing.html", **form)
        return structs.replace(_page(links, choice.metric, body), refresh_s=1)
    return _told(material, links, choice, report, kinds, form)


def _choice(material: Material, asked: Asked, metrics: dict[str, int]) -> Choice:
    options = HistoryOptions(
        name=asked.optional("name"),
        command=asked.optional("command"),
        branch=asked.optional("branch"),
        labels=labels_asked(asked),
        last=max(1, min(asked.number("last", LAST), LONGEST)),
    )
    metric = asked.text("metric") or _headline(material, options, metrics)
    return Choice(metric=metric, options=options, by=asked.optional("by"))


def _headline(material: Material, options: HistoryOptions, metrics: dict[str, int]) -> str:
    """The first headline of the newest run that has one; else the metric that most runs have."""
    query = RunQuery(name=options.name, command=options.command, labels=options.labels, limit=1)
    newest = material.pages.runs(query).rows
    return next(iter(story.headlines(newest)), max(sorted(metrics), key=metrics.__getitem__))


def _report(material: Material, choice: Choice, asked: Asked) -> HistoryReport | None:
    """The line, or None while it is still being made: large gold sets take long to tell apart."""
    pages = material.pages
    newest = pages.runs(RunQuery(limit=1)).rows
    of_what = (newest[0].id if newest else "", sum(pages.commands().values()))
    return material.jobs.get(
        ("history", choice.metric, canonical(choice.options), *of_what),
        lambda: run_history(material.history, choice.metric, choice.options),
        LONG_S if asked.text("figures") else PATIENCE_S,
    )


def _told(
    material: Material,
    links: Links,
    choice: Choice,
    report: HistoryReport,
    kinds: Sequence[RunKind],
    form: dict[str, object],
) -> Page:
    view = LineView(report, choice.by, links, material)
    here = tuple(map(plain, view.kind))  # as the database spells it
    others = [kind for kind in kinds if (kind.command, kind.name) != here]
    body = render("history.html", view=view, others=others, **form)
    page = _page(links, report.metric, body)
    levels = {"levels": view.level_figures} if view.levels else {}
    return structs.replace(page, figures={"points": view.figures, **levels})


def _page(links: Links, title: str, body: Markup) -> Page:
    crumbs = (("Runs", links.runs()), ("History", links.history()), (title, None))
    return Page(
        title=f"{title} over runs" if title != "History" else title,
        here="history",
        body=body,
        crumbs=crumbs if title != "History" else crumbs[:2],
    )
