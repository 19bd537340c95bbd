"""Latency versus accuracy: every configuration under every rate, how fast and how right it is."""

from __future__ import annotations

import asyncio
import io
import logging
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import msgspec
from msgspec import Struct, structs

from ragauge import __version__
from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.latency import (
    Arrivals,
    Cell,
    Guard,
    LatencyCoverage,
    LatencyReport,
    Load,
    shown_ms,
)
from ragauge.contracts.report import Finding, Findings, Outcome
from ragauge.contracts.run import PlannedRun, Variation
from ragauge.contracts.system import Ask, CallFailed, System
from ragauge.contracts.trace import Trace
from ragauge.errors import UsageError
from ragauge.metrics.facts import Reader, Reading
from ragauge.metrics.table import table
from ragauge.pipelines.reply import failed_trace, trace_of
from ragauge.pipelines.threads import run_async
from ragauge.runners.calling import REMEDIES, place_of, unreachable
from ragauge.runners.cells import (
    PRECISION,
    UNDER_REFUSAL,
    Ended,
    Plan,
    Quality,
    cell_of,
    fronts,
    metrics_of,
    verdicts,
)
from ragauge.runners.evaluation import Evaluation

log = logging.getLogger("ragauge.latency")

Knobs = Mapping[str, dict[str, Any]]
Progress = Callable[[str], None]
"""Told the name of a cell whenever one of its calls has ended."""

DEFAULT: Knobs = {"default": {}}
EMPTY = "empty_answer"
LATE_SHARE, LATE_MS = 0.05, 5.0
"""Our own delay is worth a word beyond this share of the median latency, and this long."""


def latency(
    system: System,
    load: Load,
    *,
    gold: Sequence[Gold] = (),
    question: str | None = None,
    knobs: Knobs = DEFAULT,
    guard: Guard | None = None,
    reading: Reading | None = None,
    out: str | None = None,
    progress: Progress | None = None,
) -> Outcome[LatencyReport]:
    """How fast and how right a system answers the gold questions, or one question, under load.

    The questions are asked in turn, from the first in every cell, so that configurations at one
    rate are asked the same. Interrupted, what was measured until then is reported as partial.
    Raises UsageError where the load, the knobs and the guard do not fit together.
    """
    guard = guard or Guard()
    if bool(gold) == (question is not None):
        raise UsageError("give a gold set, or one question, to ask; not both")
    baseline = guard.baseline or next(iter(knobs), "")
    if baseline not in knobs:
        names = ", ".join(knobs)
        raise UsageError(f'the baseline "{baseline}" is no configuration; there are {names}')
    session = _Session(system, load, gold, question, knobs, reading or Reading(), progress)
    with _rows(out) as write, suppress(KeyboardInterrupt):
        run_async(session.run(write))
    return session.outcome(baseline, guard)


def planned_calls(load: Load, knobs: Knobs) -> int:
    """How many calls will be measured."""
    return sum(len(plan.times) for plan in _plans(load, knobs))


def most_open(load: Load) -> int:
    """How many calls may be open at once: none is ever held back for want of a connection."""
    return max(len(_times(load, rate)) for rate in load.rates)


def _plans(load: Load, knobs: Knobs) -> list[Plan]:
    """The cells in the order they are measured.

    Configurations at one rate follow each other, so that whatever else drifts in the meantime
    drifts the least between those that are compared.
    """
    plans = []
    for rate in sorted(set(load.rates)):
        times = _times(load, rate)
        plans += [Plan(config=config, rate=rate, times=times) for config in knobs]
    return plans


def _times(load: Load, rate: float) -> tuple[float, ...]:
    times = arrival_times(
        rate,
        duration_s=load.duration_s,
        requests=load.requests,
        arrivals=load.arrivals,
        seed=load.seed,
    )
    return tuple(times)


class _Measured:
    """A cell under way."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.sent = plan, 0
        self.calls: list[Ended] = []
        self.open_at_end: int | None = None
        """Calls open when the last was sent; None before that."""


class _Session:
    """One measurement, from its first call to its report."""

    def __init__(
        self,
        system: System,
        load: Load,
        gold: Sequence[Gold],
        question: str | None,
        knobs: Knobs,
        reading: Reading,
        progress: Progress | None,
    ) -> None:
        self._system, self._load, self._knobs, self._gold = system, load, knobs, gold
        self._questions = gold or [Gold(qid="question", question=question or "", answerable=True)]
        self._reader = Reader(reading)
        self._keys = [self._reader.key(one) for one in self._questions]
        self._progress = progress
        self._measured = [_Measured(plan) for plan in _plans(load, knobs)]
        self._findings = Findings()

    async def run(self, write: Callable[[bytes], None]) -> None:
        """Measure the cells one after the other; each begins when the last call of one ended."""
        try:
            for name in self._knobs:
                await self._warm_up(name)
            for measured in self._measured:
                await self._measure(measured, write)
        finally:
            await self._system.close()

    async def _warm_up(self, config: str) -> None:
        """Calls that open connections and fill caches; those that fail will do so again.

        Raises SystemUnreachable where the very first shows that no other can succeed.
        """
        for number in range(self._load.warmup):
            try:
                async with asyncio.timeout(self._load.timeout_s):
                    await self._system.ask(self._ask(config, number))
            except CallFailed as failed:
                if failed.kind in REMEDIES and not number and config == next(iter(self._knobs)):
                    raise unreachable(place_of(self._system), failed) from None
            except Exception as error:  # a foreign system can fail in any way: the load shows it
                log.debug("warm-up of %s: %s", config, error)

    async def _measure(self, measured: _Measured, write: Callable[[bytes], None]) -> None:
        plan = measured.plan

        async def ask(number: int) -> Any:
            measured.sent += 1
            return await self._system.ask(self._ask(plan.config, number))

        def ended(call: Call) -> None:
            trace, error = self._trace(plan, call)
            write(msgspec.json.encode(trace, order="sorted") + b"\n")
            place = call.number % len(self._questions)
            pattern, _, _ = self._reader.read(self._keys[place], trace)
            measured.calls.append(
                Ended(
                    question=place,
                    arrival_s=call.arrival_s,
                    sent_s=call.sent_s,
                    ended_s=call.ended_s,
                    pattern=pattern,
                    error=error,
                )
            )
            if error:
                where = f"{plan.config} at {plan.rate:g}/s, call {call.number + 1}"
                self._findings.add(Finding("call_failed", where, trace.error or error))
            if self._progress:
                self._progress(plan.name)

        measured.open_at_end = await offered(ask, plan.times, self._load.timeout_s, ended)

    def _ask(self, config: str, number: int) -> Ask:
        question = self._questions[number % len(self._questions)]
        return Ask(q=question.question, knobs=self._knobs[config])

    def _trace(self, plan: Plan, call: Call) -> tuple[Trace, str | None]:
        """What the call brought, and the kind of failure where that is no answer.

        It is a trace that `ragauge score` reads, with its place in the load as labels.
        """
        repeat, place = divmod(call.number, len(self._questions))
        asked = self._ask(plan.config, call.number)
        run = PlannedRun(self._questions[place].qid, Variation(repeat=repeat), asked.q)
        ms = call.latency_ms
        try:
            if call.failure:
                raise call.failure
            trace = trace_of(run, asked, call.reply, latency_ms=ms, attempt=1)
            error = EMPTY if trace.status == "error" else None
        except CallFailed as failure:
            trace = failed_trace(run, asked, str(failure), latency_ms=ms, attempt=1)
            error = failure.kind
        labels = {
            "config": plan.config,
            "rate": plan.rate,
            "call": call.number,
            "arrival_ms": round(call.arrival_s * 1000, 3),
            "sent_ms": round(call.sent_s * 1000, 3),
        }
        run_id = f"{plan.name}#{call.number}"
        return structs.replace(trace, run_id=run_id, labels=labels), error

    def outcome(self, baseline: str, guard: Guard) -> Outcome[LatencyReport]:
        signature, asked_gold = self._reader.reading.signature(), self._gold or None
        quality = Quality(
            questions=len(self._questions), reading=signature, gold=asked_gold is not None
        )
        cells = tuple(
            cell_of(one.plan, one.calls, quality, sent=one.sent, open_at_end=one.open_at_end)
            for one in self._measured
        )
        gates = verdicts(cells, baseline, guard)
        complete = all(cell.complete for cell in cells)
        self._note(cells)
        evaluation = Evaluation(given=metrics_of(cells, baseline))
        report = evaluation.report(
            LatencyReport,
            self._findings,
            {
                "command": "latency",
                "ragauge": __version__,
                "system": self._system.identity,
                "load": msgspec.to_builtins(self._load),
                "guard": msgspec.to_builtins(guard),
                "reading": signature,
                "gold_sha256": fingerprint(asked_gold) if asked_gold else None,
                "metrics": {id: table()[id].version for id in (PRECISION, UNDER_REFUSAL)},
            },
            passed=complete and all(gate.holds for gate in gates),
            partial=not complete,
            gates=gates,
            baseline=baseline,
            knobs=dict(self._knobs),
            cells=cells,
            fronts=fronts(cells, guard) if asked_gold else (),
            coverage=LatencyCoverage(
                cells=len(cells),
                complete=sum(cell.complete for cell in cells),
                planned=sum(cell.planned for cell in cells),
                sent=sum(cell.sent for cell in cells),
                answered=sum(cell.answered for cell in cells),
                errors=sum(cell.errors for cell in cells),
                gold=len(asked_gold) if asked_gold else None,
                asked=len({call.question for one in self._measured for call in one.calls}),
            ),
        )
        return evaluation.outcome(report, gold=self._gold)

    def _note(self, cells: Sequence[Cell]) -> None:
        """What makes the latencies of a cell say something else than they seem to."""
        for cell in cells:
            where = f"{cell.config} at {cell.rate:g}/s"
            if cell.kept_up is False:
                message = (
                    f"latency grew by {cell.growth:.2f} s with each second of load, and "
                    f"{cell.open_at_end} calls were open when the last was sent: a longer load "
                    "would give higher percentiles"
                )
                self._findings.add(Finding("fell_behind", where, message))
            late, usual = cell.late_ms or 0.0, cell.p50_ms or 0.0
            if late > LATE_MS and late > LATE_SHARE * usual:
                message = (
                    f"our own sending was up to {shown_ms(late)} late at its 95th percentile, "
                    "which is in the latencies; send from a machine with less to do"
                )
                self._findings.add(Finding("sent_late", where, message))


@contextmanager
def _rows(out: str | None) -> Iterator[Callable[[bytes], None]]:
    """A function that writes a line at once, to a file or nowhere.

    The disk is not waited for: that would hold up the calls that are to be sent meanwhile.
    """
    if out is None:
        yield lambda line: None
        return

    def failed(error: OSError) -> UsageError:
        return UsageError(f"{out}: cannot be written: {error.strerror}")

    def write(line: bytes) -> None:
        """Write the whole line, however many turns the system takes for it."""
        left = memoryview(line)
        try:
            while left:
                left = left[file.write(left) :]
        except OSError as error:
            raise failed(error) from error

    try:
        file = io.FileIO(out, "w")
    except OSError as error:
        raise failed(error) from error
    with file:
        yield write


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
        reply, failure = None, None
        try:
            async with asyncio.timeout(timeout_s):
                reply = await ask(number)
        except CallFailed as failed:
            failure = failed
        except TimeoutError:
            failure = CallFailed("timeout", f"no answer within {timeout_s:g} s")
        except Exception as error:  # a foreign system can fail in any way
            failure = CallFailed(type(error).__name__, str(error) or "no message")
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
