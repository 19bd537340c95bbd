"""A judge by a real, small language model at a real endpoint: the plumbing, not its verdicts."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from ragauge.contracts.answers import AnswerRow, Context
from ragauge.contracts.judge import Usage
from ragauge.models.judges import Budget, Prices, as_data, chat_judge, estimate
from ragauge.models.judges.replies import faults
from ragauge.models.judging import judge_answer
from ragauge.models.judging.plan import most_claims
from ragauge.models.judging.prompt import prompt
from ragauge.store.reply_cache import open_replies
from tests.models.judge_server import asked, asked_in_turn, call

PROGRAM = Path(__file__).parents[1] / "demo" / "language_model.py"
USER = as_data(
    {
        "question": "When was the collection moved?",
        "answer": "It was moved in 1808.",
        "context": "The collection was moved to Amsterdam in 1808.",
    }
)
VERDICTS = {
    "type": "object",
    "properties": {
        "verdicts": {
            "type": "array",
            "items": {"type": "string", "enum": ["supported", "not supported"]},
            "minItems": 2,
            "maxItems": 2,
        },
    },
    "required": ["verdicts"],
    "additionalProperties": False,
}

NUMBERS = {
    "type": "object",
    "properties": {
        "numbers": {
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": 9},
            "minItems": 4,
            "maxItems": 4,
        },
    },
    "required": ["numbers"],
    "additionalProperties": False,
}
LONG_S = 600.0
"""A bound on waiting, met only when something is broken."""


@pytest.fixture(scope="module")
def language_model():
    """The address of the endpoint."""
    with subprocess.Popen(
        [sys.executable, PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        yield process.stdout.readline().strip() + "/v1"
        process.kill()


def test_a_reply_fits_its_schema_is_counted_and_kept(language_model, tmp_path):
    made = call(USER, seed=3, temperature=0.8, max_tokens=200, logprobs=True, schema=VERDICTS)
    cache = open_replies(str(tmp_path / "store"))
    budget = Budget(calls=3, prices=Prices(prompt=1.0, completion=2.0))
    first = chat_judge(
        language_model, model="smollm2", cache=cache, budget=budget, timeout_s=LONG_S
    )
    (reply,) = asked(first, made)
    assert list(faults(reply.value, VERDICTS)) == []
    assert not reply.repaired and first.left_out == []
    usage = reply.usage
    assert usage.calls == 1 and usage.prompt_tokens > 50 and usage.completion_tokens > 5
    assert usage.cost == (usage.prompt_tokens + 2 * usage.completion_tokens) / 1e6
    assert reply.logprob is not None and reply.logprob < 0
    expected = estimate([made])
    assert 0.4 < expected.prompt_tokens / usage.prompt_tokens < 2.5

    second = chat_judge(language_model, model="smollm2", cache=cache)
    (again,) = asked(second, made)
    assert (again.value, again.logprob) == (reply.value, reply.logprob)
    assert again.usage == Usage(cached=1)
    cache.close()


def test_the_seed_is_what_a_reply_depends_on(language_model):
    def drawn(*seeds):
        judge = chat_judge(language_model, model="smollm2", concurrency=1, timeout_s=LONG_S)
        made = [
            call("Name numbers.", seed=seed, temperature=1.0, schema=NUMBERS, max_tokens=40)
            for seed in seeds
        ]
        return [reply.value["numbers"] for reply in asked_in_turn(judge, *made)]

    drawn(9)  # the server remembers the prompt, and its first numbers differ in their last bits
    first = drawn(1, 2, 3)
    assert len(set(map(tuple, first))) > 1
    assert drawn(1, 2) == first[:2]


def test_a_whole_plan_is_asked_and_every_claim_has_a_verdict(language_model):
    """The claims of the answer, then the one context: what they say is the model's business.

    It may find that nothing is claimed; whether the context is useful it must say all the same.
    """
    row = AnswerRow(
        id="r",
        answer="It opened in 1808.",
        contexts=(Context("c", "The museum opened in 1808."),),
        references=("In 1808.",),
    )

    async def judged():
        judge = chat_judge(language_model, model="smollm2", timeout_s=LONG_S)
        try:
            return await judge_answer(
                row, judge, ["faithfulness", "context_precision"]
            ), judge.usage
        finally:
            await judge.close()

    claims, usage = asyncio.run(judged())
    assert claims.errors == ()
    assert claims.judge == f"smollm2 {prompt('chunk').id} {prompt('claims').id}"
    assert claims.chunks == 1 and claims.reference is None
    assert claims.useful in ((True,), (False,))
    assert len(claims.answer) <= most_claims(row.answer)
    assert all(claim.chunks in ((True,), (False,)) for claim in claims.answer)
    assert usage.calls == 2
