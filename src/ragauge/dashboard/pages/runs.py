"""The page of all runs: searched, filtered and sorted, the newest first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

from ragauge.contracts.archive import shown_run
from ragauge.contracts.history import Run
from ragauge.contracts.paging import MetricLine, PagedHistory, RunQuery
from ragauge.dashboard import parts
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Links, Page
from ragauge.dashboard.pages import compare
from ragauge.dashboard.parts import Field, Listed, draw_macro, listed, sorts
from ragauge.dashboard.query import BadAddress, Query
from ragauge.metrics.names import long_name
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.document import Cell, Column, Table
from ragauge.reports.kinds import runs as story
from ragauge.reports.phrasing import pluralize
from ragauge.text.natural import natural
from ragauge.text.visible import cut

SORTS = ("recorded_at", "name", "command", "passed", "units")
NEWEST = "-recorded_at"
GREEN = {"yes": True, "no": False}
FILTERS = ("q", "name", "command", "green", "label")
COLUMNS = 4  # metrics that have a column of their own
OWN = 2  # headlines of a run that has none of the columns
LONGEST_NAME, LONGEST_LABEL = 32, 20  # in the table; the run's page has all
TREND_RUNS = 3  # fewer runs than these are no line
LONGEST = 20  # runs of a sparkline: the one in its row, and those before it
POINTS, DEEPEST = 8_000, 500  # read for sparklines: in all, and runs of a name
OUTSIDE = ", outside the interval of the run before"
"""Said without a colour: only a paired test separates better from worse."""
RECORD = (
    "ragauge score gold.jsonl traces.jsonl --record --name nightly --label model=small-3\n"
    "ragauge trace-eval --demo --record"
)


def page(material: Material, links: Links, query: Query) -> Page:
    """The runs that the address selects, with what selects them above."""
    pages, here = material.pages, links.runs() or ""
    commands, newest = pages.commands(), pages.runs(RunQuery(limit=1)).rows
    if not newest:
        about = "A run appears here once it is recorded: every command that measures has --record."
        blocks: list[doc.Block] = [
            parts.header("Runs", "Nothing is recorded yet"),
            parts.empty("No runs yet", f"{about} The demo needs no files of your own.", RECORD),
        ]
        return Page(title="Runs", here="runs", blocks=blocks, links=links)
    found = pages.runs(_query(query, pages))
    paged = listed(found, query, NEWEST, here)
    given = {name: query.text(name) for name in FILTERS}
    every = [(name, f"{name} ({phrasing.count(times)})") for name, times in commands.items()]
    question_links = [("", "any"), ("yes", "passed, not regressed"), ("no", "failed or regressed")]
    labels = [f"{key}={value}" for key, value in labels_of(query).items()] or [""]
    form = parts.form(
        here,
        Field("q", given["q"], "Search", "name, commit, tag, label", kind="search"),
        parts.select("command", given["command"], "Command", [("", "all"), *every]),
        parts.select("green", given["green"], "Verdict", question_links),
        *(Field("label", label, "Label", "key=value") for label in labels),
        Field("name", given["name"], "Name" if given["name"] else ""),
        Field("sort", paged.order if paged.order != NEWEST else ""),
        replaces="runs",
        clear=here if any(given.values()) else None,
    )
    # The form is outside of the table: what is printed is the table, and not the form.
    select = parts.form(links.compare(), id="compare", button="Compare two selected runs")
    table = _table(pages, links, paged)
    shown = parts.results("runs", paged, "run", here, select, table, code=RECORD)
    recorded = f"{pluralize(sum(commands.values()), 'run')} of {pluralize(pages.names(), 'name')}"
    last = f"the last recorded {story.when(newest[0].record.recorded_at)} UTC"
    blocks = [parts.header("Runs", f"{recorded}, {last}"), form, shown]
    return Page(title="Runs", here="runs", blocks=blocks, links=links)


def compared(material: Material, links: Links, query: Query) -> Page:
    """The comparison of two runs selected in the list, the older one first, or of those named."""
    if chosen := query.texts("run"):
        if len(chosen) != 2:
            selected = pluralize(len(chosen), "run is", "runs are")
            raise BadAddress(f"run: select two runs to compare; {selected} selected")
        runs = sorted(map(material.run, chosen), key=lambda run: run.record.recorded_at)
        query = query.but(run=None, before=runs[0].id, after=runs[1].id)
    return compare.page(material, links, query)


def labels_of(query: Query) -> dict[str, str]:
    """The labels that runs must have, each given as `label=key=value`."""
    labels = {}
    for given in query.texts("label"):
        key, equals, value = (part.strip() for part in given.partition("="))
        if not (key and equals and value):
            raise BadAddress(f'label: "{given[:40]}" is not key=value, such as model=small-3')
        labels[key] = value
    return labels


def _query(query: Query, pages: PagedHistory) -> RunQuery:
    sort, down = query.order(NEWEST)
    if sort not in SORTS and sort not in pages.metrics():
        raise BadAddress(
            f'sort: "{sort[:80]}" is none of {", ".join(SORTS)}, and no run has a metric of that id'
        )
    green = query.choice("green", tuple(GREEN))
    return RunQuery(
        words=query.text("q"),
        name=query.optional("name"),
        command=query.optional("command"),
        green=GREEN[green] if green else None,
        labels=labels_of(query),
        sort=sort,
        descending=down,
        start=query.start,
        limit=query.limit,
    )


def _table(pages: PagedHistory, links: Links, paged: Listed) -> Table:
    """A row for each run, with a column for each metric that half of them have."""
    runs: Sequence[Run] = paged.rows

    def is_common(id: str) -> bool:
        scores = (run.record.metrics.get(id) for run in runs)
        return 2 * sum(bool(score and score.value is not None) for score in scores) >= len(runs)

    metrics = [id for id in story.headlines(runs) if is_common(id)][:COLUMNS]
    own = {
        run.id: story.headlines([run])[:OWN]
        for run in runs
        if not any(id in run.record.metrics for id in metrics)
    }
    every = list(dict.fromkeys([*metrics, *(id for ids in own.values() for id in ids)]))
    kinds = sorted({(run.record.command, run.record.name) for run in runs})
    last = max(LONGEST, min(DEEPEST, POINTS // (len(kinds) * len(every) or 1)))
    lines = sparks(pages.lines(kinds, every, last), {run.id for run in runs}) if every else {}
    shown = {id: long_name(id, name) for id, name in phrasing.short_names(every).items()}

    def headlines(ids: Iterable[str], run: Run, *, is_named: bool = True) -> Cell:
        given, text, value = [], "", None
        for id, score in ((id, run.record.metrics[id]) for id in ids if id in run.record.metrics):
            text, value = phrasing.value(score.value), score.value
            known = f"{id} {text} {phrasing.interval(score.ci)}".rstrip()
            hint = f"{known}, n {phrasing.n_of(score.n, score.of)}"
            if score.value is None:
                hint = f"{id}: {score.reason or 'nothing to score'}"
            href = links.history(id, name=run.record.name, command=run.record.command)
            name = shown[id] if is_named else ""
            given.append((name, text, hint, href, lines.get((run.id, id))))
        every = ", ".join(f"{name} {text}" for name, text, *_ in given)
        return Cell(every, None if is_named else value, drawn=draw_macro("headlines", given))

    def name(run: Run) -> Cell:
        shown = cut(run.record.name, LONGEST_NAME)
        picked = draw_macro("run_name", run, shown, links.run(run.id), bool(links.compare()))
        return Cell(shown, f"{run.record.name} {run.id}", foreign=True, drawn=picked)

    def verdict(run: Run) -> Cell:
        word, gates = story.verdict(run), phrasing.gate_counts(shown_run(run))
        tone = "soft" if all(gate.holds for gate in run.record.gates) else "bad"
        return Cell(word, drawn=draw_macro("under", word, gates or "no gates", tone, word.lower()))

    def recorded(run: Run) -> Cell:
        when, code = story.when(run.record.recorded_at), story.code(run.record.git)
        short = cut(code, LONGEST_LABEL)
        recorded_at = run.record.recorded_at
        return Cell(
            when, recorded_at, drawn=draw_macro("under", when, short, "soft", "", True, code)
        )

    def labels(run: Run) -> Cell:
        given: list[tuple[str, str, str | None]] = [
            ("tag", cut(tag, LONGEST_LABEL), None) for tag in sorted(run.tags, key=natural)
        ]
        for key, value in sorted(run.record.labels.items()):
            href = paged.address(label=f"{key}={value}", start=None)
            given.append((cut(key, LONGEST_LABEL), cut(value, LONGEST_LABEL), href))
        text = " ".join(f"{key}={value}" for key, value, _ in given)
        return Cell(text, drawn=draw_macro("tags", given))

    columns: dict[str | Column, Callable[[Run], Cell]] = {
        sorts("name", "name", paged): name,
        sorts("verdict", "passed", paged): verdict,
        sorts("recorded (UTC)", "recorded_at", paged): recorded,
        "labels and tags": labels,
        sorts("samples", "units", paged, right=True, spare=1): lambda run: doc.count(
            run.record.units
        ),
    }
    for id in metrics:
        head = sorts(shown[id], id, paged, right=True)
        columns[head] = partial(headlines, [id], is_named=False)

    def others(run: Run) -> Cell:
        return headlines(own.get(run.id, ()), run)

    if not metrics:
        columns["headlines"] = others
    note = (lambda run: others(run).text) if metrics else None
    table = doc.table(runs, columns, note=note, paged=True, below=False, name="runs")
    return parts.carded(table)


def sparks(
    lines: Sequence[MetricLine], runs: Collection[str]
) -> dict[tuple[str, str], tuple[str, str]]:
    """By run and metric a sparkline and what it says, where enough runs led to it.

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
            led = line.points[max(begins, place + 1 - LONGEST) : place + 1]
            known = [one.value for one in led if one.value is not None]
            if point.run not in runs or point.value is None or len(known) < TREND_RUNS:
                continue
            low, high = led[-2].low, led[-2].high
            is_outside = low is not None and high is not None and not low <= known[-1] <= high
            ends = (known[0], known[-1], min(known), max(known))
            names = zip(
                ("first", "now", "lowest", "highest"), map(phrasing.value, ends), strict=True
            )
            words = f"{line.metric} over {len(known)} runs up to this one: "
            words += ", ".join(map(" ".join, names)) + (OUTSIDE if is_outside else "")
            made[point.run, line.metric] = (sparkline(known), words)
    return made


def sparkline(values: Sequence[float]) -> str:
    """The values as blocks between the least and the greatest; level where they are all the same.

    >>> sparkline([0.1, 0.2, 0.8]), sparkline([0.5, 0.5])
    ('▁▂█', '▄▄')
    """
    low, high, blocks = min(values), max(values), "▁▂▃▄▅▆▇█"
    if low == high:
        return blocks[3] * len(values)
    return "".join(blocks[round((value - low) / (high - low) * 7)] for value in values)
