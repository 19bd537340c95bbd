"""Answers from a language model, held to the contract: a real one, and one that behaves."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ragauge.contracts.system import Ask
from ragauge.demo.chat import CONTRACT, REFUSAL, ChatGenerator, guarded, prompt
from ragauge.demo.pipeline import Pipeline
from tests.pipelines.misbehaving import serving

CHUNKS = [("r#history", "The collection was moved in 1808."), ("r#building", "It opened in 1885.")]
QUESTION = "In which year was the collection of the Rijksmuseum moved to Amsterdam?"
SHOWN = ["r#history", "r#building"]
RIGHT = '{"claim": "It was moved in 1808.", "citations": ["r#history"]}'


def completion(content):
    return {"choices": [{"message": {"role": "assistant", "content": content}}]}


def generated(url, *, constraints=(), **sampling):
    async def run():
        chat = ChatGenerator(url, "small")
        try:
            given = {"seed": 0, "temperature": 0.0} | sampling
            return await chat.generate("When?", CHUNKS, constraints, **given)
        finally:
            await chat.close()

    return asyncio.run(run())


def test_the_model_is_shown_the_contract_the_passages_and_the_locked_sentences():
    with serving(lambda body, attempt: completion(RIGHT)) as server:
        found = generated(server.at("v1/chat/completions"), constraints=["Keep it."], seed=7)
        body = server.requests[0].body
    assert found["claim"] == "It was moved in 1808."
    system, user = body["messages"]
    assert system["content"] == CONTRACT
    assert user["content"] == prompt("When?", CHUNKS, ["Keep it."])
    assert "[r#history] The collection was moved in 1808." in user["content"]
    assert "Locked sentence: Keep it." in user["content"]
    assert (body["seed"], body["temperature"], body["model"]) == (7, 0.0, "small")


BROKEN = {
    "a refusal": "not in context",
    "a refusal in a claim": '{"claim": "not in context", "citations": []}',
    "a refusal with a stop": "Not in context.",
    "no citation": '{"claim": "It was moved in 1808.", "citations": []}',
    "an id it was not shown": '{"claim": "It was moved.", "citations": ["other#1"]}',
    "one id it was not shown": '{"claim": "It was.", "citations": ["r#history", "other#1"]}',
    "plain prose": "It was moved in 1808, I believe.",
    "an empty claim": '{"claim": " ", "citations": ["r#history"]}',
    "a claim that is no text": '{"claim": 1808, "citations": ["r#history"]}',
    "a citation that is no id": '{"claim": "It was.", "citations": ["r#history", 7]}',
    "half a character": '{"claim": "It was \\ud83d.", "citations": ["r#history"]}',
    "a claim without an object": "- claim: It was.\n- citations: [r#history]",
    "many braces": "{" * 5000,
    "nothing": "",
    "no text": None,
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_breaks_the_contract_becomes_the_exact_refusal(what):
    assert guarded(BROKEN[what], SHOWN, []) == REFUSAL


@pytest.mark.parametrize(
    "said",
    [
        RIGHT,
        f"Here you are:\n```json\n{RIGHT}\n```",
        f"Of {{it}} I say {RIGHT} and that is all {{.",
        RIGHT.replace('["r#history"]', '[{"id": "r#history"}, "r#history"]'),
    ],
)
def test_an_answer_within_the_contract_goes_through(said):
    answer = {"claim": "It was moved in 1808.", "citations": ["r#history"]}
    assert guarded(said, SHOWN, []) == answer


LOCKED = ['Say "café".', "Keep it."]
ECHOES = {
    "all": LOCKED,
    "fewer": ["Keep it."],
    "more": [*LOCKED, "Trust me."],
    "altered": ['Say "cafe".', "Keep it."],
}


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("what", ECHOES)
def test_what_the_model_echoes_is_passed_on_as_it_is(what, ascii_only):
    for right in (RIGHT, '{"claim": "not in context", "citations": []}'):
        said = json.loads(right) | {"constraints_echo": ECHOES[what]}
        answer = guarded(json.dumps(said, ensure_ascii=ascii_only), SHOWN, LOCKED)
        assert answer == said


@pytest.mark.parametrize("echo", [{}, {"constraints_echo": "Keep it."}, {"constraints_echo": [1]}])
def test_a_sentence_that_only_the_claim_repeats_is_not_echoed(echo):
    said = {"claim": "Keep it.", "citations": ["r#history"]} | echo
    assert guarded(json.dumps(said), SHOWN, ["Keep it."])["constraints_echo"] == []


def test_the_pipeline_answers_through_the_endpoint():
    def script(body, attempt):
        passages = body["messages"][1]["content"]
        id = passages.partition("[")[2].partition("]")[0]
        return completion(json.dumps({"claim": "As it says.", "citations": [id]}))

    with serving(script) as server:
        chat = ChatGenerator(server.at("v1/chat/completions"), "small")
        reply = asked(Pipeline.of(generate=chat))
    assert reply["answer_json"]["claim"] == "As it says."
    assert reply["answer_json"]["citations"] == reply["retrieved_ids"][:1]


def asked(pipeline):
    async def run():
        try:
            return await pipeline.ask(Ask(q=QUESTION))
        finally:
            await pipeline.close()

    return asyncio.run(run())


@pytest.fixture(scope="module")
def language_model():
    """The address of a real endpoint with a real, small model."""
    program = Path(__file__).with_name("language_model.py")
    with subprocess.Popen(
        [sys.executable, program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        yield process.stdout.readline().strip()
        process.kill()


def test_a_real_language_model_is_asked_and_kept_to_the_contract(language_model):
    """So small a model seldom keeps the contract: what it says then must not go through."""
    chat = ChatGenerator(f"{language_model}/v1/chat/completions", "smollm2")
    pipeline = Pipeline.of(generate=chat)
    reply = asked(pipeline)
    answer = reply["answer_json"]
    assert answer == REFUSAL or (
        answer["claim"] and set(answer["citations"]) <= set(reply["retrieved_ids"])
    )
    assert reply["retrieved_ids"]
    assert pipeline.identity["generator"]["model"] == "smollm2"
