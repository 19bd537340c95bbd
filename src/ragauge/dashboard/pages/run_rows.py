"""The rows of a list of runs: who each run is, what it held to, and its headlines."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ragauge.contracts.history import RecordedMetric, Run
from ragauge.contracts.paging import PagedHistory
from ragauge.dashboard.links import Links
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.sparks import LONGEST, Spark, sparks
from ragauge.reports import numbers
from ragauge.reports.foreign import cut
from ragauge.reports.kinds import runs as story

COLUMNS = 4
"""Metrics that have a column of their own."""
LONGEST_NAME, LONGEST_LABEL = 32, 20
"""Characters of a name and of each part of a label in the table; the run's page has all."""
OWN = 2
"""Headlines of a run that has none of the columns."""
POINTS = 8_000
"""Of all the lines that are read for sparklines; a run too far back for them has none."""
DEEPEST = 500
"""Runs of a name that are looked at."""


class Headline(Struct, frozen=True):
    """A metric of a run, in a cell."""

    metric: str
    name: str
    """As it is shown."""
    score: RecordedMetric
    spark: Spark | None
    history: str | None

    @property
    def title(self) -> str:
        """What does not fit in a cell: the interval, how many were scored, the reason of none."""
        if self.score.value is None:
            return f"{self.metric}: {self.score.reason or 'nothing to score'}"
        told = f"{numbers.value(self.score.value)} {numbers.interval(self.score.ci)}".rstrip()
        return f"{self.metric} {told}, n {numbers.n_of(self.score.n, self.score.of)}"


class Label(Struct, frozen=True):
    """A label of a run, as it is and as there is room for it."""

    key: str
    value: str

    @property
    def shown_key(self) -> str:
        return cut(self.key, LONGEST_LABEL)

    @property
    def shown_value(self) -> str:
        return cut(self.value, LONGEST_LABEL)


class RunRow(Struct, frozen=True, kw_only=True):
    """A run in the list."""

    run: Run
    href: str | None
    verdict: str
    code: str
    labels: tuple[Label, ...]
    held: int
    """Gates that held."""
    cells: tuple[Headline | None, ...]
    """By the columns' metrics."""
    own: tuple[Headline, ...]
    """Its headlines, where none of the columns is one."""

    @property
    def kind(self) -> tuple[str, str]:
        return self.run.record.command, self.run.record.name

    @property
    def name(self) -> str:
        return cut(self.run.record.name, LONGEST_NAME)

    @property
    def gates(self) -> str:
        """What became of its gates: how many failed, or that all hold."""
        gates = len(self.run.record.gates)
        if not gates:
            return "no gates"
        told = numbers.counted(gates, "gate")
        if failed := gates - self.held:
            return f"{numbers.count(failed)} of {told} failed"
        return f"{numbers.count(gates)} of {told} {'holds' if gates == 1 else 'hold'}"

    @property
    def shown_code(self) -> str:
        return cut(self.code, LONGEST_LABEL)

    @property
    def tags(self) -> list[str]:
        return [cut(tag, LONGEST_LABEL) for tag in self.run.tags]


class RunTable(Struct, frozen=True):
    """The rows of a page, and the metrics that have columns."""

    metrics: dict[str, str]
    """Ids, by the names to show."""
    rows: tuple[RunRow, ...]

    def figures(self) -> Figures:
        """The table as it is shown, a run a row."""
        return Figures(
            (*FIGURES, *self.metrics), [_figures(row, self.metrics) for row in self.rows]
        )


FIGURES = (
    "run",
    "name",
    "command",
    "recorded_at",
    "verdict",
    "branch",
    "commit",
    "dirty",
    "tags",
    "labels",
    "gates_held",
    "gates",
    "units",
)


def run_table(pages: PagedHistory, links: Links, runs: Sequence[Run]) -> RunTable:
    """The table of these runs, with a sparkline for each headline where runs led to it."""
    chosen = [id for id in story.headlines(runs) if _is_common(id, runs)][:COLUMNS]
    owned = {run.id: _own(run, chosen) for run in runs}
    metrics = list(dict.fromkeys([*chosen, *(id for ids in owned.values() for id in ids)]))
    drawn = _sparks(pages, runs, metrics)
    names = story.short_names(metrics)

    def headline(run: Run, id: str) -> Headline | None:
        score = run.record.metrics.get(id)
        if score is None:
            return None
        history = links.history(id, name=run.record.name, command=run.record.command)
        return Headline(id, names[id], score, drawn.get((run.id, id)), history)

    def row(run: Run) -> RunRow:
        own = (headline(run, id) for id in owned[run.id])
        return RunRow(
            run=run,
            href=links.run(run.id),
            verdict=story.verdict(run),
            code=story.code(run.record.git),
            labels=tuple(Label(*label) for label in sorted(run.record.labels.items())),
            held=sum(gate.holds for gate in run.record.gates),
            cells=tuple(headline(run, id) for id in chosen),
            own=tuple(one for one in own if one),
        )

    return RunTable({id: names[id] for id in chosen}, tuple(map(row, runs)))


def _is_common(id: str, runs: Sequence[Run]) -> bool:
    """Whether half of the runs have a value: with fewer, the column would be mostly empty."""
    scores = (run.record.metrics.get(id) for run in runs)
    return 2 * sum(bool(score and score.value is not None) for score in scores) >= len(runs)


def _own(run: Run, chosen: Sequence[str]) -> list[str]:
    """What a run without any of the chosen metrics shows instead."""
    if any(id in run.record.metrics for id in chosen):
        return []
    return story.headlines([run])[:OWN]


def _sparks(
    pages: PagedHistory, runs: Sequence[Run], metrics: Sequence[str]
) -> dict[tuple[str, str], Spark]:
    if not metrics:
        return {}
    kinds = sorted({(run.record.command, run.record.name) for run in runs})
    last = max(LONGEST, min(DEEPEST, POINTS // (len(kinds) * len(metrics))))
    return sparks(pages.lines(kinds, metrics, last), {run.id for run in runs})


def _figures(row: RunRow, metrics: dict[str, str]) -> list[object]:
    record, git = row.run.record, row.run.record.git
    scores = (record.metrics.get(id) for id in metrics)
    return [
        row.run.id,
        record.name,
        record.command,
        record.recorded_at,
        row.verdict,
        git.branch if git else None,
        git.commit if git else None,
        git.dirty if git else None,
        row.run.tags,
        tuple(f"{label.key}={label.value}" for label in row.labels),
        row.held,
        len(record.gates),
        record.units,
        *(score.value if score else None for score in scores),
    ]
