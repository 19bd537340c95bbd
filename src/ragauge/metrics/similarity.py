"""Similarity by an embedder: how near an answer is to its reference, and to its question.

Cosines say that two texts speak of the same; no embedder tells a contradiction from a
paraphrase, so that neither of these is ever called correctness.
"""

from __future__ import annotations

from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.judged import lacking
from ragauge.metrics.judged_measures import cosine_row
from ragauge.metrics.overlap_references import mean_of_answers

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


METRICS: tuple[Metric, ...] = (semantic_similarity, relevance)


def _cosine(facts: AnswerFacts, field: str) -> Row | Absent:
    cosine: float | None = getattr(facts, field)
    if cosine is None:
        return Absent(facts.missing.get(field, UNASKED))
    return cosine_row(cosine)
