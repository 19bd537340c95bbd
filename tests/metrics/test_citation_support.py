"""Citation precision, recall and misattribution, counted by hand."""

from __future__ import annotations

import pytest
from msgspec import structs

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.metric import Absent, Row
from ragauge.metrics.answers import (
    BLANK_CONTEXTS,
    CONTEXTS_UNKNOWN,
    EMPTY_ANSWER,
    NO_ANSWER,
    NOTHING_RETRIEVED,
    REFUSED,
    AnswerFacts,
)
from ragauge.metrics.groundedness import (
    NO_CITATION,
    NO_CLAIM_CITES,
    NOT_ASKED,
    citation_precision,
    citation_recall,
    cited_facts,
    misattributed,
)

OPENED, DESIGNED = (
    "The museum opened in Amsterdam in 1808.",
    "Pierre Cuypers designed the building.",
)
ANSWER = (
    "The museum opened in Amsterdam in 1808 [1][2]. "  # 1 supports, 2 does not
    "Pierre Cuypers designed the building [1]. "  # stands in 2
    "Napoleon bought every painting [2]. "  # stands nowhere
    "The building was finished late. "  # cites nothing
    "Do you want to know more?"  # claims nothing
)


def counts(metric, *given, **more):
    found = metric(cited_facts(*given, **more))
    return found.counts if isinstance(found, Row) else found


def test_by_hand():
    assert counts(citation_precision, ANSWER, OPENED, DESIGNED) == (1, 4)
    assert counts(citation_recall, ANSWER, OPENED, DESIGNED) == (1, 4)
    assert counts(misattributed, ANSWER, OPENED, DESIGNED) == (1, 3)


def test_reasons_name_the_sentence_and_the_contexts():
    facts = cited_facts(ANSWER, OPENED, DESIGNED)
    assert '2 does not support "The museum opened' in citation_precision(facts).reason
    assert 'no citation: "The building was finished late."' in citation_recall(facts).reason
    assert misattributed(facts).reason.startswith("stands in 2, not in the cited 1: ")


def test_a_perfect_answer():
    answer = "The museum opened in Amsterdam in 1808 [1]. Pierre Cuypers designed the building [2]."
    assert counts(citation_precision, answer, OPENED, DESIGNED) == (2, 2)
    assert counts(citation_recall, answer, OPENED, DESIGNED) == (2, 2)
    assert counts(misattributed, answer, OPENED, DESIGNED) == (0, 2)


def test_a_list_is_one_citation_for_all_sentences():
    answer = "The museum opened in Amsterdam in 1808. Pierre Cuypers designed the building."
    given = (answer, OPENED, DESIGNED, "Flash is not allowed.")
    assert counts(citation_precision, *given, cited=("1", "2", "3")) == (2, 3)
    assert counts(citation_recall, *given, cited=("1", "2", "3")) == (2, 2)
    assert counts(citation_recall, *given, cited=("1",)) == (1, 2)
    assert counts(misattributed, *given, cited=("1",)) == (1, 2)


def test_an_unknown_marker_counts_against_precision():
    answer = "The museum opened in Amsterdam in 1808 [1][9]."
    assert counts(citation_precision, answer, OPENED) == (1, 2)
    assert counts(citation_recall, answer, OPENED) == (1, 1)


def test_an_answer_without_citations_is_absent_unless_it_says_so():
    assert counts(citation_precision, OPENED, OPENED) == NO_CITATION
    assert counts(citation_recall, OPENED, OPENED) == NO_CITATION
    assert counts(misattributed, OPENED, OPENED) == NO_CITATION
    assert counts(citation_recall, OPENED, OPENED, cited=()) == (0, 1)
    assert counts(citation_precision, OPENED, OPENED, cited=()) == NO_CITATION


def test_where_only_what_claims_nothing_cites():
    answer = "Yes [1]. Pierre Cuypers designed the building."
    assert counts(citation_precision, answer, OPENED) == NO_CLAIM_CITES
    assert counts(misattributed, answer, OPENED) == NO_CLAIM_CITES
    assert counts(citation_recall, answer, OPENED) == (0, 1)


@pytest.mark.parametrize("metric", [citation_precision, citation_recall, misattributed])
def test_what_is_not_there_is_absent_with_its_reason(metric):
    facts = cited_facts(ANSWER, OPENED)
    row = facts.row
    assert metric(structs.replace(facts, refused=True)) == REFUSED
    assert metric(structs.replace(facts, citations=None)) == Absent(NOT_ASKED)
    failed = structs.replace(facts, citations=None, missing={"citations": "out of memory"})
    assert metric(failed) == Absent("out of memory")
    assert metric(AnswerFacts(row=AnswerRow(id="a", answer=None))) == NO_ANSWER
    assert metric(AnswerFacts(row=AnswerRow(id="a", answer=" "))) == EMPTY_ANSWER
    assert metric(AnswerFacts(row=structs.replace(row, contexts=None))) == CONTEXTS_UNKNOWN
    assert metric(cited_facts("It opened [1].")) == NOTHING_RETRIEVED
    assert metric(cited_facts("It opened [1].", " ")) == BLANK_CONTEXTS


def test_over_a_set_citations_are_pooled():
    import numpy as np

    rows = [citation_precision(cited_facts(ANSWER, OPENED, DESIGNED)).counts, (2, 2)]
    assert citation_precision.finish(np.array(rows).sum(axis=0)) == 0.5
