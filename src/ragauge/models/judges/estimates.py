"""What asking a judge will cost, told before it is asked."""

from __future__ import annotations

from collections.abc import Iterable

from ragauge.contracts.judge import JudgeCall
from ragauge.models.judges.budget import Estimate, Prices, Tokens, prompt_tokens
from ragauge.models.judges.client import ChatJudge
from ragauge.models.judges.request import messages_of

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
