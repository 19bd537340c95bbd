"""The page of a metric over recorded runs: its line, where it changed, and the runs themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from ragauge.contracts.comparison import HistoryReport
from ragauge.contracts.history import Run, canonical
from ragauge.contracts.paging import RunKind, RunQuery
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.jobs import PATIENCE_S
from ragauge.dashboard.links import Links
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Page
from ragauge.dashboard.pages.history_view import LEVEL, SLOPE, VARIATION, LineView, labels_of
from ragauge.dashboard.pages.runs import labels_asked
from ragauge.dashboard.rendering import render
from ragauge.errors import InputRejected, UsageError
from ragauge.metrics.names import short_name
from ragauge.reports.kinds import runs as story
from ragauge.runners.run_history import LAST, HistoryOptions, run_history
from ragauge.store.recorded import plain

if TYPE_CHECKING:
    from markupsafe import Markup

LONGEST = 1_000
"""Runs of a line at most."""
LINES_OFFERED = 200
LATELY = 50
"""Runs by which the line is chosen where nobody names one, so that a stray run hides none."""


class Choice(Struct, frozen=True, kw_only=True):
    """Which line: the metric, the runs, and the label that divides them."""

    metric: str
    options: HistoryOptions
    by: str | None
    lately: tuple[RunKind, ...]
    """The lines of the last runs, the one with the most of them first."""
    is_given: bool
    """Whether the address names the line; it is chosen for the reader where not."""

    @property
    def name(self) -> str | None:
        """As the database spells it, and with it the form."""
        name: str | None = plain(self.options.name)
        return name

    @property
    def command(self) -> str | None:
        command: str | None = plain(self.options.command)
        return command

    @property
    def words(self) -> str:
        """Why this line, where nobody asked for one among several."""
        if self.is_given or len(self.lately) < 2:
            return ""
        runs = sum(kind.runs for kind in self.lately)
        return (
            f"Chosen among {len(self.lately)} lines for having the most of the last {runs} runs "
            "that match; name another above or below."
        )


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The line of the metric an address names, else of the line that was run most lately."""
    metrics = material.pages.metrics()
    if not metrics:
        return _page(links, "History", render("history_empty.html", links=links))
    choice = _choice(material, asked, metrics)
    kinds = material.pages.kinds(choice.metric, LINES_OFFERED)
    form = {"choice": choice, "metrics": metrics, "kinds": kinds, "links": links}
    try:
        report = _report(material, choice)
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
    query = RunQuery(
        name=options.name, command=options.command, labels=options.labels, limit=LATELY
    )
    named = asked.text("metric")
    runs = [run for run in material.pages.runs(query).rows if _matches(run, options, named)]
    lately = _kinds(runs)
    is_given = options.name is not None and options.command is not None
    if lately:
        options = structs.replace(options, name=lately[0].name, command=lately[0].command)
    here = [run for run in runs if _kind(run) == (options.command, options.name)]
    return Choice(
        metric=named or _headline(here, metrics),
        options=options,
        by=asked.optional("by"),
        lately=lately,
        is_given=is_given,
    )


def _matches(run: Run, options: HistoryOptions, metric: str) -> bool:
    branch = run.record.git.branch if run.record.git else None
    names = (name for id in run.record.metrics for name in (id, short_name(id)))
    return options.branch in (None, branch) and (not metric or metric in names)


def _kinds(runs: Sequence[Run]) -> tuple[RunKind, ...]:
    """The lines of these runs, the newest of which is first; that with the most runs first."""
    counts = Counter(map(_kind, runs))
    last = {_kind(run): run.record.recorded_at for run in reversed(runs)}
    found = [
        RunKind(command=command, name=name, runs=times, last=last[command, name])
        for (command, name), times in counts.items()
    ]
    return tuple(sorted(found, key=lambda kind: -kind.runs))


def _kind(run: Run) -> tuple[str, str]:
    return run.record.command, run.record.name


def _headline(runs: Sequence[Run], metrics: dict[str, int]) -> str:
    """The first headline of the newest run; else the metric that most runs have."""
    return next(iter(story.headlines(runs[:1])), max(sorted(metrics), key=metrics.__getitem__))


def _report(material: Material, choice: Choice) -> HistoryReport | None:
    """The line, or None while it is still being made: large gold sets take long to tell apart."""
    pages = material.pages
    newest = pages.runs(RunQuery(limit=1)).rows
    of_what = (newest[0].id if newest else "", sum(pages.commands().values()))
    return material.jobs.get(
        ("history", choice.metric, canonical(choice.options), *of_what),
        lambda: run_history(material.history, choice.metric, choice.options),
        PATIENCE_S,
    )


def _told(
    material: Material,
    links: Links,
    choice: Choice,
    report: HistoryReport,
    kinds: Sequence[RunKind],
    form: dict[str, object],
) -> Page:
    _check_label(report, choice.by)
    view = LineView(report, choice.by, links, material)
    here = tuple(map(plain, view.kind))  # as the database spells it
    others = [kind for kind in kinds if (kind.command, kind.name) != here]
    with_metric = {here, *((kind.command, kind.name) for kind in kinds)}
    body = render(
        "history.html",
        view=view,
        others=others,
        elsewhere=[kind for kind in _lately(material) if _plain_kind(kind) not in with_metric],
        chosen_by=choice.words,
        slope_means=SLOPE,
        variation_means=VARIATION,
        level_means=LEVEL,
        **form,
    )
    page = _page(links, report.metric, body)
    levels = {"levels": view.level_figures} if view.levels else {}
    return structs.replace(page, figures={"points": view.figures, **levels})


def _check_label(report: HistoryReport, by: str | None) -> None:
    there = labels_of(report)
    if by is not None and by not in there:
        listed = f"they have {', '.join(there)}" if there else "they have none"
        raise BadAddress(f'by: no run of this line has a label "{by[:80]}"; {listed}')


def _lately(material: Material) -> tuple[RunKind, ...]:
    return _kinds(material.pages.runs(RunQuery(limit=LATELY)).rows)


def _plain_kind(kind: RunKind) -> tuple[str, str]:
    return plain(kind.command), plain(kind.name)


def _page(links: Links, title: str, body: Markup) -> Page:
    crumbs = (("Runs", links.runs()), ("History", links.history()), (title, None))
    return Page(
        title=f"{title} over runs" if title != "History" else title,
        here="history",
        body=body,
        crumbs=crumbs if title != "History" else crumbs[:2],
    )
