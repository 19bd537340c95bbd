"""Calls that are made again: how many at a time, how fast, and how long to wait in between."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from asyncio import sleep
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from ragauge.contracts.options import LONGEST_WAIT_S
from ragauge.contracts.system import CallFailed

Result = TypeVar("Result")

BACKOFF_S = 0.5
LONGEST_BACKOFF_S = 30.0
"""A wait doubles with every attempt, up to this; what the system asks for with Retry-After is
waited for in full, up to the longest wait."""
REMARKED_WAIT_S = 5.0
"""Nobody wonders about a shorter wait."""

log = logging.getLogger("ragauge.calls")


class Pace:
    """Turns that come no faster than a rate."""

    def __init__(self, rate_per_s: float | None) -> None:
        self._gap_s = 1 / rate_per_s if rate_per_s else 0.0
        self._next = 0.0

    async def turn(self) -> None:
        if not self._gap_s:
            return
        now = asyncio.get_running_loop().time()
        self._next = max(self._next, now)
        wait, self._next = self._next - now, self._next + self._gap_s
        await sleep(wait)


def backoff_s(key: str, attempt: int, asked_s: float | None) -> float:
    """How long to wait before the next attempt; spread by key, so that not all come at once."""
    spread = hashlib.sha256(f"{key}/{attempt}".encode()).digest()[0] / 255
    own = min(BACKOFF_S * 2.0 ** (attempt - 1), LONGEST_BACKOFF_S) * (0.5 + spread)
    return max(own, asked_s or 0.0)


def timed_out(timeout_s: float) -> CallFailed:
    return CallFailed("timeout", f"no answer within {timeout_s:g} s", again=True)


async def attempted(
    ask: Callable[[], Awaitable[Result]],
    *,
    key: str,
    attempts: int,
    timeout_s: float,
    turn: Callable[[], AbstractAsyncContextManager[None]],
    waits: Waits,
    longest_wait_s: float = LONGEST_WAIT_S,
    remedy: str = "",
) -> Result:
    """What a call brings, asked again while that may help; raises the last CallFailed.

    Each attempt has the complete time. Its turn is held while it runs, and not while it waits.
    Where the system asks for a longer wait than the longest, the call has failed, and `remedy`
    says what can be done about it. `waits` shows long waits.
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            async with turn(), asyncio.timeout(timeout_s):
                return await ask()
        except TimeoutError:
            failed = timed_out(timeout_s)
        except CallFailed as error:
            failed = error
        if not failed.again or attempt >= attempts:
            raise failed
        if (failed.after_s or 0.0) > longest_wait_s:
            asked = f"the server asks to wait {failed.after_s:,.0f} s"
            fact = f"{failed.fact}; {asked}, and {longest_wait_s:g} s is the longest{remedy}"
            raise CallFailed(failed.kind, fact, after_s=failed.after_s)
        wait = backoff_s(key, attempt, failed.after_s)
        waits.show(failed, wait)
        await sleep(wait)


class Waits:
    """Shows that calls wait, and once where many wait for the same."""

    def __init__(self, place: str) -> None:
        self._place, self._shown_until = place, 0.0

    def show(self, failed: CallFailed, wait_s: float) -> None:
        now = asyncio.get_running_loop().time()
        if wait_s < REMARKED_WAIT_S or now + wait_s < self._shown_until + REMARKED_WAIT_S:
            return
        self._shown_until = now + wait_s
        log.warning("%s: waiting %.0f s after %s", self._place, wait_s, failed)
