"""How runs cover a gold set: units scored, and the share right in each of its strata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from ragauge.contracts.gold import ANSWERABLE
from ragauge.contracts.history import Run
from ragauge.contracts.paging import Ended, PagedHistory, UnitCounts
from ragauge.dashboard.page import Figures
from ragauge.stats.intervals import wilson

THIN = 5
"""Units that ended right or wrong; fewer tell next to nothing."""
VALUES_SHOWN = 24
"""Of a stratum; the figures have all."""

COVERAGE = ("run", "name", "recorded_at", "units", "questions", "right", "wrong", "untold")
STRATA = ("stratum", "value", "questions", "right", "wrong", "untold", "share", "low", "high")


class Covered(Struct, frozen=True):
    """A run, and how the units of it ended."""

    run: Run
    counts: UnitCounts


class Share(Struct, frozen=True):
    """The share of units that are right; None where no run says."""

    ended: Ended

    @property
    def value(self) -> float | None:
        return self.ended.right / self.ended.told if self.ended.told else None

    @property
    def ci(self) -> tuple[float, float] | None:
        return None if self.value is None else wilson(self.value, self.ended.told)


class ValueRow(Struct, frozen=True):
    """A value of a stratum."""

    value: str
    questions: int
    share: Share
    whole: Share
    """That of the whole set."""

    @property
    def is_weak(self) -> bool:
        """Whether its whole interval lies under the share right of the set."""
        ci = None if self.is_thin else self.share.ci
        return ci is not None and self.whole.value is not None and ci[1] < self.whole.value

    @property
    def is_thin(self) -> bool:
        return self.share.ended.told < THIN


class Stratum(Struct, frozen=True):
    """A stratum with its values, those with the most questions first."""

    name: str
    rows: tuple[ValueRow, ...]

    @property
    def shown(self) -> tuple[ValueRow, ...]:
        return self.rows[:VALUES_SHOWN]


class Strata(Struct, frozen=True):
    """The strata of a gold set, as one of its runs met them."""

    run: Run | None
    whole: Share
    strata: tuple[Stratum, ...]

    @property
    def thin(self) -> int:
        """Values shown that are."""
        return sum(row.is_thin for one in self.strata for row in one.shown)

    @property
    def weak(self) -> int:
        return sum(row.is_weak for one in self.strata for row in one.shown)

    def figures(self) -> Figures:
        return Figures(STRATA, [_figures(one.name, row) for one in self.strata for row in one.rows])


def coverage(pages: PagedHistory, runs: Sequence[Run]) -> list[Covered]:
    return [Covered(run, pages.counts(run)) for run in runs]


def coverage_figures(covered: Sequence[Covered], questions: int) -> Figures:
    return Figures(COVERAGE, [_coverage_figures(one, questions) for one in covered])


def telling(covered: Sequence[Covered]) -> Run | None:
    """The newest run that says of any unit whether it is right."""
    return next((one.run for one in covered if one.counts.right + one.counts.wrong), None)


def strata(pages: PagedHistory, sha256: str, run: Run | None, *, are_units: bool = False) -> Strata:
    """Each stratum of the set, with the share right in this run; units are not answerable."""
    met = pages.rightness(run) if run else {}
    whole = Share(_sum(met.get(ANSWERABLE, {})))
    told = (
        Stratum(name, tuple(_rows(values, met.get(name, {}), whole)))
        for name, values in pages.strata(sha256).items()
        if not (are_units and name == ANSWERABLE)
    )
    return Strata(run, whole, tuple(told))


def _rows(values: Mapping[str, int], met: Mapping[str, Ended], whole: Share) -> Iterator[ValueRow]:
    for value, questions in sorted(values.items(), key=lambda pair: (-pair[1], pair[0])):
        yield ValueRow(value, questions, Share(met.get(value, Ended(0, 0, 0))), whole)


def _sum(met: Mapping[str, Ended]) -> Ended:
    """All units of questions of the set: each question is answerable or is not."""
    every = list(met.values())
    return Ended(
        sum(one.right for one in every),
        sum(one.wrong for one in every),
        sum(one.untold for one in every),
    )


def _figures(stratum: str, row: ValueRow) -> list[object]:
    ended, ci = row.share.ended, row.share.ci or (None, None)
    counts = (ended.right, ended.wrong, ended.untold)
    return [stratum, row.value, row.questions, *counts, row.share.value, *ci]


def _coverage_figures(one: Covered, questions: int) -> list[object]:
    record, counts = one.run.record, one.counts
    who = (one.run.id, record.name, record.recorded_at)
    return [*who, counts.units, questions, counts.right, counts.wrong, counts.untold]
