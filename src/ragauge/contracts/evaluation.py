"""What `ragauge eval` says of a component: entities, types, links or retrieval."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ragauge.contracts.answers import AnswerKind, Band, SentenceSupport
from ragauge.contracts.judge import Usage
from ragauge.contracts.report import Advice, RunReport, Score

EVAL_SCHEMA = "ragauge.eval/1"
EVAL_ALL_SCHEMA = "ragauge.eval-all/1"
ERRORS_KEPT = 1_000
"""Errors of a kind that stand in a report, the first by document; all are counted."""

Task = Literal["ner", "types", "linking", "retrieval", "qa", "answers"]
TASKS: tuple[Task, ...] = ("ner", "types", "linking", "retrieval", "qa")
"""What a model can be evaluated for; finished answers are evaluated without one."""


class MatchCounts(Struct, frozen=True, kw_only=True):
    """How gold entities and predicted ones met under one schema, as SemEval 2013 counts them."""

    correct: int
    incorrect: int
    partial: int
    missed: int
    spurious: int
    precision: float | None
    recall: float | None
    f1: float | None


class TokenCounts(Struct, frozen=True, kw_only=True):
    """Tokens that hold a type in gold and prediction, counted once for each type they hold."""

    tp: int
    fp: int
    fn: int
    precision: float | None
    recall: float | None
    f1: float | None


class LevelScore(Struct, frozen=True, kw_only=True):
    """The same entities with their types cut to so many parts: GRP.HER.MUS at 1 is GRP."""

    level: int
    types: int
    f1_strict: float | None
    f1_partial: float | None


class TypeShare(Struct, frozen=True, kw_only=True):
    """How often a type is marked and predicted."""

    gold: int
    predicted: int
    ratio: float | None
    """Predicted over gold; None where gold has none."""


class ShownSpan(Struct, frozen=True, kw_only=True):
    """An entity as a reader meets it."""

    start: int
    end: int
    type: str
    text: str | None


class EntityError(Struct, frozen=True, kw_only=True):
    """A gold entity that was not found as it is, or a prediction that is nowhere in gold."""

    kind: Literal["boundary", "type", "boundary_and_type", "missed", "spurious"]
    document: str
    gold: ShownSpan | None
    predicted: ShownSpan | None
    before: str
    """The text on the left of both; empty where the file has no text."""
    after: str
    where: str


class EntityDetail(Struct, frozen=True, kw_only=True, tag_field="task", tag="ner"):
    """What an evaluation of entities has of its own."""

    matching: str
    schemas: dict[str, MatchCounts]
    """strict, exact, semeval_partial and ent_type (whose F1 is the headline's f1_partial)."""
    tokens: TokenCounts
    levels: tuple[LevelScore, ...]
    layers: dict[str, dict[str, MatchCounts]]
    """By layer, the same schemas; empty where there is one layer."""
    distribution: dict[str, TypeShare]
    token_types: dict[str, TokenCounts]
    error_counts: dict[str, int]
    errors: tuple[EntityError, ...]


class Confusion(Struct, frozen=True, kw_only=True):
    """A label taken for another."""

    gold: str
    predicted: str
    count: int
    share: float
    """Of the items with that gold label."""
    examples: tuple[str, ...]
    """The first few items, by id."""


class LabelDetail(Struct, frozen=True, kw_only=True, tag_field="task", tag="types"):
    """What an evaluation of types has of its own."""

    label_set: str
    labels: tuple[str, ...]
    """The rows and columns of the matrix; OTHER and MISSING at the end, where they are needed."""
    matrix: tuple[tuple[int, ...], ...]
    """Rows are gold, columns predicted; it always sums to the items with a gold label."""
    absent_labels: int
    """Labels of the set with neither support nor prediction: 0 each in macro_f1_all."""
    errors: int
    distinct_confusions: int
    confusions: tuple[Confusion, ...]
    """The most frequent first, ties by the labels."""
    categories: tuple[str, ...] = ()
    category_matrix: tuple[tuple[int, ...], ...] = ()


class LinkError(Struct, frozen=True, kw_only=True):
    """A mention that was linked wrongly, or not at all."""

    kind: Literal["wrong", "ranked_low", "not_linked", "should_be_nil", "missing"]
    key: str
    mention: str
    gold: tuple[str, ...]
    predicted: tuple[str, ...]
    rank: int | None
    context: str | None
    where: str


class KbPair(Struct, frozen=True, kw_only=True):
    """How the ids of two knowledge bases that a system gives to one entity go together."""

    of: int
    """Linked mentions whose answer has an id in both knowledge bases."""
    comparable: int
    """Those of them for which the crosswalk can tell; over `of` they are the pair's coverage."""
    agree: int
    agreement: float | None
    """Of those that can be compared; None where there is none."""


class LinkDetail(Struct, frozen=True, kw_only=True, tag_field="task", tag="linking"):
    """What an evaluation of links has of its own."""

    in_kb: int
    nil: int
    missing: int
    ranks: dict[str, int]
    """In-KB mentions by the rank of the first right candidate: 1, 2-5, 6-10, beyond, none."""
    kb_pairs: dict[str, KbPair]
    """By pair, such as wikidata-viaf."""
    error_counts: dict[str, int]
    errors: tuple[LinkError, ...]


class QueryRow(Struct, frozen=True, kw_only=True):
    """One query of an evaluation of retrieval."""

    query: str
    retrieved: int
    relevant: int
    relevant_retrieved: int
    first_relevant: int | None
    """The rank of the first relevant document."""
    values: dict[str, float | None]


class SourceShare(Struct, frozen=True, kw_only=True):
    """What one retriever of several contributes."""

    share: float
    """Of the results shown, those that it put there; where several sources did, each is credited,
    so that shares can sum to more than 1."""
    top1: float | None
    top5: float | None
    """Of the results shown at these ranks."""
    relevant: int
    unique_relevant: int
    """Relevant documents that no other source brought."""
    precision: float | None


class ComparedMetric(Struct, frozen=True, kw_only=True):
    """A metric of this run beside another's, on the same queries."""

    run: str
    metric: str
    value: float | None
    other: float | None
    estimate: float | None
    ci: tuple[float, float] | None
    p: float | None
    p_adjusted: float | None
    n: int
    n_zero: int
    method: str
    seed: int | None
    effect: float | None
    better: int
    worse: int
    reason: str | None
    statistic: float | None = None
    """Of the test in `method`, such as t."""


class RankingDetail(Struct, frozen=True, kw_only=True, tag_field="task", tag="retrieval"):
    """What an evaluation of retrieval has of its own."""

    queries: tuple[QueryRow, ...]
    """By id, up to ROWS_KEPT."""
    worst: tuple[str, ...]
    """Queries with relevant documents and the lowest nDCG@10."""
    sources: dict[str, SourceShare]
    overlap: dict[str, int]
    """By pair of sources, the documents that both brought for one query."""
    compared: tuple[ComparedMetric, ...]
    correction: str | None


class EvidenceText(Struct, frozen=True, kw_only=True):
    """The words of a context that support a sentence, with a little around them."""

    chunk: str
    before: str
    text: str
    after: str


class ShownSentence(Struct, frozen=True, kw_only=True):
    """A sentence of an answer as a reader meets it, beside its evidence."""

    support: SentenceSupport
    evidence: EvidenceText | None


class AnswerShown(Struct, frozen=True, kw_only=True):
    """One answer of an evaluation."""

    id: str
    question: str | None
    answer: str | None
    kind: AnswerKind | None
    values: dict[str, float | None]
    """By metric id; None with its reason below."""
    reasons: dict[str, str]
    """What speaks for or against a value, or why there is none."""
    sentences: tuple[ShownSentence, ...]


class AnswerScored(Struct, frozen=True, kw_only=True):
    """What one answer came to, without its sentences."""

    id: str
    question: str | None
    answer: str | None
    kind: AnswerKind | None
    right: bool | None
    """False without an answer; None where nothing that was measured tells."""
    values: dict[str, float | None]
    reasons: dict[str, str]
    """What speaks for or against a value, or why there is none."""
    unsupported: tuple[str, ...]
    """Its numbers and words that stand in no context."""


class HumanAgreement(Struct, frozen=True, kw_only=True):
    """How far a metric agreed with people, where `ragauge calibrate` was given labels."""

    metric: str
    judge: str
    n: int
    sources: int
    base_rate: float
    """Share of answers that people called good."""
    auroc: float | None
    auroc_ci: tuple[float, float] | None
    balanced_accuracy: float | None
    kappa: float | None
    ece: float | None
    threshold: float | None
    labels: str
    """The file of labels and its hash."""


class BandCount(Struct, frozen=True, kw_only=True):
    """The answers of a run whose groundedness lies in a band, and what such a score meant."""

    kind: AnswerKind
    answers: int
    band: Band


class AnswerDetail(Struct, frozen=True, kw_only=True, tag_field="task", tag="answers"):
    """What an evaluation of answers has of its own; the task `qa` has it too."""

    judge: str | None
    """`lexical`, or the model that was asked; None where nobody was."""
    embedder: str | None
    groundedness: str | None
    """The coefficients that were used, such as `groundedness/1`."""
    kinds: dict[str, int]
    refusals: int
    errors: int
    worst: tuple[AnswerShown, ...]
    """The least grounded first, then by id; with their sentences."""
    unsupported: dict[str, int]
    """Numbers and words that stand in no context, by how many answers have them."""
    usage: Usage | None
    factual_claims: dict[str, int] = {}
    """Claims that are correct, incorrect and unverifiable; empty where none was looked up."""
    agreement: tuple[HumanAgreement, ...] = ()
    answers: tuple[AnswerScored, ...] = ()
    """By id, up to ROWS_KEPT."""
    bands: tuple[BandCount, ...] = ()
    """What the scores of groundedness meant on labelled answers, by kind, lowest scores first."""


Detail = EntityDetail | LabelDetail | LinkDetail | RankingDetail | AnswerDetail


SPENT = "budget_spent"
"""The finding of a run whose judge had to stop."""


def _any_scored(report: RunReport) -> bool:
    values = [one.value for id, one in report.metrics.items() if not id.endswith(".coverage")]
    scored = report.coverage.get("scored") and any(value is not None for value in values)
    return bool(scored) and SPENT not in report.finding_counts


class EvalReport(RunReport, frozen=True, kw_only=True):
    """What `ragauge eval ner|types|linking|retrieval|qa|answers` says, versioned."""

    schema: str = EVAL_SCHEMA
    task: Task
    per_type: dict[str, dict[str, float | None]]
    """By type of entity, or by label: its counts and rates."""
    per_stratum: dict[str, dict[str, dict[str, Score]]]
    """Headline metrics by stratum and value."""
    detail: Detail
    coverage: dict[str, int | tuple[str, ...]]
    """Counts, and under `unread_columns` the columns of the input that nothing reads, if any."""
    advice: tuple[Advice, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of the coverage."""
        return {name: one for name, one in self.coverage.items() if isinstance(one, int)}

    @property
    def measured(self) -> bool:
        return _any_scored(self)


class SummaryNumber(Struct, frozen=True, kw_only=True):
    """One number of the five-task summary, with the metric that it is."""

    metric: str
    value: float | None
    n: int
    ci: tuple[float, float] | None
    reason: str | None


class TaskFailure(Struct, frozen=True, kw_only=True):
    """A task that could not be finished: an error is a record, and the others go on."""

    task: Task
    error: str


class EvalAllReport(RunReport, frozen=True, kw_only=True):
    """What `ragauge eval all` says, versioned."""

    schema: str = EVAL_ALL_SCHEMA
    model: str
    summary: dict[str, SummaryNumber]
    tasks: dict[str, EvalReport]
    failures: tuple[TaskFailure, ...]
    coverage: dict[str, int]

    @property
    def measured(self) -> bool:
        return _any_scored(self)
