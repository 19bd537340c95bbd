"""Similarity: cosines as they are, and reasons where there is none."""

import numpy as np
import pytest

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.metric import Absent
from ragauge.metrics.answers import AnswerFacts
from ragauge.metrics.judged import relevance, semantic_similarity

ROW = AnswerRow(id="r", question="Where?", answer="In Ede.", references=("Ede",))


def value(metric, facts):
    return float(metric.finish(np.array(metric(facts).counts)))


def test_a_cosine_is_shown_as_it_is_below_zero_too():
    facts = AnswerFacts(row=ROW, similarity=-0.25, relevance=0.5)
    assert value(semantic_similarity, facts) == -0.25
    assert value(relevance, facts) == 0.5
    assert semantic_similarity.bounds == relevance.bounds == (-1, 1)


def test_what_single_precision_adds_is_taken_off():
    assert value(relevance, AnswerFacts(row=ROW, relevance=1.0000001)) == 1.0
    assert value(relevance, AnswerFacts(row=ROW, relevance=-1.0000001)) == -1.0


@pytest.mark.parametrize(
    ("metric", "row", "reason"),
    [
        (semantic_similarity, {"answer": None}, "no answer: the row has none"),
        (semantic_similarity, {"references": ()}, "no reference"),
        (semantic_similarity, {}, "no embedder was asked"),
        (relevance, {"question": None}, "no question"),
        (relevance, {"answer": ""}, "no answer: it is empty"),
        (relevance, {}, "no embedder was asked"),
    ],
)
def test_absent_with_its_reason(metric, row, reason):
    fields = {"question": "Where?", "answer": "In Ede.", "references": ("Ede",), **row}
    assert metric(AnswerFacts(row=AnswerRow(id="r", **fields))) == Absent(reason)


def test_a_failed_embedder_is_the_reason():
    facts = AnswerFacts(row=ROW, missing={"similarity": "the embedder failed: http_500"})
    assert semantic_similarity(facts) == Absent("the embedder failed: http_500")
