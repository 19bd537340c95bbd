"""A score beside an earlier one: changes on the questions both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from ragauge.contracts.metric import PATTERN, Metric, Pattern, pattern_facts, ratio
from ragauge.contracts.report import Score
from ragauge.contracts.score import (
    SCORE_SCHEMA,
    Change,
    Comparison,
    LabelChange,
    QuestionRow,
    ScoreReport,
)
from ragauge.errors import InputRejected
from ragauge.ingest.fields import quoted
from ragauge.ingest.lines import read_whole
from ragauge.metrics.quality import label
from ragauge.metrics.sums import Groups, Sums, sums_of
from ragauge.stats.intervals import paired_change

MOST_CITED = 1_000_000
"""Citations of one answer that a report can hold."""
RESCORE = "`ragauge runs rescore RUN` scores the answers of a recorded run again"
TOO_MANY = "no paired interval: a report holds too few rows"


class Baseline(Struct, frozen=True):
    name: str
    report: ScoreReport


def read_baseline(name: str) -> Baseline:
    """An earlier JSON report of `ragauge score`."""
    content = read_whole(name)
    try:
        report = msgspec.json.decode(content, type=ScoreReport)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputRejected(
            f"{name}: is no score report ({error}); "
            f"make one with `ragauge score … --report {Path(name).name}`"
        ) from None
    if report.schema != SCORE_SCHEMA:
        raise InputRejected(f'{name}: has schema "{report.schema}", expected "{SCORE_SCHEMA}"')
    for row in report.questions:
        if not (row.cited_in_scope or 0) <= row.cited_count <= MOST_CITED:
            raise InputRejected(
                f"{name}: question {quoted(row.qid)}: cited_in_scope {row.cited_in_scope} of "
                f"cited_count {row.cited_count} cannot be; make the report again"
            )
    return Baseline(name, report)


def compared(report: ScoreReport, baseline: Baseline, metrics: Sequence[Metric]) -> Comparison:
    """Each metric's change with its paired interval, and the questions that changed label.

    Where either report could not hold all its rows, only totals are compared: what is missing
    from the rows may be just what changed.
    """
    before = baseline.report
    whole = _holds_all_rows(report) and _holds_all_rows(before)
    was = {row.qid: row for row in before.questions}
    # Questions that are in both, and can be answered, or not, in both.
    common = sorted(
        row.qid
        for row in report.questions
        if (old := was.get(row.qid))
        and (row.answerable, row.citable) == (old.answerable, old.citable)
    )
    now_groups, was_groups = _groups(report.questions, common), _groups(before.questions, common)
    changes = {
        metric.id: _change(metric, report.metrics, before.metrics, now_groups, was_groups)
        if whole
        else _unpaired(report.metrics[metric.id], before.metrics[metric.id], TOO_MANY)
        for metric in metrics
        if metric.id in before.metrics
    }
    return Comparison(
        baseline=Path(baseline.name).name,
        metrics=changes,
        changed=_label_changes(report, before, {*common}) if whole else (),
        only_here=len({row.qid for row in report.questions}.difference(common)),
        only_there=len(was.keys() - {*common}),
        note=_note(report, before, whole),
    )


def _holds_all_rows(report: ScoreReport) -> bool:
    coverage = report.coverage
    each_trace = _options(report).get("each", "question") == "trace"
    units = coverage.traces + coverage.missing if each_trace else coverage.gold
    return len(report.questions) >= units


def _options(report: ScoreReport) -> dict[str, Any]:
    options = report.identity.get("options")
    return options if isinstance(options, dict) else {}


def _note(report: ScoreReport, before: ScoreReport, whole: bool) -> str | None:
    notes = []
    if report.identity.get("gold_sha256") != before.identity.get("gold_sha256"):
        notes.append("the gold set is not the one the baseline was scored with")
    was, now = before.identity.get("metrics"), report.identity.get("metrics")
    if isinstance(was, dict) and isinstance(now, dict):
        both = [id for id in sorted(now) if id in was and was[id] != now[id]]
        if both:
            changed = ", ".join(f"{id} (v{was[id]}, now v{now[id]})" for id in both)
            notes.append(
                f"metrics that changed since are not comparable: {changed}; {RESCORE}, and "
                "`ragauge runs show RUN --report FILE.json` writes the new baseline"
            )
    if not whole:
        notes.append("more questions than a report holds: totals are compared, questions are not")
    return "; ".join(notes) or None


def _change(
    metric: Metric,
    now: Mapping[str, Score],
    before: Mapping[str, Score],
    now_groups: Groups,
    was_groups: Groups,
) -> Change:
    here, there = now[metric.id], before[metric.id]
    made, was = (one.signature.rsplit("|n:", 1)[0] for one in (here, there))
    if made != was:
        then, today = ([*how.split("|"), ""][1] for how in (was, made))
        reason = f"not comparable: the baseline was made as {was}"
        if then != today:
            reason = f"not comparable: the metric was {then} and is {today} now; {RESCORE}"
        return _unpaired(here, there, reason)
    if not metric.by_pattern or not metric.rate:
        return _unpaired(here, there, "no paired interval: the metric reads more than its rows")
    after, prior = sums_of(metric, now_groups), sums_of(metric, was_groups)
    value, was_value = _share(after), _share(prior)
    change, interval, reason_why = None, None, None
    if value is None or was_value is None:
        reason_why = "nothing to score in " + ("this run" if value is None else "the baseline")
    else:
        change = value - was_value
        interval = paired_change(
            (after.sums[:, 0], after.sums[:, 1]), (prior.sums[:, 0], prior.sums[:, 1])
        )
    return Change(
        value=value,
        baseline=was_value,
        change=change,
        ci=interval,
        n=now_groups.questions,
        reason=reason_why,
    )


def _unpaired(here: Score, there: Score, reason: str) -> Change:
    known = here.value is not None and there.value is not None
    comparable = known and not reason.startswith("not comparable")
    change = here.value - there.value if comparable else None  # type: ignore[operator]
    return Change(
        value=here.value, baseline=there.value, change=change, ci=None, n=here.n, reason=reason
    )


def _share(sums: Sums) -> float | None:
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
    report: ScoreReport, before: ScoreReport, asked: set[str]
) -> tuple[LabelChange, ...]:
    """Questions whose label changed; both are labelled alike, whatever preset either run had."""
    brief = _options(report).get("preset") == "example08"
    was = {row.qid: _label(row, brief) for row in before.questions}
    now = {row.qid: _label(row, brief) for row in report.questions}
    return tuple(
        LabelChange(qid=qid, was=was[qid], now=name)
        for qid, name in now.items()
        if qid in asked and was[qid] != name
    )


def _label(row: QuestionRow, brief: bool) -> str:
    return label(pattern_facts(tuple(getattr(row, name) for name in PATTERN)), brief=brief)
