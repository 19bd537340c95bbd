"""Asking a judge all that the wanted metrics need to know of an answer, each thing once."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from msgspec import Struct

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.claims import AnswerClaims
from ragauge.contracts.judge import Judge, JudgeCall, JudgeReply
from ragauge.contracts.system import CallFailed
from ragauge.models.judges.schema import faults
from ragauge.models.judging.plan import Claimed, Plan, opening_calls, plan_of, verdict_calls
from ragauge.models.judging.verdicts import Verdicts

Value = dict[str, Any]


class Replies(Struct, frozen=True):
    """What the judge said, by step; what it failed at is an error under the step's name."""

    values: dict[str, Value]
    errors: dict[str, str]
    logprobs: dict[str, float]
    """How sure the judge was of each, where its endpoint tells."""


async def judge_answer(
    row: AnswerRow,
    judge: Judge,
    wanted: Collection[str],
    *,
    refused: bool = False,
    seed: int = 0,
) -> AnswerClaims:
    """All that the judge says of an answer, as far as the wanted metrics need it.

    At most three calls and one a context. A call that fails is an error record, and what it
    would have told stays None. Contexts are quoted whole: where one does not fit the model's
    window, the endpoint says so and that call fails. BudgetSpent goes up to the caller, after
    the calls in flight have come back, so that what they cost is not lost.
    """
    plan = plan_of(row, wanted, refused=refused, seed=seed)
    opening = opening_calls(plan)
    first = await replies_of(judge, opening)
    claimed = claimed_in(plan, first.values.get("claims"))
    following = verdict_calls(plan, claimed)
    second = await replies_of(judge, following)
    found, said = Verdicts(plan, claimed, second.values), first.values.get("questions", {})
    return AnswerClaims(
        judge=_name(judge, [*opening.values(), *following.values()]),
        answer=found.answer(),
        reference=found.reference(),
        chunks=None if row.contexts is None else len(row.contexts),
        useful=found.useful(),
        questions=tuple(said["questions"]) if said else None,
        noncommittal=True if refused else said.get("noncommittal"),
        errors=_in_order(first.errors | second.errors),
    )


async def replies_of(judge: Judge, calls: Mapping[str, JudgeCall]) -> Replies:
    """The replies to calls that are made at once."""
    came = await asyncio.gather(
        *(_asked(judge, call) for call in calls.values()), return_exceptions=True
    )
    values, errors, logprobs = dict[str, Value](), dict[str, str](), dict[str, float]()
    for step, reply in zip(calls, came, strict=True):
        if isinstance(reply, CallFailed):
            errors[step] = str(reply)
        elif isinstance(reply, BaseException):
            raise reply
        else:
            values[step] = reply.value
            if reply.logprob is not None:
                logprobs[step] = reply.logprob
    return Replies(values, errors, logprobs)


async def _asked(judge: Judge, call: JudgeCall) -> JudgeReply:
    """The reply, checked once more: a judge may be anybody's."""
    reply = await judge.ask(call)
    wrong = list(faults(reply.value, call.schema))
    if wrong:
        raise CallFailed("bad_reply", "; ".join(wrong))
    return reply


def claimed_in(plan: Plan, reply: Mapping[str, Any] | None) -> Claimed:
    """The claims that a reply names, as far as the plan asks for them."""
    said = reply or {}
    answer = () if plan.refused else _different(said.get("answer_claims"))
    return Claimed(answer, _different(said.get("reference_claims")))


def _different(claims: list[str] | None) -> tuple[str, ...] | None:
    """The claims that say something, each once: a model may repeat itself."""
    if claims is None:
        return None
    plain = (" ".join(claim.split()) for claim in claims)
    return tuple(dict.fromkeys(claim for claim in plain if claim))


def _name(judge: Judge, calls: Iterable[JudgeCall]) -> str:
    """The judge with the prompts that it was asked with."""
    prompts = sorted({call.prompt for call in calls})
    return f"{judge.id} {' '.join(prompts)}" if prompts else judge.id


def _in_order(errors: Mapping[str, str]) -> tuple[str, ...]:
    """The errors in the order of the plan, in which questions come last."""
    steps = sorted(errors, key="questions".__eq__)
    return tuple(f"{step}: {errors[step]}" for step in steps)
