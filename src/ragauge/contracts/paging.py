"""A history read a page at a time, for a dashboard: fast for any number of questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

from msgspec import Struct

from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.kept import Spent, SpentOver
from ragauge.contracts.metric import Better
from ragauge.errors import UsageError

if TYPE_CHECKING:
    from ragauge.contracts.unit_changes import ChangeQuery, UnitChanges

Row = TypeVar("Row")

PAGE = 50
"""Rows of a page by default."""
LONGEST_PAGE = 200

Rightness = Literal["right", "wrong", "untold"]
"""Whether a unit is correct; `untold` if its run does not say."""


class BadQuery(UsageError):
    """A query that no page can answer."""


class Paged(Struct, Generic[Row], frozen=True, kw_only=True):
    """A page of rows, and their total number."""

    rows: tuple[Row, ...]
    total: int
    start: int


class RunQuery(Struct, frozen=True, kw_only=True):
    """Which runs, in which order."""

    words: str = ""
    """Each must occur in the name, command, id, branch, commit, a tag or a label (`key=value`),
    in any case."""
    name: str | None = None
    command: str | None = None
    green: bool | None = None
    labels: dict[str, str] = {}
    sort: str = "recorded_at"
    """`recorded_at`, `name`, `command`, `passed`, `units`, or the id of a metric; runs without a
    value come last either way."""
    descending: bool = True
    start: int = 0
    limit: int = PAGE


class UnitQuery(Struct, frozen=True, kw_only=True):
    """Which units of a run, in which order."""

    words: str = ""
    """Each must occur in the unit's id or in its question, in any case."""
    label: str | None = None
    right: Rightness | None = None
    stratum: str | None = None
    """With `value`: only questions of the gold set that have it there."""
    value: str | None = None
    sort: str = "place"
    """`place`, `unit`, `label`, `right`, one of SPENT, or the id of a metric; without a value last
    either way; ties in the order they were recorded."""
    descending: bool = False
    start: int = 0
    limit: int = PAGE


class QuestionQuery(Struct, frozen=True, kw_only=True):
    """Which questions of a gold set, in which order."""

    words: str = ""
    answerable: bool | None = None
    stratum: str | None = None
    value: str | None = None
    sort: Literal["place", "qid", "question", "answerable"] = "place"
    descending: bool = False
    start: int = 0
    limit: int = PAGE


class Point(Struct, frozen=True, kw_only=True):
    """A metric in one run of a line of runs."""

    run: str
    recorded_at: str
    value: float | None
    low: float | None
    high: float | None
    gold_sha256: str | None
    version: int


class RunKind(Struct, frozen=True, kw_only=True):
    """Runs of one command and name."""

    command: str
    name: str
    runs: int
    last: str
    """When the last of them was recorded."""


class MetricLine(Struct, frozen=True, kw_only=True):
    """A metric over the runs of one command and name, oldest first."""

    command: str
    name: str
    metric: str
    better: Better
    points: tuple[Point, ...]


class UnitCounts(Struct, frozen=True, kw_only=True):
    """How the units of a run ended."""

    units: int
    labels: dict[str, int]
    """The most frequent first; units without a label are left out."""
    right: int
    wrong: int
    untold: int


class OutcomeCounts(Struct, frozen=True):
    """How many units are correct, incorrect and unknown."""

    right: int
    wrong: int
    unknown: int

    @property
    def judged(self) -> int:
        return self.right + self.wrong


class UnitInRun(Struct, frozen=True, kw_only=True):
    """A question's row in one of the runs."""

    run: Run
    row: UnitRow


class GoldSet(Struct, frozen=True, kw_only=True):
    """A gold set that runs were measured with."""

    sha256: str
    questions: int
    answerable: int
    runs: int
    first: str
    """When the first and the last of its runs were recorded."""
    last: str


class PagedHistory(Protocol):
    """Pages of a history; no result is larger than requested."""

    def runs(self, query: RunQuery) -> Paged[Run]: ...

    def commands(self) -> dict[str, int]:
        """How many runs each command has, by command."""
        ...

    def metrics(self) -> dict[str, int]:
        """How many runs have a value of each metric, by id."""
        ...

    def names(self) -> int:
        """How many names runs have."""
        ...

    def kinds(self, metric: str, most: int) -> list[RunKind]:
        """The commands and names of runs that have a metric, the one recorded last first."""
        ...

    def lines(
        self, kinds: Sequence[tuple[str, str]], metrics: Sequence[str], last: int
    ) -> list[MetricLine]:
        """Each metric over the last runs of each command and name; those without runs left out."""
        ...

    def units(self, run: Run, query: UnitQuery) -> Paged[UnitRow]: ...

    def unit(self, run: Run, unit: str) -> UnitRow | None: ...

    def neighbours(self, run: Run, unit: str, query: UnitQuery) -> tuple[str | None, str | None]:
        """The units before and after this one in the order of the query.

        None at the ends; both are None if the unit does not match the query.
        """
        ...

    def changes(self, before: Run, after: Run, query: ChangeQuery) -> UnitChanges:
        """The units of two runs whose value differs, the largest difference first, up or down.

        Then those that have a value in one run only. Ties are in the order of the later run.
        """
        ...

    def counts(self, run: Run) -> UnitCounts: ...

    def spent(self, run: Run, units: Sequence[str]) -> dict[str, Spent]:
        """By unit, the latency, the tokens and the cost of its answers, where they say so."""
        ...

    def spent_over(self, run: Run) -> dict[str, SpentOver]:
        """The same over all units of the run; empty where no answer says so."""
        ...

    def over_runs(self, unit: str, like: Run, last: int) -> list[UnitInRun]:
        """The unit in the last runs that share the gold set of `like`, the newest first.

        Without a gold set, in those of the same command and name that have none either.
        """
        ...

    def ends(self, runs: Sequence[Run], units: Sequence[str]) -> dict[str, dict[str, Rightness]]:
        """By run id and unit, how each unit ended; what a run does not have is left out."""
        ...

    def rightness(self, run: Run) -> dict[str, dict[str, OutcomeCounts]]:
        """By stratum and value of the run's gold set, how the units of those questions ended."""
        ...

    def gold_sets(self) -> list[GoldSet]:
        """The newest first."""
        ...

    def runs_of_gold(self, sha256: str, last: int) -> list[Run]:
        """The last runs that were measured with the set, the newest first."""
        ...

    def questions(self, sha256: str, query: QuestionQuery) -> Paged[Gold]: ...

    def question(self, sha256: str, qid: str) -> Gold | None: ...

    def questions_with(self, sha256: str, qids: Sequence[str]) -> dict[str, Gold]:
        """The questions of these ids, by id; those that the set does not have are left out."""
        ...

    def strata(self, sha256: str) -> dict[str, dict[str, int]]:
        """By stratum and value, how many questions have it; `answerable` among them."""
        ...

    def part(self, run: Run, name: str, start: int, stop: int) -> bytes:
        """Bytes of a run's file, fewer where it ends before; raises UsageError where it is gone."""
        ...

    def size(self, run: Run, name: str) -> int | None:
        """Bytes of a run's file; None where the run was recorded without it."""
        ...
