"""A score beside an earlier one: changes on the questions both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from ragauge.contracts.facts import PATTERN, Pattern
from ragauge.contracts.metric import Metric
from ragauge.contracts.score import (
    SCORE_SCHEMA,
    Change,
    Comparison,
    LabelChange,
    QuestionRow,
    Score,
    ScoreReport,
)
from ragauge.errors import InputRejected
from ragauge.ingest.lines import read_whole
from ragauge.metrics.sums import Groups, QuestionSums, sums_of
from ragauge.metrics.table import ratio
from ragauge.stats.intervals import paired_change


class Baseline(Struct, frozen=True):
    name: str
    report: ScoreReport


def read_baseline(name: str) -> Baseline:
    """An earlier JSON report of `ragauge score`."""
    content = read_whole(name)
    try:
        report = msgspec.json.decode(content, type=ScoreReport)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise InputRejected(
            f"{name}: is no score report ({error}); "
            f"make one with `ragauge score … --report {Path(name).name}`"
        ) from None
    if report.schema != SCORE_SCHEMA:
        raise InputRejected(f'{name}: has schema "{report.schema}", expected "{SCORE_SCHEMA}"')
    return Baseline(name, report)


def compared(
    rows: Sequence[QuestionRow],
    scores: Mapping[str, Score],
    baseline: Baseline,
    metrics: Sequence[Metric],
) -> Comparison:
    """Each metric's change with its paired interval, and the questions that changed label."""
    before = baseline.report
    common = sorted({row.qid for row in rows} & {row.qid for row in before.questions})
    now_groups, was_groups = _groups(rows, common), _groups(before.questions, common)
    changes = {
        metric.id: _change(metric, scores, before.metrics, now_groups, was_groups)
        for metric in metrics
        if metric.id in before.metrics
    }
    return Comparison(
        baseline=Path(baseline.name).name,
        metrics=changes,
        changed=_label_changes(rows, before.questions),
        only_here=len({row.qid for row in rows} - set(common)),
        only_there=len({row.qid for row in before.questions} - set(common)),
    )


def _change(
    metric: Metric,
    now: Mapping[str, Score],
    before: Mapping[str, Score],
    now_groups: Groups,
    was_groups: Groups,
) -> Change:
    here, there = now[metric.id], before[metric.id]
    if _how_made(here.signature) != _how_made(there.signature):
        was = _how_made(there.signature)
        return _unpaired(here, there, f"not comparable: the baseline was made as {was}")
    if not metric.by_pattern or not metric.rate:
        return _unpaired(here, there, "no paired interval: the metric reads more than its rows")
    after, prior = sums_of(metric, now_groups), sums_of(metric, was_groups)
    value, was_value = _share(after), _share(prior)
    if value is None or was_value is None:
        reason = "nothing to score in " + ("this run" if value is None else "the baseline")
        return Change(
            value=value,
            baseline=was_value,
            change=None,
            ci=None,
            n=now_groups.questions,
            reason=reason,
        )
    interval = paired_change(
        (after.sums[:, 0], after.sums[:, 1]), (prior.sums[:, 0], prior.sums[:, 1])
    )
    return Change(
        value=value,
        baseline=was_value,
        change=value - was_value,
        ci=interval,
        n=now_groups.questions,
    )


def _unpaired(here: Score, there: Score, reason: str) -> Change:
    known = here.value is not None and there.value is not None
    comparable = known and not reason.startswith("not comparable")
    change = here.value - there.value if comparable else None  # type: ignore[operator]
    return Change(
        value=here.value, baseline=there.value, change=change, ci=None, n=here.n, reason=reason
    )


def _how_made(signature: str) -> str:
    return signature.rsplit("|n:", 1)[0]


def _share(sums: QuestionSums) -> float | None:
    totals = sums.sums.sum(axis=0)
    return float(ratio(totals)) if int(sums.scored.sum()) else None


def _groups(rows: Sequence[QuestionRow], qids: Sequence[str]) -> Groups:
    """The rows of these questions, as units to measure again."""
    place = {qid: number for number, qid in enumerate(qids)}
    codes: dict[Pattern, int] = {}
    question, pattern = [], []
    for row in rows:
        if row.qid in place:
            facts = tuple(getattr(row, name) for name in PATTERN)
            question.append(place[row.qid])
            pattern.append(codes.setdefault(facts, len(codes)))
    return Groups(
        len(qids),
        np.array(question, dtype=np.int64),
        np.array(pattern, dtype=np.int64),
        np.ones(len(question), dtype=np.int64),
        tuple(codes),
    )


def _label_changes(
    rows: Sequence[QuestionRow], before: Sequence[QuestionRow]
) -> tuple[LabelChange, ...]:
    was = {row.qid: row.label for row in before}
    now = {row.qid: row.label for row in rows}
    return tuple(
        LabelChange(qid=qid, was=was[qid], now=label)
        for qid, label in now.items()
        if qid in was and was[qid] != label
    )
