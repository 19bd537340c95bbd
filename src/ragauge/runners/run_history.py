"""The line of a metric over recorded runs: levels, change points, slope and variation."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import Struct, structs

from ragauge import __version__
from ragauge.contracts.comparison import ChangePoint, HistoryPoint, HistoryReport
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.history import History, RecordedMetric, Run, RunFilter, canonical
from ragauge.contracts.score import Score
from ragauge.errors import InputRejected, UsageError
from ragauge.runners.comparability import how_made
from ragauge.stats.change_points import shifts, variation
from ragauge.stats.trend import trend

LAST = 50


class HistoryOptions(Struct, frozen=True, kw_only=True):
    """Which runs make the line; what is None does not matter."""

    name: str | None = None
    command: str | None = None
    branch: str | None = None
    labels: dict[str, str] = {}
    last: int = LAST


def run_history(
    history: History, metric: str, options: HistoryOptions | None = None
) -> HistoryReport:
    """The line of a metric over the last runs that have it, oldest first.

    Raises InputRejected where no run matches, and UsageError where none has the metric.
    """
    return _Line(history, metric, options or HistoryOptions()).report()


class _Line:
    """The runs of a line, cut where what was measured changed."""

    def __init__(self, history: History, metric: str, options: HistoryOptions) -> None:
        self._options = options
        self._found = Findings()
        which = RunFilter(
            name=options.name,
            command=options.command,
            branch=options.branch,
            labels=options.labels,
        )
        every = history.runs(which)
        if not every:
            raise InputRejected(
                "no recorded run matches; `ragauge runs list` shows what there is, and --record "
                "keeps a run"
            )
        self._id = _metric_id(metric, every)
        having = self._of_one_kind([run for run in every if self._id in run.record.metrics])
        self._matching = len(having)
        self._runs = having[: options.last][::-1]
        self._recorded = [run.record.metrics[self._id] for run in self._runs]

    def report(self) -> HistoryReport:
        points = tuple(_point(run, self._id) for run in self._runs)
        segments = list(self._segments())
        changes = tuple(change for places in segments for change in self._changes(places))
        latest = [self._values(places) for places in segments][-1]
        line = trend([float(at) for at, _ in latest], [value for _, value in latest])
        last = self._recorded[-1]
        return HistoryReport(
            metric=self._id,
            better=last.better,
            metrics={self._id: _score(last)},
            points=points,
            change_points=changes,
            slope=line.slope if line else None,
            slope_error=line.error if line else None,
            variation=variation([value for _, value in latest]),
            findings=tuple(self._found.kept()),
            finding_counts=dict(sorted(self._found.counts.items())),
            coverage={
                "matching": self._matching,
                "runs": len(points),
                "valued": sum(point.value is not None for point in points),
                "segments": len(segments),
                "in_last_segment": len(latest),
                "longest_segment": max(len(self._values(places)) for places in segments),
            },
            identity=self._identity(),
        )

    def _of_one_kind(self, runs: Sequence[Run]) -> list[Run]:
        """The runs with the command and the name of the newest: others measure something else."""
        first = _kind(runs[0])
        others = Counter("{1} ({0})".format(*_kind(run)) for run in runs if _kind(run) != first)
        for name, times in sorted(others.items()):
            message = f"{name} has the metric too, and is left out; --name and --command choose"
            self._found.add(Finding("other_runs", name, message), times)
        return [run for run in runs if _kind(run) == first]

    def _segments(self) -> Iterator[list[int]]:
        """Places of consecutive runs that measured the same thing in the same way."""
        current = [0]
        for was, now in pairwise(range(len(self._runs))):
            differs = list(self._differs(was, now))
            if differs:
                run = self._runs[now]
                message = f"from here on {' and '.join(differs)}: levels are not compared across"
                self._found.add(Finding("line_cut", run.shown, message))
                yield current
                current = []
            current.append(now)
        yield current

    def _differs(self, was: int, now: int) -> Iterator[str]:
        if self._runs[was].record.gold_sha256 != self._runs[now].record.gold_sha256:
            yield "the gold set is another"
        before, after = self._recorded[was], self._recorded[now]
        if before.version != after.version:
            yield f"the metric is version {after.version}"
        elif how_made(before.signature) != how_made(after.signature):
            yield f"the metric is made as {'|'.join(how_made(after.signature)[1:])}"

    def _values(self, places: Sequence[int]) -> list[tuple[int, float]]:
        return [(at, value) for at in places if (value := self._recorded[at].value) is not None]

    def _changes(self, places: Sequence[int]) -> Iterator[ChangePoint]:
        told = self._values(places)
        for found in shifts([value for _, value in told]):
            at = told[found.at][0]
            yield ChangePoint(
                run=self._runs[at].id, at=at, before=found.before, after=found.after, p=found.p
            )

    def _identity(self) -> dict[str, Any]:
        return {
            "command": "history",
            "options": msgspec.json.decode(canonical(self._options)),
            "ragauge": __version__,
            "name": self._runs[-1].record.name,
            "of": self._runs[-1].record.command,
        }


def _kind(run: Run) -> tuple[str, str]:
    return run.record.command, run.record.name


def _metric_id(name: str, runs: Sequence[Run]) -> str:
    """The id of the metric among those the runs have; raises UsageError with what is near."""
    known = {id: None for run in runs for id in run.record.metrics}
    found = [id for id in known if name in (id, id.partition(".")[2])]
    if name in found or len(found) == 1:
        return name if name in found else found[0]
    if found:
        raise UsageError(f'metric "{name}" is ambiguous: {", ".join(sorted(found))}')
    words = [word for id in known for word in (id, id.partition(".")[2])]
    near = difflib.get_close_matches(name, words, n=1)
    hint = f'did you mean "{near[0]}"?' if near else f"they have {', '.join(sorted(known))}"
    raise UsageError(f'no run has a metric "{name}"; {hint}')


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
        labels=run.record.labels,
        gold_sha256=run.record.gold_sha256,
        version=recorded.version,
        reason=recorded.reason,
    )


def _score(recorded: RecordedMetric) -> Score:
    names = [one.name for one in structs.fields(Score)]
    return Score(**{name: getattr(recorded, name) for name in names})
