"""The line of a metric over recorded runs: levels, change points, slope and variation."""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise

import msgspec
from msgspec import structs

from ragauge import __version__
from ragauge.contracts.comparison import ChangePoint, HistoryPoint, HistoryReport
from ragauge.contracts.history import History, RecordedMetric, Run, RunFilter, canonical
from ragauge.contracts.options import HistoryOptions
from ragauge.contracts.report import Finding, Findings, Rule, Score, Verdict
from ragauge.errors import InputRejected, UsageError
from ragauge.gates.rules import Ranged, decide, parse_rules
from ragauge.metrics.names import metric_id, short_name
from ragauge.runners.comparability import how_made
from ragauge.runners.evaluation import Evaluation
from ragauge.runners.paired_units import ask_the_same
from ragauge.stats.change_points import SHORTEST, fewest, shifts, variation
from ragauge.stats.trend import Trend, slope_interval, trend

MORE = 2
"""So many times the runs that are wanted are read at first, and again where that is too few."""

CV, SLOPE, CHANGE_POINTS = "history.cv", "history.slope", "history.change_points"
_RULE_NAMES = {"cv": CV, "variation": CV, "slope": SLOPE, "change_points": CHANGE_POINTS}
_NO_CHANGE = re.compile(r"\bno[-_ ]change[-_ ]points?\b", re.IGNORECASE)


def run_history(
    history: History, metric: str, options: HistoryOptions | None = None
) -> HistoryReport:
    """The line of a metric over the last runs that have it, oldest first.

    The line goes on where a gold set is only edited: its questions are those it had and mean what
    they did. A level over other questions is another level. Raises InputRejected where no run
    matches, and UsageError where none has the metric.
    """
    options = options or HistoryOptions()
    rules = line_rules(options.gate) if options.gate is not None else ()
    which = RunFilter(
        name=options.name,
        command=options.command,
        branch=options.branch,
        labels=options.labels,
    )
    id, having, others = _having(history, metric, which, options.last)
    found = Findings()
    # Which runs have the metric and are not in the line: they measure something else.
    names = Counter("{1} ({0})".format(*_kind(run)) for run in others)
    for name, times in sorted(names.items()):
        message = f"{name} has the metric too, and is left out; --name and --command choose"
        found.add(Finding("other_runs", name, message), times)
    runs = having[: options.last][::-1]
    segments = _segments(runs, id, history, found)
    newest = runs[-1].record
    last = newest.metrics[id]
    score = Score(**{one.name: getattr(last, one.name) for one in structs.fields(Score)})
    report = Evaluation(given={id: score}).report(
        HistoryReport,
        found,
        {
            "command": "history",
            "options": msgspec.json.decode(canonical(options)),
            "ragauge": __version__,
            "name": newest.name,
            "of": newest.command,
        },
        metric=id,
        better=last.better,
        points=tuple(_point(run, id) for run in runs),
        change_points=(),
        slope=None,
        slope_error=None,
        variation=None,
        coverage={"older": int(len(having) > options.last)},
    )
    line = moved(report, segments)
    gates = tuple(_verdict(rule, line, segments[-1], last) for rule in rules)
    return structs.replace(line, gates=gates, passed=all(gate.holds for gate in gates))


def _segments(runs: Sequence[Run], id: str, history: History, found: Findings) -> list[list[int]]:
    """Places of consecutive runs that measured the same thing in the same way."""
    segments = [[0]]
    for at, (was, now) in enumerate(pairwise(runs), 1):
        differs = []
        if not ask_the_same(was, now, history):
            differs.append("the gold set is another")
        before, after = was.record.metrics[id], now.record.metrics[id]
        if before.version != after.version:
            differs.append(f"the metric is version {after.version}")
        elif how_made(before.signature) != how_made(after.signature):
            differs.append(f"the metric is made as {'|'.join(how_made(after.signature)[1:])}")
        if differs:
            message = f"from here on {' and '.join(differs)}: levels are not compared across"
            found.add(Finding("line_cut", now.shown, message))
            segments.append([])
        elif was.record.gold_sha256 != now.record.gold_sha256:
            message = "the gold set is edited from here on; its questions mean what they did"
            found.add(Finding("gold_edited", now.shown, message))
        segments[-1].append(at)
    return segments


def _verdict(
    rule: Rule, line: HistoryReport, places: Sequence[int], last: RecordedMetric
) -> Verdict:
    """The verdict on the last stretch of comparable runs."""
    n, of, ends = line.coverage["in_last_segment"], len(places), None
    # How many comparable runs it takes before a gate on a line says anything.
    needed = fewest() if rule.metric == CHANGE_POINTS else SHORTEST
    values: dict[str, float | None] = {
        CV: line.variation,
        SLOPE: line.slope,
        CHANGE_POINTS: float(sum(one.at >= places[0] for one in line.change_points)),
    }
    value, reason = values[rule.metric], None
    if last.value is None:
        reason = f"the newest run has no value: {last.reason or 'nothing to score'}"
    elif n < needed:
        reason = f"needs {needed} comparable runs in a row; there are {n}"
    elif value is None:
        reason = "the mean of the runs is 0"
    if reason is not None:
        return decide(rule, Score(value=None, n=n, of=of, reason=reason))
    if rule.metric == SLOPE and line.slope is not None and line.slope_error is not None:
        ends = slope_interval(Trend(line.slope, line.slope_error), n, rule.confidence or 95)
    return decide(rule, Score(value=value, n=n, of=of, ci=ends))


def moved(report: HistoryReport, segments: Sequence[Sequence[int]]) -> HistoryReport:
    """The report with the levels of its values in each segment, and how they moved in the last.

    A segment is the places of points that compare with each other.
    """
    points = report.points
    valued = [
        [(at, value) for at in places if (value := points[at].value) is not None]
        for places in segments
    ]
    latest = [value for _, value in valued[-1]]
    line = trend([at for at, _ in valued[-1]], latest)
    return structs.replace(
        report,
        change_points=tuple(
            ChangePoint(run=points[at].run, at=at, before=one.before, after=one.after, p=one.p)
            for segment in valued
            for one in shifts([value for _, value in segment])
            for at, _ in [segment[one.at]]
        ),
        slope=line.slope if line else None,
        slope_error=line.error if line else None,
        variation=variation(latest),
        coverage={
            **report.coverage,
            "runs": len(points),
            "valued": sum(map(len, valued)),
            "segments": len(segments),
            "in_last_segment": len(latest),
            "longest_segment": max(map(len, valued)),
        },
    )


def lines_by(report: HistoryReport, label: str) -> dict[str, HistoryReport]:
    """The line of each value of a label, in the order in which they were first met.

    Change points have their places among all runs. The movement of all lines together would show
    how often each value was run, and not how any of them moved.
    """
    cuts, of_value = report.cuts, dict[str, list[int]]()
    for at, point in enumerate(report.points):
        of_value.setdefault(point.labels.get(label, f"no {label}"), []).append(at)
    lines = {}
    for name, places in of_value.items():
        points = tuple(report.points[at] for at in places)
        valued = [at for at, point in enumerate(points) if point.value is not None]
        since = [bisect(cuts, place) for place in places]
        segments = [list(group) for _, group in groupby(valued, since.__getitem__)]
        line = moved(structs.replace(report, points=points), segments or [[]])
        changes = (structs.replace(one, at=places[one.at]) for one in line.change_points)
        lines[name] = structs.replace(line, change_points=tuple(changes))
    return lines


def line_rules(text: str) -> tuple[Rule, ...]:
    """The rules on a line of runs; raises UsageError for what does not apply to one.

    >>> [str(rule) for rule in line_rules("cv<=5%, slope>=-0.01@95, no-change-point")]
    ['history.cv<=0.05', 'history.slope>=-0.01@95', 'history.change_points=0']
    """
    rules = parse_rules(_NO_CHANGE.sub("change_points=0", text), _ranged)
    problems = []
    for rule in rules:
        if rule.per == "question" or rule.where:
            problems.append(f'gate "{rule}": a line of runs has no questions; drop the condition')
        if rule.confidence is not None and rule.metric != SLOPE:
            problems.append(f'gate "{rule}": only slope has an interval; drop the @')
    if problems:
        raise UsageError(*problems)
    return rules


def _ranged(name: str) -> Ranged:
    known = _RULE_NAMES.get(name.lower().removeprefix("history."))
    if known is None:
        raise UsageError(
            f'there is no gate "{name}" on a line of runs; '
            "write cv<=0.05, slope>=0 or no-change-point"
        )
    low = -math.inf if known == SLOPE else 0
    return Ranged(known, (low, None), "higher" if known == SLOPE else "lower")


def _having(
    history: History, metric: str, which: RunFilter, last: int
) -> tuple[str, list[Run], list[Run]]:
    """The metric's id, the newest runs that have it, and runs of other kinds that do.

    All of one kind, the newest's: its command and its name. So many are read until there is one
    more than the last, or no other.
    """
    limit = MORE * (last + 1)
    while True:
        every = history.runs(structs.replace(which, limit=limit))
        if not every:
            raise InputRejected(
                "no recorded run matches; `ragauge runs list` shows what there is, and --record "
                "keeps a run"
            )
        all_read = len(every) < limit
        limit *= MORE
        if not (all_read or _is_there(metric, every)):
            continue
        known = dict.fromkeys(id for run in every for id in run.record.metrics)
        unknown, listed = f'no run has a metric "{metric}"', f"they have {', '.join(sorted(known))}"
        id = metric_id(metric, known, unknown=unknown, listed=listed)
        those = [run for run in every if id in run.record.metrics]
        having = [run for run in those if _kind(run) == _kind(those[0])]
        if all_read or len(having) > last:
            return id, having, [run for run in those if _kind(run) != _kind(those[0])]


def _kind(run: Run) -> tuple[str, str]:
    return run.record.command, run.record.name


def _is_there(name: str, runs: Sequence[Run]) -> bool:
    """Whether any of the runs has a metric of this name."""
    return any(name in (id, short_name(id)) for run in runs for id in run.record.metrics)


def _point(run: Run, id: str) -> HistoryPoint:
    recorded, git = run.record.metrics[id], run.record.git
    return HistoryPoint(
        run=run.id,
        recorded_at=run.record.recorded_at,
        value=recorded.value,
        ci=recorded.ci,
        n=recorded.n,
        passed=run.record.passed,
        commit=git.commit if git else None,
        dirty=git.dirty if git else False,
        labels=run.record.labels,
        gold_sha256=run.record.gold_sha256,
        version=recorded.version,
        reason=recorded.reason,
    )
