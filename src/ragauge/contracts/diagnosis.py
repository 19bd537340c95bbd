"""A diagnosis: which scores are low, what made them so, what to change, and how it is known."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from ragauge.contracts.answers import Context
from ragauge.contracts.claims import AnswerClaims
from ragauge.contracts.metric import Better
from ragauge.contracts.report import RunReport, Verdict
from ragauge.contracts.sweep import Ended

DIAGNOSIS_SCHEMA = "ragauge.diagnosis/1"

Severity = Literal["critical", "warning", "none", "not_evaluable", "no_rule"]
"""How bad a metric is; `not_evaluable` has no valid value, `no_rule` no threshold to go by."""
Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
Standing = Literal["likely", "possible", "untested", "struck_out"]
"""Of a cause: the samples speak for it; they allow it; they cannot tell; they exclude it."""

KNOBS = (
    "answer_format",
    "chunking",
    "citation_check",
    "compression",
    "constraints",
    "grounding_prompt",
    "index",
    "multi_query",
    "recall_top_k",
    "refusal_rule",
    "relevance_filter",
    "rerank_keep_k",
    "reranker",
    "retries",
    "rewrite_prompt",
    "step_back",
    "sub_questions",
    "temperature",
    "validation",
)
"""What an action may turn: the names the catalogue knows, which a knob map renames or hides."""


class ScoreRow(Struct, frozen=True, kw_only=True):
    """One sample with the scores a tool gave it: a line of what is diagnosed."""

    id: str
    question: str | None = None
    answer: str | None = None
    """Empty where the call failed; None where the rows tell of no answers."""
    reference: str | None = None
    contexts: tuple[Context, ...] | None = None
    """None where the row tells nothing of them; empty where nothing was retrieved."""
    retrieved_ids: tuple[str, ...] | None = None
    cited: tuple[str, ...] | None = None
    gold_ids: tuple[str, ...] | None = None
    answerable: bool | None = None
    values: dict[str, float] = {}
    """The valid scores by the metric's name: finite numbers."""
    invalid: dict[str, str] = {}
    """What stood where a score should: `null`, `NaN`, `infinite`, `text "n/a"`, `error "…"`; or
    `absent`."""
    strata: dict[str, str] = {}
    claims: AnswerClaims | None = None
    """Claims with their verdicts, where another tool has them already."""
    where: str = ""
    """file:line, for messages."""


class Threshold(Struct, frozen=True, kw_only=True):
    """From where on a mean is a warning, and from where critical: strictly beyond, not at it."""

    better: Better
    warning: float
    critical: float | None
    """None where a bound is all there is, and going beyond it is no more than a warning."""


class Sample(Struct, frozen=True, kw_only=True):
    """A sample beyond its threshold, as a reader needs it to see why."""

    id: str
    value: float
    question: str | None
    answer: str | None
    reference: str | None
    contexts: tuple[Context, ...] | None
    retrieved_ids: tuple[str, ...] | None
    symptoms: tuple[str, ...]
    """What went wrong in it, where that can be told: see `Symptom`."""
    where: str


class MetricDiagnosis(Struct, frozen=True, kw_only=True):
    """One metric: how low it is, over how many samples, and which causes go with it."""

    metric: str
    severity: Severity
    value: float | None
    """The mean of the valid values."""
    better: Better | None
    n: int
    of: int
    invalid: dict[str, int]
    """What stood in place of a score, with how often; absent fields count as `absent`."""
    threshold: float | None
    """The one it is beyond; None where it is beyond none."""
    limits: Threshold | None
    """Those it was held against; None where there is no rule."""
    beyond_warning: int
    """Samples that are beyond the warning threshold, the critical ones among them."""
    beyond_critical: int
    reason: str | None
    """Why there is no value, or no rule."""
    causes: tuple[str, ...]
    """Ids of the causes that go with it, the likeliest first; struck out ones are not here."""
    worst: tuple[Sample, ...]


class Evidence(Struct, frozen=True, kw_only=True):
    """A sign that was looked for among the samples that went wrong, in words."""

    sign: str
    speaks: Literal["for", "against"]
    n: int
    """Samples that show it …"""
    of: int
    """… of those that went wrong and in which it can be told."""
    elsewhere: int | None
    """Samples that show it among those that did not go wrong; None where it is not told there."""
    elsewhere_of: int | None
    bits: float
    """What it weighs: +3 makes the cause eight times as likely as a cause it says nothing of."""
    text: str


class Action(Struct, frozen=True, kw_only=True):
    """Something to change."""

    do: str
    knob: str | None
    """What to turn, by the name the knob map gives it; None where no knob is meant."""
    costs: str
    worsens: str
    """What it may make worse."""


class Cause(Struct, frozen=True, kw_only=True):
    """What may be wrong, how much speaks for it, and what to change."""

    id: str
    title: str
    means: str
    standing: Standing
    explains: float
    """Samples that went wrong and that it accounts for; a sample that several causes could have
    spoilt is shared among them by their evidence."""
    of: int
    """Samples that went wrong."""
    metrics: tuple[str, ...]
    """The low metrics it goes with."""
    evidence: tuple[Evidence, ...]
    why: str | None
    """Why it is struck out, or cannot be told."""
    confirm: str
    actions: tuple[Action, ...]
    samples: tuple[str, ...]
    """The first few that show it."""


class Slice(Struct, frozen=True, kw_only=True):
    """A part of the samples where a metric is worse than elsewhere."""

    metric: str
    conditions: dict[str, str]
    """One or two, such as {"country": "NL", "question_type": "temporal"}."""
    n: int
    beyond: int
    """Samples of it beyond the threshold …"""
    beyond_all: int
    """… of all that are."""
    value: float
    elsewhere: float
    """The means here and in the rest."""
    p: float
    """After correction for all the slices that were looked at."""
    text: str


class AddressCounts(Struct, frozen=True, kw_only=True):
    """Claims of answers and references by their address, over all samples that have claims."""

    samples: int
    source: str
    """Who judged them: `lexical`, the name of a judge, or `imported`."""
    answer: dict[str, int]
    """grounded, self_knowledge, misled_by_relevant, misled_by_noise, invented; unjudged."""
    reference: dict[str, int]
    """said, unused, retriever_missed; unjudged."""


class Intervention(Struct, frozen=True, kw_only=True):
    """One change to the pipeline's input, and what became of the samples that had gone wrong."""

    name: Literal["again", "gold_in", "noise_out", "temperature_0", "top_k_doubled"]
    asked: int
    repaired: int
    effective: int | None
    """Replies that show that the change took place; None where replies do not tell."""
    failed: int
    impossible: int
    """Samples it could not be made for: nothing known to put in or take out."""
    samples: tuple[str, ...]
    """The first few that it repaired."""
    reason: str | None
    """Why it was not made at all."""


class Replay(Struct, frozen=True, kw_only=True):
    """The failing questions asked again under interventions."""

    system: dict[str, Any]
    of: int
    """Questions that went wrong."""
    chosen: int
    """Those of them that were asked again: at least one of their calls was answered or failed."""
    calls: int
    resumed: int
    """Calls whose replies were there already."""
    interventions: tuple[Intervention, ...]
    repaired_by: dict[str, tuple[str, ...]]
    """By question: the interventions that repaired it."""
    tried: dict[str, tuple[str, ...]] = {}
    """By question: those that were answered and, as far as replies tell, took place."""
    ended: Ended = "complete"
    """`error_budget` where none of the first calls was answered, and no others were made."""


class DiagnosisReport(RunReport, frozen=True, kw_only=True):
    """What `ragauge diagnose` says, versioned."""

    schema: str = DIAGNOSIS_SCHEMA
    passed: bool = field(name="pass")
    """Nothing is as bad as `--fail-on`, and nothing that was asked for could not be evaluated."""
    language: Language
    gates: tuple[Verdict, ...]
    """Of a recorded run: as it was judged then."""
    diagnoses: tuple[MetricDiagnosis, ...]
    """The worst first."""
    causes: tuple[Cause, ...]
    """Over all that went wrong, the likeliest first; those that are struck out at the end."""
    symptoms: dict[str, int]
    """Samples by what went wrong in them."""
    addresses: AddressCounts | None
    slices: tuple[Slice, ...]
    replay: Replay | None
    unknown: tuple[str, ...]
    """What the input does not allow to say, and what would."""
    coverage: dict[str, Any]
