"""The lexical judge: the same metrics from sentences and a supporter, with no model."""

import pytest
from msgspec import structs

from ragauge.contracts.answers import AnswerRow, Context
from ragauge.contracts.metric import Absent
from ragauge.metrics.answers import AnswerFacts
from ragauge.metrics.claims import answer_addresses, reference_addresses
from ragauge.metrics.judged import METRICS
from ragauge.models.embedders import NgramEmbedder
from ragauge.models.judging import lexical_claims, likened

LEXICAL = [metric for metric in METRICS if metric.name.startswith("lexical_")]


class WordForWord:
    """A passage supports the sentences that stand in it."""

    id = "word-for-word/1"

    def supports(self, claim, passage):
        return claim.rstrip(".") in passage

    def table(self, claims, passages):
        return [[self.supports(claim, passage) for passage in passages] for claim in claims]


ROW = AnswerRow(
    id="r",
    question="Where is Ede?",
    answer="Ede is in Gelderland. It is red. It is big. It is tall.",
    contexts=(Context("a", "Ede is in Gelderland. It is old."), Context("b", "It is red.")),
    references=("Ede is in Gelderland. It is old. It is big. It is far.", "Ede"),
)


def claims_of(row=ROW, **options):
    return lexical_claims(row, WordForWord(), **options)


def values(row, **options):
    claims = likened([(row.question, claims_of(row, **options))], NgramEmbedder())[0]
    facts = AnswerFacts(row=row, lexical_claims=claims)
    return {metric.name.removeprefix("lexical_"): metric(facts) for metric in LEXICAL}


def test_sentences_are_claims_with_their_places():
    claims = claims_of()
    texts = [claim.text for claim in claims.answer]
    assert texts == ["Ede is in Gelderland.", "It is red.", "It is big.", "It is tall."]
    assert [ROW.answer[slice(*claim.span)] for claim in claims.answer] == texts
    assert claims.judge == "lexical word-for-word/1"
    assert claims.questions == tuple(texts) and claims.errors == ()
    assert claims_of(structs.replace(ROW, answer="?! …")).answer == ()


def test_every_sentence_ends_at_its_address():
    claims = claims_of()
    assert answer_addresses(claims) == (
        "grounded",
        "misled_by_noise",
        "self_knowledge",
        "invented",
    )
    assert reference_addresses(claims) == ("said", "unused", "said", "retriever_missed")
    assert claims.useful == (True, False)


def test_every_metric_has_a_value_without_an_endpoint():
    assert len(LEXICAL) == 11
    assert not any(isinstance(row, Absent) for row in values(ROW).values())


def test_a_refusal_claims_nothing_and_evades():
    row = structs.replace(ROW, answer="not in context")
    found = values(row, refused=True)
    assert found["faithfulness"] == Absent("the answer makes no claim")
    assert found["answer_relevancy"].counts == (0, 1)
    assert found["claim_recall"].counts == (0, 1)


@pytest.mark.parametrize(
    "answer",
    [
        "not in context",
        "“Not in context.”",
        "The documents do not say where it is.",
        "De documenten vermelden niet waar het ligt.",
        "Die Dokumente enthalten dazu keine Angaben.",
    ],
)
def test_an_answer_that_says_it_has_none_claims_nothing_at_any_strength(answer):
    row = structs.replace(ROW, answer=answer)
    claims, found = claims_of(row), values(row)
    assert claims.answer == () and claims.noncommittal is True
    assert found["answer_relevancy"].counts == (0, 1)
    for name in ("faithfulness", "hallucination", "self_knowledge", "claim_precision"):
        assert found[name] == Absent("the answer makes no claim")
    assert found["claim_recall"].counts == (0, 1)
    assert found == values(row, refused=True)


def test_an_answer_that_notes_a_gap_beside_a_claim_is_an_answer():
    row = structs.replace(ROW, answer="Ede is in Gelderland. The documents do not say more.")
    claims = claims_of(row)
    assert claims.noncommittal is False and len(claims.answer) == 2


def test_a_reference_without_a_word_makes_no_context_useless_and_no_claim_wrong():
    row = structs.replace(ROW, references=("!!!",))
    claims, found = claims_of(row), values(row)
    assert claims.useful is None and {claim.other for claim in claims.answer} == {None}
    for name in ("context_precision", "context_recall", "claim_precision", "hallucination"):
        assert found[name] == Absent("no reference has a word")
    beside = structs.replace(ROW, references=(*ROW.references, "!!!", "—"))
    assert claims_of(beside) == claims_of()


@pytest.mark.parametrize(
    ("changed", "absent", "kept"),
    [
        ({"contexts": None}, {"faithfulness", "context_recall"}, "claim_recall"),
        ({"references": ()}, {"claim_precision", "context_recall"}, "faithfulness"),
        ({"answer": None}, {"faithfulness", "claim_recall"}, "context_recall"),
        ({"question": None}, {"answer_relevancy"}, "faithfulness"),
    ],
)
def test_what_a_row_lacks_is_absent_and_never_false(changed, absent, kept):
    found = values(structs.replace(ROW, **changed))
    assert all(isinstance(found[name], Absent) for name in absent)
    assert not isinstance(found[kept], Absent)


def test_contexts_that_are_not_told_of_give_no_verdict():
    claims = claims_of(structs.replace(ROW, contexts=None))
    assert claims.chunks is None and claims.useful is None
    assert {claim.chunks for claim in claims.answer} == {()}
    nothing = claims_of(structs.replace(ROW, contexts=()))
    assert nothing.chunks == 0 and nothing.useful == ()


def test_where_nothing_was_retrieved_only_recall_of_the_contexts_has_a_value():
    found = values(structs.replace(ROW, contexts=()))
    absent = Absent("no context was retrieved")
    for name in ("faithfulness", "self_knowledge", "hallucination", "noise_sensitivity"):
        assert found[name] == found["context_precision"] == absent
    assert found["context_recall"].counts == (0, 1)


def test_an_answer_to_the_point_is_nearer_to_its_question():
    row = structs.replace(ROW, question="Where does the museum keep its drawings?")
    near = structs.replace(row, answer="The museum keeps its drawings in the depot.")
    far = structs.replace(row, answer="Bus 12 leaves at noon.")
    one, other = (values(answer)["answer_relevancy"].counts[0] for answer in (near, far))
    assert one > other
