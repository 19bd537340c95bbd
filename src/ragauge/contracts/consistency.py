"""What two judges said of the same answers, and what `ragauge consistency` says of them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from ragauge.contracts.report import Outcome, RunReport, Score

CONSISTENCY_SCHEMA = "ragauge.consistency/1"

Label = Literal["VALID", "NOT_IN_CONTEXT", "REJECT", "ABSTAIN"]
LABELS: tuple[Label, ...] = ("VALID", "NOT_IN_CONTEXT", "REJECT", "ABSTAIN")

STRICTNESS: tuple[Label, ...] = ("REJECT", "NOT_IN_CONTEXT", "VALID", "ABSTAIN")
"""Of two labels the one that stands first here is final: what one judge would not let through
does not pass, and an abstention never outweighs a label."""


class Judgement(Struct, frozen=True, kw_only=True):
    """One judge's label for the answer to a question."""

    qid: str
    label: Label
    reason: str | None = None
    where: str


class Rater(Struct, frozen=True, kw_only=True):
    """What one judge did, over all the questions of its file."""

    file: str
    judged: int
    labels: dict[str, int]
    """How often each label was given; a label never given is 0."""
    abstain: Score


class LabelAgreement(Struct, frozen=True, kw_only=True):
    """How two judges agree on one label, over the questions both judged."""

    a: int
    b: int
    both: int
    agreement: float | None
    """2·both / (a + b); None where nobody gave the label."""


class Disagreement(Struct, frozen=True, kw_only=True):
    """A question with two labels: the final one, and why it is that."""

    qid: str
    label_a: Label
    label_b: Label
    final: Label
    why: str
    reason_a: str | None
    """In the words of the judge."""
    reason_b: str | None
    where_a: str
    where_b: str


class ConsistencyCoverage(Struct, frozen=True, kw_only=True):
    """How many questions were judged, and by whom."""

    questions: int
    """Judged by at least one."""
    both: int
    only_a: int
    only_b: int


class ConsistencyReport(RunReport, frozen=True, kw_only=True):
    """What `ragauge consistency` says, versioned."""

    schema: str = CONSISTENCY_SCHEMA
    passed: bool = field(name="pass")
    judges: dict[Literal["a", "b"], Rater]
    confusion: dict[str, dict[str, int]]
    """Questions by A's label, then by B's."""
    labels: dict[str, LabelAgreement]
    final: dict[str, int]
    """Questions both judged, by final label: where two agree, it is the label they share."""
    disagreements: tuple[Disagreement, ...]
    """By qid, up to ROWS_KEPT of them; `disagreement_count` counts all."""
    disagreement_count: int
    coverage: ConsistencyCoverage

    @property
    def measured(self) -> bool:
        return bool(self.coverage.both)


class ConsistencyOutcome(Outcome[ConsistencyReport], frozen=True, kw_only=True):
    """The report, and every disagreement however many there are."""

    disagreements: tuple[Disagreement, ...]
