"""What `ragauge sweep` says when it ends, and what it says meanwhile."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from ragauge.contracts.report import RunReport

SWEEP_SCHEMA = "ragauge.sweep/1"

Ended = Literal["complete", "interrupted", "error_budget"]


class Progress(Struct, frozen=True):
    """How far a sweep is: runs that are on the disk, of runs there will be."""

    done: int
    of: int
    failed: int
    saved: int


class SweepEstimate(Struct, frozen=True, kw_only=True):
    """What a sweep will take, as far as that is known before it is made."""

    questions: int
    of: int
    """Questions of the gold set; more than are asked where there is a limit."""
    grid: int
    """Runs of the full grid."""
    noop: int
    """Of those, left out: the jitter changes nothing, or the paraphrase does not exist."""
    finished: int
    """Made by an earlier part of the sweep."""
    calls: int
    """To make now; an adaptive sweep may make fewer."""
    adaptive: bool
    single: int
    """Questions with one run, of which stability cannot be evaluated."""
    concurrency: int
    call_s: float
    """Seconds a call takes."""
    seconds: float
    """For all calls, as many at a time as allowed."""
    tokens: tuple[int, int] | None
    """A call's tokens in and out; None without prices."""
    cost: float | None
    measured: bool
    """Whether the time is that of the first call; else it is an assumption."""
    measured_tokens: bool = False


class SweepCoverage(Struct, frozen=True, kw_only=True):
    """What became of the planned runs."""

    questions: int
    planned: int
    done: int
    """Finished with an answer or a refusal, here or in an earlier part."""
    resumed: int
    """Of those, finished in an earlier part and not called again."""
    failed: int
    saved: int
    """Left out by an adaptive sweep, because the verdict is certain without them."""
    missing: int


class SweepReport(RunReport, frozen=True, kw_only=True):
    """The end of a sweep, versioned."""

    schema: str = SWEEP_SCHEMA
    passed: bool = field(name="pass")
    """All planned runs were made or not needed, and the error budget holds."""
    ended: Ended
    errors: dict[str, int]
    """Failed runs of this part by what happened."""
    promise: str | None
    """What holds of verdicts whose runs were left out; None where none were."""
    prompts: float | None
    """The median number of distinct texts a question was sent as."""
    noop: dict[str, int]
    """On how many questions each jitter changed nothing."""
    coverage: SweepCoverage
    out: str
