"""An event loop that never keeps the process alive."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

Result = TypeVar("Result")
Given = ParamSpec("Given")

_MOST_THREADS = 32


class LoopThread:
    """Runs coroutines that never raise, many at a time, in a daemon thread's loop.

    Cancelling a call leaves it at once: its coroutine is cancelled too, but nobody waits to see
    whether it heeds that, or whether it blocks the loop.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        # The loop itself holds tasks by weak references alone.
        self._going: set[asyncio.Task[Any] | None] = set()

    async def call(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """What the coroutine returns."""
        loop = self._loop or self._start()
        return await asyncio.wrap_future(
            asyncio.run_coroutine_threadsafe(self._held(coroutine), loop)
        )

    def close(self) -> None:
        """Let the thread end, when what still runs there has ended."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None

    def _start(self) -> asyncio.AbstractEventLoop:
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(_DaemonExecutor(_MOST_THREADS))
        threading.Thread(
            target=self._work, args=(self._loop,), name="ragauge-loop", daemon=True
        ).start()
        return self._loop

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:  # it cancels tasks at its end
            runner.get_loop()
            while True:
                with suppress(KeyboardInterrupt, SystemExit):  # of a task the function started
                    loop.run_forever()
                    return

    async def _held(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        task = asyncio.current_task()
        self._going.add(task)
        try:
            return await coroutine
        finally:
            self._going.discard(task)


class _DaemonExecutor(ThreadPoolExecutor):
    """The threads of `asyncio.to_thread`, without the wait for them when the process ends."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._most, self._started = most, 0
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()

    def submit(
        self, fn: Callable[Given, Result], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Result]:
        future: Future[Result] = Future()
        self._calls.put((future, partial(fn, *args, **kwargs)))
        if self._started < self._most:
            self._started += 1
            threading.Thread(target=self._serve, name="ragauge-loop-call", daemon=True).start()
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
