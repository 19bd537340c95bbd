"""What went wrong in a scored sample: every symptom and every sign, from as little as it takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.answers import Context
from ragauge.contracts.claims import AnswerClaims, Claim
from ragauge.contracts.diagnosis import ScoreRow, Threshold
from ragauge.diagnosis.catalogue import symptoms
from ragauge.diagnosis.limits import SEVEN
from ragauge.diagnosis.scored_case import (
    BY_CLAIMS,
    LONG_CONTEXT_WORDS,
    LOWERS,
    MANY,
    PADDED_WORDS,
    scored_case,
)

WORD = "museum "
REFUSAL = "not in context"


def row(**told):
    return ScoreRow(**{"id": "s1", "question": "Who painted it?", "answer": "Vermeer did.", **told})


def passages(*texts):
    return tuple(Context(f"p{place}", text) for place, text in enumerate(texts, 1))


def claims(answer=(), reference=(), chunks=1):
    """Claims as pairs: what each passage says of it, and what the other text says."""

    def side(told):
        return tuple(Claim(text="It is.", chunks=by, other=other) for by, other in told)

    return AnswerClaims(
        judge="imported", answer=side(answer), reference=side(reference), chunks=chunks
    )


GROUNDED = ((True,), True)
INVENTED = ((False,), False)
OWN = ((False,), True)
UNUSED = ((True,), False)
SAID = ((True,), True)
MISSED = ((False,), False)

SHOWING = {
    "call_failed": (row(answer=" \n"), None),
    "missed": (row(gold_ids=("g",), retrieved_ids=("p1", "p2")), None),
    "partly_missed": (row(gold_ids=("g", "p1"), retrieved_ids=("p1", "p2")), None),
    "found_late": (row(gold_ids=("g",), retrieved_ids=("p1", "g")), None),
    "noisy": (row(gold_ids=("g",), retrieved_ids=("g", "p1", "p2")), None),
    "answered_unanswerable": (row(answerable=False), None),
    "refused_with_evidence": (row(answer=REFUSAL, values={"context_recall": 1.0}), None),
    "invented": (row(), claims([GROUNDED, INVENTED])),
    "own_knowledge": (row(), claims([OWN])),
    "misled_by_noise": (
        row(),
        claims([((False, True), False)], [((True, False), False)], chunks=2),
    ),
    "misread": (row(), claims([((True,), False)], [UNUSED])),
    "off_question": (row(values={"answer_relevancy": 0.2}), None),
    "padded": (
        row(answer=WORD * PADDED_WORDS, reference="Vermeer.", values={"answer_relevancy": 0.2}),
        None,
    ),
    "left_out": (row(), claims([GROUNDED], [SAID, UNUSED])),
    "reworded": (row(values={"semantic_similarity": 0.2, "factual_correctness": 0.9}), None),
    "uncited": (row(cited=()), None),
    "cites_wrong": (row(cited=("p1",), gold_ids=("g",), retrieved_ids=("g", "p1")), None),
}
"""By symptom, a sample that shows it."""
OF_TRACES = {
    "slow",
    *("stale", "refusal_form", "constraints_lost", "cites_unknown", "sections_mixed"),
    "offsets_off",
}
"""What only traces can show."""

SIGNS = {
    "needed_missing": [
        (True, row(values={"context_recall": 0.2}), None),
        (False, row(values={"context_recall": 0.7}), None),
        (None, row(), None),
    ],
    "needs_several": [
        (True, row(gold_ids=("a", "b"), retrieved_ids=("a",)), None),
        (True, row(), claims([GROUNDED], [SAID, SAID])),
        (False, row(gold_ids=("a",), retrieved_ids=("a",)), None),
        (None, row(values={"context_recall": 0.2}), None),
    ],
    "noise_first": [
        (True, row(gold_ids=("g",), retrieved_ids=("a", "g")), None),
        (False, row(gold_ids=("g",), retrieved_ids=("g", "a")), None),
        (None, row(gold_ids=("g",), retrieved_ids=("a",)), None),
    ],
    "late_evidence": [
        (True, row(gold_ids=("g",), retrieved_ids=("a", "b", "g")), None),
        (False, row(gold_ids=("g",), retrieved_ids=("a", "g", "b")), None),
        (None, row(retrieved_ids=("a",)), None),
    ],
    "many_passages": [
        (True, row(retrieved_ids=tuple("abcdefgh"[:MANY])), None),
        (True, row(contexts=passages(*["text"] * MANY)), None),
        (False, row(retrieved_ids=tuple("abcdefgh"[: MANY - 1])), None),
        (None, row(), None),
    ],
    "long_context": [
        (True, row(contexts=passages(WORD * LONG_CONTEXT_WORDS)), None),
        (False, row(contexts=passages("short")), None),
        (None, row(retrieved_ids=("a",)), None),
    ],
    "several_sources": [
        (
            True,
            row(),
            claims([((True, True), True)], [((True, False), True), ((False, True), True)], 2),
        ),
        (False, row(), claims([GROUNDED], [SAID])),
        (None, row(), None),
    ],
    "longer": [
        (True, row(answer=WORD * PADDED_WORDS, reference="Vermeer."), None),
        (False, row(answer=WORD * (PADDED_WORDS - 1), reference="Vermeer."), None),
        (None, row(answer=WORD * PADDED_WORDS), None),
    ],
    "shorter": [
        (True, row(answer="Vermeer.", reference="Jan Vermeer painted it."), None),
        (False, row(answer="Jan Vermeer.", reference="Jan Vermeer painted it."), None),
        (None, row(), None),
    ],
}


@pytest.mark.parametrize("symptom", SHOWING)
def test_a_symptom_that_a_sample_shows(symptom):
    assert symptom in scored_case(*SHOWING[symptom]).symptoms


def test_every_symptom_can_be_shown_by_a_sample_or_else_by_a_trace():
    assert set(SHOWING) | OF_TRACES == set(symptoms())


def test_a_sound_sample_shows_none_of_them_though_all_were_looked_for():
    sound = row(
        answer="Jan Vermeer painted it.",
        reference="Jan Vermeer painted it.",
        contexts=passages("Jan Vermeer painted it."),
        retrieved_ids=("p1",),
        gold_ids=("p1",),
        cited=("p1",),
        values={name: 0.0 if name == "noise_sensitivity" else 1.0 for name in SEVEN},
    )
    case = scored_case(sound, claims([GROUNDED], [SAID]))
    assert case.symptoms == frozenset()
    unanswerable = scored_case(row(answer=REFUSAL, answerable=False), None)
    refused = scored_case(row(answer=REFUSAL, values={"context_recall": 0.2}), None)
    looked = case.looked_for | unanswerable.looked_for | refused.looked_for
    assert looked == set(SHOWING)
    assert unanswerable.symptoms == frozenset()


@pytest.mark.parametrize("sign", SIGNS)
def test_a_sign_is_seen_not_seen_or_not_told(sign):
    for told, sample, judged in SIGNS[sign]:
        assert scored_case(sample, judged).signs.get(sign) is told


def test_a_row_with_nothing_tells_nothing():
    case = scored_case(ScoreRow(id="s1"), None)
    assert (case.looked_for, case.symptoms, case.signs) == (frozenset(), frozenset(), {})


# Passages.


@pytest.mark.parametrize(
    ("retrieved", "expected"),
    [
        (("g",), set()),
        (("g", "a"), set()),
        (("g", "a", "b"), {"noisy"}),
        (("a", "g"), {"found_late"}),
        (("a", "b", "g"), {"found_late", "noisy"}),
        (("a", "b"), {"missed"}),
        ((), {"missed"}),
    ],
)
def test_how_the_needed_passage_stands_among_the_others(retrieved, expected):
    sample = row(gold_ids=("g",), retrieved_ids=retrieved)
    assert scored_case(sample, None).symptoms == expected


@pytest.mark.parametrize(
    ("retrieved", "recall", "noisy"),
    [
        (("g", "a"), 0.9, True),
        (("a", "b"), 0.9, True),
        (("a", "b"), 0.1, False),
        (None, 0.1, True),
    ],
)
def test_a_low_precision_is_noise_unless_nothing_useful_was_found_at_all(retrieved, recall, noisy):
    scores = {"context_precision": 0.1, "context_recall": recall}
    sample = row(values=scores, gold_ids=("g",), retrieved_ids=retrieved)
    assert ("noisy" in scored_case(sample, None).symptoms) is noisy


def test_claims_of_the_reference_tell_what_was_missed_and_where_the_rest_stands():
    late = ((False, True), True)
    for reference, expected in (
        ([MISSED], {"missed"}),
        ([MISSED, SAID], {"partly_missed"}),
        ([SAID], set()),
    ):
        case = scored_case(row(), claims([GROUNDED], reference))
        assert case.symptoms & {"missed", "partly_missed"} == expected
    told = scored_case(row(contexts=passages("x", "y")), claims([late], [late], chunks=2))
    assert told.symptoms == {"found_late"}
    assert told.signs["noise_first"] is True


# Statements.

NOISE, READ = ((False, True), False), ((True, False), False)
NEEDED = [((True, False), False)]


@pytest.mark.parametrize(
    ("said", "scores", "expected"),
    [
        ([NOISE], {}, {"misled_by_noise"}),
        ([READ], {}, {"misread"}),
        ([READ, NOISE], {}, {"misled_by_noise"}),
        ([READ], {"noise_sensitivity": 0.9}, {"misread"}),
        ([NOISE], {"noise_sensitivity": 0.9}, {"misled_by_noise"}),
        ([((True, False), True)], {"noise_sensitivity": 0.9}, {"misled_by_noise", "left_out"}),
        ([NOISE], {"noise_sensitivity": 0.1, "factual_correctness": 0.9}, set()),
    ],
)
def test_which_passage_misled_the_answer(said, scores, expected):
    case = scored_case(row(values=scores), claims(said, NEEDED, chunks=2))
    assert case.symptoms & {"misled_by_noise", "misread", "left_out"} == expected


@pytest.mark.parametrize(
    ("said", "scores", "expected"),
    [
        ([OWN], {}, {"own_knowledge"}),
        ([OWN, INVENTED], {}, {"invented"}),
        ([GROUNDED], {"faithfulness": 0.1}, {"invented"}),
        ([OWN], {"faithfulness": 0.1}, {"own_knowledge"}),
        ([GROUNDED], {}, set()),
    ],
)
def test_what_no_passage_says_is_invented_or_known_otherwise(said, scores, expected):
    assert scored_case(row(values=scores), claims(said, [SAID])).symptoms == expected


def test_without_a_reference_what_no_passage_says_is_taken_for_invented():
    for by_passage, expected in ((True, frozenset()), (False, {"invented"})):
        judged = claims([((True,), None), ((by_passage,), None)])
        assert scored_case(row(), judged).symptoms == expected


@pytest.mark.parametrize("metric", ["answer_relevancy", "semantic_similarity"])
def test_a_long_answer_is_padded_where_it_is_off_the_question_or_far_from_its_reference(metric):
    long = {"answer": WORD * PADDED_WORDS, "reference": "Vermeer."}
    assert "padded" in scored_case(row(**long, values={metric: 0.1}), None).symptoms
    assert "padded" not in scored_case(row(**long), None).symptoms


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({"semantic_similarity": 0.1, "factual_correctness": 0.9}, {"reworded"}),
        ({"semantic_similarity": 0.1, "factual_correctness": 0.1}, set()),
        ({"semantic_similarity": 0.9, "factual_correctness": 0.9}, set()),
        ({"semantic_similarity": 0.1}, set()),
        ({"factual_correctness": 0.1, "faithfulness": 0.9, "context_recall": 0.1}, {"missed"}),
        ({"factual_correctness": 0.1, "faithfulness": 0.1, "context_recall": 0.9}, {"invented"}),
        ({"factual_correctness": 0.1, "faithfulness": 0.9}, set()),
    ],
)
def test_what_scores_come_to_together(scores, expected):
    assert scored_case(row(values=scores), None).symptoms == expected


# A judge's word is taken before what words can tell.


def test_a_judge_who_finds_the_answer_faithful_is_believed():
    case = scored_case(row(values={"faithfulness": 0.9}), claims([INVENTED]))
    assert "invented" in case.looked_for - case.symptoms


def test_a_judge_who_finds_all_retrieved_is_believed():
    sample = row(values={"context_recall": 0.9}, gold_ids=("g",), retrieved_ids=("p1",))
    assert scored_case(sample, None).symptoms.isdisjoint({"missed", "partly_missed"})


@pytest.mark.parametrize(
    ("recall", "symptom"), [(0.49, "missed"), (0.5, "partly_missed"), (0.69, "partly_missed")]
)
def test_a_critical_recall_is_a_miss_and_a_low_one_a_part_of_it(recall, symptom):
    told = scored_case(row(values={"context_recall": recall}), None).symptoms
    assert told & {"missed", "partly_missed"} == {symptom}


@pytest.mark.parametrize(
    ("metric", "symptom"),
    [
        ("faithfulness", "invented"),
        ("noise_sensitivity", "misled_by_noise"),
        ("context_precision", "noisy"),
        ("context_recall", "partly_missed"),
        ("answer_relevancy", "off_question"),
    ],
)
def test_scores_alone_show_a_symptom_beyond_the_threshold_and_not_at_it(metric, symptom):
    limits = SEVEN[metric]
    worse = -0.01 if limits.better == "higher" else 0.01
    for name in (metric, f"answers.{metric}", f"answers.lexical_{metric}"):
        at, past = (row(values={name: limits.warning + off}) for off in (0, worse))
        assert symptom in scored_case(at, None).looked_for - scored_case(at, None).symptoms
        assert symptom in scored_case(past, None).symptoms


def test_a_wrong_answer_that_is_faithful_to_all_that_was_needed_was_misread():
    scores = {"factual_correctness": 0.2, "faithfulness": 0.9, "context_recall": 0.9}
    assert scored_case(row(values=scores), None).symptoms == {"misread"}


def test_an_answer_that_was_led_astray_is_not_off_the_question_by_itself():
    strays = row(values={"answer_relevancy": 0.2, "context_recall": 0.1})
    assert scored_case(strays, None).symptoms == {"missed"}


@pytest.mark.parametrize("symptom", LOWERS)
def test_where_all_that_a_symptom_lowers_is_judged_fine_words_do_not_make_it_one(symptom):
    sample, judged = SHOWING[symptom]
    fine = {name: 0.1 if SEVEN[name].better == "lower" else 0.9 for name in LOWERS[symptom]}
    praised = ScoreRow(**{**fields_of(sample), "values": {**sample.values, **fine}})
    case = scored_case(praised, judged)
    assert symptom not in case.symptoms
    low = {name: 1.0 - value for name, value in fine.items()}
    blamed = ScoreRow(**{**fields_of(sample), "values": {**sample.values, **low}})
    assert scored_case(blamed, judged).symptoms


def fields_of(sample):
    return {name: getattr(sample, name) for name in sample.__struct_fields__}


def test_the_judged_metrics_that_symptoms_lower_are_known():
    assert set(LOWERS) <= set(SHOWING)
    assert {name for lowered in LOWERS.values() for name in lowered} <= set(SEVEN)


def test_thresholds_of_ones_own_decide_what_is_low():
    sample = row(values={"faithfulness": 0.8, "answers.noise_sensitivity": 0.2})
    strict = {
        "faithfulness": Threshold(better="higher", warning=0.9, critical=None),
        "noise_sensitivity": Threshold(better="lower", warning=0.1, critical=None),
    }
    assert scored_case(sample, None).symptoms == frozenset()
    assert scored_case(sample, None, strict).symptoms == {"invented", "misled_by_noise"}


def test_the_score_of_a_judge_comes_before_one_by_words():
    by_both = {"answers.lexical_faithfulness": 0.1, "answers.faithfulness": 0.9}
    assert scored_case(row(values=by_both), None).symptoms == frozenset()
    by_both = {"answers.lexical_faithfulness": 0.9, "faithfulness": 0.1}
    assert scored_case(row(values=by_both), None).symptoms == {"invented"}


def test_a_row_that_was_passed_over_is_taken_to_show_nothing_of_its_claims():
    looked, passed = (scored_case(row(), None, passed_over=flag) for flag in (False, True))
    assert passed.symptoms == looked.symptoms == frozenset()
    assert passed.looked_for == looked.looked_for | BY_CLAIMS
    assert set(SHOWING) >= BY_CLAIMS


def test_a_reference_that_refuses_says_that_there_is_no_answer():
    answered = row(reference="The documents do not say.", gold_ids=("g",), retrieved_ids=("p1",))
    assert scored_case(answered, None).symptoms == {"answered_unanswerable"}
    refused = row(answer=REFUSAL, reference=REFUSAL)
    assert scored_case(refused, None).symptoms == frozenset()


# What there is none of is not blamed.


@pytest.mark.parametrize("answer", ["", "  "])
def test_a_call_that_failed_is_no_bad_answer(answer):
    failed = row(
        answer=answer,
        answerable=False,
        reference="Jan Vermeer.",
        cited=(),
        gold_ids=("g",),
        values={"faithfulness": 0.0, "answer_relevancy": 0.0, "semantic_similarity": 0.0},
    )
    assert scored_case(failed, None).symptoms == {"call_failed"}


def test_an_answer_that_the_row_does_not_tell_was_neither_given_nor_refused():
    case = scored_case(row(answer=None, answerable=False), None)
    assert case.looked_for == frozenset()


def test_a_refusal_is_not_asked_for_citations_or_statements():
    refused = row(answer=REFUSAL, cited=(), values={"faithfulness": 0.0})
    assert scored_case(refused, None).symptoms == frozenset()


@pytest.mark.parametrize("found", [True, False])
def test_a_refusal_is_blamed_only_where_all_that_it_needs_is_there(found):
    refused = row(answer=REFUSAL, gold_ids=("g",), retrieved_ids=("g",) if found else ("p1",))
    assert ("refused_with_evidence" in scored_case(refused, None).symptoms) is found


def test_what_was_not_retrieved_could_not_be_cited():
    case = scored_case(row(cited=("p1",), gold_ids=("g",), retrieved_ids=("p1",)), None)
    assert "cites_wrong" in case.looked_for - case.symptoms


def test_something_wrong_in_the_place_of_what_is_missing_is_the_error_and_not_the_gap():
    case = scored_case(row(), claims([INVENTED], [UNUSED]))
    assert "left_out" in case.looked_for - case.symptoms
    assert "invented" in case.symptoms


def test_an_answer_that_says_more_than_its_reference_is_not_misled():
    more = claims([GROUNDED, ((True,), False)], [SAID])
    assert scored_case(row(), more).symptoms == frozenset()


def test_claims_without_a_verdict_show_nothing():
    unknown = ((None,), None)
    case = scored_case(row(), claims([unknown], [unknown]))
    assert case.looked_for == {"call_failed"}


# Whatever a row holds.

verdicts = st.sampled_from((True, False, None))
sides = st.lists(st.tuples(st.tuples(verdicts, verdicts), verdicts), max_size=4)
texts = st.sampled_from((None, "", " ", REFUSAL, "Vermeer.", WORD * 50))
ids = st.none() | st.lists(st.sampled_from("abc"), max_size=4).map(tuple)
scores = st.dictionaries(
    st.sampled_from((*SEVEN, "answers.lexical_faithfulness", "tone")),
    st.floats(allow_nan=False, allow_infinity=False) | st.floats(0, 1),
)


@given(
    st.builds(
        ScoreRow,
        id=st.just("s1"),
        question=texts,
        answer=texts,
        reference=texts,
        contexts=st.none()
        | st.lists(texts.map(lambda text: text or ""), max_size=3).map(
            lambda found: passages(*found)
        ),
        retrieved_ids=ids,
        cited=ids,
        gold_ids=ids,
        answerable=verdicts,
        values=scores,
    ),
    st.none() | st.builds(claims, sides, sides, st.just(2)),
)
def test_any_row_has_a_case_with_known_symptoms(sample, judged):
    case = scored_case(sample, judged)
    assert case.symptoms <= case.looked_for <= set(SHOWING)
    assert all(type(told) is bool for told in case.signs.values())
    assert {"missed", "partly_missed"} - case.symptoms
    assert {"invented", "own_knowledge"} - case.symptoms
    assert (case.id, case.sample) == ("s1", "s1")
