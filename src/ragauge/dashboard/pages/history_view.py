"""What the page of a line shows: chart, movement in words, levels by label, and the runs."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from msgspec import Struct

from ragauge.contracts.comparison import HistoryPoint, HistoryReport
from ragauge.contracts.finding import Finding
from ragauge.contracts.history import RunFilter
from ragauge.dashboard.links import Links
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages import history_chart, history_lines
from ragauge.dashboard.pages.history_drawing import Drawing, draw
from ragauge.dashboard.pages.history_lines import Level
from ragauge.reports.kinds import history as story
from ragauge.reports.kinds.runs import REGRESSED, verdict_of
from ragauge.runners.run_history import MORE
from ragauge.stats.change_points import ALPHA, SHORTEST

OTHER_RUNS = "other_runs"
"""The finding that the page tells as links instead."""

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


class PointRow(Struct, frozen=True, kw_only=True):
    """A run of the line, in the table."""

    point: HistoryPoint
    verdict: str
    change: str
    """Since the run before it in the same stretch."""
    commit: str
    labels: tuple[tuple[str, str], ...]
    marks: tuple[str, ...]
    """`level changes here`, `not comparable before`."""


def labels_of(report: HistoryReport) -> list[str]:
    """The labels that runs of the line have, by name."""
    return sorted({key for point in report.points for key in point.labels})


class LineView:
    """A line, ready for its template."""

    def __init__(
        self, report: HistoryReport, by: str | None, links: Links, material: Material
    ) -> None:
        self.by = by
        self._links, self._material = links, material
        self.series = history_chart.series(report, by)
        self.levels = history_lines.levels(report, self.series, by) if by else []
        """The values of the label, where one is chosen."""
        self.report = history_lines.divided(report, self.levels) if by else report

    @property
    def kind(self) -> tuple[str, str]:
        """The command and the name of the line's runs."""
        return str(self.report.identity["of"]), str(self.report.identity["name"])

    @property
    def title(self) -> str:
        return story.title(self.report)

    @property
    def now(self) -> str:
        return story.now_words(self.report)

    @property
    def coverage(self) -> str:
        return story.coverage_words(self.report)

    @cached_property
    def chart(self) -> dict[str, Any]:
        return history_chart.chart(self.report, self.series, self._links)

    @cached_property
    def drawing(self) -> Drawing | None:
        return draw(self.report, self.series)

    @property
    def changes(self) -> list[tuple[HistoryPoint, str, str]]:
        return history_chart.changes(self.report, self.by)

    @property
    def movement(self) -> list[tuple[str, str, str]]:
        """Slope, variation and level: the number, and what it means; none of several lines."""
        if self.by:
            return []
        words = story.movement_words(self.report)
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
    def label_keys(self) -> list[str]:
        """What the runs of the line can be told apart by."""
        return labels_of(self.report)

    @cached_property
    def rows(self) -> list[PointRow]:
        """The runs, the newest first."""
        changed = {one.at for one in self.report.change_points}
        cuts = set(story.cuts(self.report))
        regressed = self._regressed()
        changes = history_lines.changes_in_lines(self.report, self.series)
        made = [
            PointRow(
                point=point,
                verdict=_verdict(point, regressed),
                change=changes[at],
                commit=story.commit(point),
                labels=tuple(sorted(point.labels.items())),
                marks=tuple(_marks(at, changed, cuts)),
            )
            for at, point in enumerate(self.report.points)
        ]
        return made[::-1]

    def figures(self) -> Figures:
        return Figures(FIGURES, [_figures(row) for row in self.rows])

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


def _verdict(point: HistoryPoint, regressed: set[str]) -> str:
    if point.passed and point.run in regressed:
        return REGRESSED
    return verdict_of(point.passed)


def _marks(at: int, changed: set[int], cuts: set[int]) -> list[str]:
    told = ["the level changes here"] if at in changed else []
    return [*told, history_chart.CUT] if at in cuts else told


def _figures(row: PointRow) -> list[object]:
    point = row.point
    low, high = point.ci or (None, None)
    return [
        point.run,
        point.recorded_at,
        point.value,
        low,
        high,
        point.n,
        row.verdict,
        point.commit,
        point.dirty,
        tuple(f"{key}={value}" for key, value in row.labels),
        point.gold_sha256,
        point.version,
        point.reason,
        "the level changes here" in row.marks,
        history_chart.CUT in row.marks,
    ]


def _level_figures(one: Level) -> list[object]:
    runs = sum(point is not None for point in one.series.points)
    newest = one.newest.value if one.newest else None
    counts = (runs, len(one.series.told), len(one.last))
    slope, error = (one.trend.slope, one.trend.error) if one.trend else (None, None)
    moved = (slope, error, one.variation, len(one.changes) if one.is_one else None)
    return [one.series.name, *counts, newest, one.mean, one.low, one.high, *moved]
