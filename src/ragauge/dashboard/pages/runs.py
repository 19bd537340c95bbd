"""The page of all runs: searched, filtered and sorted, the newest first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from ragauge.contracts.history import RecordedMetric, Run
from ragauge.contracts.paging import MetricLine, PagedHistory, Point, RunQuery
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.links import Links
from ragauge.dashboard.listing import Address, Listed, addresses, listed, sorts
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Figures, Page
from ragauge.dashboard.pages import compare
from ragauge.dashboard.rendering import drawn, render
from ragauge.reports import numbers
from ragauge.reports.document import Cell, Column, Row, Table, count
from ragauge.reports.foreign import cut
from ragauge.reports.formats.html import written
from ragauge.reports.kinds import runs as story
from ragauge.reports.kinds.runs import TREND_RUNS

SORTS = ("recorded_at", "name", "command", "passed", "units")
NEWEST = "-recorded_at"
GREEN = {"yes": True, "no": False}
FILTERS = ("q", "name", "command", "green", "label")


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The runs that the address asks for, with what chooses them above."""
    pages = material.pages
    found = pages.runs(_query(asked, pages))
    here, address = listed(found, asked, NEWEST), addresses(asked, links.runs() or "")
    made = run_table(pages, links, found.rows)
    newest = pages.runs(RunQuery(limit=1)).rows
    body = render(
        "runs.html",
        table=written([made.table(here, address, links)], sorting=links.sorting),
        listed=here,
        asked={name: asked.text(name) for name in FILTERS},
        labels=labels_asked(asked),
        is_filtered=any(asked.text(name) for name in FILTERS),
        commands=pages.commands(),
        names=pages.names(),
        newest=newest[0].record.recorded_at if newest else None,
        address=address,
        links=links,
    )
    return Page(title="Runs", here="runs", body=body, figures={"runs": made.figures})


def compared(material: Material, links: Links, asked: Asked) -> Page:
    """The comparison of two runs selected in the list, the older one first, or of those named."""
    if chosen := asked.texts("run"):
        if len(chosen) != 2:
            told = f"{numbers.counted(len(chosen), 'run')} {'is' if len(chosen) == 1 else 'are'}"
            raise BadAddress(f"run: select two runs to compare; {told} selected")
        runs = sorted(map(material.run, chosen), key=lambda run: run.record.recorded_at)
        asked = asked.but(run=None, before=runs[0].id, after=runs[1].id)
    return compare.page(material, links, asked)


def labels_asked(asked: Asked) -> dict[str, str]:
    """The labels that runs must have, each given as `label=key=value`."""
    labels = {}
    for given in asked.texts("label"):
        key, equals, value = (part.strip() for part in given.partition("="))
        if not (key and equals and value):
            raise BadAddress(f'label: "{given[:40]}" is not key=value, such as model=small-3')
        labels[key] = value
    return labels


def _query(asked: Asked, pages: PagedHistory) -> RunQuery:
    sort, down = asked.order(NEWEST)
    if sort not in SORTS and sort not in pages.metrics():
        raise BadAddress(
            f'sort: "{sort[:80]}" is none of {", ".join(SORTS)}, and no run has a metric of that id'
        )
    green = asked.choice("green", tuple(GREEN))
    return RunQuery(
        words=asked.text("q"),
        name=asked.optional("name"),
        command=asked.optional("command"),
        green=GREEN[green] if green else None,
        labels=labels_asked(asked),
        sort=sort,
        descending=down,
        start=asked.start,
        limit=asked.limit,
    )


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
    def words(self) -> str:
        return f"{self.name} {numbers.value(self.score.value)}"

    @property
    def title(self) -> str:
        """What does not fit in a cell: the interval, how many were scored, the reason of none."""
        if self.score.value is None:
            return f"{self.metric}: {self.score.reason or 'nothing to score'}"
        told = f"{numbers.value(self.score.value)} {numbers.interval(self.score.ci)}".rstrip()
        return f"{self.metric} {told}, n {numbers.n_of(self.score.n, self.score.of)}"


class RunRow(Struct, frozen=True, kw_only=True):
    """A run in the list."""

    run: Run
    href: str | None
    headlines: tuple[Headline | None, ...]
    """By the columns' metrics."""
    own: tuple[Headline, ...]
    """Its headlines, where none of the columns is one."""

    @property
    def held(self) -> int:
        return sum(gate.holds for gate in self.run.record.gates)

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

    def cells(self, address: Address, links: Links) -> Iterator[Cell]:
        """Its cells but for the metrics."""
        run, record = self.run, self.run.record
        verdict, code = story.verdict(run), story.code(record.git)
        failed = self.held < len(record.gates)
        tags = [("tag", cut(tag, LONGEST_LABEL), None) for tag in run.tags]
        labels = [
            (
                cut(key, LONGEST_LABEL),
                cut(value, LONGEST_LABEL),
                address(label=f"{key}={value}", start=None),
            )
            for key, value in sorted(record.labels.items())
        ]
        recorded, short = story.when(record.recorded_at), cut(code, LONGEST_LABEL)
        yield Cell(self.name, drawn=drawn("run_name", self, bool(links.compare())))
        told = (verdict, self.gates, "bad" if failed else "soft", verdict.lower())
        yield Cell(verdict, drawn=drawn("under", *told))
        yield Cell(recorded, drawn=drawn("under", recorded, short, "soft", "", True, code))
        yield Cell("", drawn=drawn("tags", [*tags, *labels]))
        yield count(record.units)

    def figures(self, metrics: dict[str, str]) -> list[object]:
        record, git = self.run.record, self.run.record.git
        scores = (record.metrics.get(id) for id in metrics)
        return [
            self.run.id,
            record.name,
            record.command,
            record.recorded_at,
            story.verdict(self.run),
            git.branch if git else None,
            git.commit if git else None,
            git.dirty if git else None,
            self.run.tags,
            tuple(f"{key}={value}" for key, value in sorted(record.labels.items())),
            self.held,
            len(record.gates),
            record.units,
            *(score.value if score else None for score in scores),
        ]


class RunTable(Struct, frozen=True):
    """The rows of a page, and the metrics that have columns."""

    metrics: dict[str, str]
    """Ids, by the names to show."""
    rows: tuple[RunRow, ...]

    def table(self, listed: Listed, address: Address, links: Links) -> Table:
        """The page as it is shown; what a run has that is in no column is noted below it."""
        has_own = not self.metrics
        return Table(
            paged=True,
            below=False,
            columns=[
                sorts("name", "name", listed, address),
                sorts("verdict", "passed", listed, address),
                sorts("recorded (UTC)", "recorded_at", listed, address),
                Column("labels and tags"),
                sorts("units", "units", listed, address, right=True, spare=1),
                *(
                    sorts(name, id, listed, address, right=True)
                    for id, name in self.metrics.items()
                ),
                *([Column("headlines")] if has_own else []),
            ],
            rows=[
                Row(
                    (
                        *row.cells(address, links),
                        *(
                            Cell("", drawn=drawn("headline", one)) if one else Cell("")
                            for one in row.headlines
                        ),
                        *([Cell("", drawn=drawn("headlines", row.own))] if has_own else []),
                    ),
                    "" if has_own else ", ".join(one.words for one in row.own),
                )
                for row in self.rows
            ],
        )

    def figures(self) -> Figures:
        """The table as it is shown, a run a row."""
        return Figures((*FIGURES, *self.metrics), [row.figures(self.metrics) for row in self.rows])


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
            headlines=tuple(headline(run, id) for id in chosen),
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


# Sparklines

WIDTH, HEIGHT = 96, 20
ROOM = 3
"""Free on every side, so that a point at the edge is whole."""
OUTSIDE = ", outside the interval of the run before"
"""Said without a colour: only a paired test tells better from worse."""
LONGEST = 20
"""Runs of a sparkline: the one it stands beside, and those before it."""


class Spark(Struct, frozen=True):
    """The shapes of a sparkline, and what they say."""

    line: str
    band: str
    """Around the line, the intervals; empty where there are none."""
    last: tuple[str, str]
    words: str


def sparks(lines: Sequence[MetricLine], runs: Collection[str]) -> dict[tuple[str, str], Spark]:
    """A sparkline for each of these runs and each metric, where enough runs led to it.

    It begins where the gold set or the metric's version last changed: what was measured before
    does not compare.
    """
    made = {}
    for line in lines:
        begins = 0
        for place, point in enumerate(line.points):
            if not _compare(line.points[begins], point):
                begins = place
            if point.run not in runs or point.value is None:
                continue
            led = line.points[max(begins, place + 1 - LONGEST) : place + 1]
            if sum(one.value is not None for one in led) >= TREND_RUNS:
                made[point.run, line.metric] = spark(led)
    return made


def spark(points: Sequence[Point]) -> Spark:
    """The points, oldest first, of which the last has a value."""
    told = [point for point in points if point.value is not None]
    scale = _Scale(points)
    return Spark(
        line=scale.line(),
        band=scale.band(),
        last=scale.place(len(points) - 1, told[-1].value or 0.0),
        words=_words(told) + (OUTSIDE if _is_outside(points) else ""),
    )


class _Scale:
    """Where points stand: evenly from left to right, the lowest end of an interval lowest."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._points = points
        ends = [end for point in points for end in (point.value, *_ends(point)) if end is not None]
        self._low, self._high = min(ends), max(ends)

    def place(self, at: int, value: float) -> tuple[str, str]:
        steps, spread = len(self._points) - 1, self._high - self._low
        x = ROOM + (WIDTH - 2 * ROOM) * (at / steps if steps else 1.0)
        risen = (value - self._low) / spread if spread else 0.5
        return f"{x:.1f}", f"{HEIGHT - ROOM - (HEIGHT - 2 * ROOM) * risen:.1f}"

    def line(self) -> str:
        """A path that is broken where a run has no value."""
        drawn, is_down = [], False
        for at, point in enumerate(self._points):
            if point.value is not None:
                x, y = self.place(at, point.value)
                drawn.append(f"{'L' if is_down else 'M'}{x} {y}")
            is_down = point.value is not None
        return "".join(drawn)

    def band(self) -> str:
        """The upper ends there and the lower ends back, over each stretch that has intervals."""
        return "".join(
            "M" + "L".join(" ".join(self.place(*end)) for end in stretch) + "Z"
            for stretch in self._stretches()
        )

    def _stretches(self) -> list[list[tuple[int, float]]]:
        found: list[list[tuple[int, Point]]] = [[]]
        for at, point in enumerate(self._points):
            if point.low is None or point.high is None:
                found.append([])
            else:
                found[-1].append((at, point))
        return [
            [(at, point.high or 0.0) for at, point in stretch]
            + [(at, point.low or 0.0) for at, point in reversed(stretch)]
            for stretch in found
            if len(stretch) > 1
        ]


def _ends(point: Point) -> tuple[float | None, float | None]:
    return point.low, point.high


def _compare(before: Point, after: Point) -> bool:
    return (before.gold_sha256, before.version) == (after.gold_sha256, after.version)


def _is_outside(points: Sequence[Point]) -> bool:
    before, last = points[-2], points[-1].value or 0.0
    if before.low is None or before.high is None:
        return False
    return not before.low <= last <= before.high


def _words(told: Sequence[Point]) -> str:
    values = [point.value for point in told if point.value is not None]
    first, low, high = (numbers.value(one) for one in (values[0], min(values), max(values)))
    return (
        f"over {len(told)} runs up to this one: first {first}, now {numbers.value(values[-1])}, "
        f"lowest {low}, highest {high}"
    )
