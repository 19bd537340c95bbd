"""The same question in other runs with the same gold set: how it went, the newest first."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.paging import UnitInRun
from ragauge.dashboard.links import run_names
from ragauge.dashboard.pages.question_ways import Ways
from ragauge.dashboard.rightness import doubt, right_means
from ragauge.reports.differences import Differing, Marked
from ragauge.reports.kinds.runs import headlines, when

LAST = 20
"""Runs that are shown."""
METRICS = 3
"""Values of a run that stand beside it."""
SQUARE, STEP = 16, 20
MARKS = {True: ("right", "✓"), False: ("wrong", "✗"), None: ("none", "·")}
DOUBTED = ("none", "!")


class Past(Struct, frozen=True, kw_only=True):
    """The question in one of the runs."""

    run: Run
    row: UnitRow
    here: bool
    href: str | None
    beside: str | None
    """This run's page with the other's answer beside it."""
    claim: Marked
    wholly: bool
    """Nearly all of the claim differs, so that nothing is marked in it."""
    cited: tuple[str, ...]
    values: tuple[tuple[str, float], ...]

    @property
    def doubt(self) -> str:
        return doubt(self.row)

    @property
    def means(self) -> str:
        """What "right" is in that run."""
        return right_means(self.run.record.command)

    @property
    def says(self) -> str:
        word = {True: "right", False: "wrong", None: "not told"}[self.row.right]
        parts = (word, self.row.label, self.doubt)
        told = ", ".join(part for part in parts if part)
        return f"{when(self.run.record.recorded_at)} {run_names(self.run)}: {told}"


class Square(Struct, frozen=True):
    """A run on the line of time."""

    x: int
    kind: str
    mark: str
    says: str
    href: str | None
    here: bool


class PastRuns(Struct, frozen=True, kw_only=True):
    """The last runs, and their line of time, the oldest first."""

    rows: tuple[Past, ...]
    squares: tuple[Square, ...]

    @property
    def width(self) -> int:
        return max(1, len(self.squares)) * STEP

    @property
    def meanings(self) -> list[tuple[str, str]]:
        """The commands of these runs, each with what "right" is there."""
        commands = dict.fromkeys(one.run.record.command for one in self.rows)
        return [(command, right_means(command)) for command in commands]

    @property
    def doubted(self) -> bool:
        return any(one.doubt for one in self.rows)


def past_of(ways: Ways, claim: str, over: Sequence[UnitInRun]) -> PastRuns:
    """The unit in these runs, each beside what is claimed in this one."""
    differing = Differing()
    rows = tuple(
        Past(
            run=one.run,
            row=one.row,
            here=one.run.id == ways.run.id,
            href=ways.in_run(one.run.id),
            beside=None if one.run.id == ways.run.id else ways.beside(one.run.shown),
            claim=differing(claim_of(one.row), claim or claim_of(one.row)),
            wholly=differing.wholly(claim_of(one.row), claim or claim_of(one.row)),
            cited=cited_of(one.row),
            values=_values(one),
        )
        for one in over
    )
    return PastRuns(rows=rows, squares=tuple(map(_square, range(len(rows)), reversed(rows))))


def claim_of(row: UnitRow) -> str:
    """What the answer claims, as the row keeps it; the error where it failed."""
    for name in ("claim", "error"):
        if isinstance(told := row.detail.get(name), str) and told:
            return told
    return ""


def cited_of(row: UnitRow) -> tuple[str, ...]:
    cited = row.detail.get("cited")
    return tuple(map(str, cited)) if isinstance(cited, list | tuple) else ()


def _values(one: UnitInRun) -> tuple[tuple[str, float], ...]:
    ids = [id for id in headlines([one.run]) if id in one.row.values]
    return tuple((id.partition(".")[2], one.row.values[id]) for id in ids[:METRICS])


def _square(place: int, past: Past) -> Square:
    kind, mark = DOUBTED if past.doubt else MARKS[past.row.right]
    return Square(place * STEP, kind, mark, past.says, past.href, past.here)
