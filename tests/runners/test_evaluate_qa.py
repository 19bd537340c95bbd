"""`evaluate_qa`: answers joined to the questions of gold."""

import json

import pytest

from ragauge import evaluate_qa
from ragauge.errors import InputRejected, UsageError

GOLD = [
    {
        "qid": "q1",
        "question": "When did it open?",
        "answerable": True,
        "gold_answer": "In 1800.",
        "strata": {"question_type": "temporal"},
    },
    {"qid": "q2", "question": "Who founded it?", "answerable": True, "gold_answer": "Louis"},
    {"qid": "q3", "question": "Why?", "answerable": False, "gold_answer": "not in context"},
]
PREDICTED = [
    {"qid": "q3", "answer": "not in context"},
    {"q": " Who founded it?\n", "answer": "Louis did."},
    {"id": "q1", "response": "It opened in 1800.", "retrieved_contexts": ["It opened in 1800."]},
]


def evaluated(predicted=PREDICTED, gold=GOLD, **options):
    return evaluate_qa(gold, predicted, **{"intervals": False} | options)


def test_answers_are_joined_by_id_or_by_the_words_of_the_question():
    outcome = evaluated()
    report = outcome.report
    assert report.passed is None and report.task == "qa"
    assert report.coverage["questions"] == 3
    assert (report.coverage["missing"], report.coverage["unknown"]) == (0, 0)
    assert report.metrics["answers.token_recall"].value == 1.0
    assert [one.id for one in outcome.scores] == ["q1", "q2", "q3"]
    assert outcome.scores[0].scores["containment"]["value"] == 1.0


def test_the_reference_of_an_unanswerable_question_measures_nothing():
    outcome = evaluated()
    assert outcome.report.metrics["answers.token_f1"].n == 2
    assert outcome.scores[2].scores["token_f1"] == {"value": None, "reason": "no reference"}
    assert outcome.report.detail.refusals == 1


def test_types_of_questions_are_slices():
    by = evaluated().report.per_stratum
    assert [*by["question_type"]] == ["temporal"]
    assert by["answerable"]["true"]["answers.token_recall"].n == 2


def test_a_question_without_an_answer_is_told_and_fails_the_gate():
    report = evaluated(PREDICTED[:2]).report
    assert not report.passed
    assert report.coverage["missing"] == report.finding_counts["missing_prediction"] == 1
    gate = next(gate for gate in report.gates if gate.metric == "answers.coverage")
    assert (gate.verdict, gate.value) == ("fail", pytest.approx(2 / 3))
    assert report.metrics["answers.token_recall"].of == 2, "and one is a refusal"


def test_answers_to_nothing_are_told():
    stray = [{"qid": "q9", "answer": "x"}, {"question": "What?", "answer": "y"}]
    report = evaluated([*PREDICTED, *stray]).report
    assert report.coverage["unknown"] == report.finding_counts["unknown_question"] == 2


def test_of_several_answers_the_last_counts_and_the_others_are_told():
    outcome = evaluated([{"qid": "q1", "answer": "In 1900."}, *PREDICTED])
    assert outcome.scores[0].scores["containment"]["value"] == 1.0
    assert outcome.report.finding_counts["surplus_answer"] == 1
    assert "made_id" not in outcome.report.finding_counts


def test_two_questions_of_the_same_words_need_ids():
    twice = [GOLD[1], GOLD[1] | {"qid": "q9"}]
    report = evaluated([{"question": "Who founded it?", "answer": "x"}], twice).report
    messages = [one.message for one in report.findings if one.code == "unknown_question"]
    assert "stands twice" in messages[0]


def test_entries_are_gold_too(tmp_path):
    pair = {"question": "When?", "answer": "1800", "answer_type": "temporal"}
    file = tmp_path / "entries.jsonl"
    file.write_text(json.dumps({"id": "e1", "text": "…", "qa_pairs": [pair]}) + "\n")
    outcome = evaluated([{"qid": "e1#1", "answer": "In 1800."}], str(file))
    assert outcome.scores[0].id == "e1#1"
    assert outcome.report.metrics["answers.containment"].value == 1.0


def test_bad_records_of_both_sides_are_told_at_once():
    with pytest.raises(InputRejected) as caught:
        evaluated([{"qid": "q1", "answer": 7}], [{"qid": "q1"}])
    assert len(caught.value.problems) == 2


def test_a_gold_set_of_nothing_is_refused(tmp_path):
    empty = tmp_path / "gold.jsonl"
    empty.write_text("\n")
    with pytest.raises(InputRejected, match="only empty lines"):
        evaluated(gold=str(empty))


def test_unknown_options_are_refused():
    with pytest.raises(UsageError, match="eval qa"):
        evaluated(judged=True)
