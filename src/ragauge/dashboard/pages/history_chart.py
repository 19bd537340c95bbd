"""A line over runs as a chart takes it: one series, or one for each value of a label."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from ragauge.contracts.comparison import HistoryPoint, HistoryReport
from ragauge.contracts.history import ID_SHOWN
from ragauge.dashboard.links import Links
from ragauge.reports import numbers
from ragauge.reports.foreign import shown
from ragauge.reports.kinds import history as story
from ragauge.reports.kinds.comparison import p_value

MOST_SERIES = 6
"""As many as there are colours; the values of a label that were met last, and all others as one."""
LONGEST_LABEL = 80
CUT = "not comparable before"


class Series(Struct, frozen=True):
    """The points of one value of a label, or all of them; the others' places are empty."""

    name: str
    points: tuple[HistoryPoint | None, ...]

    @property
    def told(self) -> list[HistoryPoint]:
        """Those with a value."""
        return [point for point in self.points if point and point.value is not None]


def seconds(recorded_at: str) -> float:
    """
    >>> seconds("2026-11-15T21:45:44.500000Z")
    1794779144.5
    """
    return datetime.fromisoformat(recorded_at).timestamp()


def series(report: HistoryReport, by: str | None) -> list[Series]:
    """The points by the values of a label, in the order they were first met, or all of them."""
    if by is None:
        return [Series(report.metric, report.points)]
    named = [_value(point, by) for point in report.points]
    last_met = list(dict.fromkeys(reversed(named)))
    if len(last_met) > MOST_SERIES:
        kept = set(last_met[: MOST_SERIES - 1])
        others = f"{len(last_met) - len(kept)} others"
        named = [name if name in kept else others for name in named]
    return [
        Series(name, tuple(point if its == name else None for its, point in _pairs(named, report)))
        for name in dict.fromkeys(named)
    ]


def chart(report: HistoryReport, drawn: Sequence[Series], links: Links) -> dict[str, Any]:
    """What charts.js draws: values and intervals over time, change points and cuts as marks."""
    return {
        "title": shown(story.title(report)),
        "x": [seconds(point.recorded_at) for point in report.points],
        "x_is_time": True,
        "series": [_series(one) for one in drawn],
        "marks": marks(report),
        "gaps": story.cuts(report),
        "links": [links.run(point.run) for point in report.points],
        "labels": [_label(point) for point in report.points],
        "better": report.better,
        "joined": len(drawn) > 1,
    }


def marks(report: HistoryReport) -> list[dict[str, Any]]:
    """Where the level changes and where something else is measured, each with a word."""
    changed = {one.at: change_words(one.before, one.after) for one in report.change_points}
    cut = dict.fromkeys(story.cuts(report), CUT)
    return [
        {"x": seconds(report.points[at].recorded_at), "label": label}
        for at, label in sorted((changed | cut).items())
    ]


def change_words(before: float, after: float) -> str:
    return f"{numbers.value(before)} → {numbers.value(after)}"


def changes(report: HistoryReport, by: str | None) -> list[tuple[HistoryPoint, str, str]]:
    """Each change point's run, the change in a sentence, and whether it is `good` or `bad`."""
    found: list[tuple[HistoryPoint, str, str]] = []
    for one in report.change_points:
        change = one.after - one.before
        of = f" of {_value(report.points[one.at], by)}" if by else ""
        words = (
            f"the level{of} goes from {numbers.value(one.before)} to {numbers.value(one.after)} "
            f"({numbers.signed(change)}), p {p_value(one.p)}"
        )
        found.append((report.points[one.at], words, story.tone(report, change)))
    return found


def _pairs(named: Sequence[str], report: HistoryReport) -> Sequence[tuple[str, HistoryPoint]]:
    return list(zip(named, report.points, strict=True))


def _value(point: HistoryPoint, by: str) -> str:
    return point.labels.get(by, f"no {by}")


def _series(one: Series) -> dict[str, Any]:
    cis = [point.ci if point else None for point in one.points]
    return {
        "name": shown(one.name, LONGEST_LABEL),
        "values": [point.value if point else None for point in one.points],
        "low": [ci[0] if ci else None for ci in cis],
        "high": [ci[1] if ci else None for ci in cis],
    }


def _label(point: HistoryPoint) -> str:
    labels = " ".join(f"{key}={value}" for key, value in sorted(point.labels.items()))
    parts = (point.run[:ID_SHOWN], story.commit(point), labels)
    return shown(" ".join(part for part in parts if part), LONGEST_LABEL)
