"""An endpoint of a model, in the manner of OpenAI's: JSON goes in, JSON comes out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, TypeVar
from urllib.parse import urlsplit, urlunsplit

from msgspec import Meta, Struct

from ragauge.errors import UsageError
from ragauge.pipelines.attempts import Pace, Waits, attempted
from ragauge.pipelines.hidden import Hidden
from ragauge.pipelines.http import HttpSystem

Result = TypeVar("Result")

_VERSION = "/v1"


class Limits(Struct, frozen=True, kw_only=True):
    """How hard an endpoint may be pressed, and how long it is waited for."""

    concurrency: Annotated[int, Meta(ge=1)] = 8
    rate_per_s: Annotated[float, Meta(gt=0)] | None = None
    timeout_s: Annotated[float, Meta(gt=0)] = 60.0
    attempts: Annotated[int, Meta(ge=1)] = 4


class ModelEndpoint(HttpSystem):
    """Sends bodies by POST: so many at a time, so fast, again where that may help."""

    def __init__(self, url: str, path: str, *, key: str | None, limits: Limits) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        super().__init__(address(url, path), headers=headers, concurrency=limits.concurrency)
        self._key = Hidden({key} if key else set())
        self._limits = limits
        self._pace = Pace(limits.rate_per_s)
        self._places = asyncio.Semaphore(limits.concurrency)
        self._waits = Waits(urlsplit(self.place).netloc)

    async def patiently(self, key: str, ask: Callable[[], Awaitable[Result]]) -> Result:
        """What asking brings, within the limits; raises the last CallFailed."""
        limits = self._limits
        return await attempted(
            ask,
            key=key,
            attempts=limits.attempts,
            timeout_s=limits.timeout_s,
            turn=self._turn,
            waits=self._waits,
        )

    def without_key(self, text: str) -> str:
        """A text of the endpoint that does not hold the key, were it to quote it."""
        return self._key.without(text)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        async with self._places:
            await self._pace.turn()
            yield


def address(url: str, path: str) -> str:
    """The URL that is asked, from the one a user gives: with the path, or without it.

    >>> address("http://host:8080/v1/", "chat/completions")
    'http://host:8080/v1/chat/completions'
    >>> address("http://host:8080", "embeddings")
    'http://host:8080/v1/embeddings'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url  # HttpSystem says what is wrong with it
    given = parts.path.rstrip("/") or _VERSION
    whole = given if given.endswith(f"/{path}") else f"{given}/{path}"
    return urlunsplit(parts._replace(path=whole, fragment=""))


def key_of(named: str | None, usual: str) -> str | None:
    """The key from the environment: the variable the user names, else the usual one if it is set.

    No other is looked at: a key goes to nobody whom its owner did not mean.
    """
    key = os.environ.get(named or usual, "").strip()
    if named and not key:
        raise UsageError(f"the environment has no {named}; set it to the key of the endpoint")
    return key or None


def rate_per_s(text: str) -> float:
    """Calls a second, from what a user writes: a number, with `/s` or `/min` behind it or not.

    >>> rate_per_s("90/min"), rate_per_s("2/s"), rate_per_s("0.5")
    (1.5, 2.0, 0.5)
    """
    number, _, unit = text.partition("/")
    try:
        rate = float(number) / {"": 1, "s": 1, "min": 60}[unit]
    except (ValueError, KeyError):
        rate = 0.0
    if not 0 < rate < float("inf"):
        raise UsageError(f'"{text}" is no rate of calls; write 5/s or 300/min')
    return rate
