"""The sweep: every question of a gold set, asked again and again under what should not matter."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, structs

from ragauge.contracts.gold import Gold
from ragauge.contracts.run import ORIGINAL, Grid, PlannedRun
from ragauge.contracts.sweep import Ended, Progress, SweepReport
from ragauge.contracts.system import Ask, CallFailed, System
from ragauge.contracts.trace import Trace
from ragauge.errors import UsageError
from ragauge.gates.stability import Profile
from ragauge.ingest.gold import read_gold
from ragauge.pipelines.attempts import Pace, backoff_s, timed_out
from ragauge.pipelines.reply import failed_trace, trace_of
from ragauge.runners.judge import Adaptive
from ragauge.runners.ledger import Ledger, sweep_plan
from ragauge.runners.options import in_flags
from ragauge.runners.plan import check_grid
from ragauge.store.journal import Journal, journal

CLOSING_S = 1.0
"""How long a stop waits for calls and connections to let go."""
WAITING = 4
"""Answers for each call in flight that may wait for the disk before calls wait too."""

Watch = Callable[[Progress], None]


class SweepOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to sweep; the defaults are the command's."""

    grid: Grid = Grid()
    paraphrases: bool = False
    """Ask every paraphrase the gold set has, beside the question itself."""
    concurrency: Annotated[int, Meta(ge=1)] = 16
    timeout_s: Annotated[float, Meta(gt=0)] = 90.0
    retries: Annotated[int, Meta(ge=0)] = 3
    rate_per_s: Annotated[float, Meta(gt=0)] | None = None
    error_budget: str = "5%"
    adaptive: Adaptive | None = None
    profile: Profile = "ours"
    gates: str | None = None
    """Rules an adaptive sweep stops by, in place of or beside the profile's."""
    knobs: dict[str, Any] = {}
    restart: bool = False


def sweep(
    gold: str | Path,
    system: System,
    out: str | Path,
    watch: Watch | None = None,
    **options: Any,
) -> SweepReport:
    """The report of a sweep whose runs are in `out`; options as in SweepOptions.

    What `out` holds of the same sweep is not asked again. An interrupt ends it within moments,
    and the report says so: nothing that was reported as done is lost.
    """
    chosen = _options_of(options)
    budget = allowed_errors(chosen.error_budget)
    questions = read_gold(str(gold))
    if chosen.paraphrases:
        chosen = structs.replace(chosen, grid=_with_paraphrases(chosen.grid, questions))
    plan = sweep_plan(questions, system.identity, chosen)
    with journal(Path(out)) as runs:
        ledger = Ledger(questions, plan, chosen, runs)
        sweeping = _Sweep(questions, system, chosen, ledger, runs, watch or _unwatched)
        sweeping.budget = budget(ledger.planned)
        ended = asyncio.run(sweeping.run())
        return ledger.report(ended, sweeping.budget)


def _options_of(given: dict[str, Any]) -> SweepOptions:
    try:
        chosen = msgspec.convert(given, SweepOptions)
    except msgspec.ValidationError as error:
        raise UsageError(f"sweep: {in_flags(str(error), _FLAGS)}") from None
    check_grid(chosen.grid)
    if chosen.gates and not chosen.adaptive:
        raise UsageError("--gates: a sweep judges nothing unless it is --adaptive; drop them here")
    return chosen


_FLAGS = {
    "timeout_s": "--timeout",
    "rate_per_s": "--rate",
    "concurrency": "--concurrency",
    "retries": "--retries",
}


def _with_paraphrases(grid: Grid, gold: list[Gold]) -> Grid:
    most = max(len(question.paraphrases) for question in gold)
    wordings = {ORIGINAL, *grid.paraphrases, *range(1, most + 1)}
    return structs.replace(grid, paraphrases=tuple(sorted(wordings)))


def allowed_errors(text: str) -> Callable[[int], Fraction]:
    """How many runs of a number may fail: `P%` of them, or a count."""
    written = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", text, re.ASCII)
    if not written or (written[2] and float(written[1]) > 100):
        raise UsageError(f'--error-budget "{text}" is neither a percentage such as 5% nor a count')
    number = Fraction(written[1])
    return lambda planned: number / 100 * planned if written[2] else number


class _Sweep:
    """One part of a sweep, from its first call to its last: all that runs at the same time."""

    budget: Fraction

    def __init__(
        self,
        gold: list[Gold],
        system: System,
        options: SweepOptions,
        ledger: Ledger,
        runs: Journal,
        watch: Watch,
    ) -> None:
        self._system, self._options, self._ledger, self._journal = system, options, ledger, runs
        self._watch = watch
        self._constraints = {q.qid: list(q.constraints) for q in gold if q.constraints}
        self._pace = Pace(options.rate_per_s)

    async def run(self) -> Ended:
        """Make the runs that are left; the way it ended."""
        self._stopped: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
        self._finished: asyncio.Queue[Trace | None] = asyncio.Queue()
        self._drained = asyncio.Event()
        self._jobs = self._ledger.jobs()
        self._tell()
        recording = asyncio.create_task(self._record())
        async with _stop_on_signals(lambda: self._stop("interrupted")):
            try:
                await self._calls(recording)
            finally:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._system.close(), CLOSING_S)
                self._finished.put_nowait(None)
                await recording
        return self._stopped.result() if self._stopped.done() else "complete"

    async def _calls(self, recording: asyncio.Task[None]) -> None:
        """All workers until the last is done, someone says stop, or nothing can be recorded."""
        workers = [asyncio.create_task(self._work()) for _ in range(self._options.concurrency)]
        all_done = asyncio.ensure_future(asyncio.wait(workers))
        watched: list[asyncio.Future[Any]] = [all_done, self._stopped, recording]
        await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        for worker in workers:
            worker.cancel()
        ended, _ = await asyncio.wait(workers, timeout=CLOSING_S)
        for worker in ended:
            if not worker.cancelled():
                worker.result()  # a fault of our own is not passed over in silence

    async def _work(self) -> None:
        for job in self._jobs:
            for run in job:
                trace = await self._made(run)
                self._ledger.note(run, trace)
                # Without a pause between: a run that was answered is recorded, even in a stop.
                self._finished.put_nowait(trace)
                if self._finished.qsize() > WAITING * self._options.concurrency:
                    self._drained.clear()
                    await self._drained.wait()

    async def _made(self, run: PlannedRun) -> Trace:
        """The trace of a run, with as many attempts as it takes or may take."""
        clock = asyncio.get_running_loop().time
        ask = self._ask(run)
        attempt = 0
        while True:
            attempt += 1
            await self._pace.turn()
            start = clock()
            try:
                async with asyncio.timeout(self._options.timeout_s):
                    reply = await self._system.ask(ask)
                ms = 1000 * (clock() - start)
                return trace_of(run, ask, reply, latency_ms=ms, attempt=attempt)
            except TimeoutError:
                failure = timed_out(self._options.timeout_s)
            except CallFailed as error:
                failure = error
            except Exception as error:  # a system of somebody else's can fail in any way
                failure = CallFailed("raised", f"{type(error).__name__}: {error}")
            if not failure.again or attempt > self._options.retries:
                ms = 1000 * (clock() - start)
                return failed_trace(run, ask, str(failure), latency_ms=ms, attempt=attempt)
            await asyncio.sleep(backoff_s(run.run_id, attempt, failure.after_s))

    def _ask(self, run: PlannedRun) -> Ask:
        knobs = dict(self._options.knobs)
        if run.qid in self._constraints:
            knobs["constraints"] = self._constraints[run.qid]
        vary = run.variation
        return Ask(
            q=run.question_sent,
            seed=vary.seed,
            temperature=vary.temperature,
            jitter=vary.jitter,
            knobs=knobs,
        )

    async def _record(self) -> None:
        """Write what is finished to the journal, all that waits at once, and only then count it."""
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, "journal") as thread:
            open = True
            while open:
                batch = [await self._finished.get()]
                while not self._finished.empty():
                    batch.append(self._finished.get_nowait())
                traces = [trace for trace in batch if trace is not None]
                open = len(traces) == len(batch)
                lines = [_line(trace) for trace in traces]
                await loop.run_in_executor(thread, self._journal.append, lines)
                self._count(traces)
                self._drained.set()

    def _count(self, traces: list[Trace]) -> None:
        for trace in traces:
            self._ledger.count(trace)
        if self._ledger.failed > self.budget:
            self._stop("error_budget")
        self._tell()

    def _tell(self) -> None:
        ledger = self._ledger
        self._watch(Progress(ledger.done, ledger.planned, ledger.failed, ledger.saved))

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


def _line(trace: Trace) -> bytes:
    """The trace as a line that says its status even where it is the usual one."""
    fields = {**msgspec.to_builtins(trace), "status": trace.status}
    return msgspec.json.encode(fields, order="sorted")


def _unwatched(progress: Progress) -> None:
    """Progress that nobody looks at."""
