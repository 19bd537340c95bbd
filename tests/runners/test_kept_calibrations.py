"""Calibrations in the run store: found again by who makes a number, and by nothing else."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs

from ragauge.contracts.evaluation import HumanAgreement
from ragauge.contracts.options import AnswerOptions
from ragauge.grounding.model import shipped
from ragauge.ingest.calibration import AnswerCalibration
from ragauge.metrics.judged import DEFINITIONS
from ragauge.metrics.table import find
from ragauge.models.judging import judge_answer
from ragauge.models.judging.rubric import rubric_id
from ragauge.runners.answers.calibrate_judge import calibrate_judge
from ragauge.runners.answers.evaluate_answers import evaluate_answers
from ragauge.runners.answers.gathering import Asking
from ragauge.runners.answers.kept_calibrations import (
    FROM_STORE,
    UNNAMED,
    keep_agreement,
    makers_of,
    shown_agreement,
)
from ragauge.store.reply_cache import open_replies
from tests.models.scripted_judge import ROW, ScriptedJudge
from tests.runners.labelled_answers import labelled
from tests.runners.test_calibrate_answers import judged

FAITHFULNESS = "answers.faithfulness"
METRICS = {FAITHFULNESS: find(FAITHFULNESS, "answers")}
OPTIONS = AnswerOptions()


@pytest.fixture
def store(tmp_path):
    replies = open_replies(str(tmp_path / "store"))
    yield replies
    replies.close()


@pytest.fixture(scope="module")
def report():
    return calibrate_judge(judged(labelled(), noise=0.9), judge_model="m", threshold=0.5).report


def by(report, judge):
    """The same, of another judge."""
    told = tuple(structs.replace(one, judge=judge) for one in report.agreement)
    return structs.replace(report, judge=judge, agreement=told)


def shown(store, judge="m", calibration=None, metrics=METRICS, options=OPTIONS):
    return shown_agreement(calibration, store, metrics, judge, options)


@pytest.mark.parametrize("name", [definition.name for definition in DEFINITIONS])
def test_a_judge_is_named_with_the_prompts_that_its_metric_takes(name):
    claims = asyncio.run(judge_answer(ROW, ScriptedJudge(), [name]))
    assert makers_of(find(name, "answers"), "scripted", OPTIONS) == (claims.judge, "scripted")


def test_what_makes_a_number_besides_is_in_the_name():
    own = AnswerOptions(rubric="5: it rhymes.")
    assert makers_of(find("rubric", "answers"), "m", own) == (f"m {rubric_id(own.rubric)}", "m")
    for name in ("lexical_faithfulness", "groundedness"):
        makers = makers_of(find(name, "answers"), None, OPTIONS)
        assert makers == (f"lexical {shipped().id}", "lexical")
    assert makers_of(METRICS[FAITHFULNESS], None, OPTIONS) == ()


def test_what_was_kept_is_shown_and_says_where_it_is_from(store, report):
    assert keep_agreement(report, store) == 1
    (one,) = shown(store)
    assert one.labels == f"{report.agreement[0].labels}, {FROM_STORE}"
    assert structs.replace(one, labels=report.agreement[0].labels) == report.agreement[0]
    assert shown(store, judge="another") == ()
    assert shown(store, metrics={"answers.rubric": find("rubric", "answers")}) == ()
    assert shown(None) == ()


def test_other_prompts_are_another_judge(store, report):
    keep_agreement(by(report, "m chunk/7 claims/1"), store)
    assert shown(store) == ()
    keep_agreement(by(report, "m chunk/1 claims/1"), store)
    assert [one.judge for one in shown(store)] == ["m chunk/1 claims/1"]
    named = AnswerCalibration(agreement=by(report, "m chunk/7 claims/1").agreement)
    assert shown(None, calibration=named) == ()


def test_who_names_the_prompts_is_believed_before_who_does_not(store, report):
    keep_agreement(report, store)
    keep_agreement(by(report, "m chunk/1 claims/1"), store)
    assert [one.judge for one in shown(store)] == ["m chunk/1 claims/1"]


def test_a_later_calibration_takes_the_place_of_the_first(store, report):
    keep_agreement(report, store)
    later = structs.replace(report.agreement[0], kappa=0.25)
    keep_agreement(structs.replace(report, agreement=(later,)), store)
    assert [one.kappa for one in shown(store)] == [0.25]


def test_a_calibration_that_is_named_wins(store, report):
    keep_agreement(report, store)
    own = structs.replace(report.agreement[0], kappa=0.125, labels="mine.jsonl")
    (one,) = shown(store, calibration=AnswerCalibration(agreement=(own,)))
    assert (one.kappa, one.labels) == (0.125, "mine.jsonl")
    other = structs.replace(own, judge="another")
    (one,) = shown(store, calibration=AnswerCalibration(agreement=(other,)))
    assert one.labels.endswith(FROM_STORE)


def test_an_unnamed_judge_is_not_kept_and_what_cannot_be_read_is_not_shown(store, report):
    assert keep_agreement(by(report, UNNAMED), store) == 0

    class Older:
        def get_all(self, keys):
            return dict.fromkeys(keys, b'{"metric": "answers.faithfulness"}')

    assert shown(Older()) == ()


def test_the_lexical_judge_finds_its_own(store):
    found = calibrate_judge(labelled(12), judge="lexical", metric="faithfulness").report
    keep_agreement(found, store)
    outcome = evaluate_answers(
        labelled(3), metrics=("lexical_faithfulness",), asking=Asking(calibrations=store)
    )
    (one,) = outcome.report.detail.agreement
    assert isinstance(one, HumanAgreement)
    assert (one.auroc, one.judge) == (found.agreement[0].auroc, f"lexical {shipped().id}")
