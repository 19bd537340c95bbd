"""Judges: chat endpoints behind a cache and a budget."""

from __future__ import annotations

import msgspec

from ragauge.contracts.judge import ReplyCache
from ragauge.errors import UsageError
from ragauge.models.endpoint import Limits, ModelEndpoint, key_of
from ragauge.models.judges.budget import Budget, Estimate, Prices
from ragauge.models.judges.client import ChatJudge, estimate
from ragauge.models.judges.request import as_data, call_key

__all__ = [
    "Budget",
    "ChatJudge",
    "Estimate",
    "Prices",
    "as_data",
    "call_key",
    "chat_judge",
    "estimate",
]

KEY = "RAGAUGE_JUDGE_KEY"


def chat_judge(
    url: str,
    *,
    model: str,
    key_env: str | None = None,
    cache: ReplyCache | None = None,
    budget: Budget | None = None,
    rate: float | None = None,
    concurrency: int = 8,
    timeout_s: float = 60.0,
    attempts: int = 4,
) -> ChatJudge:
    """The judge at a URL such as http://host:port/v1, with or without `/chat/completions`.

    Its key is in the environment variable `key_env`, else in RAGAUGE_JUDGE_KEY if that is set.
    `rate` is calls a second. Without a cache, replies are known as long as the judge lives.
    """
    given = {
        "concurrency": concurrency,
        "rate_per_s": rate,
        "timeout_s": timeout_s,
        "attempts": attempts,
    }
    try:
        limits = msgspec.convert(given, Limits)
    except msgspec.ValidationError as error:
        raise UsageError(f"judge: {error}") from None
    endpoint = ModelEndpoint(url, "chat/completions", key=key_of(key_env, KEY), limits=limits)
    counted = Budget() if budget is None else budget
    known = _Memory() if cache is None else cache
    return ChatJudge(endpoint, model, cache=known, budget=counted)


class _Memory:
    """Replies that are known to this process alone."""

    def __init__(self) -> None:
        self._replies: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self._replies.get(key)

    def put(self, key: str, reply: bytes) -> None:
        self._replies.setdefault(key, reply)
