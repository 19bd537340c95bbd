"""One row a sample and metric, for a spreadsheet in which the worst are gone through."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.diagnosis import DiagnosisReport, MetricDiagnosis, Sample
from ragauge.reports import spreadsheet

COLUMNS = (
    "metric",
    "severity",
    "id",
    "value",
    "symptoms",
    "causes",
    "question",
    "answer",
    "reference",
    "retrieved_ids",
    "contexts",
    "where",
)
"""Names are those of the JSON report, in either language: a program may read them."""


def render(report: DiagnosisReport) -> str:
    """The worst samples with a header line; lines end with CR LF."""
    return spreadsheet.written(COLUMNS, _rows(report))


def _rows(report: DiagnosisReport) -> Iterator[list[object]]:
    for one in report.diagnoses:
        for sample in one.worst:
            yield _row(one, sample, _shown_by(report, sample.id))


def _row(one: MetricDiagnosis, sample: Sample, causes: tuple[str, ...]) -> list[object]:
    contexts = "\n".join(f"{context.id}: {context.text}" for context in sample.contexts or ())
    return [
        one.metric,
        one.severity,
        sample.id,
        sample.value,
        sample.symptoms,
        causes,
        sample.question,
        sample.answer,
        sample.reference,
        sample.retrieved_ids,
        contexts or None,
        sample.where,
    ]


def _shown_by(report: DiagnosisReport, id: str) -> tuple[str, ...]:
    """The causes that name the sample among the first that show them."""
    return tuple(cause.id for cause in report.causes if id in cause.samples)
