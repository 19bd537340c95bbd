"""An open loop: calls are sent at times fixed beforehand, whether or not earlier ones returned.

A loop that waits for an answer before it asks again sends less the slower the system is, and
never sees the queue its users would stand in. Here the latency of a call counts from the moment
it was to arrive, so that a queue, the system's or our own, is in the numbers.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec import Struct

from ragauge.contracts.latency import Arrivals
from ragauge.contracts.system import CallFailed


class Call(Struct, frozen=True):
    """One call and what became of it; times are in seconds since the load began."""

    number: int
    arrival_s: float
    """When it was to be sent."""
    sent_s: float
    ended_s: float
    reply: Any = None
    failure: CallFailed | None = None

    @property
    def latency_ms(self) -> float:
        return (self.ended_s - self.arrival_s) * 1000


def arrival_times(
    rate: float,
    *,
    duration_s: float | None = None,
    requests: int | None = None,
    arrivals: Arrivals = "even",
    seed: int = 0,
) -> list[float]:
    """When each call is to be sent, in seconds: the first at once, and the same every time.

    >>> arrival_times(4, duration_s=1)
    [0.0, 0.25, 0.5, 0.75]
    """
    draw = random.Random(seed)
    times, at = [0.0], 0.0
    while True:
        at = at + draw.expovariate(rate) if arrivals == "poisson" else len(times) / rate
        if len(times) >= requests if requests else at >= (duration_s or 0):
            return times
        times.append(at)


async def offered(
    ask: Callable[[int], Awaitable[Any]],
    times: Sequence[float],
    timeout_s: float,
    ended: Callable[[Call], None],
) -> int:
    """Send a call at each of the times, and wait for them all; `ended` is told of each.

    Comes back with how many earlier calls were unanswered when the last was sent. Cancelled, it
    cancels what is in flight, and of those `ended` is not told.
    """
    loop = asyncio.get_running_loop()
    start = loop.time()
    calls: list[asyncio.Task[None]] = []

    async def call(number: int, arrival_s: float) -> None:
        sent_s = loop.time() - start
        reply, failure = await _asked(ask(number), timeout_s)
        ended(Call(number, arrival_s, sent_s, loop.time() - start, reply, failure))

    try:
        for number, arrival_s in enumerate(times):
            await asyncio.sleep(start + arrival_s - loop.time())
            calls.append(loop.create_task(call(number, arrival_s)))
        open_at_end = sum(not earlier.done() for earlier in calls[:-1])
        await asyncio.gather(*calls)
    finally:
        for one in calls:
            one.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    return open_at_end


async def _asked(asking: Awaitable[Any], timeout_s: float) -> tuple[Any, CallFailed | None]:
    """The reply, or how the call failed: a foreign system can fail in any way."""
    try:
        async with asyncio.timeout(timeout_s):
            return await asking, None
    except CallFailed as failure:
        return None, failure
    except TimeoutError:
        return None, CallFailed("timeout", f"no answer within {timeout_s:g} s")
    except Exception as error:
        return None, CallFailed(type(error).__name__, str(error) or "no message")
