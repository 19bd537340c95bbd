"""All that a diagnosis is made from, whatever it was read from: samples, cases and advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from ragauge.contracts.diagnosis import AddressCounts, ScoreRow, Severity, Threshold
from ragauge.contracts.finding import Findings
from ragauge.contracts.metric import Better
from ragauge.contracts.score import Advice, Score
from ragauge.contracts.verdict import Verdict
from ragauge.diagnosis.cases import Case


class Measured(Struct, frozen=True, kw_only=True):
    """A metric over the samples: its value, and what it is held against."""

    score: Score
    better: Better | None
    limits: Threshold | None
    invalid: dict[str, int] = {}
    severity: Severity | None = None
    """Where a gate has spoken already; else the limits decide."""


class Material(Struct, frozen=True, kw_only=True):
    """What is known of the samples."""

    samples: Sequence[ScoreRow]
    metrics: Mapping[str, Measured]
    cases: Sequence[Case] | None
    """None where the input tells scores alone, and the causes come from its advice."""
    by_scores: bool = False
    """Somebody else's scores say what went wrong: where they are fine, no cause is claimed."""
    wrong: int | None = None
    """Units of a recorded run that are not right; None where it does not tell."""
    advice: Sequence[Advice] = ()
    """What a recorded run found to say of itself."""
    addresses: AddressCounts | None = None
    features: Mapping[str, Mapping[str, str]] = {}
    """By sample: what it can be sliced by."""
    gates: tuple[Verdict, ...] = ()
    unknown: tuple[str, ...] = ()
    """Keys of what cannot be said, in the order of importance."""
    findings: Findings
    coverage: dict[str, Any]
    identity: dict[str, Any]
