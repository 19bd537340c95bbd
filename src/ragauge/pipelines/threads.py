"""Threads that never keep the process alive, and coroutines run from anywhere."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, ParamSpec, TypeVar

from ragauge.contracts.system import CallFailed

Asked = TypeVar("Asked")
Given = ParamSpec("Given")
Result = TypeVar("Result")

START_S = 1.0
"""What a thread may take to start."""


class DaemonExecutor(ThreadPoolExecutor):
    """Threads that nobody waits for: they end with the process, and not the process with them."""

    def __init__(self, most: int, name: str) -> None:
        super().__init__(most)
        self._most, self._name, self._started = most, name, 0
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()

    def submit(
        self, fn: Callable[Given, Result], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Result]:
        future: Future[Result] = Future()
        self._calls.put((future, partial(fn, *args, **kwargs)))
        if self._started < self._most:
            self._started += 1
            threading.Thread(target=self._serve, name=self._name, daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the threads end that have nothing to do; never waits."""
        for _ in range(self._started):
            self._calls.put(None)

    def _serve(self) -> None:
        while call := self._calls.get():
            future, function = call
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(error)
            del future, function, call  # what was called must not live until the next call


class DaemonThreads(Generic[Asked, Result]):
    """Calls a function in a bounded number of threads, many at a time.

    A thread cannot be stopped. Where a call is cancelled its thread is left to itself: it counts
    until the function returns, and it ends with the process, not the process with it.
    """

    def __init__(self, function: Callable[[Asked], Result], most: int) -> None:
        self._function, self._most = function, most
        self._threads = DaemonExecutor(most, "ragauge-call")
        self._free = asyncio.Semaphore(most)
        self._left = 0

    async def call(self, asked: Asked) -> Result:
        """What the function returns; raises CallFailed where no thread will come free."""
        if self._left >= self._most:
            fact = f"all {self._most} threads are held by earlier calls that have not ended"
            raise CallFailed("hung", fact, again=True)
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Result]

        def ended() -> None:
            self._free.release()
            self._left -= answer.cancelled()

        def told(_: Future[Result]) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(ended)

        made = self._threads.submit(self._function, asked)
        answer = asyncio.wrap_future(made)
        made.add_done_callback(told)
        try:
            return await answer
        finally:
            self._left += answer.cancelled()

    def close(self) -> None:
        """Let the threads end that have nothing to do."""
        self._threads.shutdown()


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
