"""A chat endpoint: messages go in, what the model says comes out, and every request is counted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec import structs

from ragauge.contracts.judge import JudgeCall, Usage
from ragauge.contracts.system import CallFailed
from ragauge.models.endpoint import ModelEndpoint
from ragauge.models.judges.budget import (
    Budget,
    Tokens,
    most_prompt_tokens,
    prompt_tokens,
    tokens_of,
)
from ragauge.models.judges.replies import Completion, completion_of
from ragauge.models.judges.request import Dialect, Message

_MAYBE_BILLED = frozenset({"bad_reply", "disconnected", "too_large"})
"""Failures after which the endpoint may have done the work, and may ask to be paid for it."""


class Chat:
    """One model at an endpoint, spoken to in as much of the protocol as it takes."""

    def __init__(self, endpoint: ModelEndpoint, model: str, budget: Budget) -> None:
        self._endpoint, self.model, self._budget = endpoint, model, budget
        self._dialect = Dialect()

    def __repr__(self) -> str:
        return f"Chat({self.model}, {self._endpoint!r})"

    @property
    def place(self) -> str:
        """Where the model is: the same name elsewhere may be another model."""
        return self._endpoint.place

    @property
    def left_out(self) -> list[str]:
        """Parts of the protocol that the endpoint refuses."""
        return self._dialect.left_out

    async def said(
        self, call: JudgeCall, messages: Sequence[Message], key: str
    ) -> tuple[Completion, Usage]:
        """What the model says to the messages, and what that took; raises CallFailed."""
        dialect, taken = self._dialect, list[Usage]()
        while True:
            body = dialect.body(call, self.model, messages)
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

    async def close(self) -> None:
        await self._endpoint.close()

    async def _sent(self, body: dict[str, Any], most: int, taken: list[Usage]) -> Completion:
        """The reply to one request; however it ends, a deadline's among them, it is counted."""
        messages = [message["content"] for message in body["messages"]]
        prompt = prompt_tokens(messages)
        held = took = self._budget.hold(Tokens(most_prompt_tokens(messages), most))
        try:
            said = self._without_key(completion_of(await self._endpoint.send(body)))
            took = said.tokens or Tokens(prompt, tokens_of(said.text))
            return said
        except CallFailed as failed:
            if failed.kind not in _MAYBE_BILLED:
                took = Tokens()
            raise
        finally:
            taken.append(self._budget.settle(held, took))

    def _without_key(self, said: Completion) -> Completion:
        hidden = self._endpoint.without_key
        refusal = None if said.refusal is None else hidden(said.refusal)
        return structs.replace(said, text=hidden(said.text), refusal=refusal)
