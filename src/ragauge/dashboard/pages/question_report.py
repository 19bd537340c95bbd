"""What a run's report says of one unit: its values, its errors, how its support was measured."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.answers import ANSWER_KINDS, AnswerKind, Groundedness
from ragauge.contracts.evaluation import (
    AnswerDetail,
    EntityDetail,
    EntityError,
    EvalAllReport,
    EvalReport,
    LabelDetail,
    LinkDetail,
    LinkError,
    RankingDetail,
    ShownSpan,
)
from ragauge.contracts.facts import Facts
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.metric import Absent, Metric
from ragauge.contracts.stability import StabilityReport
from ragauge.dashboard.pages.question_trace import LONGEST_TEXT
from ragauge.metrics.table import table

SHOWN_APART = frozenset(
    ("claim", "cited", "error", "explained_by", "failed", "cells", "triage", "question", "broken")
)
"""Details that have a place of their own on the page."""
UNKNOWN = "it does not apply to this one"
NOT_KEPT = "not kept in the summary"


class UnitValue(Struct, frozen=True, kw_only=True):
    """A metric of the unit."""

    id: str
    value: float | None
    counts: str
    meaning: str
    reason: str
    better: str


def values_of(
    run: Run, row: UnitRow, report: Any, unit: str, facts: Facts | None
) -> list[UnitValue]:
    """The metrics of the run in the order of their ids, those that do not apply with the reason."""
    known, told = table(), _reasons(report, unit)
    otherwise = UNKNOWN if told is not None else NOT_KEPT
    return [
        _value(id, row, known.get(id), told or {}, facts, run.record.metrics[id].better, otherwise)
        for id in _of_its_families(run, row)
    ]


def _of_its_families(run: Run, row: UnitRow) -> list[str]:
    """The metrics that could apply: where several tasks share a run, those of the unit's own."""
    families = {family_of(id) for id in row.values}
    every = sorted(run.record.metrics)
    return [id for id in every if family_of(id) in families] or every


def family_of(id: str) -> str:
    return id.partition(".")[0]


def details_of(row: UnitRow) -> list[tuple[str, str]]:
    """What else the row says, in words."""
    told = ((name, _words(value)) for name, value in sorted(row.detail.items()))
    return [(name, words) for name, words in told if words and name not in SHOWN_APART]


def _words(value: Any) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(_words, value)))
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _value(
    id: str,
    row: UnitRow,
    metric: Metric | None,
    told: Mapping[str, str],
    facts: Facts | None,
    better: str,
    otherwise: str,
) -> UnitValue:
    value, reason = row.values.get(id), told.get(id) or told.get(id.partition(".")[2], "")
    if not reason and metric is not None and facts is not None:
        reason = _measured_reason(metric, facts)
    return UnitValue(
        id=id,
        value=value,
        counts=_counts(metric, row.counts.get(id, ())),
        meaning=metric.summary if metric else "",
        reason=reason or (otherwise if value is None else ""),
        better=better,
    )


def _measured_reason(metric: Metric, facts: Facts) -> str:
    """What the metric says of the answer, for one that reads an answer's facts."""
    if metric.reads != "facts" or not _is_own(metric):
        return ""
    found = metric(facts)
    return found.reason if isinstance(found, Absent) else found.reason or ""


def _is_own(metric: Metric) -> bool:
    """Whether it comes with Ragauge: a package's own is not called to make a page."""
    return metric.measure.__module__.startswith("ragauge.")


def _reasons(report: Any, unit: str) -> dict[str, str] | None:
    """Why numbers are absent; None where the report tells of others and the unit was cut."""
    report, unit = of_its_task(report, unit)
    if isinstance(report, StabilityReport):
        one = report.details.get(unit)
        return dict(one.reasons) if one else None
    if isinstance(report, EvalReport) and isinstance(report.detail, AnswerDetail):
        return next((dict(one.reasons) for one in report.detail.answers if one.id == unit), None)
    return {}


def _counts(metric: Metric | None, counts: tuple[int, ...]) -> str:
    """The counts of a share, such as `17 of 18`; of scaled values nothing."""
    if metric is None or not metric.rate or len(counts) != 2:
        return ""
    return f"{counts[0]:,} of {counts[1]:,}"


MOST_ERRORS = 100
"""Errors of a unit that are shown."""

ErrorFacts = tuple[tuple[str, str], ...]


class UnitError(Struct, frozen=True, kw_only=True):
    """Something wrong with the unit."""

    kind: str
    before: str = ""
    gold: str = ""
    predicted: str = ""
    after: str = ""
    facts: ErrorFacts = ()
    where: str = ""


def errors_of(report: Any, unit: str) -> tuple[UnitError, ...]:
    """The errors about the unit, of those that the report keeps."""
    report, unit = of_its_task(report, unit)
    if not isinstance(report, EvalReport):
        return ()
    return tuple(_of(report.detail, unit))[:MOST_ERRORS]


def of_its_task(report: Any, unit: str) -> tuple[Any, str]:
    """Of a report on several tasks the one that the unit belongs to, and its id there."""
    if not isinstance(report, EvalAllReport):
        return report, unit
    task, _, id = unit.partition("/")
    return next((each for name, each in report.tasks.items() if name == task), None), id


def are_cut(report: Any, unit: str, right: bool | None) -> bool:
    """Whether the unit may have errors, and the report keeps those of others alone."""
    report, unit = of_its_task(report, unit)
    if not isinstance(report, EvalReport) or errors_of(report, unit):
        return False
    match report.detail:
        case RankingDetail():
            return True
        case (
            EntityDetail(error_counts=counts, errors=kept)
            | LinkDetail(error_counts=counts, errors=kept)
        ):
            return right is not True and sum(counts.values()) > len(kept)
        case LabelDetail(errors=errors, confusions=confusions):
            named = sum(len(one.examples) for one in confusions)
            return right is not True and errors > named
    return False


def _of(detail: Any, unit: str) -> Iterator[UnitError]:
    match detail:
        case EntityDetail():
            yield from (_entity(one) for one in detail.errors if one.document == unit)
        case LinkDetail():
            yield from (_link(one) for one in detail.errors if _about(one.key, unit))
        case LabelDetail():
            for one in detail.confusions:
                if unit in one.examples:
                    yield UnitError(
                        kind="taken for another", gold=one.gold, predicted=one.predicted
                    )
        case RankingDetail():
            for query in detail.queries:
                if query.query == unit:
                    yield UnitError(kind="ranking", facts=_ranking(query))


def _about(key: str, unit: str) -> bool:
    """Whether a mention is the unit, or stands in the document that is: `doc:12–20`."""
    document, _, span = key.rpartition(":")
    return key == unit or (document == unit and "–" in span)


def _entity(one: EntityError) -> UnitError:
    return UnitError(
        kind=one.kind.replace("_", " "),
        before=one.before,
        gold=_span(one.gold),
        predicted=_span(one.predicted),
        after=one.after,
        where=one.where,
    )


def _span(span: ShownSpan | None) -> str:
    if span is None:
        return ""
    return f"{span.text or ''} [{span.type} {span.start}–{span.end}]".strip()


def _link(one: LinkError) -> UnitError:
    rank = () if one.rank is None else (("rank", str(one.rank)),)
    context = (("context", one.context),) if one.context else ()
    return UnitError(
        kind=one.kind.replace("_", " "),
        gold=", ".join(one.gold),
        predicted=", ".join(one.predicted),
        facts=(("mention", one.mention), *rank, *context),
        where=one.where,
    )


def _ranking(query: Any) -> ErrorFacts:
    first = "none" if query.first_relevant is None else str(query.first_relevant)
    return (
        ("retrieved", f"{query.retrieved:,}"),
        ("relevant", f"{query.relevant:,}"),
        ("relevant among the retrieved", f"{query.relevant_retrieved:,}"),
        ("rank of the first relevant", first),
    )


VALUE, GROUNDED = "answers.groundedness", "answers.grounded"
NEAR = 1e-6
"""Scores that differ by less are rounded differently."""

CALIBRATED = (
    "The run was made with a calibration of its own, which is not at hand here: its threshold is "
    "another, and the sentences are measured without it."
)
CUT = (
    f"Of a chunk the first {LONGEST_TEXT:,} characters are looked at, or not every chunk is: what "
    "the rest supports is not seen here."
)
OTHERWISE = (
    "Measured here the answer comes to another number, so the sentences may not be what the run "
    "saw."
)
UNMEASURED = "The run measured groundedness and has none of this answer: its values say why."


class Measured(Struct, frozen=True, kw_only=True):
    """What a run says of an answer's support; nothing of its own where it did not measure it."""

    kind: AnswerKind | None = None
    """What kind of text the answer was taken for; None where that is seen from it."""
    calibrated: bool = False
    asked: bool = False
    """Groundedness is among the run's metrics."""
    value: float | None = None
    grounded: bool | None = None


class Verdict(Struct, frozen=True, kw_only=True):
    """What the answer comes to as a whole."""

    value: float | None = None
    grounded: bool | None = None
    threshold: float | None = None
    recorded: bool = False
    """The number is the run's own."""
    note: str = ""
    """Why there is no verdict of the page's own."""


def measured_by(run: Run, row: UnitRow | None, report: Any) -> Measured:
    """The options that the run measured the unit's answer with, and the numbers it recorded."""
    values: Mapping[str, float] = row.values if row else {}
    options = _options(run, row.unit if row else "")
    grounded = values.get(GROUNDED)
    return Measured(
        kind=_kind(options.get("kind")) or (_kind_in(report, row.unit) if row else None),
        calibrated=bool(options.get("calibration")),
        asked=VALUE in run.record.metrics,
        value=values.get(VALUE),
        grounded=None if grounded is None else grounded == 1,
    )


def verdict(measured: Measured, found: Groundedness | None, *, is_cut: bool) -> Verdict:
    """The record's verdict where there is one, else what was found for the page, if it may be."""
    note = CALIBRATED if measured.calibrated else CUT if is_cut else ""
    if measured.value is not None:
        same = found is not None and _near(found.value, measured.value)
        note = note or ("" if same or found is None else OTHERWISE)
        return Verdict(
            value=measured.value,
            grounded=measured.grounded,
            threshold=found.threshold if found and not note else None,
            recorded=True,
            note=note,
        )
    note = note or (UNMEASURED if measured.asked else "")
    if note or found is None:
        return Verdict(note=note)
    return Verdict(value=found.value, grounded=found.grounded, threshold=found.threshold)


def _near(one: float | None, other: float) -> bool:
    return one is not None and math.isclose(one, other, rel_tol=0, abs_tol=NEAR)


def _options(run: Run, unit: str) -> Mapping[str, Any]:
    """The run's options; of a run of several tasks those of the unit's own."""
    identity: Any = run.record.identity
    tasks = identity.get("tasks")
    own = tasks.get(unit.partition("/")[0]) if isinstance(tasks, dict) else None
    options = (own if isinstance(own, dict) else identity).get("options")
    return options if isinstance(options, dict) else {}


def _kind(told: Any) -> AnswerKind | None:
    return next((kind for kind in ANSWER_KINDS if kind == told), None)


def _kind_in(report: Any, unit: str) -> AnswerKind | None:
    """The kind of the answer as the report has it: a row may name its own."""
    own, id = of_its_task(report, unit)
    if not isinstance(own, EvalReport) or not isinstance(own.detail, AnswerDetail):
        return None
    return next((one.kind for one in own.detail.answers if one.id == id), None)
