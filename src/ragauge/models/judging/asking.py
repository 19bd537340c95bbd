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
    prompts = {call.prompt for call in (*opening.values(), *following.values())}
    errors = first.errors | second.errors
    return AnswerClaims(
        judge=" ".join([judge.id, *sorted(prompts)]),
        answer=found.answer(),
        reference=found.reference(),
        chunks=None if row.contexts is None else len(row.contexts),
        useful=found.useful(),
        questions=tuple(said["questions"]) if said else None,
        noncommittal=True if refused else said.get("noncommittal"),
        # In the order of the plan, in which questions come last.
        errors=tuple(f"{step}: {errors[step]}" for step in sorted(errors, key="questions".__eq__)),
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


class Verdicts:
    """The replies to a plan's calls; what has no reply is None."""

    def __init__(
        self, plan: Plan, claimed: Claimed, replies: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._plan, self._claimed, self._replies = plan, claimed, replies
        self._ranks = plan.passages
        asked = claims_for_chunks(plan, claimed)
        self._in_chunk = {
            step: dict(zip(asked, reply["verdicts"], strict=True))
            for step, reply in replies.items()
            if "verdicts" in reply
        }

    def answer(self) -> tuple[Claim, ...] | None:
        """The answer's claims, with the verdicts of the contexts and of the references."""
        asked, _ = claims_for_agreement(self._plan, self._claimed)
        others = self._others("answer_claims", asked)
        return self._claims(self._claimed.answer, "answer_in_chunks", others)

    def reference(self) -> tuple[Claim, ...] | None:
        """The reference's claims, with the verdicts of the contexts and of the answer."""
        _, asked = claims_for_agreement(self._plan, self._claimed)
        others = self._others("reference_claims", asked)
        if "reference_in_answer" in self._plan.parts and self._claimed.answer == ():
            others = dict.fromkeys(self._claimed.reference or (), False)
        return self._claims(self._claimed.reference, "reference_in_chunks", others)

    def useful(self) -> tuple[bool | None, ...] | None:
        """Whether each context is useful for the reference; None where that was not asked."""
        if "useful" not in self._plan.parts:
            return None
        ranks = [self._ranks.get(context.text) for context in self._plan.row.contexts or ()]
        return tuple(
            False if rank is None else self._replies.get(f"chunk {rank}", {}).get("useful")
            for rank in ranks
        )

    def _claims(
        self, texts: tuple[str, ...] | None, part: Part, others: Mapping[str, bool]
    ) -> tuple[Claim, ...] | None:
        if texts is None:
            return None
        contexts = (self._plan.row.contexts or ()) if part in self._plan.parts else ()
        return tuple(
            Claim(
                text=text,
                chunks=tuple(self._verdict(context, text) for context in contexts),
                other=others.get(text),
            )
            for text in texts
        )

    def _others(self, name: str, asked: tuple[str, ...]) -> dict[str, bool]:
        verdicts = self._replies.get("agreement", {}).get(name)
        return {} if verdicts is None else dict(zip(asked, verdicts, strict=True))

    def _verdict(self, context: Context, claim: str) -> bool | None:
        rank = self._ranks.get(context.text)
        if rank is None:  # a blank context says nothing, and was not asked about
            return False
        return self._in_chunk.get(f"chunk {rank}", {}).get(claim)


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
