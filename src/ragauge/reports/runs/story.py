"""What a list of runs and the head of one tell, in the order it is told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ragauge.contracts.history import ID_SHOWN, GitState, Run
from ragauge.metrics.headlines import leading
from ragauge.reports.numbers import counted

COMMIT_SHOWN = 7
TREND_RUNS = 3
"""Fewer runs than these are no line."""
DIRTY = "*"
REGRESSED = "REGRESSED"
UNGATED = "OPEN"
"""Recorded without a gate on quality."""


class Trend(Struct, frozen=True):
    """A metric over the runs of one name, the oldest first."""

    name: str
    metric: str
    values: tuple[float, ...]


def verdict(run: Run) -> str:
    """PASS, FAIL, OPEN without a quality gate; REGRESSED where a gated comparison failed it."""
    if run.record.passed and run.regressions:
        return REGRESSED
    return verdict_of(run.record.passed)


def verdict_of(passed: bool | None) -> str:
    return UNGATED if passed is None else "PASS" if passed else "FAIL"


def when(recorded_at: str) -> str:
    """
    >>> when("2026-11-15T21:45:44.123456Z")
    '2026-11-15 21:45'
    """
    return recorded_at[:16].replace("T", " ")


def code(git: GitState | None) -> str:
    """The branch and commit of a run, with a mark where files differed; empty if unknown.

    >>> code(GitState(commit="1a2b3c4d5e", branch="main", dirty=True))
    'main@1a2b3c4*'
    """
    if git is None:
        return ""
    branch = f"{git.branch}@" if git.branch else ""
    return f"{branch}{git.commit[:COMMIT_SHOWN]}{DIRTY if git.dirty else ''}"


def labels(run: Run) -> list[str]:
    return [f"{key}={value}" for key, value in sorted(run.record.labels.items())]


def headlines(runs: Sequence[Run]) -> list[str]:
    """The ids of the metrics to show for these runs: of each family the first, then the second."""
    commands = {run.record.command for run in runs}
    command = commands.pop() if len(commands) == 1 else ""
    return leading(dict.fromkeys(id for run in runs for id in run.record.metrics), command)


def short_names(ids: Iterable[str]) -> dict[str, str]:
    """Metric ids by the names to show: without the family, unless two would be the same."""
    ids = list(ids)
    bare = [id.partition(".")[2] or id for id in ids]
    return {id: name if bare.count(name) == 1 else id for id, name in zip(ids, bare, strict=True)}


def trends(runs: Sequence[Run]) -> list[Trend]:
    """A headline of each name over its runs, where there are enough of them."""
    lines: dict[tuple[str, str], list[Run]] = {}
    for run in reversed(runs):
        lines.setdefault((run.record.name, run.record.command), []).append(run)
    drawn = (_trend(name, line) for (name, _), line in sorted(lines.items()))
    return [trend for trend in drawn if trend and len(trend.values) >= TREND_RUNS]


def facts(run: Run) -> list[tuple[str, str]]:
    """Who a run is, a line each; what it does not have is left out."""
    record = run.record
    files = (f"{name} ({counted(seal.size, 'byte')})" for name, seal in record.files.items())
    told = [
        ("id", run.id),
        ("recorded", f"{record.recorded_at[:19].replace('T', ' ')} UTC, ragauge {record.ragauge}"),
        ("code", _code_words(record.git)),
        ("regressed", _regressed_words(run)),
        ("tags", ", ".join(run.tags)),
        ("labels", ", ".join(labels(run))),
        ("gold", record.gold_sha256 or ""),
        ("settings", record.configuration_sha256),
        ("units", f"{record.units:,}"),
        ("files", ", ".join(files)),
    ]
    return [(label, text) for label, text in told if text]


def _trend(name: str, line: Sequence[Run]) -> Trend | None:
    """The first headline that changes, or the first where none does."""
    drawn = [Trend(name, id, _values(line, id)) for id in headlines(line)]
    return next((one for one in drawn if len(set(one.values)) > 1), drawn[0] if drawn else None)


def _values(line: Sequence[Run], id: str) -> tuple[float, ...]:
    scores = (run.record.metrics.get(id) for run in line)
    return tuple(score.value for score in scores if score and score.value is not None)


def _regressed_words(run: Run) -> str:
    against = ", ".join(id[:ID_SHOWN] for id in run.regressions)
    return f"against {against}" if against else ""


def _code_words(git: GitState | None) -> str:
    if git is None:
        return ""
    where = f"{git.branch}@{git.commit}" if git.branch else git.commit
    return f"{where}, files differed from the commit" if git.dirty else where
