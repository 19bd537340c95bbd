"""Judged metrics in the table: each once for an LLM judge and once for the lexical one.

There is one definition for both. A value belongs to one answer, and over a set it is the mean
of the answers': an answer of thirty claims weighs no more than one of three. What the judge
failed at is absent with its reason, and never zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import cleandoc

from msgspec import Struct

from ragauge.contracts.claims import AnswerClaims
from ragauge.contracts.metric import Absent, Better, Metric, Row
from ragauge.metrics import judged_measures as measures
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.grounds import grounds_of, retrieved, told_contexts
from ragauge.metrics.judged_measures import value_row
from ragauge.metrics.overlap_references import answer_of, mean_of_answers, references_of

NO_QUESTION = Absent("no question")
NEEDED: Mapping[str, Callable[[AnswerFacts], object]] = {
    "answer": answer_of,
    "question": lambda facts: NO_QUESTION if facts.row.question is None else facts.row.question,
    "references": references_of,
    "contexts": told_contexts,
    "retrieved": retrieved,
    "grounds": grounds_of,
}
"""By what a metric needs, what gives it; or, as Absent, why it is not there."""


class Definition(Struct, frozen=True):
    """A judged metric, whoever judges."""

    measure: Callable[[AnswerClaims], Row | Absent]
    needs: tuple[str, ...]
    """Of `NEEDED`, what it is absent without."""
    better: Better = "higher"
    bounds: tuple[float, float] = (0, 1)

    @property
    def name(self) -> str:
        return self.measure.__name__


GROUNDS = ("grounds",)
ALL = ("grounds", "references")
DEFINITIONS = (
    Definition(measures.faithfulness, GROUNDS),
    Definition(measures.self_knowledge, ALL, "lower"),
    Definition(measures.hallucination, ALL, "lower"),
    Definition(measures.noise_sensitivity, ALL, "lower"),
    Definition(measures.noise_sensitivity_irrelevant, ALL, "lower"),
    Definition(measures.claim_precision, ("answer", "references")),
    Definition(measures.claim_recall, ("answer", "references")),
    Definition(measures.factual_correctness, ("answer", "references")),
    Definition(measures.context_precision, ("references", "retrieved")),
    Definition(measures.context_recall, ("references", "contexts")),
    Definition(measures.answer_relevancy, ("question", "answer"), bounds=(-1, 1)),
)


class Source(Struct, frozen=True):
    """Who judges: where that stands among an answer's facts, and what is to be said of it."""

    prefix: str
    field: str
    opening: str = ""
    note: str = ""
    version: int = 1


SOURCES = (
    Source("", "claims"),
    Source(
        "lexical_",
        "lexical_claims",
        "By words alone: ",
        "The claims are sentences, and the sentence supporter gives the verdicts: it needs no "
        "model, and knows wording, not meaning.",
        version=2,
    ),
)


def judged_metric(definition: Definition, source: Source) -> Metric:
    """The entry of the table for this definition and this judge."""

    def measured(facts: AnswerFacts) -> Row | Absent:
        absent = lacking(facts, definition.needs)
        if absent:
            return absent
        claims: AnswerClaims | None = getattr(facts, source.field)
        if claims is None:
            return Absent(facts.missing.get(source.field, "no judge was asked"))
        return definition.measure(claims)

    measured.__doc__ = _doc(definition, source)
    entry = mean_of_answers(
        f"answers.{source.prefix}{definition.name}",
        version=source.version,
        better=definition.better,
        bounds=definition.bounds,
        needs=("row", "refused", source.field, "missing"),
    )
    return entry(measured)


@mean_of_answers(
    "answers.rubric", better="higher", bounds=(1, 5), needs=("row", "rubric", "missing")
)
def rubric(facts: AnswerFacts) -> Row | Absent:
    """What the judge gave the answer by the rubric, from 1 to 5.

    Words alone cannot apply a rubric, so that there is no lexical one.
    """
    absent = lacking(facts, ("answer",))
    if absent:
        return absent
    if facts.rubric is None:
        return Absent(facts.missing.get("rubric", "no judge was asked"))
    if facts.rubric.score is None:
        return Absent(f"the judge failed: {facts.rubric.reason}")
    return value_row(facts.rubric.score, facts.rubric.reason)


def lacking(facts: AnswerFacts, needs: tuple[str, ...]) -> Absent | None:
    """Why an answer cannot be measured, by the first thing that it lacks; None where it can."""
    found = (NEEDED[need](facts) for need in needs)
    return next((one for one in found if isinstance(one, Absent)), None)


def _doc(definition: Definition, source: Source) -> str:
    """What the definition says, without its examples, and what is to be said of the judge.

    It names the metrics of the same judge.
    """
    said = cleandoc(definition.measure.__doc__ or "").partition(">>>")[0].strip()
    if not source.opening:
        return said
    for other in DEFINITIONS:
        said = said.replace(f"`{other.name}`", f"`{source.prefix}{other.name}`")
    return f"{source.opening}{said[0].lower()}{said[1:]}\n\n{source.note}"


METRICS: tuple[Metric, ...] = (
    *(judged_metric(definition, source) for source in SOURCES for definition in DEFINITIONS),
    rubric,
)
