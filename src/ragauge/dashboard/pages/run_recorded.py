"""What fragments of a report ask for, made from a run's record alone."""

from __future__ import annotations

from typing import Any

from ragauge.contracts.history import Run
from ragauge.reports import envelope


class Recorded:
    """What the fragments ask for, from a run's record alone: its report cannot be shown."""

    finding_text = staticmethod(envelope.finding_text)
    metrics_title = "Metrics"
    next_steps = ()

    def __init__(self, run: Run) -> None:
        record = run.record
        names = {id: id for id in (*record.metrics, *(gate.metric for gate in record.gates))}
        self.bounds = envelope.bounds(record.gates, record.metrics, names)
        self.interval_title = envelope.interval_title(record.gates)
        self.metrics = [(id, "", score) for id, score in sorted(record.metrics.items())]
        self.findings: list[tuple[str, int, Any]] = envelope.findings_by_code(
            (), record.finding_counts
        )
        told = (f"{name} {value}" for name, value in record.coverage.items())
        self.coverage = ", ".join(told) or "nothing is said of it"
        self.identity = envelope.identity_words(record.identity)
