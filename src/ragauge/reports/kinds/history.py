"""The report of `ragauge history`: a metric over runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragauge.contracts.comparison import ChangePoint, HistoryPoint, HistoryReport
from ragauge.contracts.history import ID_SHOWN
from ragauge.reports import numbers
from ragauge.reports.document import (
    Block,
    Cell,
    Coverage,
    Document,
    Figure,
    Row,
    Table,
    Tone,
    Verdict,
    columns,
    count,
    findings,
    gates,
    names,
    number,
    rows,
)
from ragauge.reports.figures import lines
from ragauge.reports.kinds.comparison import COMMIT_SHOWN, p_value
from ragauge.reports.kinds.runs import DIRTY
from ragauge.reports.numbers import counted

COLUMNS = (
    *("run", "recorded_at", "metric", "value", "low", "high", "n", "passed", "commit", "dirty"),
    *("labels", "gold_sha256", "version", "change_point", "level_before", "level_after", "p"),
    *("reason", "gates"),
)
SHOWN = 15
SPARKS = 60


def document(report: HistoryReport) -> Document:
    return Document(f"history of {report.metric}", list(_blocks(report)))


def table(report: HistoryReport) -> tuple[tuple[str, ...], Iterable[Iterable[object]]]:
    """One row for each run, the oldest first; the newest run has the gates."""
    changes = {one.at: one for one in report.change_points}
    newest = len(report.points) - 1
    told = tuple(f"{gate.rule}: {gate.verdict}" for gate in report.gates)
    return COLUMNS, (
        (*_row(report.metric, point, changes.get(at)), told if at == newest else ())
        for at, point in enumerate(report.points)
    )


def _row(metric: str, point: HistoryPoint, change: ChangePoint | None) -> Iterator[object]:
    yield from (point.run, point.recorded_at, metric, point.value)
    yield from point.ci or (None, None)
    yield from (point.n, point.passed, point.commit, point.dirty)
    yield tuple(f"{name}={value}" for name, value in sorted(point.labels.items()))
    yield from (point.gold_sha256, point.version, change is not None)
    yield from (change.before, change.after, change.p) if change else (None, None, None)
    yield point.reason


def _blocks(report: HistoryReport) -> Iterator[Block]:
    text, word = title(report), ""
    if report.gates:
        held = sum(gate.holds for gate in report.gates)
        text += f"; {held} of {counted(len(report.gates), 'gate')} passed"
        word = "PASS" if report.passed else "FAIL"
    moves = "; ".join(movement_words(report))
    yield Verdict(word, text, meaning=[now_words(report), moves])
    values = [point.value for point in report.points]
    if sum(value is not None for value in values) > 1:
        yield Figure(lambda width: [lines.sparkline(values[-min(SPARKS, width) :])])
    shown_names = {gate.metric: gate.metric.removeprefix("history.") for gate in report.gates}
    yield from gates(report.gates, {}, shown_names)
    if len(report.points) > 1:
        yield _plot(report)
    if report.change_points:
        yield _changes(report)
    yield _runs(report)
    yield findings(report)
    yield Coverage(coverage_words(report))


def _plot(report: HistoryReport) -> Figure:
    points, changed = report.points, report.change_points
    cut = cuts(report)

    def drawn(width: int) -> list[str]:
        skipped = len(points) - lines.fitting(points, width)
        picture = lines.drawn(
            points[skipped:],
            {at - skipped for at in cut if at >= skipped},
            {one.at - skipped for one in changed if one.at >= skipped},
            width,
        )
        older = [f"{counted(skipped, 'older run')} not drawn"] if skipped and picture else []
        return [*picture, *older]

    marks = f"{lines.VALUE} value, {lines.INTERVAL} interval"
    marks += f", {lines.CHANGE} change point" if changed else ""
    marks += f", {lines.CUT} something else is measured" if cut else ""
    return Figure(drawn, title="Line", remark=marks)


def _changes(report: HistoryReport) -> Table:
    words = {"good": "better", "bad": "worse"}

    def row(one: ChangePoint) -> list[Cell]:
        point, change = report.points[one.at], one.after - one.before
        toned: Tone = tone(report, change)
        return [
            names(one.run[:ID_SHOWN]),
            Cell(when(point), point.recorded_at),
            number(one.before),
            number(one.after),
            number(change, numbers.signed(change), toned),
            Cell(p_value(one.p), one.p),
            names(commit(point)),
            Cell(words.get(toned, ""), tone=toned),
        ]

    return Table(
        title="Change points",
        remark="the level is different from these runs on",
        columns=columns(
            *("from run", "recorded", "before", "after", "change", "p", "commit", ""),
            right=("before", "after", "change", "p"),
            spare=("commit", "recorded"),
        ),
        rows=rows(map(row, report.change_points)),
    )


def _runs(report: HistoryReport) -> Table:
    """The runs, the newest first: a reader looks there."""
    passed = {True: "", False: "failed", None: "no quality gate"}
    told: list[Row] = []
    before: float | None = None
    starts = {0, *cuts(report)}
    for at, point in enumerate(report.points):
        before = None if at in starts else before
        known = point.value is not None and before is not None
        change = point.value - before if known else None  # type: ignore[operator]
        cells = (
            names(point.run[:ID_SHOWN]),
            Cell(when(point), point.recorded_at),
            number(point.value),
            Cell(numbers.interval(point.ci), point.ci),
            count(point.n),
            number(change, "" if change is None else numbers.signed(change)),
            names(commit(point)),
            names(" ".join(f"{name}={value}" for name, value in sorted(point.labels.items()))),
            Cell(passed[point.passed], point.passed),
        )
        told.append(Row(cells, point.reason or ""))
        before = before if point.value is None else point.value
    dirty = any(point.dirty for point in report.points)
    return Table(
        title="Runs",
        remark="the newest first" + (f"; {DIRTY} files differed from the commit" if dirty else ""),
        columns=columns(
            *("run", "recorded", "value", "95 % interval", "n", "change", "commit", "labels", ""),
            right=("value", "n", "change"),
            spare=("labels", "n", "commit"),
        ),
        rows=told[::-1],
        shown=SHOWN,
        everything="--format csv has them all",
        folded=True,
        below=False,
    )


def title(report: HistoryReport) -> str:
    """The metric and its runs: `quality.precision_cited over 12 runs of nightly`."""
    runs = counted(len(report.points), "run")
    name = report.identity.get("name", "")
    return f"{report.metric} over {runs} of {name}" if name else f"{report.metric} over {runs}"


def coverage_words(report: HistoryReport) -> str:
    covered = report.coverage
    parts = [
        f"the last {counted(covered['runs'], 'run')}"
        if covered["older"]
        else counted(covered["runs"], "run"),
        covered["runs"] - covered["valued"]
        and f"{numbers.count(covered['runs'] - covered['valued'])} without a value",
        covered["segments"] > 1 and f"in {counted(covered['segments'], 'segment')}",
    ]
    return ", ".join(part for part in parts if part)


def now_words(report: HistoryReport) -> str:
    """The newest value: `0.914 [0.886, 0.939] now`."""
    score = report.metrics[report.metric]
    if score.value is None:
        return f"no value now: {score.reason or 'nothing to score'}"
    return f"{numbers.value(score.value)} {numbers.interval(score.ci)}".rstrip() + " now"


def movement_words(report: HistoryReport) -> list[str]:
    """The slope, the variation and the change points, a sentence each."""
    from ragauge.stats.change_points import fewest

    runs = counted(report.coverage.get("in_last_segment", 0), "run")
    told = []
    if report.slope is not None:
        error = f" (standard error {report.slope_error:.4f})" if report.slope_error else ""
        told.append(f"slope {report.slope:+.4f} per run{error}, over {runs}")
    if report.variation is not None:
        told.append(f"variation σ/μ {100 * report.variation:.1f} %")
    if report.change_points:
        told.append(counted(len(report.change_points), "change point"))
    elif report.coverage.get("longest_segment", 0) < fewest():
        told.append(f"too few runs to find a change of level: it takes {fewest()} in a row")
    else:
        told.append("no change of level")
    return told


def cuts(report: HistoryReport) -> list[int]:
    """The places from which on something else is measured: gold set, version or method."""
    shown = {finding.where for finding in report.findings if finding.code == "line_cut"}
    return [at for at, point in enumerate(report.points) if point.run[:ID_SHOWN] in shown]


def tone(report: HistoryReport, change: float | None) -> Tone:
    """Whether a change is for the better: good, bad, or nothing to speak of."""
    if not change:
        return ""
    return "good" if (change > 0) == (report.better == "higher") else "bad"


def when(point: HistoryPoint) -> str:
    return point.recorded_at[:16].replace("T", " ")


def commit(point: HistoryPoint) -> str:
    """The commit, with a mark where files differed from it."""
    return (point.commit or "")[:COMMIT_SHOWN] + (DIRTY if point.dirty else "")
