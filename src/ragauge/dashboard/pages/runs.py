"""The page of all runs: searched, filtered and sorted, the newest first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial

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
from ragauge.reports.document import Cell, Column, Table, count, table
from ragauge.reports.foreign import cut
from ragauge.reports.formats.html import written
from ragauge.reports.kinds import runs as story
from ragauge.reports.kinds.runs import TREND_RUNS

SORTS = ("recorded_at", "name", "command", "passed", "units")
NEWEST = "-recorded_at"
GREEN = {"yes": True, "no": False}
FILTERS = ("q", "name", "command", "green", "label")
FIGURES = (
    *("run", "name", "command", "recorded_at", "verdict", "branch", "commit", "dirty"),
    *("tags", "labels", "gates_held", "gates", "units"),
)


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The runs that the address asks for, with what chooses them above."""
    pages = material.pages
    found = pages.runs(_query(asked, pages))
    here, address = listed(found, asked, NEWEST), addresses(asked, links.runs() or "")
    metrics, rows = run_rows(pages, links, found.rows)
    newest = pages.runs(RunQuery(limit=1)).rows
    body = render(
        "runs.html",
        table=written([_table(metrics, rows, here, address, links)], sorting=links.sorting),
        listed=here,
        asked={name: asked.text(name) for name in FILTERS},
        labels=[f"{key}={value}" for key, value in labels_asked(asked).items()],
        is_filtered=any(asked.text(name) for name in FILTERS),
        commands=pages.commands(),
        names=pages.names(),
        newest=newest[0].record.recorded_at if newest else None,
        address=address,
        links=links,
    )
    figures = {
        "runs": lambda: Figures((*FIGURES, *metrics), [row.figures(metrics) for row in rows])
    }
    return Page(title="Runs", here="runs", drawn=body, data=figures)


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
    headlines: dict[str, Headline]
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

    def figures(self, metrics: Iterable[str]) -> list[object]:
        record, git = self.run.record, self.run.record.git
        scores = (record.metrics.get(id) for id in metrics)
        return [
            *(self.run.id, record.name, record.command, record.recorded_at),
            story.verdict(self.run),
            *((git.branch, git.commit, git.dirty) if git else (None, None, None)),
            self.run.tags,
            tuple(f"{key}={value}" for key, value in sorted(record.labels.items())),
            *(self.held, len(record.gates), record.units),
            *(score.value if score else None for score in scores),
        ]


def run_rows(
    pages: PagedHistory, links: Links, runs: Sequence[Run]
) -> tuple[dict[str, str], list[RunRow]]:
    """The metrics that have columns, with the names to show, and the rows of these runs.

    Each headline has a sparkline where runs led to it.
    """

    def is_common(id: str) -> bool:
        """Whether half of the runs have a value: with fewer, the column would be mostly empty."""
        scores = (run.record.metrics.get(id) for run in runs)
        return 2 * sum(bool(score and score.value is not None) for score in scores) >= len(runs)

    chosen = [id for id in story.headlines(runs) if is_common(id)][:COLUMNS]
    owned = {
        run.id: story.headlines([run])[:OWN]
        for run in runs
        if not any(id in run.record.metrics for id in chosen)
    }
    metrics = list(dict.fromkeys([*chosen, *(id for ids in owned.values() for id in ids)]))
    names, drawn_lines = story.short_names(metrics), {}
    if metrics:
        kinds = sorted({(run.record.command, run.record.name) for run in runs})
        last = max(LONGEST, min(DEEPEST, POINTS // (len(kinds) * len(metrics))))
        drawn_lines = sparks(pages.lines(kinds, metrics, last), {run.id for run in runs})

    def headlines(run: Run, ids: Iterable[str]) -> Iterator[Headline]:
        for id in ids:
            if score := run.record.metrics.get(id):
                history = links.history(id, name=run.record.name, command=run.record.command)
                yield Headline(id, names[id], score, drawn_lines.get((run.id, id)), history)

    rows = [
        RunRow(
            run=run,
            href=links.run(run.id),
            headlines={one.metric: one for one in headlines(run, chosen)},
            own=tuple(headlines(run, owned.get(run.id, ()))),
        )
        for run in runs
    ]
    return {id: names[id] for id in chosen}, rows


def _table(
    metrics: dict[str, str], rows: Sequence[RunRow], here: Listed, address: Address, links: Links
) -> Table:
    """The page as it is shown; what a run has that is in no column is noted below it."""

    def verdict(row: RunRow) -> Cell:
        word, failed = story.verdict(row.run), row.held < len(row.run.record.gates)
        under = drawn("under", word, row.gates, "bad" if failed else "soft", word.lower())
        return Cell(word, drawn=under)

    def recorded(row: RunRow) -> Cell:
        when, code = story.when(row.run.record.recorded_at), story.code(row.run.record.git)
        short = cut(code, LONGEST_LABEL)
        return Cell(when, drawn=drawn("under", when, short, "soft", "", True, code))

    def labels(row: RunRow) -> Cell:
        given: list[tuple[str, str, str | None]] = [("tag", tag, None) for tag in row.run.tags]
        given += [
            (key, value, address(label=f"{key}={value}", start=None))
            for key, value in sorted(row.run.record.labels.items())
        ]
        tags = [
            (cut(key, LONGEST_LABEL), cut(value, LONGEST_LABEL), href) for key, value, href in given
        ]
        return Cell("", drawn=drawn("tags", tags))

    def headline(id: str, row: RunRow) -> Cell:
        one = row.headlines.get(id)
        return Cell("", drawn=drawn("headline", one)) if one else Cell("")

    def own(row: RunRow) -> str:
        return ", ".join(f"{one.name} {numbers.value(one.score.value)}" for one in row.own)

    columns: dict[str | Column, Callable[[RunRow], Cell]] = {
        sorts("name", "name", here, address): lambda row: Cell(
            row.name, drawn=drawn("run_name", row, bool(links.compare()))
        ),
        sorts("verdict", "passed", here, address): verdict,
        sorts("recorded (UTC)", "recorded_at", here, address): recorded,
        "labels and tags": labels,
        sorts("units", "units", here, address, right=True, spare=1): lambda row: count(
            row.run.record.units
        ),
    }
    for id, name in metrics.items():
        columns[sorts(name, id, here, address, right=True)] = partial(headline, id)
    if not metrics:
        columns["headlines"] = lambda row: Cell("", drawn=drawn("headlines", row.own))
    return table(rows, columns, note=own if metrics else None, paged=True, below=False)


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
            first = line.points[begins]
            if (first.gold_sha256, first.version) != (point.gold_sha256, point.version):
                begins = place
            if point.run not in runs or point.value is None:
                continue
            led = line.points[max(begins, place + 1 - LONGEST) : place + 1]
            if sum(one.value is not None for one in led) >= TREND_RUNS:
                made[point.run, line.metric] = spark(led)
    return made


def spark(points: Sequence[Point]) -> Spark:
    """The points, oldest first, of which the last has a value.

    They are evenly spaced from left to right, and the lowest end of an interval is lowest.
    """
    values = [point.value for point in points if point.value is not None]
    ends = [*values, *(end for one in points for end in (one.low, one.high) if end is not None)]
    lowest, spread, steps = min(ends), max(ends) - min(ends), len(points) - 1

    def place(at: int, value: float) -> tuple[str, str]:
        x = ROOM + (WIDTH - 2 * ROOM) * (at / steps if steps else 1.0)
        risen = (value - lowest) / spread if spread else 0.5
        return f"{x:.1f}", f"{HEIGHT - ROOM - (HEIGHT - 2 * ROOM) * risen:.1f}"

    line: list[str] = []  # broken where a run has no value
    stretches: list[list[tuple[int, float, float]]] = [[]]  # of runs with intervals
    for at, point in enumerate(points):
        if point.value is not None:
            begins = at == 0 or points[at - 1].value is None
            line.append(f"{'M' if begins else 'L'}{' '.join(place(at, point.value))}")
        if point.low is None or point.high is None:
            stretches.append([])
        else:
            stretches[-1].append((at, point.low, point.high))
    band = ""
    for stretch in stretches:
        if len(stretch) > 1:  # the upper ends there, and the lower ends back
            there = [(at, high) for at, _, high in stretch]
            back = [(at, low) for at, low, _ in reversed(stretch)]
            band += "M" + "L".join(" ".join(place(*end)) for end in there + back) + "Z"
    before = points[-2]
    is_outside = False
    if before.low is not None and before.high is not None:
        is_outside = not before.low <= values[-1] <= before.high
    first, now, low, high = map(numbers.value, (values[0], values[-1], min(values), max(values)))
    words = (
        f"over {len(values)} runs up to this one: first {first}, now {now}, lowest {low}, "
        f"highest {high}{OUTSIDE if is_outside else ''}"
    )
    return Spark("".join(line), band, place(steps, values[-1]), words)
