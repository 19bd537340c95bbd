"""What a run's record says by itself, as blocks: for where its report cannot be shown."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.history import Run
from ragauge.reports import document, envelope
from ragauge.reports.document import Block, Coverage, Findings, Table


def recorded(run: Run) -> Iterator[Block]:
    """Gates, metrics, findings by code, coverage and identity."""
    record = run.record
    yield from recorded_gates(run)
    metrics = dict(sorted(record.metrics.items()))
    yield document.scores(metrics, {id: id for id in metrics}, title="Metrics")
    yield Findings(envelope.findings_by_code((), record.finding_counts))
    told = ", ".join(f"{name} {value}" for name, value in record.coverage.items())
    yield Coverage(told or "the record says nothing about it", record.identity)


def recorded_gates(run: Run) -> Iterator[Table]:
    record = run.record
    names = {id: id for id in (*record.metrics, *(gate.metric for gate in record.gates))}
    yield from document.gates(record.gates, record.metrics, names)
