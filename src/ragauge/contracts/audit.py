"""Audits: whether each citation of an answer is a pointer that holds, and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

from ragauge.contracts.report import Advice, Finding, RunReport

AUDIT_SCHEMA = "ragauge.audit/1"

Depth = Literal["marker", "payload", "text", "support"]
DEPTHS: tuple[Depth, ...] = ("marker", "payload", "text", "support")
"""Each asks more: the id was retrieved, the payload is whole, the text stands there and supports
what it is cited for."""

OK = "ok"

Kind = Literal["answer", "uncited", "refusal", "error"]
"""What a run came to, as λ sees it; `uncited` is an answer without a citation."""


class CitationFinding(Struct, frozen=True, kw_only=True):
    """One thing wrong with an answer's citations, and what to do about it."""

    code: str
    field: str | None = None
    item: int | None = None
    """Which citation, from 0; None where it is about the answer."""
    segment: int | None = None
    """Which segment the citation belongs to, from 0; None where the answer has none."""
    got: Any = None
    expected: Any = None
    tip: str = ""


class AnswerAudit(Struct, frozen=True, kw_only=True):
    """What a validator says of one answer: the worst code first, and all that was found."""

    code: str
    kind: Kind
    findings: tuple[CitationFinding, ...] = ()

    @property
    def ok(self) -> bool:
        return self.code == OK

    def __bool__(self) -> bool:
        """So that `if validator(reply, chunks)` ships nothing that fails."""
        return self.ok


class ParsedSegment(Struct, frozen=True, kw_only=True):
    """A segment as it was written, its citations not yet checked."""

    text: str
    citations: Sequence[Any]


class ReportedError(Struct, frozen=True, kw_only=True):
    """`{error, fix}` or `{error, field, tip}`: the model says that it cannot answer as agreed."""

    error: str
    field: str | None = None
    tip: str | None = None


class ParsedAnswer(Struct, frozen=True, kw_only=True):
    """A model's reply taken apart, whatever its form; nothing in it is checked yet."""

    answer: str = ""
    citations: Sequence[Any] | None = None
    """As written: texts, objects or anything else; None where there was no list."""
    segments: tuple[ParsedSegment, ...] = ()
    cites_first: bool | None = None
    """Whether a citation stands before or in the answer; None where the order does not tell."""
    reported_deltaS: float | None = None
    """What the model says of itself is kept and never trusted."""
    reported_lambda: str | None = None
    error: ReportedError | None = None
    broken: str | None = None
    """Why JSON that was begun cannot be read, with its place."""


class AuditFacts(Struct, frozen=True, kw_only=True):
    """One audited trace beside its gold question: all that its metrics are measured from.

    None always means "cannot be said", never "no"; `why` gives the reasons by field.
    """

    kind: Kind
    answerable: bool | None = None
    """None without a gold question."""
    code: str = OK
    marker: bool | None = None
    """Nothing was found at this depth; None where it was not looked at, or there was nothing."""
    payload: bool | None = None
    text: bool | None = None
    support: bool | None = None
    checked: bool | None = None
    """Every depth that was asked for could be looked at; None where there is no answer."""
    matched: bool | None = None
    """The validator says ok, all cited ids were retrieved, and one citation is a gold snippet."""
    target: int | None = None
    """Characters of the gold target section."""
    retrieved_target: int | None = None
    """Of these, those that retrieved spans cover, each counted once."""
    cited_target: int | None = None
    cited: int | None = None
    """Characters that cited spans cover, each counted once."""
    gold_span: int | None = None
    """Characters of the gold anchor."""
    cited_gold: int | None = None
    """Of these, those that cited spans cover."""
    concordant: int | None = None
    """Pairs of retrieved chunks that k_pos and k_final order alike."""
    discordant: int | None = None
    ndcg_before: float | None = None
    """Of the retrieved chunks in the order of k_pos, against the gold ids."""
    ndcg_after: float | None = None
    deltaS: dict[str, float] = {}
    """By name: context, chunk, anchor, decoy."""
    ranks: dict[str, float] = {}
    """How alike the retrieved chunks are ranked in other traces, by name: rho, tau, overlap."""
    why: dict[str, str] = {}


LambdaState = Literal["convergent", "divergent", "recursive", "chaotic", "incomplete"]
STATES: tuple[LambdaState, ...] = (
    "convergent",
    "divergent",
    "recursive",
    "chaotic",
    "incomplete",
)


class AuditedRuns(Struct, frozen=True, kw_only=True):
    """A question over its runs: what λ says of retrieval and of answers, and where it breaks."""

    answerable: bool
    planned: int
    retrieval: LambdaState | None
    """None where no run tells what it retrieved."""
    answer: LambdaState | None
    flipped: int = 0
    """Pairs of chunks that two runs both retrieved, and ordered differently."""
    paired: int = 0


class AuditFinding(Finding, frozen=True, kw_only=True):
    """A finding of a citation's, with its place in the traces and the next step."""

    qid: str | None = None
    field: str | None = None
    item: int | None = None
    segment: int | None = None
    got: Any = None
    expected: Any = None
    tip: str = ""


class DepthCount(Struct, frozen=True, kw_only=True):
    """How many answers were looked at in one depth, and how many held."""

    checked: int
    ok: int


class AuditedAnswer(Struct, frozen=True, kw_only=True):
    """One answer of the report."""

    qid: str | None
    where: str
    code: str
    kind: Kind
    cited: tuple[str, ...]
    findings: int
    matched: bool | None = None
    coverage: float | None = None
    deltaS: dict[str, float] = {}


class CodeCount(Struct, frozen=True, kw_only=True):
    """A code that was found: on how many answers, how often, and what it asks for."""

    code: str
    depth: Depth
    answers: int
    findings: int
    means: str
    tip: str


class AuditCoverage(Struct, frozen=True, kw_only=True):
    """What was audited of what was read."""

    traces: int
    audited: int
    """All but error records: answers, refusals, and replies that are neither."""
    refusals: int
    errors: int
    citations: int
    rejected: int
    unknown: int
    """Traces of questions the gold set does not have: audited, but not matched."""
    gold: int | None
    """Questions of the gold set; None without one."""
    missing: int | None
    """Gold questions without a trace."""
    compared: tuple[str, ...] | None = None
    """Fields of payloads that were held against the manifest; None without one."""
    unread_columns: tuple[str, ...] | UnsetType = UNSET
    """Columns of the gold set and the traces that nothing reads; left out where there are none."""


class AuditReport(RunReport, frozen=True, kw_only=True):
    """What `ragauge audit` says, versioned."""

    schema: str = AUDIT_SCHEMA
    passed: bool = field(name="pass")
    depth: Depth
    codes: tuple[CodeCount, ...]
    """Worst first."""
    depths: dict[str, DepthCount]
    answers: tuple[AuditedAnswer, ...]
    """The first that went wrong, then the others, up to the number a report holds."""
    findings: tuple[AuditFinding, ...]
    coverage: AuditCoverage
    advice: tuple[Advice, ...]

    @property
    def measured(self) -> bool:
        return bool(self.coverage.audited)
