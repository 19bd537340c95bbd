"""Judged metrics: each once for an LLM judge and once for the lexical one, and cosines.

There is one definition for both judges: a function of what the judge said. A value belongs to one
answer, and over a set it is the mean of the answers': an answer of thirty claims weighs no more
than one of three. What the judge failed at is absent with its reason, and never zero.

Cosines say that two texts speak of the same; no embedder tells a contradiction from a paraphrase,
so that neither `semantic_similarity` nor `relevance` is ever called correctness.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import cleandoc
from math import fsum

from msgspec import Struct

from ragauge.contracts.claims import AnswerAddress, AnswerClaims, Claim
from ragauge.contracts.metric import SCALE, Absent, Better, Metric, Row, value_row
from ragauge.contracts.rankings import Ranking
from ragauge.metrics.answers import (
    NOTHING_RETRIEVED,
    AnswerFacts,
    answer_of,
    contexts_to_check,
    known_contexts,
    mean_of_answers,
    references_of,
    retrieved_contexts,
)
from ragauge.metrics.claims import (
    Tally,
    answer_addresses,
    answer_counts,
    in_contexts,
    in_other_text,
    marks,
)
from ragauge.metrics.retrieval import Parameters, average_precision
from ragauge.text.visible import one_line

NO_CLAIM = Absent("the answer makes no claim")
NO_REFERENCE_CLAIM = Absent("the reference makes no claim")
NAMED = 3
"""Claims that a reason quotes; the others are counted."""
QUOTED = 160
"""Characters of a claim that it quotes."""


def faithfulness(claims: AnswerClaims) -> Row | Absent:
    """Claims of the answer that a context supports, over its claims.

    Each claim must stand in one context; what only two together would support counts as
    unsupported. None where the answer makes no claim.

    >>> grounded, invented = Claim(text="a", chunks=(True,)), Claim(text="b", chunks=(False,))
    >>> faithfulness(AnswerClaims(judge="j", answer=(grounded, invented), chunks=1)).reason
    'not in the contexts: "b"'
    """
    return _in_contexts(claims, claims.answer, NO_CLAIM)


def self_knowledge(claims: AnswerClaims) -> Row | Absent:
    """Claims of the answer that are correct though no context has them, over its claims.

    With `faithfulness` and `hallucination` it adds up to 1.
    """
    return _with_address(claims, "self_knowledge", "right, but in no context")


def hallucination(claims: AnswerClaims) -> Row | Absent:
    """Claims of the answer that are incorrect and in no context, over its claims."""
    return _with_address(claims, "invented", "wrong, and in no context")


def noise_sensitivity(claims: AnswerClaims) -> Row | Absent:
    """Claims of the answer that are incorrect and appear in a relevant context, over its claims.

    The mode `relevant`. A context is relevant when it supports a claim of the reference. With
    `noise_sensitivity_irrelevant` and `hallucination` it adds up to 1 - `claim_precision`. None
    where the reference makes no claim, for then nobody can say which contexts are relevant.
    """
    return _with_address(claims, "misled_by_relevant", "wrong, from a relevant context")


def noise_sensitivity_irrelevant(claims: AnswerClaims) -> Row | Absent:
    """Claims of the answer that are incorrect and only in irrelevant contexts, over its claims.

    The mode `irrelevant`.
    """
    return _with_address(claims, "misled_by_noise", "wrong, from an irrelevant context")


def claim_precision(claims: AnswerClaims) -> Row | Absent:
    """Claims of the answer that the reference supports, over its claims."""
    return _in_other_text(claims, claims.answer, NO_CLAIM, "wrong")


def claim_recall(claims: AnswerClaims) -> Row | Absent:
    """Claims of the reference that the answer supports, over the reference's claims."""
    return _in_other_text(claims, claims.reference, NO_REFERENCE_CLAIM, "not said")


def factual_correctness(claims: AnswerClaims) -> Row | Absent:
    """Harmonic mean of `claim_precision` and `claim_recall`: F1 of claims.

    Recall is over the claims of the reference. An implementation in wide use divides the right
    claims of the answer by themselves plus the claims of the reference that are not said, so
    that an answer which says one thing in three sentences gains recall. 0 where the answer makes
    no claim and the reference does.
    """
    recall = claim_recall(claims)
    if isinstance(recall, Absent):
        return recall
    precision = claim_precision(claims)
    if precision == NO_CLAIM:
        return value_row(0.0, NO_CLAIM.reason)
    if isinstance(precision, Absent):
        return precision
    right, said = precision.counts[0], recall.counts[0]
    value = 2 * right * said / (right + said) / SCALE if right and said else 0.0
    return value_row(value, _joined(precision.reason, recall.reason))


def context_precision(claims: AnswerClaims) -> Row | Absent:
    """Average precision of the contexts in rank order, those useful for the reference being right.

    As published, over the useful ones that were retrieved: what was missed is `context_recall`'s
    business. 0 where none is useful, None where no context was retrieved.
    """
    if claims.useful is None:
        return NO_REFERENCE_CLAIM if claims.reference == () else _failed(claims, "chunk")
    if not claims.useful:
        return NOTHING_RETRIEVED
    useful = tuple(int(verdict) for verdict in claims.useful if verdict is not None)
    if len(useful) < len(claims.useful):
        return _failed(claims, "chunk")
    ranking = Ranking(retrieved=useful, judged=useful)
    useless = [f"chunk {rank}" for rank, grade in enumerate(useful, 1) if not grade]
    return value_row(
        average_precision(ranking, Parameters()) or 0.0, _reason_for("not useful", useless)
    )


def context_recall(claims: AnswerClaims) -> Row | Absent:
    """Claims of the reference that a context supports, over the reference's claims.

    0 where no context was retrieved.
    """
    return _in_contexts(claims, claims.reference, NO_REFERENCE_CLAIM)


def answer_relevancy(claims: AnswerClaims) -> Row | Absent:
    """Mean cosine of the question with questions that the answer would answer; 0 where it evades.

    The questions are asked for from different angles in one call, so that they are not one
    sample thrice. The lexical judge makes no questions: it compares the sentences of the answer
    itself, and so tells how far they speak of what the question speaks of, not whether they
    answer it.
    """
    if claims.noncommittal is None:
        return _failed(claims, "questions")
    if claims.noncommittal:
        return value_row(0.0, "the answer evades the question")
    if claims.likeness is None:
        return Absent("no embedder compared the questions")
    if not claims.likeness:
        return Absent("there is no question to compare")
    return cosine_row(fsum(claims.likeness) / len(claims.likeness))


def cosine_row(cosine: float) -> Row:
    """A cosine of one answer, or a mean of several.

    Vectors of length one in single precision may give a little more than 1, which is cut.
    """
    return value_row(max(-1.0, min(1.0, cosine)))


def _in_contexts(claims: AnswerClaims, of: Sequence[Claim] | None, none: Absent) -> Row | Absent:
    """The claims of a text that a context supports, over those of which that is known."""
    named = _texts(of, [mark.supported is False for mark in marks(of or (), claims.chunks)])
    tally = in_contexts(of or (), claims.chunks)
    return _fraction(claims, of, none, tally, _reason_for("not in the contexts", named), "chunk")


def _in_other_text(
    claims: AnswerClaims, of: Sequence[Claim] | None, none: Absent, fact: str
) -> Row | Absent:
    """The claims of a text that the other one supports, over those of which that is known."""
    named = _texts(of, [claim.other is False for claim in of or ()])
    return _fraction(
        claims, of, none, in_other_text(of or ()), _reason_for(fact, named), "agreement"
    )


def _with_address(claims: AnswerClaims, address: AnswerAddress, fact: str) -> Row | Absent:
    """The claims of the answer that have an address, over its judged claims."""
    if address.startswith("misled") and claims.answer and claims.reference == ():
        return NO_REFERENCE_CLAIM  # nobody can say which contexts are relevant
    named = _texts(claims.answer, [one == address for one in answer_addresses(claims)])
    counts = answer_counts(claims)
    count: int | None = getattr(counts, address)
    known = 0 if count is None else counts.judged
    tally = Tally(count or 0, known, counts.judged + counts.unjudged - known)
    return _fraction(
        claims, claims.answer, NO_CLAIM, tally, _reason_for(fact, named), "chunk", "agreement"
    )


def _fraction(
    claims: AnswerClaims,
    of: Sequence[Claim] | None,
    none: Absent,
    tally: Tally,
    reason: str | None,
    *steps: str,
) -> Row | Absent:
    """A fraction of a text's claims; `none` if it has none. The steps gave the verdicts."""
    if of is None:
        return _failed(claims, "claims")
    if not of:
        return none
    if not tally.known:
        return _failed(claims, *steps)
    left_out = f"{tally.unknown} of {len(of)} claims unjudged" if tally.unknown else None
    return value_row(tally.true / tally.known, _joined(left_out, reason))


def _failed(claims: AnswerClaims, *steps: str) -> Absent:
    """Why there is no verdict: the first error in these steps, or that the judge was not asked."""
    for error in claims.errors:
        step, _, fact = error.partition(": ")
        if step.split()[0] in steps:
            return Absent(f"the judge failed: {fact}")
    return Absent("the judge was not asked for it")


def _texts(claims: Sequence[Claim] | None, chosen: Sequence[bool]) -> list[str]:
    pairs = zip(claims or (), chosen, strict=True)
    return [f'"{one_line(claim.text, QUOTED)}"' for claim, named in pairs if named]


def _reason_for(fact: str, named: Sequence[str]) -> str | None:
    """The fact with the things it is about, as a reason; None if there are none."""
    if not named:
        return None
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return f"{fact}: {', '.join(named[:NAMED])}{more}"


def _joined(*reasons: str | None) -> str | None:
    return "; ".join(reason for reason in reasons if reason) or None


NO_QUESTION = Absent("no question")
NEEDED: Mapping[str, Callable[[AnswerFacts], object]] = {
    "answer": answer_of,
    "question": lambda facts: NO_QUESTION if facts.row.question is None else facts.row.question,
    "references": references_of,
    "contexts": known_contexts,
    "retrieved": retrieved_contexts,
    "grounds": contexts_to_check,
}
"""For each need of a metric, the function that returns it, or Absent with a reason."""


class Definition(Struct, frozen=True):
    """A judged metric, for any judge."""

    measure: Callable[[AnswerClaims], Row | Absent]
    needs: tuple[str, ...]
    """Names in `NEEDED`; without any of them the metric is absent."""
    better: Better = "higher"
    bounds: tuple[float, float] = (0, 1)

    @property
    def name(self) -> str:
        return self.measure.__name__


GROUNDS = ("grounds",)
ALL = ("grounds", "references")
DEFINITIONS = (
    Definition(faithfulness, GROUNDS),
    Definition(self_knowledge, ALL, "lower"),
    Definition(hallucination, ALL, "lower"),
    Definition(noise_sensitivity, ALL, "lower"),
    Definition(noise_sensitivity_irrelevant, ALL, "lower"),
    Definition(claim_precision, ("answer", "references")),
    Definition(claim_recall, ("answer", "references")),
    Definition(factual_correctness, ("answer", "references")),
    Definition(context_precision, ("references", "retrieved")),
    Definition(context_recall, ("references", "contexts")),
    Definition(answer_relevancy, ("question", "answer"), bounds=(-1, 1)),
)


class Source(Struct, frozen=True):
    """A judge: its field in an answer's facts, and what its metrics' docstrings say about it."""

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

    # The definition's docstring without examples, with the names of this judge's metrics.
    doc = cleandoc(definition.measure.__doc__ or "").partition(">>>")[0].strip()
    if source.opening:
        for other in DEFINITIONS:
            doc = doc.replace(f"`{other.name}`", f"`{source.prefix}{other.name}`")
        doc = f"{source.opening}{doc[0].lower()}{doc[1:]}\n\n{source.note}"
    measured.__doc__ = doc
    return mean_of_answers(
        f"answers.{source.prefix}{definition.name}",
        version=source.version,
        better=definition.better,
        bounds=definition.bounds,
        needs=("row", "refused", source.field, "missing"),
    )(measured)


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
    """Why an answer cannot be measured, by the first thing it lacks; None if it can."""
    found = (NEEDED[need](facts) for need in needs)
    return next((one for one in found if isinstance(one, Absent)), None)


UNASKED = "no embedder was asked"


@mean_of_answers(
    "answers.semantic_similarity",
    better="higher",
    bounds=(-1, 1),
    needs=("row", "refused", "similarity", "missing"),
)
def semantic_similarity(facts: AnswerFacts) -> Row | Absent:
    """Cosine of the answer and its nearest reference.

    A cosine may fall below zero and is not cut there: a cut would hide how far apart they are.
    The number depends on the embedder, and is compared with numbers of the same one alone.
    """
    return lacking(facts, ("answer", "references")) or _cosine(facts, "similarity")


@mean_of_answers(
    "answers.relevance",
    better="higher",
    bounds=(-1, 1),
    needs=("row", "relevance", "missing"),
)
def relevance(facts: AnswerFacts) -> Row | Absent:
    """Cosine of the question and the answer: whether the answer keeps to the subject.

    An answer that only repeats the question has 1; `answer_relevancy` asks more.
    """
    return lacking(facts, ("question", "answer")) or _cosine(facts, "relevance")


def _cosine(facts: AnswerFacts, field: str) -> Row | Absent:
    cosine: float | None = getattr(facts, field)
    if cosine is None:
        return Absent(facts.missing.get(field, UNASKED))
    return cosine_row(cosine)


METRICS: tuple[Metric, ...] = (
    *(judged_metric(definition, source) for source in SOURCES for definition in DEFINITIONS),
    rubric,
    semantic_similarity,
    relevance,
)
