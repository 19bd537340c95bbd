"""Calls to a system under test: many at a time, each tried as often as may help, and kept.

A call's answer is a line of a journal before it counts as done.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from ragauge.contracts.run import PlannedRun
from ragauge.contracts.sweep import Ended, Progress
from ragauge.contracts.system import Ask, CallFailed, System
from ragauge.contracts.trace import Trace
from ragauge.pipelines.attempts import Pace, backoff_s, timed_out
from ragauge.pipelines.reply import failed_trace, trace_of
from ragauge.store.journal import Journal

CLOSING_S = 1.0
"""How long a stop waits for calls and connections to let go."""
WAITING = 4
"""Answers for each call in flight that may wait for the disk before calls wait too."""


class Manner(Struct, frozen=True, kw_only=True):
    """How calls are made."""

    concurrency: int
    timeout_s: float
    retries: int
    rate_per_s: float | None = None


class Call(Struct, frozen=True):
    """A run as it is put to the system."""

    key: str
    """What tells it from the others."""
    run: PlannedRun
    ask: Ask


Made = tuple[Call, Trace]


class Work(Protocol):
    """What is to be asked, and what becomes of the answers."""

    def rounds(self) -> Iterable[Iterable[Iterable[Call]]]:
        """Jobs, each of calls that are made one after the other.

        A round begins when the one before it has ended, and is not looked at earlier.
        """

    def note(self, call: Call, trace: Trace) -> None:
        """Be told what a call came to, before it is on the disk."""

    def line(self, call: Call, trace: Trace) -> bytes:
        """What the journal keeps of it."""

    def count(self, made: Sequence[Made]) -> Ended | None:
        """Count calls that are on the disk; why all should stop, where it should."""


def ask_of(run: PlannedRun, knobs: Mapping[str, Any], constraints: Sequence[str]) -> Ask:
    """The run as a system is asked it; locked sentences go with their question as a knob.

    >>> from ragauge.contracts.run import Variation
    >>> ask_of(PlannedRun("q1", Variation(seed=3), "Why?"), {"top_k": 5}, ["Not so."]).knobs
    {'top_k': 5, 'constraints': ['Not so.']}
    """
    locked = {"constraints": list(constraints)} if constraints else {}
    vary = run.variation
    return Ask(
        q=run.question_sent,
        seed=vary.seed,
        temperature=vary.temperature,
        jitter=vary.jitter,
        knobs={**knobs, **locked},
    )


def trace_line(trace: Trace) -> dict[str, Any]:
    """The trace as its line has it, which says its status even where it is the usual one."""
    return {**msgspec.to_builtins(trace), "status": trace.status}


def unwatched(progress: Progress) -> None:
    """Progress that nobody looks at."""


class Calling:
    """Calls from the first to the last: all that runs at the same time."""

    def __init__(self, system: System, how: Manner, runs: Journal, work: Work) -> None:
        self._system, self._how, self._journal, self._work = system, how, runs, work
        self._pace = Pace(how.rate_per_s)

    async def run(self) -> Ended:
        """Make the calls, and close the system; the way it ended."""
        self._stopped: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
        self._finished: asyncio.Queue[Made | None] = asyncio.Queue()
        self._drained = asyncio.Event()
        recording = asyncio.create_task(self._record())
        async with _stop_on_signals(lambda: self._stop("interrupted")):
            try:
                for jobs in self._work.rounds():
                    await self._calls(iter(jobs), recording)
                    if self._stopped.done() or recording.done():
                        break
            finally:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._system.close(), CLOSING_S)
                self._finished.put_nowait(None)
                await recording
        return self._stopped.result() if self._stopped.done() else "complete"

    async def _calls(self, jobs: Iterator[Iterable[Call]], recording: asyncio.Task[None]) -> None:
        """All workers until the last is done, someone says stop, or nothing can be recorded."""
        workers = [asyncio.create_task(self._work_on(jobs)) for _ in range(self._how.concurrency)]
        all_done = asyncio.ensure_future(asyncio.wait(workers))
        watched: list[asyncio.Future[Any]] = [all_done, self._stopped, recording]
        await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        for worker in workers:
            worker.cancel()
        ended, _ = await asyncio.wait(workers, timeout=CLOSING_S)
        for worker in ended:
            if not worker.cancelled():
                worker.result()  # a fault of our own is not passed over in silence

    async def _work_on(self, jobs: Iterator[Iterable[Call]]) -> None:
        for job in jobs:
            for call in job:
                trace = await self._made(call)
                self._work.note(call, trace)
                # Without a pause between: a run that was answered is recorded, even in a stop.
                self._finished.put_nowait((call, trace))
                if self._finished.qsize() > WAITING * self._how.concurrency:
                    self._drained.clear()
                    await self._drained.wait()

    async def _made(self, call: Call) -> Trace:
        """The trace of a call, with as many attempts as it takes or may take."""
        clock = asyncio.get_running_loop().time
        run, ask = call.run, call.ask
        attempt = 0
        while True:
            attempt += 1
            await self._pace.turn()
            start = clock()
            try:
                async with asyncio.timeout(self._how.timeout_s):
                    reply = await self._system.ask(ask)
                ms = 1000 * (clock() - start)
                return trace_of(run, ask, reply, latency_ms=ms, attempt=attempt)
            except TimeoutError:
                failure = timed_out(self._how.timeout_s)
            except CallFailed as error:
                failure = error
            except Exception as error:  # a system of somebody else's can fail in any way
                failure = CallFailed("raised", f"{type(error).__name__}: {error}")
            if not failure.again or attempt > self._how.retries:
                ms = 1000 * (clock() - start)
                return failed_trace(run, ask, str(failure), latency_ms=ms, attempt=attempt)
            await asyncio.sleep(backoff_s(call.key, attempt, failure.after_s))

    async def _record(self) -> None:
        """Write what is finished to the journal, all that waits at once, and only then count it."""
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, "journal") as thread:
            open = True
            while open:
                batch = [await self._finished.get()]
                while not self._finished.empty():
                    batch.append(self._finished.get_nowait())
                made = [one for one in batch if one is not None]
                open = len(made) == len(batch)
                lines = [self._work.line(call, trace) for call, trace in made]
                await loop.run_in_executor(thread, self._journal.append, lines)
                if reason := self._work.count(made):
                    self._stop(reason)
                self._drained.set()

    def _stop(self, ended: Ended) -> None:
        if not self._stopped.done():
            self._stopped.set_result(ended)


@asynccontextmanager
async def _stop_on_signals(stop: Callable[[], None]) -> AsyncIterator[None]:
    """SIGINT and SIGTERM say stop, where signals are ours to handle."""
    loop = asyncio.get_running_loop()
    held = []
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(ValueError, NotImplementedError, RuntimeError):  # not the main thread
            loop.add_signal_handler(number, stop)
            held.append(number)
    try:
        yield
    finally:
        for number in held:
            loop.remove_signal_handler(number)
