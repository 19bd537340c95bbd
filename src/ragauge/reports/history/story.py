"""What a line over runs comes to, in words; the same in all forms."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.comparison import ChangePoint, HistoryPoint, HistoryReport
from ragauge.contracts.finding import Finding
from ragauge.contracts.history import ID_SHOWN
from ragauge.reports import envelope, numbers
from ragauge.reports.comparison.story import COMMIT_SHOWN, p_value
from ragauge.reports.numbers import count, counted
from ragauge.reports.runs.story import DIRTY

HEADS = ("run", "recorded", "value", "95 % interval", "n", "change", "commit", "labels", "")
CHANGE_HEADS = ("from run", "recorded", "before", "after", "change", "p", "commit", "")


def title(report: HistoryReport) -> str:
    """The metric and the runs it is told of: `quality.precision_cited over 12 runs of nightly`."""
    runs = counted(len(report.points), "run")
    return f"{report.metric} over {runs} of {report.identity.get('name', '')}".rstrip()


def verdict(report: HistoryReport) -> tuple[str, str]:
    """What the gates say of the line, in a word and with its title."""
    held = sum(gate.holds for gate in report.gates)
    counts = f"{held} of {counted(len(report.gates), 'gate')} {'holds' if held == 1 else 'hold'}"
    return ("PASS" if report.passed else "FAIL"), f"{title(report)}; {counts}"


def gate_names(report: HistoryReport) -> dict[str, str]:
    return {gate.metric: gate.metric.removeprefix("history.") for gate in report.gates}


def now_words(report: HistoryReport) -> str:
    """Where the line stands: `0.914 [0.886, 0.939] now`."""
    score = report.metrics[report.metric]
    if score.value is None:
        return f"no value now: {score.reason or 'nothing to score'}"
    return f"{numbers.value(score.value)} {numbers.interval(score.ci)}".rstrip() + " now"


def movement_words(report: HistoryReport) -> list[str]:
    """The slope, the variation and the change points, a sentence each."""
    runs = counted(report.coverage.get("in_last_segment", 0), "run")
    told = []
    if report.slope is not None:
        error = f" (standard error {report.slope_error:.4f})" if report.slope_error else ""
        told.append(f"slope {report.slope:+.4f} a run{error}, over {runs}")
    if report.variation is not None:
        told.append(f"variation σ/μ {100 * report.variation:.1f} %")
    told.append(_change_words(report))
    return told


def _change_words(report: HistoryReport) -> str:
    from ragauge.stats.change_points import fewest

    if report.change_points:
        return counted(len(report.change_points), "change point")
    if report.coverage.get("longest_segment", 0) < fewest():
        return f"too few runs to tell a change of level: it takes {fewest()} in a row"
    return "no change of level"


def cuts(report: HistoryReport) -> list[int]:
    """The places from which on something else is measured: gold set, version or way."""
    shown = {finding.where for finding in report.findings if finding.code == "line_cut"}
    return [at for at, point in enumerate(report.points) if point.run[:ID_SHOWN] in shown]


def tone(report: HistoryReport, change: float | None) -> str:
    """Whether a change is for the better: good, bad, or nothing to speak of."""
    if not change:
        return ""
    return "good" if (change > 0) == (report.better == "higher") else "bad"


def changes(report: HistoryReport) -> list[tuple[tuple[str, ...], str]]:
    """The change points as cells, each with its tone."""
    return [(_change_cells(report, one), _tone(report, one)) for one in report.change_points]


def _tone(report: HistoryReport, one: ChangePoint) -> str:
    return tone(report, one.after - one.before)


def _change_cells(report: HistoryReport, one: ChangePoint) -> tuple[str, ...]:
    point = report.points[one.at]
    word = {"good": "better", "bad": "worse"}.get(_tone(report, one), "")
    return (
        one.run[:ID_SHOWN],
        when(point),
        numbers.value(one.before),
        numbers.value(one.after),
        numbers.signed(one.after - one.before),
        p_value(one.p),
        commit(point),
        word,
    )


def rows(report: HistoryReport) -> list[tuple[str, ...]]:
    """The points as cells, the newest first: a reader looks there."""
    told = []
    before: HistoryPoint | None = None
    starts = {0, *cuts(report)}
    for at, point in enumerate(report.points):
        if at in starts:
            before = None
        told.append(_cells(point, before))
        before = point if point.value is not None else before
    return told[::-1]


def _cells(point: HistoryPoint, before: HistoryPoint | None) -> tuple[str, ...]:
    known = point.value is not None and before is not None and before.value is not None
    change = point.value - before.value if known else None  # type: ignore[operator, union-attr]
    return (
        point.run[:ID_SHOWN],
        when(point),
        numbers.value(point.value),
        numbers.interval(point.ci),
        count(point.n),
        "" if change is None else numbers.signed(change),
        commit(point),
        " ".join(f"{name}={value}" for name, value in sorted(point.labels.items())),
        {True: "", False: "failed", None: "no quality gate"}[point.passed],
    )


def when(point: HistoryPoint) -> str:
    return point.recorded_at[:16].replace("T", " ")


def commit(point: HistoryPoint) -> str:
    """The commit, with a mark where files differed from it."""
    return (point.commit or "")[:COMMIT_SHOWN] + (DIRTY if point.dirty else "")


def runs_words(report: HistoryReport) -> str:
    """How the runs are listed, and what the mark says where there is one."""
    dirty = any(point.dirty for point in report.points)
    return "the newest first" + (f"; {DIRTY} files differed from the commit" if dirty else "")


def coverage_words(report: HistoryReport) -> str:
    coverage = report.coverage
    parts = [
        f"the last {counted(coverage['runs'], 'run')}"
        if coverage["older"]
        else counted(coverage["runs"], "run"),
        coverage["runs"] - coverage["valued"]
        and f"{count(coverage['runs'] - coverage['valued'])} without a value",
        coverage["segments"] > 1 and f"in {counted(coverage['segments'], 'segment')}",
    ]
    return ", ".join(part for part in parts if part)


def findings(report: HistoryReport) -> list[tuple[str, int, Sequence[Finding]]]:
    return envelope.findings_by_code(report.findings, report.finding_counts)
