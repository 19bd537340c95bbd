"""What `ragauge latency` says of a system under load: how fast, how right, at which settings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ragauge.contracts.report import RunReport, Score, Verdict

LATENCY_SCHEMA = "ragauge.latency/1"

Arrivals = Literal["even", "poisson"]
Positive = Annotated[float, Meta(gt=0)]


class Load(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The load a system is put under; nothing in it waits for an answer."""

    rates: tuple[Positive, ...]
    """Calls a second, lowest first."""
    duration_s: Positive | None = 10.0
    """How long calls arrive at each rate; None where their number is given."""
    requests: Annotated[int, Meta(ge=1)] | None = None
    timeout_s: Positive = 90.0
    """A call that takes longer, counted from when it was sent, has failed."""
    arrivals: Arrivals = "even"
    seed: int = 0
    """Of the Poisson arrivals."""
    warmup: Annotated[int, Meta(ge=0)] = 1
    """Calls of each configuration before anything is measured."""


class Guard(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a configuration may lose against the baseline before it is to be rolled back."""

    baseline: str | None = None
    """The name of a configuration; the first where it is not given."""
    max_p95_increase: Annotated[float, Meta(ge=0)] = 0.15
    """A share of the baseline's P95."""
    max_precision_drop: Annotated[float, Meta(ge=0, le=1)] = 0.02
    """A difference of shares: two points."""
    max_errors: Annotated[float, Meta(ge=0, le=1)] = 0.0
    """The share of calls that may fail, of any configuration."""


class Cell(Struct, frozen=True, kw_only=True):
    """One configuration under one rate. A number that is None has its reason."""

    config: str
    rate: float
    planned: int
    sent: int
    answered: int
    """Calls that brought an answer or a refusal."""
    errors: int
    error_kinds: dict[str, int]
    complete: bool
    """Every planned call was sent and has ended."""
    p50_ms: float | None
    """Latencies count from when a call was to arrive, not from when it could be sent."""
    p90_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    unsure: dict[str, str]
    """The percentiles that too few answers carry, and how many it would take."""
    tail_ratio: float | None
    """P99 / P50: how much longer the unlucky wait."""
    achieved_rate: float | None
    """Answers a second, between the first and the last."""
    precision: Score
    under_refusal: Score
    kept_up: bool | None
    """Latency did not grow while calls kept arriving."""
    growth: float | None
    """Seconds of latency gained with each second of load."""
    open_at_end: int
    """Earlier calls still unanswered when the last was sent."""
    late_ms: float | None
    """How late our own sending was, at its 95th percentile: it is part of the latencies."""
    reason: str | None
    """Why numbers are None."""

    @property
    def name(self) -> str:
        return cell_name(self.config, self.rate)


class Front(Struct, frozen=True, kw_only=True):
    """The configurations at one rate that no other beats in both P95 and precision."""

    rate: float
    configs: tuple[str, ...]
    """The fastest first."""
    left_out: dict[str, str]
    """Configurations that could not be placed, and why."""


class LatencyCoverage(Struct, frozen=True, kw_only=True):
    """How much of what should have been asked was."""

    cells: int
    complete: int
    planned: int
    sent: int
    answered: int
    errors: int
    gold: int | None
    """Questions of the gold set; None where there is none."""
    asked: int
    """Questions that were asked at all."""


class LatencyReport(RunReport, frozen=True, kw_only=True):
    """What `ragauge latency` says, versioned."""

    schema: str = LATENCY_SCHEMA
    passed: bool = field(name="pass")
    partial: bool
    """It was interrupted: what was measured until then."""
    metrics: dict[str, Score]
    """By id and cell, such as `latency.p95_ms[fast,20]`."""
    gates: tuple[Verdict, ...]
    """Failed calls of every cell, then the guard of every configuration but the baseline."""
    baseline: str
    knobs: dict[str, dict[str, Any]]
    """Each configuration as it was sent."""
    cells: tuple[Cell, ...]
    """By rate, then in the order of the configurations."""
    fronts: tuple[Front, ...]
    """One for each rate; empty without a gold set."""
    coverage: LatencyCoverage

    @property
    def measured(self) -> bool:
        return bool(self.coverage.answered)


def cell_name(config: str, rate: float) -> str:
    """
    >>> cell_name("fast", 20.0)
    'fast,20'
    """
    return f"{config},{rate:g}"


def shown_ms(latency_ms: float) -> str:
    """
    >>> shown_ms(12345.6), shown_ms(99.94), shown_ms(0.5)
    ('12,346 ms', '99.9 ms', '0.5 ms')
    """
    return f"{latency_ms:,.{0 if latency_ms >= 100 else 1}f} ms"


def shown_change(share: float) -> str:
    """
    >>> shown_change(0.152), shown_change(-0.0001)
    ('+15.2 %', '0.0 %')
    """
    return f"{_signed(100 * share)} %"


def shown_points(share: float) -> str:
    """A difference of shares, in points.

    >>> shown_points(-0.02)
    '-2.0 points'
    """
    return f"{_signed(100 * share)} points"


def _signed(number: float) -> str:
    text = f"{number:+.1f}"
    return text if float(text) else text[1:]
