"""Replies as they are kept under the content of their call."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.judge import JudgeCall, JudgeReply, ReplyCache, Usage
from ragauge.models.judges.schema import faults


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
