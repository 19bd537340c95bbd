"""Scores, and the report every command ends with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar

from msgspec import Meta, Struct, field

from ragauge.contracts.finding import Finding
from ragauge.contracts.gold import Gold
from ragauge.contracts.verdict import Verdict

if TYPE_CHECKING:
    from ragauge.contracts.documents import FrozenDocument
    from ragauge.contracts.kept import KeptAnswer
    from ragauge.contracts.metric import Array, Better

Report = TypeVar("Report")
Count = Annotated[int, Meta(ge=0)]

SCORE_SCHEMA = "ragauge.score/1"
ROWS_KEPT = 10_000
"""Per-question rows in a report; Parquet has them all."""


class Score(Struct, frozen=True, kw_only=True):
    """A metric over a set: a value, or None with a reason. `n` of `of` units were scored."""

    value: float | None
    n: Count
    of: Count
    ci: tuple[float, float] | None = None
    reason: str | None = None
    signature: str = ""


class QuestionRow(Struct, frozen=True, kw_only=True):
    """One question of a score report: enough to compute every built-in metric again."""

    qid: str
    label: str
    triage: str | None
    answerable: bool
    status: str
    refusal: str
    answered: bool | None
    hit: bool | None
    contained: bool | None
    in_scope: bool | None
    cited_count: Count
    cited_in_scope: Count | None
    gold_found: bool | None
    gold_depth: Count | None
    citable: bool
    constrained: bool = False
    echoed: bool | None = None
    """Whether the answer repeats the locked constraints."""
    traces: Count
    where: str | None
    """The trace that counted."""
    claim: str | None = None
    """Shown where the question went wrong."""
    cited: tuple[str, ...] | None = None
    reason: str | None = None


class Coverage(Struct, frozen=True, kw_only=True):
    """How much of what should have been scored was."""

    gold: Count
    traced: Count
    scored: Count
    missing: Count
    unknown: Count
    duplicate: Count
    errors: Count
    traces: Count
    rejected: Count


class Change(Struct, frozen=True, kw_only=True):
    """A metric against its baseline, on the questions both have."""

    value: float | None
    baseline: float | None
    change: float | None
    ci: tuple[float, float] | None
    n: int
    reason: str | None = None


class LabelChange(Struct, frozen=True, kw_only=True):
    """A question whose label is not what it was."""

    qid: str
    was: str
    now: str


class Comparison(Struct, frozen=True, kw_only=True):
    """A run beside its baseline."""

    baseline: str
    metrics: dict[str, Change]
    changed: tuple[LabelChange, ...]
    only_here: int
    only_there: int
    note: str | None = None
    """What keeps the two from being quite comparable."""


class Advice(Struct, frozen=True, kw_only=True):
    """A hypothesis about what is wrong, what to change, and the questions that show it."""

    id: str
    title: str
    evidence: str
    confirm: str
    action: str
    questions: tuple[str, ...]
    n: int | None = None
    """How many speak for it; None in reports of earlier versions."""


class ScoreReport(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """What `ragauge score` says, versioned."""

    schema: str = SCORE_SCHEMA
    passed: bool | None = field(name="pass")
    """None where no gate says anything of quality; see `gates.decide.passed`."""
    metrics: dict[str, Score]
    gates: tuple[Verdict, ...]
    labels: dict[str, int]
    triage: dict[str, int]
    refusals: dict[str, int] = {}
    """Units that refuse, whatever counts as a refusal: exact, near, free (in free words); and
    undetermined, which may refuse in free words and count as answered under every strength."""
    strata: dict[str, dict[str, dict[str, Score]]]
    """Headline metrics by stratum and value."""
    questions: tuple[QuestionRow, ...]
    findings: tuple[Finding, ...]
    finding_counts: dict[str, int]
    coverage: Coverage
    advice: tuple[Advice, ...]
    baseline: Comparison | None = None
    identity: dict[str, Any]
    """What makes this run comparable: options, metric versions, gold hash."""


class Measured(Struct, frozen=True, kw_only=True):
    """A metric over the units of a run: a value a unit, and what it is made of."""

    version: int
    better: Better
    values: Array
    """NaN where the metric does not apply to the unit."""
    counts: Array
    """(units, columns), integers."""
    total: Literal["sums", "mean"]
    """How the set's value comes from its units: `finish` of the sums, or the mean of values."""


class UnitRows(Struct, frozen=True, kw_only=True):
    """Columns with one value a unit, in the order of the gold set."""

    ids: Sequence[str]
    labels: Sequence[str | None]
    right: Sequence[bool | None]
    """None where the run does not tell."""
    details: dict[str, Sequence[Any]]
    """For a reader: triage, the claim, what it cites."""
    measured: dict[str, Measured]


class Outcome(Struct, Generic[Report], frozen=True, kw_only=True):
    """All a runner hands over; reports, history and dashboard take nothing else."""

    report: Report
    units: UnitRows
    gold: Sequence[Gold]
    """What it was measured with; a recorded run can be sliced and read without the file."""
    record_rows: str | None
    """The Parquet file with one row a trace, where one was asked for."""
    identity: dict[str, Any]
    """What makes this run comparable: options, metric versions, gold hash."""
    answers: Callable[[], Iterable[tuple[str, KeptAnswer]]] | None = None
    """Gives the answers by the id of their unit; called only where the run is recorded, so that
    nothing is read twice otherwise. None where there are none, or they cannot be had again."""
    documents: Callable[[], Iterable[FrozenDocument]] | None = None
    """Gives the frozen documents that answers and gold point into, each once."""
