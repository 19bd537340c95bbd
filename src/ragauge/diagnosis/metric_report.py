"""One metric of a diagnosis: how bad it is, over how many samples, and the worst of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import structs

from ragauge.contracts.diagnosis import MetricDiagnosis, Sample, ScoreRow, Severity, Threshold
from ragauge.diagnosis.cases import Case
from ragauge.diagnosis.limits import RANKED, beyond, severity, threshold_hit
from ragauge.diagnosis.material import Measured


def told_severity(measured: Measured) -> Severity:
    """How bad a metric is: as its gate said, else by its thresholds."""
    if measured.severity is not None:
        return measured.severity
    if measured.score.value is None:
        return "not_evaluable"
    if measured.limits is None:
        return "no_rule"
    return severity(measured.score.value, measured.limits)


def failing(metric: str, samples: Sequence[ScoreRow], limits: Threshold | None) -> list[ScoreRow]:
    """The samples beyond the warning threshold, the worst first; ties by id."""
    if limits is None:
        return []
    sign = 1 if limits.better == "higher" else -1
    found = [
        row
        for row in samples
        if metric in row.values and beyond(row.values[metric], limits.warning, limits.better)
    ]
    return sorted(found, key=lambda row: (sign * row.values[metric], row.id))


def metric_diagnosis(
    metric: str,
    measured: Measured,
    samples: Sequence[ScoreRow],
    worst: Sequence[ScoreRow],
    causes: tuple[str, ...],
    symptoms: Mapping[str, tuple[str, ...]],
    *,
    reason: str | None,
    top: int,
) -> MetricDiagnosis:
    """What is said of a metric; `worst` are its samples beyond the threshold."""
    limits, value = measured.limits, measured.score.value
    return MetricDiagnosis(
        metric=metric,
        severity=told_severity(measured),
        value=value,
        better=measured.better,
        n=sum(metric in row.values for row in samples),
        of=len(samples),
        invalid=measured.invalid,
        threshold=None if limits is None or value is None else threshold_hit(value, limits),
        limits=limits,
        beyond_warning=len(worst),
        beyond_critical=_critical(metric, worst, limits),
        reason=reason,
        causes=causes,
        worst=tuple(_sample(metric, row, symptoms) for row in worst[:top]),
    )


def by_severity(diagnosis: MetricDiagnosis) -> tuple[int, str]:
    return RANKED.index(diagnosis.severity), diagnosis.metric


def only_in(rows: Sequence[ScoreRow], cases: Sequence[Case]) -> list[Case]:
    """The cases with those of other samples taken for right: they are what it is compared with."""
    chosen = {row.id for row in rows}
    return [
        case if case.sample in chosen else structs.replace(case, symptoms=frozenset())
        for case in cases
    ]


def _critical(metric: str, worst: Sequence[ScoreRow], limits: Threshold | None) -> int:
    if limits is None or limits.critical is None:
        return 0
    return sum(beyond(row.values[metric], limits.critical, limits.better) for row in worst)


def _sample(metric: str, row: ScoreRow, symptoms: Mapping[str, tuple[str, ...]]) -> Sample:
    return Sample(
        id=row.id,
        value=row.values[metric],
        question=row.question,
        answer=row.answer,
        reference=row.reference,
        contexts=row.contexts,
        retrieved_ids=row.retrieved_ids,
        symptoms=symptoms.get(row.id, ()),
        where=row.where,
    )
