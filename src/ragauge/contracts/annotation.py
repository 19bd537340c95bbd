"""What annotators said of the same items, and what `ragauge gold agreement` says of them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from ragauge.contracts.report import RunReport

AGREEMENT_SCHEMA = "ragauge.gold-agreement/1"

Kind = Literal["labels", "spans"]


class TypedSpan(Struct, frozen=True, order=True, gc=False):
    """A stretch of an item's text with a type, half-open, in characters."""

    start: int
    end: int
    type: str


class Annotation(Struct, frozen=True, kw_only=True, gc=False):
    """What one annotator said of an item: a label or spans, None where nothing was said."""

    id: str
    label: str | None = None
    """As text: 1, 1.0 and "1" are one label."""
    spans: frozenset[TypedSpan] | None = None
    text: str | None = None
    """What the spans are of, where the file has it."""
    where: str

    @property
    def given(self) -> bool:
        return self.label is not None or self.spans is not None


class Annotator(Struct, frozen=True, kw_only=True):
    """What one annotator did."""

    file: str
    annotated: int
    given: dict[str, int]
    """How often each label, or each type of span, was given."""


class PairAgreement(Struct, frozen=True, kw_only=True):
    """How two annotators agree, over the items that both annotated."""

    a: str
    b: str
    n: int
    percent: float | None = None
    kappa: float | None = None
    kappa_weighted: float | None = None
    span_f1: float | None = None
    span_f1_partial: float | None = None
    token_kappa: float | None = None
    token_kappa_no_o: float | None = None
    reason: str | None = None
    """Why there is no κ or F1."""
    token_reasons: dict[str, str] = {}
    """By name, why there is no κ of tokens."""


class LabelShare(Struct, frozen=True, kw_only=True):
    """The agreement on one label or type of span, over all pairs of annotators."""

    given: int
    """Times it was given where another annotator looked too, once for each other."""
    joined: int
    """Of those, the times the other gave the same."""
    agreement: float | None


class ItemDisagreement(Struct, frozen=True, kw_only=True):
    """An item that its annotators did not see alike."""

    id: str
    labels: dict[str, str | None] = {}
    """By annotator; None where there is none."""
    spans: dict[str, tuple[TypedSpan, ...]] = {}
    """By annotator, those that not all who annotated the item have."""
    scores: dict[str, float] = {}
    """Of spans, the item's own F1, strict and partial; of more than two annotators, pairs' mean."""
    where: dict[str, str]


class AgreementCoverage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many items were annotated, and by how many."""

    items: int
    """Annotated by at least one."""
    all: int
    some: int
    """By two or more, not by all."""
    one: int
    unread_columns: tuple[str, ...] = ()
    """Columns of the files that nothing reads, and that may be meant for one that is read."""


class AgreementReport(RunReport, frozen=True, kw_only=True):
    """What `ragauge gold agreement` says, versioned."""

    schema: str = AGREEMENT_SCHEMA
    passed: bool = field(name="pass")
    kind: Kind
    field: str
    """What was compared, by the name it has in the files."""
    level: str | None
    """nominal, ordinal or interval; None for spans."""
    weights: str | None
    annotators: dict[str, Annotator]
    pairs: tuple[PairAgreement, ...]
    labels: dict[str, LabelShare]
    """By label, or by type of span; empty where the labels are measured numbers, or very many."""
    disagreements: tuple[ItemDisagreement, ...]
    """By id, up to ROWS_KEPT of them; `disagreement_count` counts all."""
    disagreement_count: int
    coverage: AgreementCoverage

    @property
    def measured(self) -> bool:
        return bool(self.coverage.all + self.coverage.some)
