"""The page of a metric over recorded runs: its line, where it changed, and the runs themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from ragauge.contracts.comparison import HistoryPoint, HistoryReport
from ragauge.contracts.finding import Finding
from ragauge.contracts.history import ID_SHOWN, Run, RunFilter, canonical
from ragauge.contracts.paging import RunKind, RunQuery
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.jobs import PATIENCE_S
from ragauge.dashboard.links import Links
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Figures, Page
from ragauge.dashboard.pages import history_lines
from ragauge.dashboard.pages.history_lines import Drawing, Level
from ragauge.dashboard.pages.runs import labels_asked
from ragauge.dashboard.rendering import drawn, render
from ragauge.errors import InputRejected, UsageError
from ragauge.metrics.names import short_name
from ragauge.reports import numbers
from ragauge.reports.document import (
    Cell,
    Column,
    Row,
    Table,
    columns,
    count,
    interval,
    names,
    number,
)
from ragauge.reports.formats.html import written
from ragauge.reports.kinds import history as line
from ragauge.reports.kinds import runs as story
from ragauge.runners.run_history import LAST, MORE, HistoryOptions, run_history
from ragauge.stats.change_points import ALPHA, SHORTEST
from ragauge.store.recorded import plain

if TYPE_CHECKING:
    from markupsafe import Markup

LONGEST = 1_000
"""Runs of a line at most."""
LINES_OFFERED = 200
LATELY = 50
"""Runs by which the line is chosen where nobody names one, so that a stray run hides none."""
OTHER_RUNS = "other_runs"
"""The finding that the page tells as links instead."""
CHANGES = "the level changes here"

FIGURES = (
    "run",
    "recorded_at",
    "value",
    "low",
    "high",
    "n",
    "verdict",
    "commit",
    "dirty",
    "labels",
    "gold_sha256",
    "version",
    "reason",
    "change_point",
    "cut",
)
LEVELS = (
    *("value", "runs", "valued", "since_cut", "newest", "mean", "lowest", "highest"),
    *("slope", "slope_error", "variation", "change_points"),
)
SLOPE = (
    "what the value gains or loses from one run to the next, by least squares over the runs since "
    "the line was last cut; within two standard errors of 0 it may be chance"
)
VARIATION = (
    "the standard deviation of the runs since the line was last cut, as a share of their mean: how "
    "much one run can differ from the next"
)
LEVEL = (
    f"a level changes where at most {100 * ALPHA:g} % of the orders in which the values could have "
    f"come divide as well; it has {SHORTEST} runs at least"
)


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
        return _page(links, "History", render("history.html", metrics={}))
    choice = _choice(material, asked, metrics)
    kinds = material.pages.kinds(choice.metric, LINES_OFFERED)
    form = {
        "choice": choice,
        "metrics": metrics,
        "kinds": kinds,
        "links": links,
        "label_keys": [choice.by] if choice.by else [],
        "view": None,
        "is_computing": False,
    }
    try:
        report = _report(material, choice)
    except InputRejected:
        return _page(links, choice.metric, render("history.html", **form))
    except UsageError as error:
        raise Missing(*error.problems) from error
    if report is None:
        body = render("history.html", **form | {"is_computing": True})
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
    with_metric = {here, *((kind.command, kind.name) for kind in kinds)}
    told = form | {
        "view": view,
        "label_keys": labels_of(report),
        "others": [kind for kind in kinds if (kind.command, kind.name) != here],
        "elsewhere": [kind for kind in _lately(material) if _plain_kind(kind) not in with_metric],
        "chosen_by": choice.words,
    }
    page = _page(links, report.metric, render("history.html", **told))
    levels = {"levels": view.level_figures} if view.levels else {}
    return structs.replace(page, data={"points": view.figures, **levels})


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
        drawn=body,
        crumbs=crumbs if title != "History" else crumbs[:2],
    )


# The line


def labels_of(report: HistoryReport) -> list[str]:
    """The labels that runs of the line have, by name."""
    return sorted({key for point in report.points for key in point.labels})


class PointRow(Struct, frozen=True, kw_only=True):
    """A run of the line, in the table."""

    point: HistoryPoint
    verdict: str
    change: float | None
    """Since the run before it in the same stretch."""
    marks: tuple[str, ...]
    """That the level changes here, that it does not compare with what was before."""

    def cells(self, links: Links) -> Iterator[Cell]:
        point, gold = self.point, self.point.gold_sha256 or ""
        run = point.run[:ID_SHOWN]
        yield Cell(run, drawn=drawn("named", links.run(point.run), run, "", True))
        yield Cell(story.when(point.recorded_at), point.recorded_at)
        yield number(point.value)
        yield interval(point.ci)
        yield count(point.n)
        yield number(self.change, "" if self.change is None else numbers.signed(self.change))
        yield Cell(self.verdict, badge=self.verdict.lower())
        yield names(line.commit(point))
        yield Cell("", drawn=drawn("tags", [(*one, None) for one in sorted(point.labels.items())]))
        href = links.gold(gold) if gold else None
        yield Cell(gold[:ID_SHOWN], drawn=drawn("named", href, gold[:ID_SHOWN], "", bool(gold)))
        reason = (point.reason or "nothing to score") if point.value is None else ""
        yield names("; ".join(filter(None, (*self.marks, reason))))

    def figures(self) -> list[object]:
        point = self.point
        return [
            point.run,
            point.recorded_at,
            point.value,
            *(point.ci or (None, None)),
            point.n,
            self.verdict,
            point.commit,
            point.dirty,
            tuple(f"{key}={value}" for key, value in sorted(point.labels.items())),
            point.gold_sha256,
            point.version,
            point.reason,
            CHANGES in self.marks,
            history_lines.CUT in self.marks,
        ]


class LineView:
    """A line, ready for its template."""

    def __init__(
        self, report: HistoryReport, by: str | None, links: Links, material: Material
    ) -> None:
        self.by = by
        self._links, self._material = links, material
        self.series = history_lines.series(report, by)
        self.levels = history_lines.levels(report, self.series, by) if by else []
        """The values of the label, where one is chosen."""
        self.report = history_lines.divided(report, self.levels) if by else report

    @property
    def kind(self) -> tuple[str, str]:
        """The command and the name of the line's runs."""
        return str(self.report.identity["of"]), str(self.report.identity["name"])

    @property
    def now(self) -> str:
        return line.now_words(self.report)

    @property
    def coverage(self) -> str:
        return line.coverage_words(self.report)

    @cached_property
    def chart(self) -> dict[str, Any]:
        return history_lines.chart(self.report, self.series, self._links)

    @cached_property
    def drawing(self) -> Drawing | None:
        return history_lines.draw(self.report, self.series)

    @property
    def changes(self) -> list[tuple[HistoryPoint, str, str]]:
        return history_lines.changes(self.report, self.by)

    @property
    def movement(self) -> list[tuple[str, str, str]]:
        """Slope, variation and level: the number, and what it means; none of several lines."""
        if self.by:
            return []
        words = line.movement_words(self.report)
        told = []
        if self.report.slope is not None:
            told.append(("slope", words.pop(0).removeprefix("slope "), SLOPE))
        if self.report.variation is not None:
            told.append(("variation", words.pop(0).removeprefix("variation "), VARIATION))
        return [*told, ("level", words.pop(), LEVEL)]

    @property
    def findings(self) -> list[Finding]:
        """What a reader of the line should know; other lines are linked instead."""
        return [one for one in self.report.findings if one.code != OTHER_RUNS]

    @cached_property
    def rows(self) -> list[PointRow]:
        """The runs, the newest first."""
        changed = {one.at for one in self.report.change_points}
        cuts = set(line.cuts(self.report))
        regressed = self._regressed()
        changes = history_lines.changes_in_lines(self.report, self.series)
        made = [
            PointRow(
                point=point,
                verdict=story.REGRESSED
                if point.passed and point.run in regressed
                else story.verdict_of(point.passed),
                change=changes[at],
                marks=(
                    *([CHANGES] if at in changed else []),
                    *([history_lines.CUT] if at in cuts else []),
                ),
            )
            for at, point in enumerate(self.report.points)
        ]
        return made[::-1]

    @property
    def runs(self) -> Markup:
        """The table of runs."""
        table = Table(
            title="Runs",
            below=False,
            columns=columns(
                *("run", "recorded (UTC)", "value", "95 % interval", "n", "change", "verdict"),
                *("commit", "labels", "gold", "remark"),
                right=("value", "95 % interval", "n", "change"),
                spare=("gold", "labels", "commit"),
            ),
            rows=[Row(tuple(row.cells(self._links))) for row in self.rows],
        )
        return written([table], sorting=self._links.sorting)

    @property
    def by_label(self) -> Markup:
        """The table of the label's values."""
        table = Table(
            title="By",
            about=self.by or "",
            columns=[
                Column(self.by or "", foreign=True),
                *columns(
                    *("runs", "newest", "95 % interval", "mean", "lowest", "highest"),
                    *("slope a run", "σ/μ", "level", "last run"),
                    right=(
                        *("runs", "newest", "95 % interval", "mean", "lowest", "highest"),
                        *("slope a run", "σ/μ"),
                    ),
                ),
            ],
            rows=[Row(tuple(self._level_cells(one))) for one in self.levels],
            after=(
                "runs: those with a value; where the line is cut, those since, which mean, lowest "
                f"and highest are of. Slope: {SLOPE}. σ/μ: {VARIATION}. Level: {LEVEL}"
            ),
        )
        return written([table], sorting=self._links.sorting)

    def _level_cells(self, level: Level) -> Iterator[Cell]:
        newest, moved = level.newest, level.variation
        yield names(level.series.name)
        yield Cell(level.runs, len(level.last))
        yield number(newest.value if newest else None)
        yield interval(newest.ci if newest else None)
        yield from map(number, (level.mean, level.low, level.high))
        yield Cell(level.slope, level.trend.slope if level.trend else None)
        yield Cell("" if moved is None else f"{100 * moved:.1f} %", moved)
        yield Cell(level.told + ("; before the last cut" if level.is_old else ""))
        recorded = newest.recorded_at if newest else None
        href = self._links.run(newest.run) if newest else None
        yield Cell(story.when(recorded) if recorded else "", recorded, href=href or "")

    def figures(self) -> Figures:
        return Figures(FIGURES, [row.figures() for row in self.rows])

    def level_figures(self) -> Figures:
        return Figures(LEVELS, [_level_figures(one) for one in self.levels])

    def _regressed(self) -> set[str]:
        """Runs of the line that passed, and then failed a gated comparison."""
        command, name = self.kind
        options = self.report.identity["options"]
        which = RunFilter(
            command=command,
            name=name,
            branch=options["branch"],
            labels=options["labels"],
            green=False,
            limit=MORE * len(self.report.points),
        )
        return {run.id for run in self._material.history.runs(which) if run.regressions}


def _level_figures(one: Level) -> list[object]:
    runs = sum(point is not None for point in one.series.points)
    newest = one.newest.value if one.newest else None
    counts = (runs, len(one.series.told), len(one.last))
    slope, error = (one.trend.slope, one.trend.error) if one.trend else (None, None)
    moved = (slope, error, one.variation, len(one.changes) if one.is_one else None)
    return [one.series.name, *counts, newest, one.mean, one.low, one.high, *moved]
