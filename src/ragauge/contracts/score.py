"""What `ragauge score` reports."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType, field

from ragauge.contracts.report import Advice, Count, RunReport, Score

SCORE_SCHEMA = "ragauge.score/1"


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
    unread_columns: tuple[str, ...] | UnsetType = UNSET
    """Columns of the gold set and the traces that nothing reads; left out where there are none."""


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


class ScoreReport(RunReport, frozen=True, kw_only=True):
    """What `ragauge score` says, versioned."""

    schema: str = SCORE_SCHEMA
    labels: dict[str, int]
    triage: dict[str, int]
    refusals: dict[str, int] = field(default_factory=dict)
    """Units that refuse, whatever counts as a refusal: exact, near, free (in free words); and
    undetermined, which may refuse in free words and count as answered under every strength."""
    strata: dict[str, dict[str, dict[str, Score]]]
    """Headline metrics by stratum and value."""
    questions: tuple[QuestionRow, ...]
    coverage: Coverage
    advice: tuple[Advice, ...]
    baseline: Comparison | None = None

    @property
    def measured(self) -> bool:
        return bool(self.coverage.scored)
