"""The questions whose value of one metric differs between two runs, the largest changes first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from msgspec import Struct

from ragauge.contracts.comparison import Compared, ComparisonReport
from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Better
from ragauge.contracts.paging import Paged
from ragauge.contracts.unit_changes import ChangeQuery, Direction, UnitChange, UnitChanges
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.links import Links
from ragauge.dashboard.listing import Address, Listed, listed
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.compare_choice import Choice
from ragauge.metrics.names import short_name
from ragauge.reports.document import Target
from ragauge.runners.paired_units import changed_meaning

WAYS: tuple[Direction, ...] = get_args(Direction)
COLUMNS = ("unit", "question", "metric", "before", "after", "change", "was_label", "now_label")


class To:
    """From the metrics of a comparison to the questions that each tells apart."""

    def __init__(self, report: ComparisonReport, address: Address) -> None:
        self._report, self._address = report, address

    def to(self, target: Target) -> str | None:
        return self.metric(target[1]) if target[0] == "metric" else None

    def question(self, qid: str) -> None:
        return None

    def metric(self, id: str) -> str | None:
        """None where no question differs, and in a file, which has one view."""
        if not _is_told(self._report.compared[id]):
            return None
        cleared = dict.fromkeys(("q", "way", "was", "now", "sort", "start"))
        to = self._address(flip=id, **cleared)
        return f"{to}#flips" if to else None


class ChangeRow(Struct, frozen=True):
    """A question as its row shows it."""

    unit: str
    question: str | None
    href: str | None
    before: float | None
    after: float | None
    was: str
    now: str
    """The labels."""
    better: Better

    @property
    def change(self) -> float | None:
        """None where the metric applies to the question in one run only."""
        is_told = self.after is not None and self.before is not None
        return self.after - self.before if is_told else None  # type: ignore[operator]

    @property
    def tone(self) -> str:
        if self.change is None:
            return "soft"
        return "good" if (self.change > 0) == (self.better == "higher") else "bad"


class Changes(Struct, frozen=True):
    """A page of changed questions with what they can be looked for by."""

    metric: str
    listed: Listed
    found: UnitChanges
    better: Better
    words: dict[str, str]

    @property
    def has_values(self) -> bool:
        """Whether the runs have this metric question by question."""
        found = self.found
        return bool(found.rose or found.fell or found.same or found.one_sided)


def changes(
    material: Material,
    report: ComparisonReport,
    links: Links,
    asked: Asked,
    choice: Choice,
    left_out: frozenset[str],
) -> Changes:
    """The questions that the fields ask for; raises BadAddress where the metric is not compared."""
    metric = _metric(report, asked.text("flip"))
    query = ChangeQuery(
        metric=metric,
        words=asked.text("q"),
        way=asked.choice("way", WAYS),
        left_out=left_out,
        start=asked.start,
        limit=asked.limit,
    )
    better = report.compared[metric].better
    found = material.pages.changes(choice.before, choice.after, query)
    return Changes(
        metric=metric,
        listed=_listed(_Rows(material, links, choice, metric, better), asked, found),
        found=found,
        better=better,
        words={name: asked.text(name) for name in ("q", "way")},
    )


def left_out(material: Material, choice: Choice) -> frozenset[str] | None:
    """The questions that mean something else in each run, and are not compared.

    Two gold sets are read for that, once; None while they are.
    """
    was, now = choice.before, choice.after
    shas = (was.record.gold_sha256, now.record.gold_sha256)
    if shas[0] == shas[1]:
        return frozenset()
    return material.jobs.get(
        ("changed meaning", *shas), lambda: frozenset(changed_meaning(was, now, material.history))
    )


def figures(told: Changes) -> Figures:
    """The rows of the page."""
    return Figures(COLUMNS, [_cells(told.metric, row) for row in told.listed.rows])


def _is_told(one: Compared) -> bool:
    return one.change is not None and one.differs


def _metric(report: ComparisonReport, named: str) -> str:
    found = [id for id in report.compared if named in (id, short_name(id))]
    if named in found or len(found) == 1:
        return named if named in found else found[0]
    there = ", ".join(report.compared)
    raise BadAddress(f'flip: "{named[:80]}" is not compared; there are {there}')


class _Rows(Struct, frozen=True):
    """What the rows of changed questions are made with."""

    material: Material
    links: Links
    choice: Choice
    metric: str
    better: Better

    def made(self, changed: Sequence[UnitChange]) -> tuple[ChangeRow, ...]:
        gold = self.choice.after.record.gold_sha256
        units = [one.after.unit for one in changed]
        asked = self.material.pages.questions_with(gold, units) if gold else {}
        return tuple(self._row(one, asked.get(one.after.unit)) for one in changed)

    def _row(self, one: UnitChange, asked: Gold | None) -> ChangeRow:
        unit, was = one.after.unit, self.choice.before.id
        return ChangeRow(
            unit=unit,
            question=asked.question if asked else None,
            href=self.links.question(self.choice.after.id, unit, **{"with": was}),
            before=one.before.values.get(self.metric),
            after=one.after.values.get(self.metric),
            was=one.before.label or "",
            now=one.after.label or "",
            better=self.better,
        )


def _listed(rows: _Rows, asked: Asked, found: UnitChanges) -> Listed:
    page = found.page
    made = Paged(rows=rows.made(page.rows), total=page.total, start=page.start)
    return listed(made, asked.but(sort=None), "change")


def _cells(metric: str, row: ChangeRow) -> tuple[object, ...]:
    numbers = (row.before, row.after, row.change)
    return (row.unit, row.question, metric, *numbers, row.was, row.now)
