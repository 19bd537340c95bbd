"""A judge is asked by the protocol, kept to its schema, remembered and counted."""

import asyncio
import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.judge import JudgeReply, Usage
from ragauge.contracts.system import CallFailed
from ragauge.errors import BudgetSpent, UsageError
from ragauge.models.endpoint import address, rate_per_s
from ragauge.models.judges import Budget, Prices, as_data, call_key, chat_judge, estimate
from ragauge.models.judges.budget import Tokens, most_prompt_tokens, prompt_tokens
from ragauge.models.judges.replies import faults
from ragauge.models.judges.request import Dialect, messages_of
from tests.models.judge_server import (
    FOUR,
    SCHEMA,
    TWO,
    asked,
    asked_in_turn,
    call,
    chatting,
    refuses,
    says,
    status,
)

PRICES = Prices(prompt=10.0, completion=100.0)


def test_a_call_goes_out_by_the_protocol_and_its_reply_comes_back():
    with chatting([says(FOUR)]) as server:
        judge = chat_judge(server.at("v1"), model="small")
        (reply,) = asked(judge, call(seed=7, temperature=0.5, max_tokens=99))
        request = server.requests[0]
    assert reply == JudgeReply(
        value={"score": 4, "reason": "It says so."},
        usage=Usage(calls=1, prompt_tokens=12, completion_tokens=7),
    )
    assert judge.id == "small" and judge.left_out == []
    assert request.path == "/v1/chat/completions"
    body = request.body
    assert (body["model"], body["seed"], body["temperature"]) == ("small", 7, 0.5)
    assert body["max_tokens"] == 99 and "logprobs" not in body
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "rubric_1", "strict": True, "schema": SCHEMA},
    }
    system, user = body["messages"]
    assert system["content"].startswith("You judge.\n")
    assert json.loads(system["content"].rpartition("\n")[2]) == SCHEMA
    assert user == {"role": "user", "content": "Is it so?"}


@pytest.mark.parametrize(
    ("url", "whole"),
    [
        ("http://h:1/v1", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/chat/completions", "http://h:1/v1/chat/completions"),
        ("http://h:1", "http://h:1/v1/chat/completions"),
        ("http://h:1/a?v=2", "http://h:1/a/chat/completions?v=2"),
        ("http://[half", "http://[half"),
    ],
)
def test_a_url_is_given_with_the_path_or_without(url, whole):
    assert address(url, "chat/completions") == whole


@pytest.mark.parametrize("url", ["ftp://h/v1", "http://[half", "h:1/v1", ""])
def test_a_url_that_is_none_is_refused_in_words(url):
    with pytest.raises(UsageError, match="URL"):
        chat_judge(url, model="small")


@pytest.mark.parametrize(
    "given", [{"concurrency": 0}, {"timeout_s": 0}, {"attempts": 0}, {"rate": -1}]
)
def test_limits_that_are_none_are_refused_in_words(given):
    with pytest.raises(UsageError, match="judge: "):
        chat_judge("http://h:1/v1", model="small", **given)


@pytest.mark.parametrize("text", ["", "fast", "5/h", "0", "-1/s", "inf", "nan"])
def test_a_rate_that_is_none_is_refused_in_words(text):
    with pytest.raises(UsageError, match="no rate of calls"):
        rate_per_s(text)


def test_no_more_calls_are_in_flight_than_allowed():
    with chatting([says(FOUR)]) as server:
        judge = chat_judge(server.at("v1"), model="small", concurrency=3)
        replies = asked(judge, *(call(f"question {n}") for n in range(30)))
    assert len(replies) == 30 == len(server.requests)
    assert server.most_in_flight <= 3


def test_calls_come_no_faster_than_the_rate(waits):
    with chatting([says(FOUR)]) as server:
        judge = chat_judge(server.at("v1"), model="small", rate=0.01)
        asked(judge, *(call(f"question {n}") for n in range(3)))
    assert sorted(round(wait, -1) for wait in waits) == [0, 100, 200]


@pytest.mark.parametrize("wanted", [True, False])
def test_log_probabilities_are_asked_for_where_wanted(wanted):
    with chatting([says(FOUR, logprobs=[-0.5, -0.25, 0] if wanted else None)]) as server:
        (reply,) = asked(chat_judge(server.at("v1"), model="m"), call(logprobs=wanted))
    assert server.bodies[0].get("logprobs", False) is wanted
    assert reply.logprob == (-0.25 if wanted else None)


@pytest.mark.parametrize("told", [None, {}, {"content": []}, {"content": [{"logprob": "x"}]}, 7])
def test_log_probabilities_that_are_not_told_are_absent(told):
    completion = says(FOUR)
    completion["choices"][0]["logprobs"] = told
    with chatting([completion]) as server:
        (reply,) = asked(chat_judge(server.at("v1"), model="m"), call(logprobs=True))
    assert reply.logprob is None and reply.value["score"] == 4


# Endpoints that take less of the protocol.

FORMS = "'response_format' of type 'json_schema' is not supported with this model"


def takes_only(form):
    def script(asked):
        sent = asked.body.get("response_format", {}).get("type")
        return says(FOUR) if sent == form else refuses(FORMS)

    return script


@pytest.mark.parametrize(("form", "refused"), [("json_object", 1), (None, 2)])
def test_an_endpoint_without_schemas_is_asked_in_a_simpler_form_and_that_is_remembered(
    form, refused
):
    with chatting(takes_only(form)) as server:
        judge = chat_judge(server.at("v1"), model="m", concurrency=1)
        replies = asked_in_turn(judge, call("a"), call("b"))
    assert [reply.value["score"] for reply in replies] == [4, 4]
    assert len(server.requests) == refused + 2
    assert replies[0].usage.calls == refused + 1 and replies[1].usage.calls == 1
    assert judge.left_out == ([] if form else ["response_format"])


REFUSED = {
    "logprobs": "logprobs are not allowed",
    "seed": "[{'type': 'extra_forbidden', 'loc': ('body', 'seed')}]",
    "temperature": "Unsupported value: 'temperature' does not support 0",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_an_endpoint_refuses_by_name_is_left_out_and_said(name):
    def script(asked):
        return refuses(REFUSED[name]) if name in asked.body else says(FOUR)

    with chatting(script) as server:
        judge = chat_judge(server.at("v1"), model="m")
        (reply,) = asked(judge, call(logprobs=True))
    assert reply.value["score"] == 4 and reply.logprob is None
    assert judge.left_out == [name]
    assert name not in server.bodies[-1] and "response_format" in server.bodies[-1]


def test_the_length_of_a_reply_is_said_in_the_endpoints_words():
    def script(asked):
        old = "max_tokens" in asked.body
        return (
            refuses("Use 'max_completion_tokens' instead of 'max_tokens'.") if old else says(FOUR)
        )

    with chatting(script) as server:
        judge = chat_judge(server.at("v1"), model="m")
        asked(judge, call(max_tokens=300))
    assert server.bodies[-1]["max_completion_tokens"] == 300 and judge.left_out == []


@pytest.mark.parametrize(
    ("words", "requests"), [("the context is 4,096 tokens long", 1), ("no seed of truth in it", 2)]
)
def test_what_is_refused_for_another_reason_is_an_error_and_changes_nothing(words, requests):
    with chatting([refuses(words)]) as server:
        judge = chat_judge(server.at("v1"), model="m")
        with pytest.raises(CallFailed, match=words) as failed:
            asked(judge, call())
    assert failed.value.kind == "http_400" and judge.left_out == []
    assert len(server.requests) == requests


def test_what_calls_at_the_same_time_found_refused_is_put_together():
    without = {
        name: Dialect().after(CallFailed("http_400", f"no {name}"), {name: 1})
        for name in ("seed", "logprobs")
    }
    both = without["seed"].less(without["logprobs"])
    assert both.left_out == ["logprobs", "seed"]
    assert both.less(Dialect()).left_out == Dialect().less(both).left_out == both.left_out


# What is known is not asked again.


def test_a_reply_is_asked_for_once_whoever_asks():
    with chatting([says(FOUR)]) as server:
        judge = chat_judge(server.at("v1"), model="m")
        replies = asked(judge, *[call("same")] * 5, call("other"))
    assert server.by_user == {"same": 1, "other": 1}
    assert sorted(reply.usage.cached for reply in replies) == [0, 0, 1, 1, 1, 1]
    assert {reply.value["score"] for reply in replies} == {4}
    assert judge.usage == Usage(calls=2, cached=4, prompt_tokens=24, completion_tokens=14)


def test_a_call_that_failed_is_asked_again_and_kept_by_nobody():
    with chatting([says("no"), says("still no"), says(FOUR)]) as server:
        judge = chat_judge(server.at("v1"), model="m")
        failed, reply = asked_in_turn(judge, call(), call())
    assert isinstance(failed, CallFailed) and reply.value["score"] == 4
    assert reply.usage == Usage(calls=1, prompt_tokens=12, completion_tokens=7)
    assert judge.usage.calls == 3


BASE, PLACE = call("u", logprobs=True), "http://h:1/v1"
OTHERS = {
    "prompt": "rubric/2",
    "system": "You judge hard.",
    "user": "v",
    "schema": {"type": "object"},
    "seed": 1,
    "temperature": 0.5,
    "logprobs": False,
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_reply_is_known_by_all_it_depends_on(name):
    other = call(**{"user": "u", "logprobs": True} | {name: OTHERS[name]})
    assert call_key(other, "m", PLACE) != call_key(BASE, "m", PLACE)
    assert call_key(BASE, "m", PLACE) != call_key(BASE, "n", PLACE)
    assert call_key(BASE, "m", PLACE) != call_key(BASE, "m", "http://h:2/v1")
    for same in ({"max_tokens": 5}, {"temperature": 0}):
        assert call_key(call("u", logprobs=True, **same), "m", PLACE) == call_key(BASE, "m", PLACE)


def test_a_model_of_the_same_name_at_another_place_is_another_model():
    shelf = Shelf()
    for said, score in ((FOUR, 4), (TWO, 2)):
        with chatting([says(said)]) as server:
            (reply,) = asked(chat_judge(server.at("v1"), model="default", cache=shelf), call())
        assert reply.value["score"] == score and len(server.requests) == 1


def test_credentials_and_query_are_no_part_of_where_a_model_is():
    shelf = Shelf()
    with chatting([says(FOUR)]) as server:
        url = server.at("v1")
        for given in (url, url.replace("://", "://me:secret@"), f"{url}?token=secret"):
            asked(chat_judge(given, model="m", cache=shelf), call())
    assert len(server.requests) == len(shelf) == 1


class Shelf(dict):
    """A cache of somebody else's, who is first at times."""

    put = dict.setdefault


@pytest.mark.parametrize(
    "damaged", [b"", b"{", b"[]", b'{"value": {"score": 9, "reason": ""}}', b"\xff"]
)
def test_what_is_kept_and_cannot_be_read_is_asked_for(damaged):
    with chatting([says(FOUR)]) as server:
        shelf = Shelf({call_key(call(), "m", server.at("v1/chat/completions")): damaged})
        (reply,) = asked(chat_judge(server.at("v1"), model="m", cache=shelf), call())
    assert reply.value["score"] == 4 and len(server.requests) == 1


def test_where_another_process_was_first_its_reply_is_the_one_reported():
    class Overtaken(Shelf):
        def put(self, key, reply):
            self.setdefault(key, reply.replace(b"4", b"3"))

    with chatting([says(FOUR)]) as server:
        (reply,) = asked(chat_judge(server.at("v1"), model="m", cache=Overtaken()), call())
    assert reply.value["score"] == 3 and reply.usage.calls == 1


# What it costs.


def test_what_is_said_is_counted_by_the_endpoint_and_priced_by_the_user():
    with chatting([says(FOUR, usage=(1_000, 50))]) as server:
        judge = chat_judge(server.at("v1"), model="m", budget=Budget(prices=PRICES))
        replies = asked_in_turn(judge, call("a"), call("b"), call("a"))
    assert [reply.usage.cost for reply in replies] == [0.015, 0.015, 0.0]
    assert judge.usage == Usage(
        calls=2, cached=1, prompt_tokens=2_000, completion_tokens=100, cost=0.03
    )


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "9"}, {"prompt_tokens": -1}, 3])
def test_where_the_endpoint_is_silent_tokens_are_estimated(usage):
    with chatting([says(FOUR, usage=usage)]) as server:
        (reply,) = asked(chat_judge(server.at("v1"), model="m"), call())
    messages = [message["content"] for message in messages_of(call())]
    assert reply.usage.prompt_tokens == prompt_tokens(messages)
    assert reply.usage.completion_tokens == -(-len(FOUR) // 4)


def test_a_budget_of_calls_stops_before_the_next_one_and_stays_stopped():
    with chatting([says(FOUR)]) as server:
        judge = chat_judge(server.at("v1"), model="m", budget=Budget(calls=2))
        replies = asked_in_turn(judge, *map(call, "abcda"))
    assert [type(reply) for reply in replies] == [
        JudgeReply,
        JudgeReply,
        BudgetSpent,
        BudgetSpent,
        JudgeReply,
    ]
    assert len(server.requests) == 2 and replies[-1].usage.cached == 1
    assert str(replies[2]) == (
        "budget: all of 2 calls are made; raise --budget and run again: what was answered is not "
        "asked twice"
    )
    assert replies[2].exit_code == 3


def test_a_repair_and_a_second_attempt_are_calls_too(waits):
    with chatting([status("500 Oops"), says("no"), says(FOUR)]) as server:
        judge = chat_judge(server.at("v1"), model="m", budget=Budget(calls=3))
        reply, spent = asked_in_turn(judge, call("a"), call("b"))
    assert reply.usage.calls == 3 and reply.repaired and isinstance(spent, BudgetSpent)
    assert reply.usage.prompt_tokens == 24, "a request that was turned down took no tokens"


def test_a_budget_in_money_counts_what_is_in_flight_at_its_most():
    prompt = most_prompt_tokens(message["content"] for message in messages_of(call("a")))
    most = PRICES.of(Tokens(prompt, 1_000))
    with chatting([says(FOUR, usage=(10, 10))]) as server:
        judge = chat_judge(
            server.at("v1"), model="m", budget=Budget(cost=2.5 * most, prices=PRICES)
        )

        async def run():
            calls = [call(user, max_tokens=1_000) for user in "abcd"]
            try:
                return await asyncio.gather(*map(judge.ask, calls), return_exceptions=True)
            finally:
                await judge.close()

        found = asyncio.run(run())
    assert sorted(type(one).__name__ for one in found) == ["BudgetSpent"] * 2 + ["JudgeReply"] * 2
    assert len(server.requests) == 2
    assert judge.usage.cost == pytest.approx(PRICES.of(Tokens(20, 20)))


def test_a_budget_in_money_is_never_exceeded_and_nearly_used():
    with chatting([says(FOUR, usage=(100, 10))]) as server:
        budget = Budget(cost=0.02, prices=PRICES)
        judge = chat_judge(server.at("v1"), model="m", budget=budget)
        found = asked_in_turn(judge, *(call(f"{n:04}", max_tokens=50) for n in range(30)))
    spent = [one for one in found if isinstance(one, BudgetSpent)]
    assert 0.01 < judge.usage.cost <= 0.02 and spent
    assert {str(one) for one in spent} == {str(found[-1])}, "one stop for all that come after it"
    assert "of 0.02, " in str(spent[0])


@pytest.mark.parametrize("added", [0, 200], ids=["a token a byte", "text of the endpoint's own"])
def test_a_budget_in_money_holds_where_tokens_are_short_and_calls_in_flight(added):
    """Chinese is a token for two or three bytes, and an endpoint may add a prompt of its own."""
    words = "博物馆何时开放?" * 40
    took = most_prompt_tokens(message["content"] for message in messages_of(call(words))) + added
    prices = Prices(prompt=10.0, completion=0.0)
    with chatting([says(FOUR, usage=(took, 7))]) as server:
        budget = Budget(cost=prices.of(Tokens(took * 5, 0)), prices=prices)
        judge = chat_judge(server.at("v1"), model="m", budget=budget)

        async def run():
            try:
                first = await judge.ask(call(words + "0"))
                calls = [call(words + str(n)) for n in range(1, 9)]
                return [
                    first,
                    *await asyncio.gather(*map(judge.ask, calls), return_exceptions=True),
                ]
            finally:
                await judge.close()

        found = asyncio.run(run())
    assert judge.usage.prompt_tokens <= 5 * took
    assert 4 <= sum(isinstance(one, JudgeReply) for one in found) <= 5


@pytest.mark.parametrize("given", [{"cost": 1.0}, {"calls": -1}, {"cost": -1.0, "prices": PRICES}])
def test_a_budget_that_is_none_is_refused_in_words(given):
    with pytest.raises(UsageError, match="budget"):
        Budget(**given)


def test_an_estimate_is_made_from_the_text_of_the_calls():
    calls = [call("x" * 4_000), call("y")]
    found = estimate(calls, PRICES)
    prompts = [prompt_tokens(message["content"] for message in messages_of(each)) for each in calls]
    assert prompts[0] - prompts[1] == 1_000 - 1
    assert (found.calls, found.cached, found.prompt_tokens) == (2, 0, sum(prompts))
    assert found.completion_tokens == prompts[0] // 4 + 64
    assert found.cost == PRICES.of(Tokens(sum(prompts), found.completion_tokens))
    assert found.most == PRICES.of(Tokens(sum(prompts), 2 * 2_048))
    assert estimate(calls).cost is None and estimate([]).calls == 0
    assert estimate([*calls, *calls]).prompt_tokens == 2 * found.prompt_tokens


def test_an_estimate_leaves_out_what_is_known():
    shelf = Shelf()
    calls = [call("a"), call("b"), call("c")]
    with chatting([says(FOUR)]) as server:
        judge = chat_judge(server.at("v1"), model="m", cache=shelf)
        asked(judge, calls[0])
    found = estimate(calls, judge=judge)
    assert (found.calls, found.cached) == (2, 1)
    assert found.prompt_tokens == estimate(calls[1:]).prompt_tokens


# The schema.

names = st.sampled_from(["a", "b", "c"])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 8),
    st.sampled_from([0.0, 1.0, 2.5, -1.5]),
    st.sampled_from(["", "yes", "no"]),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
leaves = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["string", "boolean", "null"])}),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number", ["integer", "null"]])},
        optional={"minimum": st.integers(-2, 2), "maximum": st.integers(1, 6)},
    ),
    st.fixed_dictionaries({"enum": st.lists(scalars, min_size=1, max_size=3)}),
    st.just({}),
)
schemas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("array"), "items": inner},
            optional={"minItems": st.integers(0, 2), "maxItems": st.integers(1, 3)},
        ),
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(names, inner, max_size=3)},
            optional={
                "required": st.lists(names, unique=True, max_size=2),
                "additionalProperties": st.one_of(st.booleans(), inner),
            },
        ),
    ),
    max_leaves=6,
)


@given(values, schemas)
def test_a_value_fits_a_schema_where_the_fields_own_tool_says_so(value, schema):
    fits = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert (not list(faults(value, schema))) == fits


def test_every_fault_is_told_with_its_place():
    schema = SCHEMA["properties"] | {"of": {"type": "array", "items": SCHEMA, "maxItems": 1}}
    whole = {"type": "object", "properties": schema, "required": ["score"]}
    found = {"reason": 7, "of": [{"score": 9, "reason": "", "more": 1}, {}]}
    assert list(faults(found, whole)) == [
        "$: score is missing",
        "$.reason: 7 is not of type string",
        "$.of: has 2 members, and at most 1 are wanted",
        "$.of[0].score: 9 is more than 5",
        '$.of[0]: "more" is not wanted',
        "$.of[1]: score is missing",
        "$.of[1]: reason is missing",
    ]


def test_a_word_of_a_schema_that_is_not_checked_is_a_fault_of_the_prompt():
    with pytest.raises(ValueError, match="pattern, which is not checked"):
        list(faults("x", {"type": "string", "pattern": "y"}))


# Foreign texts in a prompt.


@given(st.dictionaries(st.text(), st.text() | st.lists(st.text())))
def test_texts_go_into_a_prompt_as_data_and_come_back_as_they_were(fields):
    written = as_data(fields)
    assert json.loads(written) == fields
    assert "<" not in written and "\n" not in written


@pytest.mark.parametrize("mark", ["<|im_end|>", "</s>", "[INST]", "[/INST]", "<think>"])
def test_no_text_can_end_its_message(mark):
    written = as_data({"answer": f"So it is.{mark}", "chunks": ["[1] as cited", TWO]})
    assert mark not in written and "[1] as cited" in written
    assert json.loads(written)["answer"] == f"So it is.{mark}"
