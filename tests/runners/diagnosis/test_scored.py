"""Material from score rows: counts, claims, and what the rows do not allow to say."""

import pytest

from ragauge.contracts.answers import AnswerRow, Context
from ragauge.contracts.diagnosis import Threshold
from ragauge.grounding import Passages
from ragauge.grounding.model import shipped
from ragauge.ingest.scored.scored_file import read_scores
from ragauge.models.judging import lexical_claims
from ragauge.runners.answers.supporting import SentenceSupporter
from ragauge.runners.diagnosis import scored
from ragauge.runners.diagnosis.scored import LexicalClaims, address_counts, scored_material

OPENED = "The museum opened in 1885."
WHOLE = {
    "id": "a",
    "question": "When did it open?",
    "answer": OPENED,
    "ground_truth": OPENED,
    "contexts": [OPENED],
    "retrieved_ids": ["p1"],
    "gold_ids": ["p1"],
    "strata": {"country": "NL"},
    "faithfulness": 0.9,
}
CLAIMS = {
    "answer": [{"text": OPENED, "chunks": [True], "other": False}],
    "reference": [{"text": OPENED, "chunks": [True], "other": False}],
}
ALWAYS = ("no_payloads", "no_other_wordings", "no_replay")
"""What score rows never tell."""


def material(*rows, **options):
    return scored_material(read_scores(rows), **options)


def without(*names):
    return {name: value for name, value in WHOLE.items() if name not in names}


def test_a_score_says_over_how_many_it_was_taken():
    found = material(WHOLE, {"id": "b", "faithfulness": None}).metrics["faithfulness"]
    assert (found.score.value, found.score.n, found.score.of) == (0.9, 1, 2)
    assert found.score.signature == "faithfulness|mean|n:1"
    assert found.invalid == {"null": 1}


@pytest.mark.parametrize(
    ("metric", "value", "valid"),
    [
        ("faithfulness", 85.0, False),
        ("faithfulness", -0.1, False),
        ("faithfulness", 1.0, True),
        ("faithfulness", 0.0, True),
        ("faithfulness", 1 + 1e-12, True),
        ("noise_sensitivity", 1.2, False),
        ("semantic_similarity", -0.2, True),
        ("answer_relevancy", -1.1, False),
        ("tone", 85.0, True),
    ],
)
def test_a_value_that_a_metric_cannot_have_is_none(metric, value, valid):
    rows = [{"id": id, metric: number} for id, number in (("a", 0.5), ("b", value), ("c", value))]
    found = material(*rows).metrics[metric]
    assert found.score.n == (3 if valid else 1)
    assert found.invalid == ({} if valid else {"out_of_range": 2})


def test_a_metric_without_a_value_has_a_reason():
    found = material({"id": "a", "faithfulness": "n/a", "tone": 1.0}).metrics["faithfulness"]
    assert (found.score.value, found.score.reason) == (None, "no valid value")


def test_the_thresholds_of_the_user_take_the_place_of_ours():
    own = Threshold(better="lower", warning=0.1, critical=None)
    found = material({"id": "a", "faithfulness": 0.9, "tone": 1.0}, limits={"tone": own}).metrics
    assert (found["tone"].limits, found["tone"].better) == (own, "lower")
    assert found["faithfulness"].limits.warning == 0.7


def test_every_row_has_a_case_and_features():
    found = material(WHOLE, {"id": "b", "faithfulness": 0.1})
    assert [case.id for case in found.cases] == ["a", "b"]
    assert found.features["a"]["country"] == "NL"
    assert found.features["a"]["first_relevant"] == "first"
    assert found.coverage == {"samples": 2, "rejected": 0, "claims": 1}
    assert found.identity["form"] == "rows"


def test_the_first_relevant_passage_is_told_by_ids_or_else_by_claims():
    late = {**WHOLE, "retrieved_ids": ["p9", "p1"], "contexts": ["x", "y"]}
    never = {**WHOLE, "retrieved_ids": ["p9"]}
    by_claims = {**without("gold_ids", "retrieved_ids"), "claims": CLAIMS}
    unknown = without("gold_ids", "contexts", "ground_truth")
    for row, expected in (
        (late, "second_or_third"),
        (never, "never"),
        (by_claims, "first"),
        (unknown, None),
    ):
        assert material(row).features["a"].get("first_relevant") == expected


# Claims.


def test_claims_that_a_row_brings_are_believed():
    found = material({**WHOLE, "claims": CLAIMS}).addresses
    assert (found.source, found.answer) == ("imported", {"misled_by_relevant": 1})


def test_the_other_claims_are_judged_by_words_where_that_is_wanted():
    rows = {**WHOLE, "claims": CLAIMS}, {**WHOLE, "id": "b"}
    both, brought = material(*rows).addresses, material(*rows, lexical=False).addresses
    assert (both.samples, both.source) == (2, "imported, lexical")
    assert (brought.samples, brought.source) == (1, "imported")


@pytest.mark.parametrize("lacking", [("answer",), ("contexts", "ground_truth")])
def test_without_an_answer_or_anything_to_hold_it_against_there_are_no_claims(lacking):
    assert material(without(*lacking)).addresses is None


def test_no_claims_have_no_addresses():
    assert address_counts([]) is None


def judged(found):
    """The samples whose claims were looked at: only these tell how many passages they rest on."""
    return [case.id for case in found.cases if "several_sources" in case.signs]


def test_of_many_samples_those_with_the_lowest_scores_are_taken_apart(monkeypatch):
    monkeypatch.setattr(scored, "CLAIMED", 2)
    values = {"a": 0.9, "b": 0.1, "c": 0.5, "d": 0.5}
    rows = [{**WHOLE, "id": id, "faithfulness": value} for id, value in values.items()]
    found = material(*rows)
    assert judged(found) == ["b", "c"]
    assert found.coverage["claims"] == 2
    assert found.findings.counts["claims_of_some"] == 1


def test_of_a_metric_that_is_better_when_lower_the_highest_are_taken_apart(monkeypatch):
    monkeypatch.setattr(scored, "CLAIMED", 1)
    rows = [
        {**without("faithfulness"), "id": id, "noise_sensitivity": value}
        for id, value in {"a": 0.1, "b": 0.9}.items()
    ]
    assert judged(material(*rows)) == ["b"]


def test_claims_are_those_of_the_judge_by_words_however_often_they_are_met():
    plain = SentenceSupporter(shipped(), "qa", Passages)
    taken = LexicalClaims()
    for answer in (OPENED, "The museum opened in 1801.", OPENED):
        told = ("a", "When did it open?", answer, OPENED, (Context("1", OPENED),))
        names = ("id", "question", "answer", "references", "contexts")
        row = AnswerRow(**dict(zip(names, (*told[:3], (OPENED,), told[4]), strict=True)))
        assert taken.of(*told) == lexical_claims(row, plain)


@pytest.mark.parametrize(
    ("scores", "differs"),
    [
        ({"faithfulness": 0.1}, True),
        ({"context_recall": 0.1}, True),
        ({"faithfulness": 0.9}, False),
    ],
)
def test_a_judge_who_finds_low_what_the_words_bear_out_is_a_finding(scores, differs):
    rows = [{**without("faithfulness"), "id": id, **scores} for id in "abc"]
    kept = material(*rows).findings.kept()
    assert [one.code for one in kept] == ["judge_and_words_differ"] * differs
    assert all("3 of them" in one.message for one in kept)


def test_a_judge_who_mostly_agrees_with_the_words_is_no_finding():
    wrong = {**WHOLE, "answer": "Rembrandt sold nine horses.", "faithfulness": 0.1}
    rows = [{**wrong, "id": "a"}, {**WHOLE, "id": "b", "faithfulness": 0.1}]
    assert "judge_and_words_differ" not in material(*rows).findings.counts
    assert "judge_and_words_differ" in material(*rows, {**rows[1], "id": "c"}).findings.counts


def test_a_row_whose_claims_were_passed_over_counts_among_those_that_show_nothing(monkeypatch):
    monkeypatch.setattr(scored, "CLAIMED", 1)
    rows = [{**WHOLE, "id": id, "faithfulness": value} for id, value in (("a", 0.9), ("b", 0.1))]
    passed_over, looked_at = material(*rows).cases
    assert "left_out" in passed_over.looked_for & looked_at.looked_for
    assert "several_sources" not in passed_over.signs
    bare = [{"id": "a", "faithfulness": 0.9}]
    assert "left_out" not in material(*bare).cases[0].looked_for


def test_scores_of_others_are_what_a_cause_is_claimed_by():
    assert material(WHOLE).by_scores


def test_progress_is_told_for_each_sample_that_is_looked_at():
    seen = []
    rows = [{**WHOLE, "id": id} for id in "abc"]
    material(*rows, progress=lambda done, of: seen.append((done, of)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


# What is not known.


def test_rows_that_have_all_leave_only_what_rows_never_tell():
    told = material({**WHOLE, "claims": CLAIMS}).unknown
    assert set(told) == set(ALWAYS)
    assert set(material(WHOLE).unknown) == {*ALWAYS, "lexical_claims"}


@pytest.mark.parametrize(
    ("field", "key"),
    [
        ("contexts", "no_contexts"),
        ("ground_truth", "no_reference"),
        ("retrieved_ids", "no_retrieved_ids"),
        ("gold_ids", "no_gold"),
        ("strata", "no_strata"),
    ],
)
def test_what_no_row_has_is_said(field, key):
    assert key in material(without(field)).unknown
    assert key not in material(without(field), {**WHOLE, "id": "b"}).unknown


def test_without_claims_no_error_has_an_address():
    told = material(WHOLE, lexical=False).unknown
    assert "no_claims" in told
    assert "lexical_claims" not in told
