"""Judged metrics: the published definitions, the mended faults, and what is absent."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.answers import AnswerRow, Context
from ragauge.contracts.claims import AnswerClaims, Claim, RubricScore
from ragauge.contracts.metric import Absent, NotApplicable
from ragauge.metrics.answers import AnswerFacts
from ragauge.metrics.judged import DEFINITIONS, METRICS, relevance, semantic_similarity

BY_ID = {metric.id: metric for metric in METRICS}
NAMES = [definition.name for definition in DEFINITIONS]
ROW = AnswerRow(
    id="r",
    question="Where is it?",
    answer="It is in Ede.",
    contexts=(Context("c1", "one"), Context("c2", "two")),
    references=("It is in Ede.",),
)


def measured(name, claims, row=ROW, field="claims", **facts):
    return BY_ID[f"answers.{name}"](AnswerFacts(row=row, **{field: claims}, **facts))


def value(name, claims, row=ROW, field="claims", **facts):
    metric = BY_ID[f"answers.{name}"]
    found = measured(name, claims, row, field, **facts)
    return None if isinstance(found, Absent) else float(metric.finish(np.array(found.counts)))


def judged(answer=(), reference=(), **more):
    """Claims as (text, chunks, other)."""

    def made(claims):
        return tuple(Claim(text=text, chunks=chunks, other=other) for text, chunks, other in claims)

    return AnswerClaims(
        judge="j", answer=made(answer), reference=made(reference), **{"chunks": 2, **more}
    )


T, F = True, False
SAMPLE = judged(
    answer=[
        ("right, in a chunk", (T, F), T),
        ("right, in none", (F, F), T),
        ("wrong, from the relevant one", (T, F), F),
        ("wrong, from noise", (F, T), F),
        ("wrong, from nowhere", (F, F), F),
    ],
    reference=[
        ("said", (T, F), T),
        ("unused", (T, F), F),
        ("missed", (F, F), F),
        ("said though missed", (F, F), T),
    ],
    useful=(F, T),
    questions=("a?", "b?", "c?"),
    likeness=(0.5, 0.25, 0.75),
    noncommittal=False,
)
WORKED = {
    "faithfulness": 3 / 5,
    "self_knowledge": 1 / 5,
    "hallucination": 1 / 5,
    "noise_sensitivity": 1 / 5,
    "noise_sensitivity_irrelevant": 1 / 5,
    "claim_precision": 2 / 5,
    "claim_recall": 2 / 4,
    "factual_correctness": 2 * 0.4 * 0.5 / 0.9,
    "context_precision": 1 / 2,
    "context_recall": 2 / 4,
    "answer_relevancy": 0.5,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_worked_by_hand(name):
    assert value(name, SAMPLE) == pytest.approx(WORKED[name], abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_lexical_twin_is_the_same_definition_over_the_other_claims(name):
    lexical = f"lexical_{name}"
    assert value(lexical, SAMPLE, field="lexical_claims") == value(name, SAMPLE)
    assert isinstance(measured(lexical, SAMPLE), Absent)
    assert isinstance(measured(name, SAMPLE, field="lexical_claims"), Absent)
    ours, theirs = BY_ID[f"answers.{name}"], BY_ID[f"answers.{lexical}"]
    assert (ours.better, ours.bounds) == (theirs.better, theirs.bounds)
    assert theirs.summary.startswith("By words alone") and "supporter" in theirs.explanation


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_is_explained_by_those_of_its_own_judge(name):
    ours, theirs = BY_ID[f"answers.{name}"], BY_ID[f"answers.lexical_{name}"]
    named = [set(re.findall(r"`(\w+)`", metric.doc)) for metric in (ours, theirs)]
    known = named[0] & set(NAMES)
    assert named[1] - {"relevant", "irrelevant"} == {f"lexical_{other}" for other in known}


def test_recall_is_over_the_claims_of_the_reference():
    """The mixed formula, tp / (tp + fn), would give (3 / (3 + 1)) here, and F1 6/7."""
    claims = judged(
        answer=[("a", (), T), ("b", (), T), ("c", (), T)],
        reference=[("said", (), T), ("not said", (), F)],
    )
    assert value("claim_recall", claims) == 0.5
    assert value("claim_precision", claims) == 1.0
    assert value("factual_correctness", claims) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("useful", "expected"),
    [
        ((T, F), 1.0),
        ((F, T), 0.5),
        ((T, F, T), (1 + 2 / 3) / 2),
        ((F, T, T, F, T), (1 / 2 + 2 / 3 + 3 / 5) / 3),
        ((F, F), 0.0),
        ((T, T, T), 1.0),
    ],
)
def test_context_precision_is_average_precision_over_the_useful_contexts(useful, expected):
    claims = judged(useful=useful, chunks=len(useful))
    assert value("context_precision", claims) == pytest.approx(expected, abs=1e-12)


def test_reasons_name_the_claims_that_speak_against():
    assert measured("faithfulness", SAMPLE).reason == (
        'not in the contexts: "right, in none", "wrong, from nowhere"'
    )
    assert measured("hallucination", SAMPLE).reason == (
        'wrong, and in no context: "wrong, from nowhere"'
    )
    assert measured("factual_correctness", SAMPLE).reason == (
        'wrong: "wrong, from the relevant one", "wrong, from noise", "wrong, from nowhere"; '
        'not said: "unused", "missed"'
    )
    assert measured("context_precision", SAMPLE).reason == "not useful: chunk 1"


def test_a_reason_quotes_three_claims_and_counts_the_others():
    claims = judged(answer=[(f"{n} " + "x" * 300, (F, F), F) for n in range(5)])
    reason = measured("faithfulness", claims).reason
    assert reason.endswith("and 2 more") and reason.count('"') == 6
    assert len(reason) < 600


def test_an_answer_without_claims_has_no_share_of_them():
    claims = judged(answer=[], reference=[("not said", (F, F), F)])
    no_claim = Absent("the answer makes no claim")
    assert measured("faithfulness", claims) == no_claim
    assert measured("claim_precision", claims) == no_claim
    assert value("claim_recall", claims) == 0.0
    assert value("factual_correctness", claims) == 0.0
    assert measured("factual_correctness", claims).reason == no_claim.reason


def test_a_reference_without_claims_leaves_correctness_open():
    claims = judged(answer=[("a", (T, F), F)])
    for name in ("claim_recall", "factual_correctness", "context_recall"):
        assert measured(name, claims) == Absent("the reference makes no claim")
    for name in ("noise_sensitivity", "noise_sensitivity_irrelevant", "context_precision"):
        assert measured(name, claims) == Absent("the reference makes no claim")
    assert (value("hallucination", claims), value("claim_precision", claims)) == (0.0, 0.0)


def test_nothing_retrieved_is_the_retrievers_fault_alone():
    row = AnswerRow(id="r", answer="a", question="q", contexts=(), references=("b",))
    claims = judged([("a", (), F)], [("b", (), F)], chunks=0, useful=())
    for name in (*NAMES[:5], "context_precision"):
        assert measured(name, claims, row) == Absent("no context was retrieved")
    assert value("context_recall", claims, row) == 0.0
    assert value("claim_precision", claims, row) == 0.0


@pytest.mark.parametrize(
    ("name", "row", "reason"),
    [
        ("faithfulness", {"answer": None}, "no answer: the row has none"),
        ("faithfulness", {"answer": " \n"}, "no answer: it is empty"),
        ("faithfulness", {"contexts": None}, "the row tells nothing of contexts"),
        ("faithfulness", {"contexts": (Context("c", " "),)}, "every context is blank"),
        ("context_recall", {"contexts": None}, "the row tells nothing of contexts"),
        ("context_precision", {"references": ("!!!", " ")}, "no reference has a word"),
        ("claim_precision", {"references": ("!!!",)}, "no reference has a word"),
        ("factual_correctness", {"references": ()}, "no reference"),
        ("context_precision", {"references": ()}, "no reference"),
        ("answer_relevancy", {"question": None}, "no question"),
        ("rubric", {"answer": None}, "no answer: the row has none"),
    ],
)
def test_what_the_row_lacks_is_the_reason(name, row, reason):
    fields = {
        "answer": "a",
        "question": "q",
        "contexts": ROW.contexts,
        "references": ROW.references,
    }
    given = AnswerRow(id="r", **{**fields, **row})
    facts = AnswerFacts(row=given, claims=SAMPLE, rubric=RubricScore(score=5, reason="good"))
    assert BY_ID[f"answers.{name}"](facts) == Absent(reason)


def test_a_failed_judge_is_absent_with_what_failed_and_never_zero():
    failing = AnswerClaims(judge="j", chunks=2, errors=("claims: http_500: busy",))
    for name in NAMES[:8]:
        assert measured(name, failing) == Absent("the judge failed: http_500: busy")
    errors = ("chunk 2: timeout: no reply", "agreement: http_400: bad", "questions: hung: gone")
    half = judged([("a", (T, None), None)], [("b", (T, None), None)], errors=errors)
    assert measured("faithfulness", half) == Absent("the judge failed: timeout: no reply")
    assert measured("context_recall", half) == Absent("the judge failed: timeout: no reply")
    assert measured("claim_recall", half) == Absent("the judge failed: http_400: bad")
    assert measured("answer_relevancy", half) == Absent("the judge failed: hung: gone")
    useful = judged(useful=(T, None), errors=errors)
    assert measured("context_precision", useful) == Absent("the judge failed: timeout: no reply")


def test_what_was_not_asked_is_said_so():
    assert measured("faithfulness", None) == Absent("no judge was asked")
    told = measured("faithfulness", None, missing={"claims": "the budget is spent"})
    assert told == Absent("the budget is spent")
    unasked = AnswerClaims(judge="j", chunks=2)
    assert measured("context_precision", unasked) == Absent("the judge was not asked for it")


def test_claims_without_a_verdict_are_counted_in_the_reason():
    claims = judged([("known", (T, F), None), ("unknown", (T, None), None)])
    row = measured("faithfulness", claims)
    assert value("faithfulness", claims) == 1.0
    assert row.reason == "1 of 2 claims unjudged"


def test_a_claim_that_no_context_has_counts_whatever_its_reference_says():
    claims = judged([("known", (T, F), T), ("invented", (F, F), None)], [("b", (T, F), T)])
    assert value("faithfulness", claims) == 0.5
    assert value("claim_precision", claims) == 1.0
    assert measured("claim_precision", claims).reason == "1 of 2 claims unjudged"
    assert value("hallucination", claims) == 0.0
    assert measured("hallucination", claims).reason == "1 of 2 claims unjudged"
    lost = judged([("a", (T, F), T)], [("said", (T, None), T), ("not said", (F, F), F)])
    assert (value("claim_recall", lost), value("context_recall", lost)) == (0.5, 0.0)


def test_a_refusal_has_no_share_of_claims():
    claims = judged([], [("b", (T, F), F)], noncommittal=True)
    refusal = NotApplicable("the answer is a refusal: it claims nothing")
    for name in NAMES[:5]:
        assert measured(name, claims, refused=True) == refusal
    assert value("claim_recall", claims, refused=True) == 0.0
    assert value("context_recall", claims, refused=True) == 1.0
    assert value("answer_relevancy", claims, refused=True) == 0.0


def test_an_evasive_answer_has_no_relevancy_whatever_its_questions():
    evasive = judged(likeness=(1.0, 1.0, 1.0), noncommittal=True)
    assert value("answer_relevancy", evasive) == 0.0
    assert measured("answer_relevancy", evasive).reason == "the answer evades the question"
    unembedded = judged(questions=("a?",), noncommittal=False)
    assert measured("answer_relevancy", unembedded) == Absent("no embedder compared the questions")
    assert value("answer_relevancy", judged(likeness=(-0.5, 0.0), noncommittal=False)) == -0.25


def test_the_rubric_score_stays_within_its_own_bounds():
    good = RubricScore(score=4, reason="a detail is missing")
    assert value("rubric", None, rubric=good) == 4.0
    assert measured("rubric", None, rubric=good).reason == "a detail is missing"
    lost = RubricScore(score=None, reason="http_500: busy")
    assert measured("rubric", None, rubric=lost) == Absent("the judge failed: http_500: busy")
    assert measured("rubric", None) == Absent("no judge was asked")
    assert BY_ID["answers.rubric"].bounds == (1, 5)
    assert "answers.lexical_rubric" not in BY_ID


def test_over_a_set_answers_weigh_alike():
    metric = BY_ID["answers.faithfulness"]
    short = judged([("a", (F, F), None)])
    long = judged([("a", (T, F), None)] * 9)
    rows = [np.array(measured("faithfulness", claims).counts) for claims in (short, long)]
    assert float(metric.finish(sum(rows))) == 0.5


verdict = st.sampled_from((True, False, True, False, None))
claim = st.builds(
    Claim, text=st.text(max_size=4), chunks=st.tuples(verdict, verdict), other=verdict
)
some = st.lists(claim, max_size=5).map(tuple)
anything = st.builds(
    AnswerClaims,
    judge=st.just("j"),
    answer=st.none() | some,
    reference=st.none() | some,
    chunks=st.just(2),
    useful=st.none() | st.tuples(verdict, verdict),
    likeness=st.none() | st.lists(st.floats(-1, 1), max_size=3).map(tuple),
    noncommittal=verdict,
    errors=st.lists(st.sampled_from(("claims: a: b", "chunk 1: c")), max_size=2).map(tuple),
)


@given(anything)
def test_values_keep_within_bounds_and_the_identities_hold(claims):
    values = {name: value(name, claims) for name in NAMES}
    for name, found in values.items():
        low, high = BY_ID[f"answers.{name}"].bounds
        assert found is None or low <= found <= high
    if not all(None not in (*one.chunks, one.other) for one in claims.answer or ()):
        return
    shares = [values[name] for name in ("faithfulness", "self_knowledge", "hallucination")]
    if None not in shares:
        assert sum(shares) == pytest.approx(1, abs=1e-11)
    wrong = [
        values[name]
        for name in ("noise_sensitivity", "noise_sensitivity_irrelevant", "hallucination")
    ]
    if None not in wrong:
        assert sum(wrong) == pytest.approx(1 - values["claim_precision"], abs=1e-11)


LIKE = AnswerRow(id="r", question="Where?", answer="In Ede.", references=("Ede",))


def cosine(metric, facts):
    return float(metric.finish(np.array(metric(facts).counts)))


def test_a_cosine_is_shown_as_it_is_below_zero_too():
    facts = AnswerFacts(row=LIKE, similarity=-0.25, relevance=0.5)
    assert cosine(semantic_similarity, facts) == -0.25
    assert cosine(relevance, facts) == 0.5
    assert semantic_similarity.bounds == relevance.bounds == (-1, 1)


def test_what_single_precision_adds_is_taken_off():
    assert cosine(relevance, AnswerFacts(row=LIKE, relevance=1.0000001)) == 1.0
    assert cosine(relevance, AnswerFacts(row=LIKE, relevance=-1.0000001)) == -1.0


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
    facts = AnswerFacts(row=LIKE, missing={"similarity": "the embedder failed: http_500"})
    assert semantic_similarity(facts) == Absent("the embedder failed: http_500")
