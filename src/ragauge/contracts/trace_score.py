"""What `ragauge score` reports of traces without a gold set."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from ragauge.contracts.report import Count, RunReport

TRACE_SCORE_SCHEMA = "ragauge.score-traces/1"


class Latency(Struct, frozen=True, kw_only=True):
    """How long calls took, where the traces carry it."""

    p50_ms: float
    p95_ms: float
    n: Count


class TraceScored(Struct, frozen=True, kw_only=True):
    """One trace: what it answered, and what was found in it."""

    id: str
    where: str
    question: str | None
    answer: str | None
    status: str
    refusal: str
    values: dict[str, float | None]
    """By metric id; None where the metric does not apply."""
    reasons: dict[str, str]
    """What speaks for or against a value, or why there is none."""


class TraceCoverage(Struct, frozen=True, kw_only=True):
    """How much of the traces there was to look at."""

    traces: Count
    answered: Count
    refused: Count
    errors: Count
    with_contexts: Count
    with_citations: Count
    rejected: Count
    unread_columns: tuple[str, ...] | UnsetType = UNSET
    """Columns of the traces that nothing reads; left out where there are none."""


class TraceScoreReport(RunReport, frozen=True, kw_only=True):
    """What `ragauge score TRACES` says, versioned."""

    schema: str = TRACE_SCORE_SCHEMA
    refusals: dict[str, int]
    """Refusals by kind: exact, near, free, and undetermined."""
    latency: Latency | None = None
    traces: tuple[TraceScored, ...]
    """Those with the lowest values first."""
    coverage: TraceCoverage
