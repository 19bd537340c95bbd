"""Asking a judge: what is asked, how often, and what becomes of failures."""

import asyncio
import json

import pytest
from msgspec import structs

from ragauge.contracts.answers import Context
from ragauge.contracts.claims import AnswerClaims
from ragauge.contracts.metric import Absent
from ragauge.contracts.system import CallFailed
from ragauge.errors import BudgetSpent
from ragauge.metrics.answers import AnswerFacts
from ragauge.metrics.claims import answer_addresses, reference_addresses
from ragauge.metrics.judged import DEFINITIONS, METRICS
from ragauge.models.embedders import NgramEmbedder
from ragauge.models.judges import chat_judge, estimate
from ragauge.models.judging import (
    compare_answers,
    judge_answer,
    judge_rubric,
    likened,
    planned_calls,
)
from ragauge.models.judging.plan import PARTS, most_claims, nearest
from tests.models.judge_server import chatting, says
from tests.models.scripted_judge import PASSAGES, ROW, SCRIPT, ScriptedJudge, material, parts

ALL = [definition.name for definition in DEFINITIONS]
SEVEN = [
    "faithfulness",
    "answer_relevancy",
    "context_precision",
    "context_recall",
    "noise_sensitivity",
    "factual_correctness",
]
"""The seventh is semantic_similarity, which needs no judge."""
FAILED = CallFailed("http_500", "busy")


def judged(row=ROW, wanted=ALL, judge=None, **options):
    judge = judge or ScriptedJudge()
    return asyncio.run(judge_answer(row, judge, wanted, **options)), judge


def test_the_seven_metrics_at_five_chunks_take_eight_calls():
    claims, judge = judged(wanted=[*SEVEN, "semantic_similarity"])
    assert len(ROW.contexts) == 5
    assert sorted(judge.prompts) == sorted(["claims", *["chunk"] * 5, "agreement", "questions"])
    assert claims.errors == ()
    everything, other = judged()
    assert len(other.calls) == 8
    assert everything == claims


def test_every_claim_ends_at_its_address():
    claims, _ = judged()
    assert answer_addresses(claims) == (
        "grounded",
        "misled_by_noise",
        "self_knowledge",
        "invented",
    )
    assert reference_addresses(claims) == ("said", "unused", "said", "retriever_missed")
    assert claims.useful == (True, False, False, False, False)
    assert claims.chunks == 5 and claims.noncommittal is False and len(claims.questions) == 3
    assert claims.judge == "scripted agreement/1 chunk/1 claims/1 questions/1"


@pytest.mark.parametrize(
    ("wanted", "prompts"),
    [
        (["faithfulness"], ["claims", *["chunk"] * 5]),
        (["answer_relevancy"], ["questions"]),
        (["context_precision"], ["chunk"] * 5),
        (["claim_precision"], ["claims", "agreement"]),
        (["factual_correctness"], ["claims", "agreement"]),
        (["context_recall"], ["claims", *["chunk"] * 5]),
        (["token_f1", "groundedness"], []),
        ([], []),
    ],
)
def test_only_what_the_wanted_metrics_need_is_asked(wanted, prompts):
    _, judge = judged(wanted=wanted)
    assert judge.prompts == prompts


def test_a_call_shows_only_what_it_needs():
    _, judge = judged(wanted=["faithfulness"])
    extraction, first = material(judge.calls[0]), material(judge.calls[1])
    assert set(extraction) == {"question", "answer"}
    assert set(first) == {"passage", "claims"} and len(first["claims"]) == 4
    _, judge = judged(wanted=["context_precision"])
    assert set(material(judge.calls[0])) == {"question", "reference", "passage"}
    _, judge = judged(wanted=["answer_relevancy"])
    assert set(material(judge.calls[0])) == {"answer"}  # the question must not be copied


@pytest.mark.parametrize("name", ALL)
def test_each_metric_alone_has_the_value_it_has_among_all(name):
    alone, _ = judged(wanted=[name])
    among, _ = judged()
    embedder = NgramEmbedder()
    pair = likened([(ROW.question, alone), (ROW.question, among)], embedder)
    metric = next(metric for metric in METRICS if metric.id == f"answers.{name}")
    first, second = (metric(AnswerFacts(row=ROW, claims=claims)) for claims in pair)
    assert not isinstance(first, Absent)
    assert first == second


def test_every_judged_metric_says_what_it_asks():
    assert set(PARTS) == set(ALL)


@pytest.mark.parametrize(
    ("changed", "prompts"),
    [
        ({"references": ()}, ["claims", "questions", *["chunk"] * 5]),
        ({"contexts": None}, ["claims", "questions", "agreement"]),
        ({"contexts": ()}, ["claims", "questions", "agreement"]),
        ({"question": None}, ["claims", *["chunk"] * 5, "agreement"]),
        ({"answer": None}, ["claims", *["chunk"] * 5]),
    ],
)
def test_nothing_is_asked_that_the_row_cannot_use(changed, prompts):
    _, judge = judged(structs.replace(ROW, **changed))
    assert judge.prompts == prompts


def test_a_refusal_claims_nothing_and_is_not_asked_about():
    claims, judge = judged(refused=True)
    assert judge.prompts == ["claims", *["chunk"] * 5]
    assert set(material(judge.calls[0])) == {"question", "reference"}
    assert claims.answer == () and claims.noncommittal is True
    assert [claim.other for claim in claims.reference] == [False] * 4


def test_an_answer_that_claims_nothing_says_nothing_of_the_reference():
    row = structs.replace(ROW, answer="...")
    claims, judge = judged(row)
    assert "agreement" not in judge.prompts
    assert claims.answer == () and [claim.other for claim in claims.reference] == [False] * 4


def test_the_same_claim_and_the_same_passage_are_asked_once():
    twice = structs.replace(
        ROW,
        answer="It is old. It  is old. It is big.",
        contexts=tuple(Context(str(n), PASSAGES[n % 2]) for n in range(4)),
    )
    claims, judge = judged(twice, wanted=["faithfulness", "context_recall"])
    assert judge.prompts == ["claims", "chunk", "chunk"]
    shown = [claim["claim"] for claim in material(judge.calls[1])["claims"]]
    assert shown == ["It is old", "It is big", "Ede is in Gelderland", "It is far"]
    assert claims.answer[0].chunks == (True, False, True, False)


def test_a_blank_context_supports_nothing_without_a_call():
    row = structs.replace(ROW, contexts=(Context("a", " \n"), Context("b", PASSAGES[0])))
    claims, judge = judged(row, wanted=["faithfulness", "context_precision"])
    assert judge.prompts == ["claims", "chunk"]
    assert claims.answer[0].chunks == (False, True)
    assert claims.useful == (False, True)


def test_of_several_references_the_nearest_has_the_claims_and_any_makes_a_claim_right():
    row = structs.replace(ROW, references=("Moss is green.", *ROW.references, "It is tall."))
    assert nearest(row) == ROW.references[0]
    claims, _ = judged(row)
    assert [claim.text for claim in claims.reference] == parts(ROW.references[0])
    assert claims.answer[3].other is True  # "It is tall" stands in the third
    turned = structs.replace(row, references=row.references[::-1])
    assert judged(turned)[0] == claims


def test_a_failed_chunk_is_an_error_and_its_verdicts_are_unknown():
    def failing(shown):
        return FAILED if shown["passage"] == PASSAGES[2] else SCRIPT["chunk"](shown)

    claims, judge = judged(judge=ScriptedJudge({"chunk": failing}))
    assert len(judge.calls) == 8
    assert claims.errors == ("chunk 3: http_500: busy",)
    assert {claim.chunks[2] for claim in (*claims.answer, *claims.reference)} == {None}
    assert claims.useful == (True, False, None, False, False)
    assert claims.answer[0].other is True
    metric = next(metric for metric in METRICS if metric.id == "answers.faithfulness")
    found = metric(AnswerFacts(row=ROW, claims=claims))
    assert found == Absent("the judge failed: http_500: busy")


def test_failed_claims_leave_only_what_needs_none():
    claims, judge = judged(judge=ScriptedJudge({"claims": FAILED}))
    assert claims.answer is None and claims.reference is None
    assert claims.useful == (True, False, False, False, False)
    assert len(claims.questions) == 3
    assert "agreement" not in judge.prompts
    assert claims.errors == ("claims: http_500: busy",)


def test_errors_stand_in_the_order_of_the_plan():
    script = dict.fromkeys(("chunk", "agreement", "questions"), FAILED)
    claims, _ = judged(judge=ScriptedJudge(script))
    steps = [error.partition(": ")[0] for error in claims.errors]
    assert steps == [
        "chunk 1",
        "chunk 2",
        "chunk 3",
        "chunk 4",
        "chunk 5",
        "agreement",
        "questions",
    ]


@pytest.mark.parametrize("verdicts", [[True], [True] * 9, ["yes"] * 8, [1] * 8, None])
def test_a_reply_that_breaks_the_schema_is_an_error_and_no_verdict(verdicts):
    script = {"chunk": {"verdicts": verdicts, "useful": True}}
    claims, _ = judged(judge=ScriptedJudge(script))
    assert len(claims.errors) == 5 and all("bad_reply" in error for error in claims.errors)
    assert {one for claim in claims.answer for one in claim.chunks} == {None}


def test_a_judge_that_does_not_stop_is_in_breach_of_the_schema():
    endless = {"answer_claims": ["a", "b"] * 40, "reference_claims": ["c"]}
    claims, _ = judged(judge=ScriptedJudge({"claims": endless}))
    assert claims.answer is None
    assert claims.errors[0].startswith("claims: bad_reply: $.answer_claims: has 80 members")


@pytest.mark.parametrize(
    ("text", "most"), [("Yes.", 4), ("red, blue, green, old, big", 5), ("word " * 900, 256)]
)
def test_a_text_makes_no_more_claims_than_it_has_words(text, most):
    assert most_claims(text) == most


def test_a_spent_budget_goes_up_after_the_calls_in_flight_came_back():
    came = []

    class Slow(ScriptedJudge):
        async def ask(self, call):
            if call.prompt.startswith("chunk"):
                if material(call)["passage"] == PASSAGES[0]:
                    raise BudgetSpent("budget: all of 2 calls are made")
                await asyncio.sleep(0)
                came.append(call)
            return await super().ask(call)

    with pytest.raises(BudgetSpent):
        judged(judge=Slow(), wanted=["faithfulness"])
    assert len(came) == 4


def test_the_plan_is_known_before_the_run():
    shorter = structs.replace(ROW, id="r2", answer="It is old.", contexts=ROW.contexts[:2])
    rows = [ROW, shorter]
    planned = list(planned_calls(rows, SEVEN))
    assert len(planned) == 8 + 5
    assert estimate(planned).calls == 13
    made = [call for row in rows for call in judged(row, SEVEN)[1].calls]
    assert [call.prompt for call in planned] == [call.prompt for call in made]
    characters = [sum(len(call.system + call.user) for call in calls) for calls in (planned, made)]
    assert characters[0] == pytest.approx(characters[1], rel=0.1)
    assert list(planned_calls(rows, ["token_f1"])) == []


def test_the_seed_reaches_every_call():
    _, judge = judged(seed=7)
    assert {call.seed for call in judge.calls} == {7}


def test_a_judge_behind_http_gives_the_same_claims():
    def script(asked):
        name = asked.body["response_format"]["json_schema"]["name"].rpartition("_")[0]
        shown = json.loads(asked.user.rpartition("\n")[2])
        return says(json.dumps(SCRIPT[name](shown)))

    async def over_http(url):
        judge = chat_judge(url, model="scripted")
        try:
            first = await judge_answer(ROW, judge, ALL)
            again = await judge_answer(ROW, judge, SEVEN)
            return first, again, judge.usage
        finally:
            await judge.close()

    with chatting(script) as server:
        first, again, usage = asyncio.run(over_http(server.at("v1")))
    assert first == again == judged()[0]
    assert (usage.calls, usage.cached) == (8, 8)


def test_likeness_compares_each_question_with_the_one_asked():
    class Twelve:
        id, dimension = "twelve", 2

        def embed(self, texts):
            import numpy as np

            assert len(set(texts)) == len(texts)
            table = {"q": (1, 0), "same": (1, 0), "across": (0, 1), "half": (0.6, 0.8)}
            return np.array([table[text] for text in texts], dtype=np.float32)

    made = AnswerClaims(judge="j", questions=("same", "across", "half"))
    unasked, empty = AnswerClaims(judge="j"), AnswerClaims(judge="j", questions=())
    found = likened([("q", made), (None, made), ("q", unasked), ("q", empty)], Twelve())
    assert found[0].likeness == pytest.approx((1.0, 0.0, 0.6))
    assert found[1].likeness is None and found[2] is unasked
    assert found[3].likeness == ()


def test_a_rubric_score_has_its_reason_and_takes_one_call():
    judge = ScriptedJudge({"rubric": {"reason": "It is right.", "score": 4}})
    score = asyncio.run(judge_rubric(ROW, judge))
    assert (score.score, score.reason) == (4, "It is right.")
    assert len(judge.calls) == 1
    assert set(material(judge.calls[0])) == {"question", "answer", "references", "contexts"}
    assert "Replies to the question in full" in judge.calls[0].system
    asyncio.run(judge_rubric(ROW, judge, rubric="5: it rhymes. {{material}}"))
    assert "5: it rhymes. {{material}}" in judge.calls[1].system


@pytest.mark.parametrize("said", [FAILED, {"reason": "x", "score": 6}, {"score": 3}])
def test_a_failed_rubric_has_no_score(said):
    score = asyncio.run(judge_rubric(ROW, ScriptedJudge({"rubric": said})))
    assert score.score is None and score.reason
    blank = structs.replace(ROW, answer=" ")
    silent = ScriptedJudge()
    assert asyncio.run(judge_rubric(blank, silent)).score is None
    assert silent.calls == []


def compared(choose):
    def said(shown):
        return {"reason": "so.", "preferred": choose(shown["first"], shown["second"])}

    judge = ScriptedJudge({"comparison": said})
    return asyncio.run(compare_answers("q?", "good", "bad", judge)), judge


def test_two_answers_are_compared_in_both_orders():
    found, judge = compared(lambda first, second: "first" if first == "good" else "second")
    assert (found.preferred, found.by_order) == ("first", False)
    pairs = [(material(call)["first"], material(call)["second"]) for call in judge.calls]
    assert pairs == [("good", "bad"), ("bad", "good")]
    found, _ = compared(lambda first, second: "second" if first == "good" else "first")
    assert (found.preferred, found.by_order) == ("second", False)


@pytest.mark.parametrize("place", ["first", "second"])
def test_where_the_order_decides_it_is_a_tie(place):
    found, _ = compared(lambda first, second: place)
    assert (found.preferred, found.by_order) == ("tie", True)


def test_a_tie_in_one_order_is_a_tie():
    found, _ = compared(lambda first, second: "tie" if first == "good" else "second")
    assert (found.preferred, found.by_order) == ("tie", False)
    found, _ = compared(lambda first, second: "tie")
    assert (found.preferred, found.by_order) == ("tie", False)


def test_a_comparison_that_fails_prefers_nobody():
    judge = ScriptedJudge({"comparison": FAILED})
    found = asyncio.run(compare_answers("q?", "a", "b", judge))
    assert found.preferred is None and "http_500" in found.reason
