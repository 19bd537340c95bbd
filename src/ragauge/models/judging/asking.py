"""Asking a judge all that the wanted metrics need to know of an answer, each thing once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from ragauge.contracts.answers import AnswerRow, Context
from ragauge.contracts.claims import AnswerClaims, Claim
from ragauge.contracts.embedder import Embedder
from ragauge.contracts.judge import Judge, JudgeCall, JudgeReply
from ragauge.contracts.system import CallFailed
from ragauge.models.judges.replies import faults
from ragauge.models.judging.plan import (
    Claimed,
    Part,
    Plan,
    claims_for_agreement,
    claims_for_chunks,
    opening_calls,
    plan_of,
    verdict_calls,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = dict[str, NDArray[np.float32]]

Value = dict[str, Any]
Claims = tuple[Claim, ...] | None


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
    said = first.values.get("questions", {})
    answer, reference, useful = _verdicts(plan, claimed, second.values)
    prompts = {call.prompt for call in (*opening.values(), *following.values())}
    errors = first.errors | second.errors
    return AnswerClaims(
        judge=" ".join([judge.id, *sorted(prompts)]),
        answer=answer,
        reference=reference,
        chunks=None if row.contexts is None else len(row.contexts),
        useful=useful,
        questions=tuple(said["questions"]) if said else None,
        noncommittal=True if refused else said.get("noncommittal"),
        # In the order of the plan, in which questions come last.
        errors=tuple(f"{step}: {errors[step]}" for step in sorted(errors, key="questions".__eq__)),
    )


async def replies_of(judge: Judge, calls: Mapping[str, JudgeCall]) -> Replies:
    """The replies to calls that are made at once."""

    async def asked(call: JudgeCall) -> JudgeReply:
        reply = await judge.ask(call)
        wrong = list(faults(reply.value, call.schema))  # once more: a judge may be anybody's
        if wrong:
            raise CallFailed("bad_reply", "; ".join(wrong))
        return reply

    came = await asyncio.gather(*map(asked, calls.values()), return_exceptions=True)
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


def _verdicts(
    plan: Plan, claimed: Claimed, replies: Mapping[str, Value]
) -> tuple[Claims, Claims, tuple[bool | None, ...] | None]:
    """The claims of answer and reference with their verdicts, and which contexts are useful.

    What has no reply is None. A blank context says nothing, and was not asked about.
    """
    contexts, ranks = plan.row.contexts or (), plan.passages
    asked = claims_for_chunks(plan, claimed)
    in_chunk = {
        step: dict(zip(asked, reply["verdicts"], strict=True))
        for step, reply in replies.items()
        if "verdicts" in reply
    }

    def verdict(context: Context, claim: str) -> bool | None:
        rank = ranks.get(context.text)
        return False if rank is None else in_chunk.get(f"chunk {rank}", {}).get(claim)

    def judged(texts: tuple[str, ...] | None, part: Part, others: Mapping[str, bool]) -> Claims:
        if texts is None:
            return None
        shown = contexts if part in plan.parts else ()
        return tuple(
            Claim(
                text=text,
                chunks=tuple(verdict(context, text) for context in shown),
                other=others.get(text),
            )
            for text in texts
        )

    by_name: dict[str, dict[str, bool]] = {}
    names = ("answer_claims", "reference_claims")
    for name, texts in zip(names, claims_for_agreement(plan, claimed), strict=True):
        found = replies.get("agreement", {}).get(name)
        by_name[name] = {} if found is None else dict(zip(texts, found, strict=True))
    if "reference_in_answer" in plan.parts and claimed.answer == ():
        by_name["reference_claims"] = dict.fromkeys(claimed.reference or (), False)
    useful = None
    if "useful" in plan.parts:
        places = [ranks.get(context.text) for context in contexts]
        useful = tuple(
            False if rank is None else replies.get(f"chunk {rank}", {}).get("useful")
            for rank in places
        )
    return (
        judged(claimed.answer, "answer_in_chunks", by_name["answer_claims"]),
        judged(claimed.reference, "reference_in_chunks", by_name["reference_claims"]),
        useful,
    )


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


Known = Callable[[JudgeCall], Mapping[str, Any] | None]
"""What is known already of a call's reply."""


def planned_calls(
    rows: Iterable[AnswerRow],
    wanted: Collection[str],
    *,
    refused: Collection[str] = (),
    seed: int = 0,
    known: Known = lambda call: None,
) -> Iterator[JudgeCall]:
    """The calls that judging these rows will take at most; `refused` are the ids of refusals.

    Where the claims of a row are known, the calls for verdicts on them are those that will be
    made. Where they are not, each text stands for its own claims, which are about as long; where
    it turns out to claim nothing, fewer calls are made.
    """
    for row in rows:
        plan = plan_of(row, wanted, refused=row.id in refused, seed=seed)
        opening = opening_calls(plan)
        yield from opening.values()
        reply = known(opening["claims"]) if "claims" in opening else None
        claimed = Claimed(
            (plan.row.answer or "",) if plan.of_answer else None,
            (plan.reference or "",) if plan.of_reference else None,
        )
        if reply is not None:
            claimed = claimed_in(plan, reply)
        yield from verdict_calls(plan, claimed).values()


def likened(
    asked: Iterable[tuple[str | None, AnswerClaims]], embedder: Embedder
) -> list[AnswerClaims]:
    """The claims with the cosine of each of their questions to the one asked, in their order.

    All texts are embedded in one batch, each once. Where there is no question, or nothing to
    compare it with, the claims stay as they are.
    """
    pairs = list(asked)
    texts = sorted(
        {
            text
            for question, claims in pairs
            if question is not None and claims.questions
            for text in (question, *claims.questions)
        }
    )
    vectors = dict(zip(texts, embedder.embed(texts), strict=True)) if texts else {}
    found = []
    for question, claims in pairs:
        if question is None or claims.questions is None:
            found.append(claims)
        else:
            cosines = tuple(float(vectors[question] @ vectors[text]) for text in claims.questions)
            found.append(structs.replace(claims, likeness=cosines))
    return found
