"""Runs made by hand and recorded in a real store: units with values, counts and answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ragauge.contracts.archive import Imported
from ragauge.contracts.comparison import ComparisonReport
from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.history import (
    GitState,
    History,
    NewRun,
    RecordedMetric,
    Run,
    RunRecord,
    UnitRow,
    canonical,
    sealed_units,
)
from ragauge.errors import UsageError
from ragauge.metrics.table import find
from ragauge.runners.archive import proven
from ragauge.runners.compare import compare
from ragauge.stats.intervals import wilson

START = datetime(2026, 11, 1, 8, tzinfo=UTC)
PRECISION, HITS = "quality.precision_cited", "quality.citation_hit_rate"

Values = Sequence[float | None]


def questions(n: int, **changed: Any) -> list[Gold]:
    """So many gold questions: countries in turn, the last fifth unanswerable."""
    return [
        Gold(
            qid=f"q{place:03}",
            question=f"What is {place}?",
            answerable=place < 0.8 * n,
            gold_claim=f"It is {place}.",
            gold_citations=(f"p{place}#1",),
            strata={"country": ("NL", "BE", "DE")[place % 3]},
            **changed,
        )
        for place in range(n)
    ]


def metric_of(
    id: str,
    values: Values,
    counts: Sequence[tuple[int, ...]],
    *,
    total: str = "sums",
    how: str = "canon:unicode|refusal:exact|each:question",
    version: int = 1,
) -> RecordedMetric:
    """What a run records of a metric with these units; an unknown one has the mean for a total."""
    there = [value for value in values if value is not None]
    value = sum(there) / len(there) if there else None
    try:
        better = find(id).better
    except UsageError:
        better = "higher"
    rate = value is not None and 0 <= value <= 1
    return RecordedMetric(
        value=value,
        n=len(there),
        of=len(values),
        ci=wilson(value, len(there)) if rate else None,
        reason=None if there else "nothing to score",
        signature=f"{id}|v{version}|{how}|n:{len(there)}",
        version=version,
        better=better,
        total=total,
    )


def record(
    history: History,
    metrics: Mapping[str, Values],
    *,
    gold: Sequence[Gold] | None = None,
    counts: Mapping[str, Sequence[tuple[int, ...]]] | None = None,
    right: Sequence[bool | None] | None = None,
    details: Sequence[Mapping[str, Any]] | None = None,
    labels_of: Sequence[str | None] | None = None,
    totals: Mapping[str, str] | None = None,
    how: str | None = None,
    versions: Mapping[str, int] | None = None,
    name: str = "nightly",
    command: str = "score",
    minute: int = 0,
    branch: str | None = "main",
    labels: Mapping[str, str] | None = None,
    passed: bool = True,
    dirty: bool = False,
    **replaced: Any,
) -> Run:
    """A run of these unit values, kept; a value that is 0 or 1 counts as one trial.

    Unless told otherwise, a unit is right where its first metric is 1.
    """
    size = len(next(iter(metrics.values())))
    gold = questions(size) if gold is None else gold
    counts = {
        id: (counts or {}).get(id) or [(int(value or 0), 1) for value in values]
        for id, values in metrics.items()
    }
    first = next(iter(metrics.values()))
    right = [value == 1 for value in first] if right is None else right
    rows = [
        UnitRow(
            unit=question.qid,
            label=labels_of[place] if labels_of else ("OK" if right[place] else "ANS_NO_HIT"),
            right=right[place],
            detail=dict(details[place]) if details else {},
            values={id: v[place] for id, v in metrics.items() if v[place] is not None},
            counts={id: counts[id][place] for id, v in metrics.items() if v[place] is not None},
        )
        for place, question in enumerate(gold)
    ]
    kept = {
        id: metric_of(
            id,
            values,
            counts[id],
            total=(totals or {}).get(id, "sums"),
            version=(versions or {}).get(id, 1),
            **({"how": how} if how else {}),
        )
        for id, values in metrics.items()
    }
    known: dict[str, Any] = {
        "name": name,
        "command": command,
        "recorded_at": (START + timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "passed": passed,
        "ragauge": "0.1.0",
        "git": GitState(commit=f"{minute:040x}", branch=branch, dirty=dirty) if branch else None,
        "gold_sha256": fingerprint(gold),
        "configuration": {"command": command},
        "configuration_sha256": "0" * 64,
        "labels": dict(labels or {}),
        "metrics": kept,
        "gates": (),
        "finding_counts": {},
        "coverage": {},
        "identity": {"command": command},
        "units": len(rows),
        "units_sha256": sealed_units(rows),
        "files": {},
    }
    made = RunRecord(**{**known, **replaced})
    assert canonical(made)
    return history.record(NewRun(record=made, units=rows, gold=gold, files={}))


def ones(n: int, wrong: Collection[int] = ()) -> list[float]:
    return [0.0 if place in wrong else 1.0 for place in range(n)]


def two(
    history: History, before: Values, after: Values, id: str = HITS, **options: Any
) -> ComparisonReport:
    """The comparison of one metric in two runs."""
    first = record(history, {id: before}, minute=0)
    second = record(history, {id: after}, minute=1)
    return compare(history, first.id, second.id, **options)


def import_runs(history: History, path: Path) -> Imported:
    with proven(path) as archive:
        return archive.recorded_in(history)
