"""Threads that never keep the process alive, and coroutines run from anywhere."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from ragauge.contracts.system import CallFailed

Given = TypeVar("Given")
Result = TypeVar("Result")

START_S = 1.0
"""What a thread may take to start."""


class DaemonThreads(Generic[Given, Result]):
    """Calls a function that never raises, in a bounded number of threads.

    A thread cannot be stopped. Where a call is cancelled its thread is left to itself: it counts
    until the function returns, and it ends with the process, not the process with it.
    """

    def __init__(self, function: Callable[[Given], Result], most: int) -> None:
        self._function, self._most = function, most
        self._calls: SimpleQueue[_Call[Given, Result] | None] = SimpleQueue()
        self._free = asyncio.Semaphore(most)
        self._threads = self._busy = self._left = 0

    async def call(self, given: Given) -> Result:
        """What the function returns; raises CallFailed where no thread will come free."""
        if self._left >= self._most:
            fact = f"all {self._most} threads are held by earlier calls that have not ended"
            raise CallFailed("hung", fact, again=True)
        await self._free.acquire()
        self._busy += 1
        if self._busy > self._threads:
            self._threads += 1
            threading.Thread(target=self._work, name="ragauge-call", daemon=True).start()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Result] = loop.create_future()
        self._calls.put((given, loop, answer))
        try:
            return await answer
        finally:
            if answer.cancelled():
                self._left += 1

    def close(self) -> None:
        """Let the threads end that have nothing to do."""
        for _ in range(self._threads):
            self._calls.put(None)

    def _work(self) -> None:
        while call := self._calls.get():
            given, loop, answer = call
            result = self._function(given)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(self._ended, answer, result)

    def _ended(self, answer: asyncio.Future[Result], result: Result) -> None:
        self._busy -= 1
        self._free.release()
        if answer.cancelled():
            self._left -= 1
        else:
            answer.set_result(result)


_Call = tuple[Given, asyncio.AbstractEventLoop, "asyncio.Future[Result]"]


def run_async(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """What a coroutine returns, also for a caller inside a running event loop, as in a notebook.

    There it runs in a thread with the caller's context. An interrupt cancels it, and is raised
    when it has let go of what it holds.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []
    interrupted, context = threading.Event(), copy_context()
    ended: Future[Result] = Future()

    async def noted() -> Result:
        task = asyncio.current_task()
        running.append((asyncio.get_running_loop(), task))
        if interrupted.is_set() and task:
            task.cancel()
        return await coroutine

    def work() -> None:
        try:
            ended.set_result(context.run(asyncio.run, noted()))
        except BaseException as error:
            ended.set_exception(error)

    try:
        # Not an executor's: one that is interrupted while it starts a thread does not wait for it.
        threading.Thread(target=work, name="ragauge-run").start()
        return ended.result()
    except KeyboardInterrupt:
        interrupted.set()
        for loop, task in running:
            with suppress(RuntimeError):  # the loop ended by itself
                loop.call_soon_threadsafe(task.cancel if task else loop.stop)
        wait([ended], timeout=None if running else START_S)
        raise
