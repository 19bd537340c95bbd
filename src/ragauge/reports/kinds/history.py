"""The report of `ragauge history`: a metric over runs, also as a line for each value of a label."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from msgspec import structs

from ragauge.contracts.comparison import ChangePoint, HistoryPoint, HistoryReport
from ragauge.contracts.history import GitState
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.document import Block, Cell, Column, Table
from ragauge.reports.figures.lines import Lines
from ragauge.reports.kinds.comparison import p_value
from ragauge.reports.kinds.runs import DIFFERED, code, labels, recorded, run_cell, verdict_cell
from ragauge.reports.phrasing import pluralize, value
from ragauge.stats.change_points import ALPHA, fewest

COLUMNS = (
    *("run", "recorded_at", "metric", "value", "low", "high", "n", "passed", "commit", "dirty"),
    *("labels", "gold_sha256", "version", "change_point", "level_before", "level_after", "p"),
    *("reason", "gates"),
)
SHOWN = 15
MOST_LINES = 6
"""As many as there are colours: those that were run last."""
MEANINGS = (
    ("slope", "change per run, by least squares; within two standard errors of 0 it may be chance"),
    ("variation", "standard deviation over mean, σ/μ: how much one run can differ from the next"),
    ("change point", f"a new level: at most {100 * ALPHA:g} % of random orders divide as clearly"),
    (
        "cut",
        "another gold set, version or method from here on; numbers are of the runs since",
    ),
)


def document(report: HistoryReport) -> doc.Document:
    return doc.Document(f"history of {report.metric}", list(blocks(report)))


def table(report: HistoryReport) -> tuple[tuple[str, ...], Iterable[Sequence[object]]]:
    """One row for each run, the oldest first; the newest run has the gates."""
    changes = {one.at: one for one in report.change_points}
    newest = len(report.points) - 1
    gates = tuple(f"{gate.rule}: {gate.verdict}" for gate in report.gates)

    def row(at: int, point: HistoryPoint) -> Sequence[object]:
        change = changes.get(at)
        return (
            *(point.run, point.recorded_at, report.metric, point.value),
            *(point.ci or (None, None)),
            *(point.n, point.passed, point.commit, point.dirty),
            tuple(labels(point.labels)),
            *(point.gold_sha256, point.version, change is not None),
            *((change.before, change.after, change.p) if change else (None, None, None)),
            *(point.reason, gates if at == newest else ()),
        )

    return COLUMNS, (row(at, point) for at, point in enumerate(report.points))


def blocks(
    report: HistoryReport,
    by: str = "",
    lines: Mapping[str, HistoryReport] = {},
    regressed: Collection[str] = (),
) -> Iterator[Block]:
    """What the report says; with a label, each of its values is a line that moves by itself.

    `regressed` are runs that passed, and then failed a gated comparison.
    """
    line_of = {point.run: name for name, line in lines.items() for point in line.points}
    if by:
        changes = (one for line in lines.values() for one in line.change_points)
        in_order = tuple(sorted(changes, key=lambda one: one.at))
        report = structs.replace(report, change_points=in_order)
    runs = pluralize(len(report.points), "run")
    name = report.identity.get("name", "")
    title = f"{report.metric} over {runs} of {name}" if name else f"{report.metric} over {runs}"
    text = doc.listed(title, phrasing.gate_counts(report), sep="; ")
    word = phrasing.verdict_word(report.passed, ()) if report.gates else ""
    score = report.metrics[report.metric]
    now = f"{value(score.value)} {phrasing.interval(score.ci)}".rstrip() + " now"
    if score.value is None:
        now = f"no value now: {score.reason or 'nothing to score'}"
    moves = f"in {len(lines)} lines, by {by}"
    if not by:
        error = f" (standard error {report.slope_error:.4f})" if report.slope_error else ""
        since = pluralize(report.coverage.get("in_last_segment", 0), "run")
        moves = doc.listed(
            report.slope is not None and f"slope {report.slope:+.4f} per run{error}, over {since}",
            report.variation is not None and f"variation σ/μ {100 * report.variation:.1f} %",
            _level(report),
            sep="; ",
        )
    yield doc.Verdict(word, text, meaning=[f"{now}; {report.better} is better", moves])
    shown_names = {gate.metric: gate.metric.removeprefix("history.") for gate in report.gates}
    yield from doc.gates(report.gates, {}, shown_names)
    if not any(point.value is not None for point in report.points):
        yield doc.Text("No run has a value; the reasons are below.")
    elif len(report.points) > 1:
        drawn = lines or {report.metric: report}
        newest = sorted(drawn, key=lambda name: drawn[name].points[-1].recorded_at)[-MOST_LINES:]
        picture = Lines(
            title=title,
            words=f"{title}; {now}; {moves}",
            points=report.points,
            lines={
                name: {one.run for one in drawn[name].points} for name in drawn if name in newest
            },
            changes={
                one.at: f"{value(one.before)} → {value(one.after)}" for one in report.change_points
            },
            cuts=report.cuts,
        )
        left = len(drawn) - len(newest)
        remark = f"the {MOST_LINES} lines that were run last; {left} more are not drawn"
        remark = remark if left else ""
        title = "Values with 95 % intervals"
        yield doc.Figure(drawn=picture.text, title=title, remark=remark, page=picture.html)
    if report.change_points:
        yield _changes(report, by, line_of)
    if by:
        yield _levels(report, by, lines)
    yield _runs(report, line_of, regressed)
    yield doc.on_pages(doc.Data("points", COLUMNS, lambda: table(report)[1]))
    yield doc.findings(report)
    yield doc.Section(title="What the words mean", blocks=[doc.Facts(MEANINGS)], folded=True)
    covered, segments = report.coverage, report.coverage["segments"]
    missing = covered["runs"] - covered["valued"]
    verdict_text = doc.listed(
        f"{'the last ' if covered['older'] else ''}{pluralize(covered['runs'], 'run')}",
        missing and f"{phrasing.count(missing)} without a value",
        segments > 1 and f"in {pluralize(segments, 'segment')}",
    )
    yield doc.coverage(verdict_text)


def _level(report: HistoryReport) -> str:
    if report.change_points:
        return pluralize(len(report.change_points), "change point")
    if report.coverage.get("longest_segment", 0) < fewest():
        return f"too few runs to find a change of level: it takes {fewest()} in a row"
    return "no change of level"


def _changes(report: HistoryReport, by: str, line_of: Mapping[str, str]) -> Table:
    points = report.points

    def direction(one: ChangePoint) -> Cell:
        good = (one.after > one.before) == (report.better == "higher")
        return Cell("better", tone="good") if good else Cell("worse", tone="bad")

    columns: dict[str | Column, Callable[[ChangePoint], Cell]] = {
        "from run": lambda one: run_cell(one.run),
        Column("recorded (UTC)", spare=1): lambda one: recorded(points[one.at].recorded_at),
        Column(by, foreign=True): lambda one: doc.names(line_of.get(one.run, "")),
        "before": lambda one: doc.number(one.before),
        "after": lambda one: doc.number(one.after),
        "change": lambda one: doc.signed(one.after - one.before),
        "p": lambda one: Cell(p_value(one.p), one.p),
        Column("direction"): direction,
        Column("commit", spare=2): lambda one: _commit(points[one.at]),
    }
    remark = "the level is different from these runs on"
    return doc.without_empty_columns(
        doc.table(report.change_points, columns, title="Change points", remark=remark)
    )


def _levels(report: HistoryReport, by: str, lines: Mapping[str, HistoryReport]) -> Table:
    """The lines of a label's values, and how each moved since it was last cut."""
    last_cut = max((report.points[at].recorded_at for at in report.cuts), default="")
    recent = {}
    for name, line in lines.items():
        known = [point.value for point in line.points if point.value is not None]
        recent[name] = known[-line.coverage["in_last_segment"] :]

    def runs(name: str) -> Cell:
        n, of = len(recent[name]), lines[name].coverage["valued"]
        return Cell(phrasing.n_of(n, of if n < of else None), n)

    def slope(name: str) -> Cell:
        slope, error = lines[name].slope, lines[name].slope_error
        return Cell("" if slope is None else f"{slope:+.4f} ± {error:.4f}", slope)

    def varied(name: str) -> Cell:
        found = lines[name].variation
        return Cell("" if found is None else f"{100 * found:.1f} %", found)

    def note(name: str) -> str:
        is_old = lines[name].points[-1].recorded_at < last_cut
        return "not run since the line was last cut" if is_old else ""

    return doc.table(
        lines,
        {
            Column(by, foreign=True): doc.names,
            Column("runs", right=True): runs,
            "newest": lambda name: doc.number(next(reversed(recent[name]), None)),
            "mean": lambda name: doc.number(fmean(recent[name]) if recent[name] else None),
            "lowest": lambda name: doc.number(min(recent[name], default=None)),
            "highest": lambda name: doc.number(max(recent[name], default=None)),
            Column("slope a run", right=True): slope,
            Column("σ/μ", right=True): varied,
            "level": lambda name: Cell(_level(lines[name])),
        },
        note=note,
        title="By",
        about=by,
        remark="each value is a line of its own; where it is cut, only the runs since are counted",
        name="levels",
    )


def _commit(point: HistoryPoint) -> Cell:
    git = GitState(commit=point.commit or "", branch=None, dirty=point.dirty)
    return doc.names(code(git))


def _runs(report: HistoryReport, line_of: Mapping[str, str], regressed: Collection[str]) -> Table:
    """The runs, the newest first, each with its change since the run before it on its line."""
    cuts, changed = {*report.cuts}, {one.at for one in report.change_points}
    before: dict[str, float] = {}
    changes: dict[str, float] = {}
    remarks: dict[str, str] = {}
    for at, point in enumerate(report.points):
        if at in cuts:
            before.clear()
        line = line_of.get(point.run, "")
        if point.value is not None:
            if line in before:
                changes[point.run] = point.value - before[line]
            before[line] = point.value
        remarks[point.run] = doc.listed(
            at in changed and "the level changes here",
            at in cuts and "not comparable before",
            point.value is None and (point.reason or "nothing to score"),
            sep="; ",
        )
    columns: dict[str | Column, Callable[[HistoryPoint], Cell]] = {
        "run": lambda point: run_cell(point.run),
        "recorded (UTC)": lambda point: recorded(point.recorded_at),
        "value": lambda point: doc.number(point.value),
        Column("95 % interval", spare=1): lambda point: doc.interval(point.ci),
        Column("n", right=True, spare=3): lambda point: doc.count(point.n),
        "change": lambda point: doc.signed(changes.get(point.run)),
        "verdict": lambda point: verdict_cell(point.passed, point.run in regressed),
        Column("commit", spare=2): _commit,
        Column("labels", spare=4): lambda point: doc.names(" ".join(labels(point.labels))),
    }
    dirty = any(point.dirty for point in report.points)
    table = doc.table(
        report.points[::-1],
        columns,
        note=lambda point: remarks[point.run],
        title="Runs",
        remark=doc.listed("the newest first", dirty and DIFFERED, sep="; "),
        shown=SHOWN,
        everything="--format csv has them all",
        below=False,
        name=None,
    )
    return doc.without_empty_columns(table, always=("value",))
