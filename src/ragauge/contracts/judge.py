"""A judge: prompts go in, objects of a schema come out, or the call fails."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct


class JudgeCall(Struct, frozen=True, kw_only=True):
    """One question to a judge: all that its reply depends on, so that it can be cached by it."""

    prompt: str
    """The name and version of the prompt file, such as `claims/1`."""
    system: str
    user: str
    schema: dict[str, Any]
    """JSON Schema of the reply."""
    seed: int = 0
    temperature: float = 0.0
    logprobs: bool = False
    max_tokens: int = 2048
    """Where the reply is cut. A cut reply is no reply, so what is kept does not depend on it."""


class Usage(Struct, frozen=True, kw_only=True):
    """What calls took; tokens by the endpoint's own count, or by an estimate where it is silent."""

    calls: int = 0
    """Requests that were sent, those that were sent again among them."""
    cached: int = 0
    """Replies that were known already, and cost nothing."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """In the currency of the prices given; None without prices."""

    def __add__(self, other: Usage) -> Usage:
        """Both together; the cost is None where neither has one."""
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            calls=self.calls + other.calls,
            cached=self.cached + other.cached,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost=sum(costs) if costs else None,
        )


class JudgeReply(Struct, frozen=True, kw_only=True):
    """What a judge said, checked against the schema."""

    value: dict[str, Any]
    usage: Usage
    repaired: bool = False
    """The first reply broke the schema and was asked for again."""
    logprob: float | None = None
    """Mean log-probability of the reply's tokens, where the endpoint tells."""


class Judge(Protocol):
    """Whoever gives verdicts: a chat endpoint behind a cache and a budget."""

    @property
    def id(self) -> str:
        """The model's name: it goes into every record made with it."""

    async def ask(self, call: JudgeCall) -> JudgeReply:
        """The reply; raises `CallFailed`, and `BudgetSpent` where no more may be asked."""

    async def close(self) -> None: ...


class ReplyCache(Protocol):
    """Replies by the content of their call; one that was put is kept after a kill."""

    def get(self, key: str) -> bytes | None: ...

    def put(self, key: str, reply: bytes) -> None: ...
