"""A judge behind any OpenAI-compatible chat endpoint, and what it will cost to ask it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct, structs

from ragauge.contracts.judge import JudgeCall, JudgeReply, ReplyCache, Usage
from ragauge.contracts.system import CallFailed
from ragauge.models.endpoint import ModelEndpoint
from ragauge.models.judges.budget import (
    Budget,
    Estimate,
    Prices,
    Tokens,
    most_prompt_tokens,
    prompt_tokens,
    tokens_of,
)
from ragauge.models.judges.replies import (
    Completion,
    Unusable,
    completion_of,
    faults,
    unusable,
    verdict_in,
)
from ragauge.models.judges.request import Dialect, Message, call_key, messages_of, repair_of

_MAYBE_BILLED = frozenset({"bad_reply", "disconnected", "too_large"})
"""Failures after which the endpoint may have done the work, and may ask to be paid for it."""


class ChatJudge:
    """One model at an endpoint, spoken to in as much of the protocol as it takes.

    Each call is asked once: a reply that is known is not asked for, nor paid, again.
    """

    def __init__(
        self, endpoint: ModelEndpoint, model: str, *, cache: ReplyCache, budget: Budget
    ) -> None:
        self._endpoint, self._model, self._cache, self._budget = endpoint, model, cache, budget
        self._dialect = Dialect()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def __repr__(self) -> str:
        return f"ChatJudge({self._model}, {self._endpoint!r})"

    @property
    def id(self) -> str:
        return self._model

    @property
    def usage(self) -> Usage:
        """All that was taken so far, by calls that failed too."""
        return self._budget.spent

    @property
    def left_out(self) -> list[str]:
        """Parts of the protocol that the endpoint refuses, such as `seed`, for reports to say."""
        return self._dialect.left_out

    async def ask(self, call: JudgeCall) -> JudgeReply:
        """The reply; raises `CallFailed`, and `BudgetSpent` where no more may be asked."""
        key = self._key(call)
        turn = self._turns.setdefault(key, asyncio.Lock())
        async with turn:  # who asks the same at the same time waits for the first one's reply
            known = await asyncio.to_thread(self.known, call)
            if known is not None:
                return known.reply(self._budget.cached())
            made, usage = await self._answered(call, key)
            await asyncio.to_thread(self._cache.put, key, msgspec.json.encode(made))
            # Another process may have been first: then its reply is the one that is reported.
            return (await asyncio.to_thread(self.known, call) or made).reply(usage)

    def known(self, call: JudgeCall) -> Kept | None:
        """The reply that is kept; None where there is none that can be read and fits the call."""
        content = self._cache.get(self._key(call))
        if content is None:
            return None
        try:
            kept = msgspec.json.decode(content, type=Kept)
        except msgspec.DecodeError:
            return None
        return None if any(faults(kept.value, call.schema)) else kept

    async def close(self) -> None:
        await self._endpoint.close()

    def _key(self, call: JudgeCall) -> str:
        # The same name at another place may be another model.
        return call_key(call, self._model, self._endpoint.place)

    async def _answered(self, call: JudgeCall, key: str) -> tuple[Kept, Usage]:
        """A reply that fits the schema, asked for a second time where the first does not."""
        messages = messages_of(call)
        said, usage = await self._said(call, messages, key)
        found = verdict_in(said, call)
        if not isinstance(found, Unusable):
            return Kept(value=found, logprob=said.logprob), usage
        again = repair_of(messages, said.text, found.faults)
        said, more = await self._said(call, again, key)
        found = verdict_in(said, call)
        if isinstance(found, Unusable):
            raise unusable(found)
        return Kept(value=found, repaired=True, logprob=said.logprob), usage + more

    async def _said(
        self, call: JudgeCall, messages: Sequence[Message], key: str
    ) -> tuple[Completion, Usage]:
        """What the model says to the messages, and what that took; raises CallFailed."""
        dialect, taken = self._dialect, list[Usage]()
        while True:
            body = dialect.body(call, self._model, messages)
            try:
                ask = partial(self._sent, body, call.max_tokens, taken)
                said = await self._endpoint.patiently(key, ask)
            except CallFailed as failed:
                less = dialect.after(failed, body)
                if less is None:
                    raise
                dialect = less
            else:
                # That it helped shows that it was refused: it is not tried with others again.
                self._dialect = self._dialect.less(dialect)
                return said, sum(taken, Usage())

    async def _sent(self, body: dict[str, Any], most: int, taken: list[Usage]) -> Completion:
        """The reply to one request; however it ends, a deadline's among them, it is counted."""
        messages = [message["content"] for message in body["messages"]]
        prompt = prompt_tokens(messages)
        held = took = self._budget.hold(Tokens(most_prompt_tokens(messages), most))
        try:
            said = completion_of(await self._endpoint.send(body))
            hidden = self._endpoint.without_key
            refusal = None if said.refusal is None else hidden(said.refusal)
            said = structs.replace(said, text=hidden(said.text), refusal=refusal)
            took = said.tokens or Tokens(prompt, tokens_of(said.text))
            return said
        except CallFailed as failed:
            if failed.kind not in _MAYBE_BILLED:
                took = Tokens()
            raise
        finally:
            taken.append(self._budget.settle(held, took))


class Kept(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A reply as it is kept: nothing of the endpoint, nor of its key."""

    value: dict[str, Any]
    repaired: bool = False
    logprob: float | None = None

    def reply(self, usage: Usage) -> JudgeReply:
        return JudgeReply(
            value=self.value, usage=usage, repaired=self.repaired, logprob=self.logprob
        )


REPLY_SHARE = 4
LEAST_REPLY = 64
"""A reply is expected to be a quarter of its prompt, and no less than this."""


def estimate(
    calls: Iterable[JudgeCall], prices: Prices | None = None, *, judge: ChatJudge | None = None
) -> Estimate:
    """What it will take to ask all of them, at the most: two that are the same count as two.

    With the judge that is to be asked, those whose reply it knows are counted apart.
    """
    new = cached = 0
    expected = most = Tokens()
    for call in calls:
        if judge is not None and judge.known(call) is not None:
            cached += 1
            continue
        new += 1
        prompt = prompt_tokens(message["content"] for message in messages_of(call))
        reply = min(max(prompt // REPLY_SHARE, LEAST_REPLY), call.max_tokens)
        expected += Tokens(prompt, reply)
        most += Tokens(prompt, call.max_tokens)
    return Estimate(
        calls=new,
        cached=cached,
        prompt_tokens=expected.prompt,
        completion_tokens=expected.completion,
        cost=prices.of(expected) if prices else None,
        most=prices.of(most) if prices else None,
    )
