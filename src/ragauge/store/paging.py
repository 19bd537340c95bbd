"""A history in SQL, read a page at a time."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.paging import (
    Ended,
    GoldSet,
    MetricLine,
    Paged,
    QuestionQuery,
    Rightness,
    RunKind,
    RunQuery,
    UnitCounts,
    UnitInRun,
    UnitQuery,
)
from ragauge.contracts.unit_changes import ChangeQuery, UnitChanges
from ragauge.store import gold_pages, kind_pages, run_pages, strata_pages
from ragauge.store.change_pages import unit_changes
from ragauge.store.database import Database
from ragauge.store.shelf import Shelf
from ragauge.store.unit_pages import UnitPages, unit_over_runs


class SqlPages:
    """Pages of the runs in tables; each answer is of one moment, whoever writes meanwhile."""

    def __init__(self, database: Database, shelf: Shelf) -> None:
        self._database, self._shelf = database, shelf

    def runs(self, query: RunQuery) -> Paged[Run]:
        with self._database.reading() as connection:
            return run_pages.run_page(connection, query)

    def commands(self) -> dict[str, int]:
        """How many runs each command has, by command."""
        with self._database.reading() as connection:
            return run_pages.runs_by_command(connection)

    def metrics(self) -> dict[str, int]:
        """How many runs have a value of each metric, by id."""
        with self._database.reading() as connection:
            return run_pages.runs_by_metric(connection)

    def names(self) -> int:
        """How many names runs have."""
        with self._database.reading() as connection:
            return kind_pages.number_of_names(connection)

    def kinds(self, metric: str, most: int) -> list[RunKind]:
        """The commands and names of runs that have a metric, the one recorded last first."""
        with self._database.reading() as connection:
            return kind_pages.kinds_with(connection, metric, most)

    def lines(
        self, kinds: Sequence[tuple[str, str]], metrics: Sequence[str], last: int
    ) -> list[MetricLine]:
        """Each metric over the last runs of each command and name; those without runs left out."""
        with self._database.reading() as connection:
            return run_pages.metric_lines(connection, kinds, metrics, last)

    def units(self, run: Run, query: UnitQuery) -> Paged[UnitRow]:
        with self._database.reading() as connection:
            return UnitPages(connection, run).page(query)

    def unit(self, run: Run, unit: str) -> UnitRow | None:
        with self._database.reading() as connection:
            return UnitPages(connection, run).unit(unit)

    def beside(self, run: Run, unit: str, query: UnitQuery) -> tuple[str | None, str | None]:
        """The units before and after this one in the order of the query; None where there is none.

        Both are None where the unit is not among those asked for.
        """
        with self._database.reading() as connection:
            return UnitPages(connection, run).beside(unit, query)

    def changes(self, before: Run, after: Run, query: ChangeQuery) -> UnitChanges:
        """The units of two runs whose value differs, the largest difference first, up or down."""
        with self._database.reading() as connection:
            return unit_changes(connection, before, after, query)

    def counts(self, run: Run) -> UnitCounts:
        with self._database.reading() as connection:
            return UnitPages(connection, run).counts()

    def over_runs(self, unit: str, like: Run, last: int) -> list[UnitInRun]:
        """The unit in the last runs that share the gold set of `like`, the newest first."""
        with self._database.reading() as connection:
            return unit_over_runs(connection, unit, like, last)

    def ends(self, runs: Sequence[Run], units: Sequence[str]) -> dict[str, dict[str, Rightness]]:
        """By run id and unit, how each unit ended; what a run does not have is left out."""
        with self._database.reading() as connection:
            return strata_pages.ends(connection, runs, units)

    def rightness(self, run: Run) -> dict[str, dict[str, Ended]]:
        """By stratum and value of the run's gold set, how the units of those questions ended."""
        with self._database.reading() as connection:
            return strata_pages.rightness(connection, run)

    def gold_sets(self) -> list[GoldSet]:
        """The newest first."""
        with self._database.reading() as connection:
            return gold_pages.gold_sets(connection)

    def runs_of_gold(self, sha256: str, last: int) -> list[Run]:
        """The last runs that were measured with the set, the newest first."""
        with self._database.reading() as connection:
            return run_pages.runs_of_gold(connection, sha256, last)

    def questions(self, sha256: str, query: QuestionQuery) -> Paged[Gold]:
        with self._database.reading() as connection:
            return gold_pages.question_page(connection, sha256, query)

    def question(self, sha256: str, qid: str) -> Gold | None:
        with self._database.reading() as connection:
            return gold_pages.questions_with_ids(connection, sha256, [qid]).get(qid)

    def questions_with(self, sha256: str, qids: Sequence[str]) -> dict[str, Gold]:
        """The questions of these ids, by id; those that the set does not have are left out."""
        with self._database.reading() as connection:
            return gold_pages.questions_with_ids(connection, sha256, qids)

    def strata(self, sha256: str) -> dict[str, dict[str, int]]:
        """By stratum and value, how many questions have it; `answerable` among them."""
        with self._database.reading() as connection:
            return gold_pages.strata_of(connection, sha256)

    def part(self, run: Run, name: str, start: int, stop: int) -> bytes:
        """Bytes of a run's file, fewer where it ends before; raises UsageError where it is gone."""
        return self._shelf.part(run, name, start, stop)

    def size(self, run: Run, name: str) -> int | None:
        """Bytes of a run's file, as it was sealed; None where the run was recorded without it."""
        seal = run.record.files.get(name)
        return None if seal is None else seal.size
