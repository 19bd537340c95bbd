"""Systems asked from a test that is not itself asynchronous."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from ragauge.contracts.system import Ask, CallFailed, System

Result = TypeVar("Result")
LONG_S = 30
"""A bound on waiting, met only when something is broken."""


def with_system(system: System, use: Callable[[System], Awaitable[Result]]) -> Result:
    """What comes of using a system, which is closed afterwards."""

    async def run() -> Result:
        try:
            return await asyncio.wait_for(use(system), LONG_S)
        finally:
            await system.close()

    return asyncio.run(run())


def reply_of(system: System, q: str = "Why?", **fields: Any) -> Any:
    return with_system(system, lambda system: system.ask(Ask(q=q, **fields)))


def failure_of(system: System, q: str = "Why?", **fields: Any) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        reply_of(system, q, **fields)
    return caught.value
