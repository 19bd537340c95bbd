"""What is said about gold sets that were split, sampled, converted or held against a plan."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from ragauge.contracts.gold_report import GoldReport

SPLIT_SCHEMA = "ragauge.gold-split/1"
SAMPLE_SCHEMA = "ragauge.gold-sample/1"
CONVERT_SCHEMA = "ragauge.gold-convert/1"
PLAN_SCHEMA = "ragauge.gold-plan/1"
CELLS_KEPT = 10_000
"""Cells that stand in a report; all of them decide the split."""


Units = Literal["questions", "entries"]
"""What a set is divided into: questions, or heritage entries with all they hold."""


class Part(Struct, frozen=True, kw_only=True):
    """One part of a split set."""

    name: str
    file: str
    questions: int
    share: float
    """What was asked for, of the whole."""
    sha256: str
    """The hash of its questions' meaning, as runs record it."""


class PartCell(Struct, frozen=True, kw_only=True):
    """The questions with one value of every factor, and how many went to each part."""

    values: dict[str, str]
    questions: int
    parts: dict[str, int]


class SplitReport(GoldReport, frozen=True, kw_only=True):
    """What `ragauge gold split` says, versioned."""

    schema: str = SPLIT_SCHEMA
    gold: str
    """The hash of the set that was split."""
    seed: int
    factors: tuple[str, ...]
    parts: tuple[Part, ...]
    balance: dict[str, dict[str, dict[str, int]]]
    """For each factor and value, how many questions each part has."""
    largest_deviation: float
    """How many questions the value that fits worst is above or below its share in a part."""
    cells: tuple[PartCell, ...]
    units: Units = "questions"
    """What is counted wherever this report counts questions."""


class DrawnCell(Struct, frozen=True, kw_only=True):
    """The questions with one value of every factor, how many were taken, and what each weighs."""

    values: dict[str, str]
    questions: int
    taken: int
    weight: float | None


class SampleReport(GoldReport, frozen=True, kw_only=True):
    """What `ragauge gold sample` says, versioned."""

    schema: str = SAMPLE_SCHEMA
    gold: str
    """The hash of the set that was sampled."""
    sample: str
    """The hash of the sample."""
    file: str
    seed: int
    allocation: Literal["proportional", "equal"]
    factors: tuple[str, ...]
    balance: dict[str, dict[str, tuple[int, int]]]
    """For each factor and value, the questions of the set and of the sample."""
    weight_sum: float
    """How many questions the sample stands for."""
    cells: tuple[DrawnCell, ...]
    units: Units = "questions"
    """What is counted wherever this report counts questions."""


class ConvertReport(GoldReport, frozen=True, kw_only=True):
    """What `ragauge gold convert` says, versioned."""

    schema: str = CONVERT_SCHEMA
    read: str
    """The form that was read, in words."""
    file: str
    gold: str
    """The hash of the questions, the same in whatever form they are written."""
    extra: dict[str, int]
    """Keys Ragauge does not know, and how many questions carry them along."""


class Demand(Struct, frozen=True, kw_only=True):
    """One line of a plan: what it wants and what there is."""

    part: str
    what: str
    wanted: str
    found: str
    ok: bool
    short: int | None = None
    """How many are lacking, where they can be counted."""


class PlanReport(GoldReport, frozen=True, kw_only=True):
    """What `ragauge gold lint --plan` says, versioned."""

    schema: str = PLAN_SCHEMA
    plan: str
    demands: tuple[Demand, ...]
    metadata: dict[str, Any] | None
    """What the set says of itself; None where it says nothing."""
