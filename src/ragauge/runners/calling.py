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

from ragauge.contracts.options import LONGEST_WAIT_S
from ragauge.contracts.run import PlannedRun
from ragauge.contracts.sweep import Ended, Progress
from ragauge.contracts.system import Ask, CallFailed, System
from ragauge.contracts.trace import Trace
from ragauge.errors import SystemUnreachable
from ragauge.pipelines.attempts import Pace, Waits, attempted
from ragauge.pipelines.reply import failed_trace, trace_of
from ragauge.store.journal import Journal

CLOSING_S = 1.0
"""How long a stop waits for calls and connections to let go."""
FIRST_ALONE_S = 5.0
"""After this the other calls start, even if the first has no answer yet: slow is not dead."""
REMEDIES = {
    "refused": "start the server, or correct the host and port of the URL",
    "unreachable": "check the host name of the URL and the network",
    "tls": "check the certificate of the server",
    "redirect": "",
    "http_401": "check the key: the file of --map sets the headers",
    "http_403": "check the key: the file of --map sets the headers",
    "http_404": "check the path of the URL",
    "http_405": "check the path of the URL: calls are sent by POST",
    "http_410": "check the path of the URL",
    "not_started": "check the command",
    "no_knob": "set it with --knobs",
}
"""Failures that every other call would share, and what to do about them."""
WAITING = 4
"""Answers for each call in flight that may wait for the disk before calls wait too."""


class Manner(Struct, frozen=True, kw_only=True):
    """How calls are made."""

    concurrency: int
    timeout_s: float
    retries: int
    rate_per_s: float | None = None
    max_wait_s: float = LONGEST_WAIT_S
    """The longest wait that a system may ask for with Retry-After."""
    first_alone: bool = True
    """Make the first call alone, and give up if it shows that no other can succeed."""


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


def place_of(system: System) -> str:
    """Where a system is called, for a message."""
    place = getattr(system, "place", None)
    return place if isinstance(place, str) else "the system"


def unreachable(place: str, failed: CallFailed) -> SystemUnreachable:
    """The error of a first call that shows that no other can succeed."""
    fact = f"{place}: the first call failed, and no other was made: {failed}"
    remedy = REMEDIES.get(failed.kind)
    return SystemUnreachable(f"{fact}; {remedy}" if remedy else fact)


def unwatched(progress: Progress) -> None:
    """Progress that nobody looks at."""


class Calling:
    """Calls from the first to the last: all that runs at the same time."""

    def __init__(self, system: System, how: Manner, runs: Journal, work: Work) -> None:
        self._system, self._how, self._journal, self._work = system, how, runs, work
        self._pace = Pace(how.rate_per_s)
        self._place = place_of(system)
        self._waits = Waits(self._place)
        self._dead: SystemUnreachable | None = None
        self._first: str | None = None
        self._answered = False

    async def run(self) -> Ended:
        """Make the calls, and close the system; the way it ended.

        Raises SystemUnreachable where the first call shows that no other can succeed.
        """
        self._started = asyncio.Event()
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
        if self._dead is not None:
            raise self._dead
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
                first = await self._is_first(call)
                trace, failed = await self._made(call)
                if first and failed and self._is_dead(failed):
                    return
                self._started.set()
                self._answered = self._answered or not failed
                self._work.note(call, trace)
                # Without a pause between: a run that was answered is recorded, even in a stop.
                self._finished.put_nowait((call, trace))
                if self._finished.qsize() > WAITING * self._how.concurrency:
                    self._drained.clear()
                    await self._drained.wait()

    async def _is_first(self, call: Call) -> bool:
        """Whether this is the first call; any other waits until that ended or takes long."""
        if self._first is None:
            self._first = call.key
            asyncio.get_running_loop().call_later(FIRST_ALONE_S, self._started.set)
        elif self._first != call.key and self._how.first_alone:
            await self._started.wait()
        return self._first == call.key

    def _is_dead(self, failed: CallFailed) -> bool:
        """Whether the first call shows that no other can succeed; if so, everything stops."""
        waits_too_long = (failed.after_s or 0.0) > self._how.max_wait_s
        shared = failed.kind in REMEDIES or waits_too_long
        if self._answered or not self._how.first_alone or not shared:
            return False
        self._dead = unreachable(self._place, failed)
        self._stop("error_budget")
        return True

    async def _made(self, call: Call) -> tuple[Trace, CallFailed | None]:
        """The trace of a call after as many attempts as it may take, and how it failed."""
        clock = asyncio.get_running_loop().time
        run, ask = call.run, call.ask
        attempt, start = 0, clock()

        async def answered() -> Trace:
            nonlocal attempt, start
            attempt, start = attempt + 1, clock()
            try:
                reply = await self._system.ask(ask)
                ms = 1000 * (clock() - start)
                return trace_of(run, ask, reply, latency_ms=ms, attempt=attempt)
            except (CallFailed, TimeoutError):
                raise
            except Exception as error:  # a system of somebody else's can fail in any way
                raise CallFailed("raised", f"{type(error).__name__}: {error}") from error

        try:
            trace = await attempted(
                answered,
                key=call.key,
                attempts=1 + self._how.retries,
                timeout_s=self._how.timeout_s,
                turn=self._turn,
                waits=self._waits,
                longest_wait_s=self._how.max_wait_s,
                remedy="; raise --max-wait, or call later",
            )
        except CallFailed as failure:
            ms = 1000 * (clock() - start)
            trace = failed_trace(run, ask, str(failure), latency_ms=ms, attempt=attempt)
            return trace, failure
        return trace, None

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        await self._pace.turn()
        yield

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
