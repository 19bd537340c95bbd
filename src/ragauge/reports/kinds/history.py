"""The report of `ragauge history`: a metric over runs, also as a line for each value of a label."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from msgspec import structs

from ragauge.contracts.comparison import ChangePoint, HistoryPoint, HistoryReport
from ragauge.contracts.history import ID_SHOWN
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Block, Cell, Column, Table
from ragauge.reports.figures.lines import Lines
from ragauge.reports.kinds.comparison import COMMIT_SHOWN, p_value
from ragauge.reports.kinds.runs import DIRTY, REGRESSED, TONES, verdict_of, when
from ragauge.reports.numbers import counted, value
from ragauge.stats.change_points import ALPHA, fewest, shifts, variation
from ragauge.stats.trend import trend

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
            tuple(f"{name}={text}" for name, text in sorted(point.labels.items())),
            *(point.gold_sha256, point.version, change is not None),
            *((change.before, change.after, change.p) if change else (None, None, None)),
            *(point.reason, gates if at == newest else ()),
        )

    return COLUMNS, (row(at, point) for at, point in enumerate(report.points))


def blocks(report: HistoryReport, by: str = "", regressed: Collection[str] = ()) -> Iterator[Block]:
    """What the report says; with a label, each of its values is a line that moves by itself.

    `regressed` are runs that passed, and then failed a gated comparison.
    """
    lines = lines_by(report, by) if by else {report.metric: report}
    if by:
        changes = (one for line in lines.values() for one in line.change_points)
        in_order = tuple(sorted(changes, key=lambda one: one.at))
        report = structs.replace(report, change_points=in_order)
    runs = counted(len(report.points), "run")
    name = report.identity.get("name", "")
    title = f"{report.metric} over {runs} of {name}" if name else f"{report.metric} over {runs}"
    text, word = title, ""
    if report.gates:
        held = sum(gate.holds for gate in report.gates)
        text += f"; {held} of {counted(len(report.gates), 'gate')} passed"
        word = "PASS" if report.passed else "FAIL"
    score = report.metrics[report.metric]
    now = f"{value(score.value)} {numbers.interval(score.ci)}".rstrip() + " now"
    if score.value is None:
        now = f"no value now: {score.reason or 'nothing to score'}"
    moves = f"in {len(lines)} lines, by {by}" if by else "; ".join(_movement(report))
    yield doc.Verdict(word, text, meaning=[f"{now}; {report.better} is better", moves])
    shown_names = {gate.metric: gate.metric.removeprefix("history.") for gate in report.gates}
    yield from doc.gates(report.gates, {}, shown_names)
    if not any(point.value is not None for point in report.points):
        yield doc.Text("No run has a value; the reasons are below.")
    elif len(report.points) > 1:
        yield _figure(report, lines, title, f"{title}; {now}; {moves}")
    if report.change_points:
        yield _changes(report, by)
    if by:
        yield _levels(report, by, lines)
    yield _runs(report, by, regressed)
    yield doc.on_pages(doc.Data("points", COLUMNS, lambda: table(report)[1]))
    yield doc.findings(report)
    yield doc.Section(title="What the words mean", blocks=[doc.Facts(MEANINGS)], folded=True)
    covered, segments = report.coverage, report.coverage["segments"]
    missing = covered["runs"] - covered["valued"]
    words = doc.listed(
        f"{'the last ' if covered['older'] else ''}{counted(covered['runs'], 'run')}",
        missing and f"{numbers.count(missing)} without a value",
        segments > 1 and f"in {counted(segments, 'segment')}",
    )
    yield doc.coverage(words)


def _movement(report: HistoryReport) -> list[str]:
    """The slope, the variation and the change points of a line."""
    runs, error = counted(report.coverage.get("in_last_segment", 0), "run"), report.slope_error
    found = []
    if report.slope is not None:
        known = f" (standard error {error:.4f})" if error else ""
        found.append(f"slope {report.slope:+.4f} per run{known}, over {runs}")
    if report.variation is not None:
        found.append(f"variation σ/μ {100 * report.variation:.1f} %")
    return [*found, _level(report)]


def _level(report: HistoryReport) -> str:
    if report.change_points:
        return counted(len(report.change_points), "change point")
    if report.coverage.get("longest_segment", 0) < fewest():
        return f"too few runs to find a change of level: it takes {fewest()} in a row"
    return "no change of level"


def cuts(report: HistoryReport) -> list[int]:
    """The places from which on something else is measured: gold set, version or method."""
    found = {finding.where for finding in report.findings if finding.code == "line_cut"}
    return [at for at, point in enumerate(report.points) if point.run[:ID_SHOWN] in found]


def _of(point: HistoryPoint, label: str) -> str:
    return point.labels.get(label, f"no {label}")


def lines_by(report: HistoryReport, label: str) -> dict[str, HistoryReport]:
    """The line of each value of a label, in the order in which they were first met.

    Change points have their places among all runs. The movement of all lines together would show
    how often each value was run, and not how any of them moved.
    """
    cut = set(cuts(report))
    found: dict[str, list[list[int]]] = {}
    for at, point in enumerate(report.points):
        if at in cut:
            for stretches in found.values():
                stretches.append([])
        found.setdefault(_of(point, label), [[]])[-1].append(at)
    return {name: _line(report, stretches) for name, stretches in found.items()}


def _line(report: HistoryReport, stretches: Sequence[Sequence[int]]) -> HistoryReport:
    """The line of some of the runs, given by their places between cuts."""
    points = report.points
    segments = [
        segment
        for places in stretches
        if (segment := [(at, v) for at in places if (v := points[at].value) is not None])
    ] or [[]]
    last = [v for _, v in segments[-1]]
    moved = trend(range(len(last)), last)
    return structs.replace(
        report,
        points=tuple(points[at] for places in stretches for at in places),
        change_points=tuple(
            ChangePoint(run=points[at].run, at=at, before=one.before, after=one.after, p=one.p)
            for segment in segments
            for one in shifts([v for _, v in segment])
            for at, _ in [segment[one.at]]
        ),
        slope=moved.slope if moved else None,
        slope_error=moved.error if moved else None,
        variation=variation(last),
        coverage={
            "runs": sum(map(len, stretches)),
            "valued": sum(map(len, segments)),
            "in_last_segment": len(last),
            "longest_segment": max(map(len, segments)),
        },
    )


def _figure(
    report: HistoryReport, lines: Mapping[str, HistoryReport], title: str, words: str
) -> doc.Figure:
    newest = sorted(lines, key=lambda name: lines[name].points[-1].recorded_at)[-MOST_LINES:]
    picture = Lines(
        title=title,
        words=words,
        points=report.points,
        lines={
            name: {point.run for point in line.points}
            for name, line in lines.items()
            if name in newest
        },
        changes={
            one.at: f"{value(one.before)} → {value(one.after)}" for one in report.change_points
        },
        cuts=cuts(report),
    )
    left = len(lines) - len(newest)
    remark = f"the {MOST_LINES} lines that were run last; {left} more are not drawn" if left else ""
    title = "Values with 95 % intervals"
    return doc.Figure(drawn=picture.text, title=title, remark=remark, svg=picture.svg)


def _changes(report: HistoryReport, by: str) -> Table:
    points = report.points

    def direction(one: ChangePoint) -> Cell:
        good = (one.after > one.before) == (report.better == "higher")
        return Cell("better", tone="good") if good else Cell("worse", tone="bad")

    columns: dict[str | Column, Callable[[ChangePoint], Cell]] = {
        "from run": lambda one: doc.names(one.run[:ID_SHOWN], to=("run", one.run)),
        Column("recorded (UTC)", spare=1): lambda one: _recorded(points[one.at]),
        Column(by, foreign=True): lambda one: doc.names(_of(points[one.at], by) if by else ""),
        "before": lambda one: doc.number(one.before),
        "after": lambda one: doc.number(one.after),
        "change": lambda one: doc.signed(one.after - one.before),
        "p": lambda one: Cell(p_value(one.p), one.p),
        Column("direction"): direction,
        Column("commit", spare=2): lambda one: _commit(points[one.at]),
    }
    remark = "the level is different from these runs on"
    return doc.filled(
        doc.table(report.change_points, columns, title="Change points", remark=remark)
    )


def _levels(report: HistoryReport, by: str, lines: Mapping[str, HistoryReport]) -> Table:
    """The lines of a label's values, and how each moved since it was last cut."""
    last_cut = max((report.points[at].recorded_at for at in cuts(report)), default="")
    recent = {}
    for name, line in lines.items():
        known = [point.value for point in line.points if point.value is not None]
        recent[name] = known[-line.coverage["in_last_segment"] :]

    def runs(name: str) -> Cell:
        n, of = len(recent[name]), lines[name].coverage["valued"]
        return Cell(numbers.n_of(n, of if n < of else None), n)

    def slope(name: str) -> Cell:
        moved, error = lines[name].slope, lines[name].slope_error
        return Cell("" if moved is None else f"{moved:+.4f} ± {error:.4f}", moved)

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


def _recorded(point: HistoryPoint) -> Cell:
    return Cell(when(point.recorded_at), point.recorded_at)


def _commit(point: HistoryPoint) -> Cell:
    """The commit, with a mark where files differed from it."""
    return doc.names((point.commit or "")[:COMMIT_SHOWN] + (DIRTY if point.dirty else ""))


def _runs(report: HistoryReport, by: str, regressed: Collection[str]) -> Table:
    """The runs, the newest first, each with its change since the run before it on its line."""
    cut, changed = {*cuts(report)}, {one.at for one in report.change_points}
    before: dict[str, float] = {}
    changes: dict[str, float] = {}
    remarks: dict[str, str] = {}
    for at, point in enumerate(report.points):
        if at in cut:
            before.clear()
        line = _of(point, by) if by else ""
        if point.value is not None:
            if line in before:
                changes[point.run] = point.value - before[line]
            before[line] = point.value
        remarks[point.run] = doc.listed(
            at in changed and "the level changes here",
            at in cut and "not comparable before",
            point.value is None and (point.reason or "nothing to score"),
            sep="; ",
        )

    def verdict(point: HistoryPoint) -> Cell:
        is_worse = point.passed and point.run in regressed
        word = REGRESSED if is_worse else verdict_of(point.passed)
        return Cell(word, word, TONES.get(word, "bad"), badge=word.lower())

    def labels(point: HistoryPoint) -> Cell:
        return doc.names(" ".join(f"{key}={text}" for key, text in sorted(point.labels.items())))

    dirty = any(point.dirty for point in report.points)
    return doc.filled(
        doc.table(
            report.points[::-1],
            {
                "run": lambda point: doc.names(point.run[:ID_SHOWN], to=("run", point.run)),
                "recorded (UTC)": _recorded,
                "value": lambda point: doc.number(point.value),
                Column("95 % interval", spare=1): lambda point: doc.interval(point.ci),
                Column("n", right=True, spare=3): lambda point: doc.count(point.n),
                "change": lambda point: doc.signed(changes.get(point.run)),
                "verdict": verdict,
                Column("commit", spare=2): _commit,
                Column("labels", spare=4): labels,
            },
            note=lambda point: remarks[point.run],
            title="Runs",
            remark=f"the newest first{f'; {DIRTY} files differed from the commit' * dirty}",
            shown=SHOWN,
            everything="--format csv has them all",
            below=False,
            name=None,
        ),
        always=("value",),
    )
