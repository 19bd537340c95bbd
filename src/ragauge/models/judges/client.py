"""A judge behind any OpenAI-compatible chat endpoint."""

from __future__ import annotations

import asyncio
from typing import Any
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct

from ragauge.contracts.judge import JudgeCall, JudgeReply, ReplyCache, Usage
from ragauge.models.judges.budget import Budget
from ragauge.models.judges.chat import Chat
from ragauge.models.judges.replies import Unusable, unusable, verdict_in
from ragauge.models.judges.request import call_key, messages_of, repair_of
from ragauge.models.judges.schema import faults


class ChatJudge:
    """Asks each call once: a reply that is known is not asked for, nor paid, again."""

    def __init__(self, chat: Chat, *, cache: ReplyCache, budget: Budget) -> None:
        self._chat, self._cache, self._budget = chat, cache, budget
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def __repr__(self) -> str:
        return f"ChatJudge({self._chat!r})"

    @property
    def id(self) -> str:
        return self._chat.model

    @property
    def usage(self) -> Usage:
        """All that was taken so far, by calls that failed too."""
        return self._budget.spent

    @property
    def left_out(self) -> list[str]:
        """Parts of the protocol that the endpoint refuses, such as `seed`, for reports to say."""
        return self._chat.left_out

    async def ask(self, call: JudgeCall) -> JudgeReply:
        """The reply; raises `CallFailed`, and `BudgetSpent` where no more may be asked."""
        key = self._key(call)
        turn = self._turns.setdefault(key, asyncio.Lock())
        async with turn:  # who asks the same at the same time waits for the first one's reply
            known = await self._known(call)
            if known is not None:
                return known.reply(self._budget.cached())
            made, usage = await self._answered(call, key)
            await asyncio.to_thread(self._cache.put, key, msgspec.json.encode(made))
            # Another process may have been first: then its reply is the one that is reported.
            return (await self._known(call) or made).reply(usage)

    def known(self, call: JudgeCall) -> Kept | None:
        """The reply to a call that is kept already; None where it would have to be asked for."""
        return kept_reply(self._cache, self._key(call), call)

    async def close(self) -> None:
        await self._chat.close()

    def _key(self, call: JudgeCall) -> str:
        return call_key(call, self.id, self._chat.place)

    async def _known(self, call: JudgeCall) -> Kept | None:
        return await asyncio.to_thread(self.known, call)

    async def _answered(self, call: JudgeCall, key: str) -> tuple[Kept, Usage]:
        """A reply that fits the schema, asked for a second time where the first does not."""
        messages = messages_of(call)
        said, usage = await self._chat.said(call, messages, key)
        found = verdict_in(said, call)
        if not isinstance(found, Unusable):
            return Kept(value=found, logprob=said.logprob), usage
        again = repair_of(messages, said.text, found.faults)
        said, more = await self._chat.said(call, again, key)
        found = verdict_in(said, call)
        if isinstance(found, Unusable):
            raise unusable(found)
        return Kept(value=found, repaired=True, logprob=said.logprob), usage + more


class Kept(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A reply as it is kept: nothing of the endpoint, nor of its key."""

    value: dict[str, Any]
    repaired: bool = False
    logprob: float | None = None

    def reply(self, usage: Usage) -> JudgeReply:
        return JudgeReply(
            value=self.value, usage=usage, repaired=self.repaired, logprob=self.logprob
        )


def kept_reply(cache: ReplyCache, key: str, call: JudgeCall) -> Kept | None:
    """The reply that is kept; None where there is none that can be read and fits the call."""
    content = cache.get(key)
    if content is None:
        return None
    try:
        kept = msgspec.json.decode(content, type=Kept)
    except msgspec.DecodeError:
        return None
    return None if any(faults(kept.value, call.schema)) else kept
