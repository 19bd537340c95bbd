"""Groundedness refitted to labels, and judges held against them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, roc_auc_score

from ragauge.contracts.answer_calibration import AUROC, LENGTH_BIAS, POSITION_FLIPS
from ragauge.errors import InputRejected, UsageError
from ragauge.grounding import groundedness
from ragauge.grounding.features import ANSWER_FEATURES
from ragauge.grounding.model import model_from, shipped, sign_of
from ragauge.ingest.calibration import read_answer_calibrations
from ragauge.runners.answers.calibrate_groundedness import calibrate_groundedness
from ragauge.runners.answers.calibrate_judge import calibrate_judge
from ragauge.runners.answers.evaluate_answers import evaluate_answers
from ragauge.runners.answers.gathering import Asking
from ragauge.runners.answers.kept_calibrations import keep_calibration
from ragauge.runners.answers.labelled import read_labelled
from ragauge.stats.discrimination import best_threshold
from ragauge.store.reply_cache import open_replies
from tests.components.shared_data import shared
from tests.models.judge_server import chatting, says, status
from tests.runners.labelled_answers import labelled


def judged(rows, noise=0.0):
    """The rows with a judge's score in each: right but for some of them."""
    said = (np.random.default_rng(5).random(len(rows)) * noise).round(3)
    return [
        {**row, "scores": {"faithfulness": {"value": abs(row["label"] - off), "reason": None}}}
        for row, off in zip(rows, said.tolist(), strict=True)
    ]


# Labels


@pytest.mark.parametrize(
    ("field", "value", "good", "is_good"),
    [
        ("label", 0.5, None, True),
        ("label", 0.49, None, False),
        ("label", "yes", None, True),
        ("label", 4, ">=3.5", True),
        ("label", "partly", "yes, partly", True),
        ("label", "No", "yes", False),
        ("grounded", False, None, False),
        ("attributable", True, None, True),
        ("hallucinated", True, None, False),
        ("hallucinated", "false", None, True),
        ("human.faithfulness", [3, 4, 4], ">=3.5", True),
        ("human.faithfulness", [3, 3, 4], ">=3.5", False),
        ("hallucinated", False, "false", True),
    ],
)
def test_labels_are_read_in_every_shape(field, value, good, is_good):
    row = {"id": "a", "answer": "It opened in 1808.", "contexts": ["It opened in 1808."]}
    name, _, inner = field.partition(".")
    row |= {name: {inner: value} if inner else value}
    found = read_labelled([row], label=field if inner else None, good=good)
    assert [one.good for one in found.rows] == [is_good]


def test_what_is_no_label_is_refused_with_all_places():
    rows = [*labelled(2), {"id": "x", "answer": "a", "label": 4}, {"answer": "b", "label": "so"}]
    with pytest.raises(InputRejected) as refused:
        read_labelled(rows)
    assert refused.value.problems == (
        "labels: item 9: label: 4 is not from 0 to 1; "
        "say with --good from where on it is good: '>=3'",
        'labels: item 10: label: "so" is neither true or false nor a number from 0 to 1; '
        "say with --good which word is good",
    )


def test_rows_without_a_label_are_told():
    with pytest.raises(InputRejected, match=r"no row has a label .*; name its field with --label"):
        read_labelled([{"id": "a", "answer": "b", "verdict": 1}])
    with pytest.raises(InputRejected, match='no row has "verdicts", where the label is to be'):
        read_labelled([{"id": "a", "answer": "b", "verdict": 1}], label="verdicts")
    with pytest.raises(InputRejected, match='no row has "patient"'):
        read_labelled(labelled(2), group="patient")
    with pytest.raises(UsageError, match="neither a bound such as"):
        read_labelled(labelled(2), good=">= many")
    found = read_labelled([*labelled(2), {"id": "x", "answer": "b"}])
    assert (found.unlabelled, found.findings.counts) == (1, {"unlabelled": 1})


def test_answers_of_one_context_are_one_source():
    rows = [{key: row[key] for key in row if key != "source"} for row in labelled(6, 3)]
    by_context = read_labelled(rows)
    assert len({one.source for one in by_context.rows}) == 6
    assert len({one.source for one in read_labelled(rows, group="model").rows}) == 3


# Groundedness


@pytest.fixture(scope="module")
def report():
    return calibrate_groundedness(labelled()).report


def test_before_and_after_stand_side_by_side(report):
    assert {one.name for one in report.scores} == {"shipped", "moved", "refitted"}
    assert [one.used for one in report.scores].count(True) == 1
    for one in report.scores:
        assert (one.n, one.sources, one.base_rate) == (120, 30, 0.5)
        assert None not in (one.auroc, one.auroc_ci, one.balanced_accuracy, one.kappa, one.ece)
    assert [one.name for one in report.controls] == ["length", "model", "within one model"]
    assert all(one.auroc is not None for one in report.controls)


def test_the_shipped_figures_are_those_of_the_public_function(report):
    rows = labelled()
    found = [groundedness(row["answer"], row["contexts"], row["question"]) for row in rows]
    labels = [row["label"] for row in rows]
    before = next(one for one in report.scores if one.name == "shipped")
    assert before.auroc == pytest.approx(
        roc_auc_score(labels, [one.value for one in found]), abs=1e-5
    )
    said = [one.grounded for one in found]
    assert before.balanced_accuracy == pytest.approx(
        balanced_accuracy_score(labels, said), abs=1e-5
    )
    assert before.kappa == pytest.approx(cohen_kappa_score(labels, said), abs=1e-5)


def test_labels_that_follow_nothing_are_not_learnt():
    """Labels by chance could be fitted well, but out of fold there is nothing to gain."""
    generator = np.random.default_rng(11)
    rows = [{**row, "label": bool(generator.random() < 0.5)} for row in labelled()]
    found = calibrate_groundedness(rows).report
    assert not found.passed
    assert found.metrics[AUROC].ci[0] < 0.5
    assert found.gates[0].verdict == "fail"


def test_coefficients_keep_their_signs_and_the_mean_is_the_share_of_good_answers(report):
    rows = [{**row, "label": row["label"] or row["id"] < "s10"} for row in labelled()]
    found = calibrate_groundedness(rows).report
    model = model_from(found.coefficients)
    weights = model.kinds["qa"].answer.coefficients
    assert all(
        weight * sign_of(name) >= 0 for name, weight in zip(ANSWER_FEATURES, weights, strict=True)
    )
    values = [
        groundedness(row["answer"], row["contexts"], row["question"], model=model).value
        for row in rows
    ]
    assert np.mean(values) == pytest.approx(np.mean([row["label"] for row in rows]), abs=0.05)


def test_few_labels_move_only_the_threshold():
    found = calibrate_groundedness(labelled(10, 2)).report
    (kind,) = found.kinds
    assert (kind.done, kind.gain) == ("threshold", None)
    assert kind.reason == "10 good and 10 bad, where 30 with 10 of each are needed to refit it"
    kept = model_from(found.coefficients).kinds["qa"]
    assert kept.answer.coefficients == shipped().kinds["qa"].answer.coefficients
    assert kept.answer.intercept != shipped().kinds["qa"].answer.intercept


def test_fewer_still_are_refused_in_words():
    found = calibrate_groundedness(labelled(2, 2)).report
    assert (found.passed, found.agreement, found.coefficients) == (False, (), None)
    reason = found.metrics[AUROC].reason
    assert "2 good and 2 bad, where 10 with 3 of each are needed to move its threshold" in reason
    of_one = calibrate_groundedness([{**row, "source": "s"} for row in labelled()]).report
    assert "labels of 1 sources, where 5 are needed" in of_one.metrics[AUROC].reason


def test_one_label_alone_tells_nothing():
    found = calibrate_groundedness([{**row, "label": True} for row in labelled()]).report
    assert found.metrics[AUROC].value is None
    assert "120 good and 0 bad" in found.metrics[AUROC].reason
    (before,) = found.scores
    assert "people called all 120 answers good" in before.reason
    assert (before.auroc, before.kappa) == (None, None)


def test_kinds_are_calibrated_apart():
    rows = labelled() + [
        {**row, "id": f"x{row['id']}", "source": f"x{row['source']}", "kind": "summary"}
        for row in labelled(3, 2)
    ]
    found = calibrate_groundedness(rows).report
    assert {one.kind: one.done for one in found.kinds}["summary"] == "kept"
    assert {one.kind for one in found.scores} == {None, "qa", "summary"}
    model = model_from(found.coefficients)
    assert model.kinds["summary"] == shipped().kinds["summary"]
    assert model.kinds["qa"] != shipped().kinds["qa"]


def test_what_cannot_be_measured_is_counted():
    rows = labelled()
    rows[0]["contexts"], rows[1]["answer"], rows[2]["answer"] = [], None, "not in context"
    rows[3]["contexts"], rows[4]["answer"], rows[5]["contexts"] = None, "“Not in context.”", ["?!"]
    found = calibrate_groundedness(rows).report
    assert found.coverage.scored == 114
    assert found.coverage.unscored == {
        "no answer: the row has none": 1,
        "the answer is a refusal: it claims nothing": 2,
        "the row tells nothing of contexts": 1,
        "no context was retrieved": 1,
        "there is no context to compare with": 1,
    }
    assert found.finding_counts["unscored"] == 6


def test_the_order_of_rows_changes_nothing(report):
    assert calibrate_groundedness(labelled()[::-1]).report == report


def test_a_later_evaluation_uses_it_and_shows_it(report, tmp_path):
    file = tmp_path / "calibration.json"
    keep_calibration(report, str(file))
    assert read_answer_calibrations([str(file)]).coefficients == report.coefficients
    outcome = evaluate_answers(
        labelled(), metrics=("groundedness", "grounded"), calibration=(str(file),)
    )
    detail = outcome.report.detail
    assert detail.groundedness == report.judge
    assert {one.metric: one.kappa for one in detail.agreement} == {
        "answers.groundedness": report.scores[-1].kappa,
        "answers.grounded": report.scores[-1].kappa,
    }
    assert detail.agreement[0].labels.startswith("labels sha256:")


def test_real_labels_are_learnt_from_out_of_fold():
    sources = {row["source_id"]: row for row in _lines("ragtruth/sources.jsonl")}
    rows = [
        {**sources[row["source_id"]], **row}
        for row in _lines("ragtruth/responses.jsonl")
        if row["task"] == "qa"
    ]
    found = calibrate_groundedness(rows).report
    assert found.identity["labels"] == "hallucinated: good is false"
    assert found.metrics[AUROC].value > 0.8
    length, model, within = found.controls
    assert found.metrics[AUROC].value > max(length.auroc, model.auroc)
    assert within.auroc > 0.7


def _lines(name):
    with shared(name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


# Judges


def test_a_judge_is_held_against_people():
    rows = judged(labelled(), noise=0.9)
    found = calibrate_judge(rows, judge_model="m", threshold=0.5).report
    (one,) = found.scores
    labels = [row["label"] for row in rows]
    scores = np.array([row["scores"]["faithfulness"]["value"] for row in rows])
    assert one.auroc == pytest.approx(roc_auc_score(labels, scores), abs=1e-5)
    assert one.kappa == pytest.approx(cohen_kappa_score(labels, scores >= 0.5), abs=1e-5)
    assert one.balanced_accuracy == pytest.approx(
        balanced_accuracy_score(labels, scores >= 0.5), abs=1e-5
    )
    (kept,) = found.agreement
    assert (kept.metric, kept.judge, kept.threshold) == ("answers.faithfulness", "m", 0.5)


def test_its_threshold_is_fitted_to_other_sources():
    """A score that tells nothing but the source has a best threshold, and no use for it."""
    luck = np.random.default_rng(0).random((30, 2)).tolist()
    rows = [
        {**row, "label": luck[place // 2][0] < 0.5, "scores": {"own": luck[place // 2][1]}}
        for place, row in enumerate(labelled(30, 2))
    ]
    labels = [row["label"] for row in rows]
    scores = np.array([row["scores"]["own"] for row in rows])
    found = calibrate_judge(rows).report
    (one,) = found.scores
    fitted_to = balanced_accuracy_score(labels, scores >= best_threshold(scores, labels))
    assert fitted_to > 0.6
    assert one.balanced_accuracy < fitted_to - 0.05
    assert not found.passed


def test_scores_come_from_a_file_by_id():
    rows = judged(labelled())
    scores = [{"id": row["id"], "scores": row.pop("scores")} for row in rows]
    scores[3]["scores"]["faithfulness"] = {"value": None, "reason": "http_500: server error"}
    found = calibrate_judge(rows, scores=scores[:-1], judge_model="m").report
    assert found.metrics[AUROC].value == 1
    assert found.metrics[AUROC].ci[0] < 0.95
    assert found.coverage.unscored == {
        "http_500: server error": 1,
        "the file of scores has no row of this id": 1,
    }


def test_a_score_is_a_field_of_the_row_and_low_may_be_good():
    rows = [{**row, "judge": {"harm": 5 - 4 * row["label"]}} for row in labelled()]
    found = calibrate_judge(rows, score="judge.harm", lower_is_better=True, judge_model="m").report
    assert found.metric == "answers.harm"
    assert found.metrics[AUROC].value == 1
    (one,) = found.scores
    assert (one.threshold, one.ece) == (3, None)
    assert "no calibration error: the scores are not chances from 0 to 1" in one.reason
    turned = calibrate_judge(rows, score="judge.harm", judge_model="m").report
    assert turned.finding_counts["upside_down"] == 1
    assert not turned.passed


def test_a_judge_that_likes_long_answers_is_found_out():
    rows = [{**row, "label": row["source"][-1] in "13579"} for row in labelled()]
    fond = [{**row, "scores": {"own": min(1.0, len(row["answer"]) / 200)}} for row in rows]
    biased = calibrate_judge(fond, judge_model="m").report.metrics[LENGTH_BIAS]
    fair = calibrate_judge(judged(rows, noise=0.3), judge_model="m").report.metrics[LENGTH_BIAS]
    assert biased.value > 0.3
    assert biased.ci[0] > 0
    assert fair.ci[0] < 0 < fair.ci[1]


def test_verdicts_that_flip_with_the_position_are_counted():
    plain = calibrate_judge(judged(labelled()), judge_model="m").report
    assert plain.metrics[POSITION_FLIPS].value is None
    assert "no row tells of positions" in plain.metrics[POSITION_FLIPS].reason
    rows = judged(labelled(20, 2))
    for place, row in enumerate(rows):
        row |= {"preferred": "first", "preferred_swapped": "first" if place % 4 == 0 else "second"}
    found = calibrate_judge(rows, judge_model="m").report.metrics[POSITION_FLIPS]
    assert (found.value, found.n) == (0.25, 40)
    rows = [{**row, "by_order": place < 4} for place, row in enumerate(rows)]
    assert calibrate_judge(rows, judge_model="m").report.metrics[POSITION_FLIPS].value == 0.1


def test_an_answer_judged_in_two_positions_may_flip():
    once = judged(labelled(20, 2))
    twice = [{**row, "position": "b"} for row in once]
    for row in twice[:10]:
        row["scores"] = {"faithfulness": 1 - row["scores"]["faithfulness"]["value"]}
    rows = [{**row, "position": "a"} for row in once] + twice
    found = calibrate_judge(rows, judge_model="m").report
    assert (found.metrics[POSITION_FLIPS].value, found.metrics[POSITION_FLIPS].n) == (0.25, 40)
    assert "duplicate_id" not in found.finding_counts


def test_the_lexical_judge_is_asked_through_the_evaluation():
    found = calibrate_judge(labelled(12), judge="lexical", metric="faithfulness").report
    assert (found.metric, found.judge) == (
        "answers.lexical_faithfulness",
        f"lexical {shipped().id}",
    )
    assert found.coverage.scored == 48
    assert found.metrics[AUROC].value > 0.6


def test_a_judge_at_an_endpoint_is_asked_and_its_failures_are_counted(tmp_path):
    """It sees palaces, fails at Ede, and is asked nothing twice."""

    def script(asked):
        if "Ede" in asked.user:
            return status("401 Unauthorized")
        schema = asked.body["response_format"]["json_schema"]["schema"]
        palace = "palace" in asked.user
        return says(json.dumps(_filled(schema, "A palace." if palace else "A show.", not palace)))

    found, requests = [], []
    with chatting(script) as server:
        for _ in range(2):
            replies = open_replies(str(tmp_path / "store"))
            found.append(
                calibrate_judge(
                    labelled(12),
                    judge=server.at("v1"),
                    judge_model="small",
                    asking=Asking(replies=replies),
                ).report
            )
            replies.close()
            requests.append(len(server.requests))
    report = found[0]
    assert (report.metric, report.judge) == ("answers.faithfulness", "small chunk/1 claims/1")
    assert (report.coverage.scored, sum(report.coverage.unscored.values())) == (44, 4)
    assert report.finding_counts["judge_failed"] == 4
    assert report.metrics[AUROC].value > 0.8
    assert found[1].metrics == report.metrics
    asked_again = requests[1] - requests[0]
    assert asked_again <= 4  # those that failed are not kept


def _filled(schema, words, verdict):
    match schema["type"]:
        case "object":
            parts = schema["properties"].items()
            return {name: _filled(part, words, verdict) for name, part in parts}
        case "array":
            return [_filled(schema["items"], words, verdict)] * (schema.get("minItems") or 1)
        case "boolean":
            return verdict
    return words


def test_too_few_labels_say_nothing_of_a_judge():
    found = calibrate_judge(judged(labelled(4, 2)), judge_model="m").report
    assert found.metrics[AUROC].value is None
    assert "4 good and 4 bad answers; 10 with 3 of each" in found.metrics[AUROC].reason
    assert found.agreement == ()
    same = calibrate_judge(
        [{**row, "label": 0} for row in judged(labelled())], judge_model="m"
    ).report
    assert same.metrics[AUROC].reason.startswith("people called all 120 answers bad")


def test_an_unnamed_judge_is_told():
    found = calibrate_judge(judged(labelled())).report
    assert found.finding_counts == {"unnamed_judge": 1}


@pytest.mark.parametrize(
    ("given", "fact"),
    [
        ({"score": "marks"}, 'no row has "marks", the judge\'s score'),
        ({"metric": "rubric"}, 'no row has a score of "rubric"; there is "faithfulness"'),
        ({"score": "label", "judge": "lexical"}, "--judge and --score: scores come from one"),
        ({"budget": "calls=3"}, "--budget: belongs to --judge"),
        ({"score": "answer"}, "answer: expected a number, got text"),
    ],
)
def test_what_does_not_fit_together_is_refused(given, fact):
    with pytest.raises((UsageError, InputRejected), match=fact):
        calibrate_judge(judged(labelled()), **given)


def test_scores_that_stand_twice_or_nowhere_are_refused():
    rows = judged(labelled())
    scores = [{"id": row["id"], "scores": row["scores"]} for row in rows]
    with pytest.raises(InputRejected) as refused:
        calibrate_judge(rows, scores=[*scores, scores[0], {"scores": {"faithfulness": 1}}])
    assert refused.value.problems == (
        'scores: item 121: id: "s00-0" stands twice; keep one',
        "scores: item 122: id: missing; a score is joined to its answer by it",
    )
    with pytest.raises(InputRejected, match="no row has `scores`"):
        calibrate_judge(labelled())


@pytest.mark.parametrize("calibrate", [calibrate_groundedness, calibrate_judge])
def test_an_empty_list_is_refused_once(calibrate):
    with pytest.raises(InputRejected) as error:
        calibrate([])
    assert error.value.problems == ("labels: holds no answer; write one JSON object a line",)
