"""The sweep: every question of a gold set, asked again and again under what should not matter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from ragauge.contracts.gold import Gold
from ragauge.contracts.opt import takes
from ragauge.contracts.options import SweepOptions
from ragauge.contracts.run import ORIGINAL, Grid, PlannedRun, SweepPlan
from ragauge.contracts.sweep import Ended, Progress, SweepEstimate, SweepReport
from ragauge.contracts.system import System
from ragauge.contracts.trace import Trace
from ragauge.errors import UsageError
from ragauge.ingest.gold import read_gold
from ragauge.ingest.options import PRESETS, TRACE_PARAPHRASES, rate_of
from ragauge.ingest.records import Source
from ragauge.pipelines.systems import as_system
from ragauge.pipelines.threads import run_async
from ragauge.runners.calling import (
    Call,
    Calling,
    Made,
    Manner,
    ask_of,
    trace_line,
    unwatched,
)
from ragauge.runners.ledger import Ledger, finished_in, sweep_plan
from ragauge.runners.plan import check_grid, columns_of, planned_runs
from ragauge.store.journal import journal

if TYPE_CHECKING:
    from ragauge.models.judges.budget import Prices

Watch = Callable[[Progress], None]
Announce = Callable[[SweepEstimate], None]


@takes(SweepOptions, "sweep")
def sweep(
    gold: Source,
    system: System | Callable[..., Any],
    out: str | Path,
    watch: Watch | None = None,
    announce: Announce | None = None,
    *,
    options: SweepOptions,
) -> SweepReport:
    """The report of a sweep whose runs are in `out`; options as in SweepOptions.

    The system is one of `ragauge.pipelines`, or a function that takes a question as a dict, also
    an async one.
    What `out` holds of the same sweep is not asked again. An interrupt ends it within moments,
    and the report says so: nothing that was reported as done is lost. `announce` gets what the
    sweep will take, before the first call, and again with the time that the first call took.
    Raises SystemUnreachable where the first call shows that no call can succeed.
    """
    system = as_system(system, options.concurrency)
    chosen, questions, plan = _planned(gold, system, options)
    budget = allowed_errors(chosen.error_budget)
    asked = questions[: plan.limit]
    with journal(Path(out)) as runs:
        ledger = Ledger(asked, plan, chosen, runs)
        allowed = budget(ledger.planned)
        taking = _estimate(len(questions), plan, chosen, ledger.done)
        if announce:
            announce(taking)
        sweeping = _Sweep(asked, chosen, ledger, allowed, watch or unwatched, announce, taking)
        how = msgspec.convert(chosen, Manner, from_attributes=True)
        ended = run_async(Calling(system, how, runs, sweeping).run())
        return ledger.report(ended, allowed)


@takes(SweepOptions, "sweep")
def estimate_sweep(
    gold: Source, system: System | Callable[..., Any], out: str | Path, *, options: SweepOptions
) -> SweepEstimate:
    """What a sweep with these options would take; nothing is called and nothing is written."""
    system = as_system(system, options.concurrency)
    chosen, questions, plan = _planned(gold, system, options)
    allowed_errors(chosen.error_budget)
    before = set() if chosen.restart else finished_in(Path(out), plan)
    finished = sum(
        run.run_id in before
        for question in questions[: plan.limit]
        for run in planned_runs(question, chosen.grid)
    )
    return _estimate(len(questions), plan, chosen, finished)


def _planned(
    gold: Source, system: System, options: SweepOptions
) -> tuple[SweepOptions, list[Gold], SweepPlan]:
    """The options, all questions of the gold set, and the plan of what is asked of them."""
    chosen = settled(options)
    questions = read_gold(gold)
    if chosen.paraphrases:
        most = max(len(question.paraphrases) for question in questions)
        wordings = {ORIGINAL, *chosen.grid.paraphrases, *range(1, most + 1)}
        grid = structs.replace(chosen.grid, paraphrases=tuple(sorted(wordings)))
        chosen = structs.replace(chosen, grid=grid)
    return chosen, questions, sweep_plan(questions, system.identity, chosen)


CALL_S = 2.0
"""What a call is assumed to take before one was made."""
CALL_TOKENS = (2_000, 250)
"""A call's tokens, in and out, before one was made: passages and a question, a short answer."""


def _estimate(gold: int, plan: SweepPlan, options: SweepOptions, finished: int) -> SweepEstimate:
    """What is left to do, at an assumed time and size of a call."""
    plans = plan.questions.values()
    planned = sum(question.runs for question in plans)
    full = len(plans) * len(columns_of(plan.grid))
    return _at(
        SweepEstimate(
            questions=len(plans),
            of=gold,
            grid=full,
            noop=full - planned,
            finished=finished,
            calls=planned - finished,
            adaptive=options.adaptive is not None,
            single=sum(question.runs == 1 for question in plans),
            concurrency=options.concurrency,
            call_s=CALL_S,
            seconds=0.0,
            tokens=CALL_TOKENS if options.prices else None,
            cost=None,
            measured=False,
        ),
        options,
    )


def _prices(text: str) -> Prices:
    from ragauge.runners.answers.options import read_prices

    return read_prices(text)


def _at(taking: SweepEstimate, options: SweepOptions) -> SweepEstimate:
    """The estimate with the time and the cost of all its calls."""
    from ragauge.models.judges.budget import Tokens

    at_once = max(1, min(options.concurrency, taking.calls))
    seconds = taking.calls * taking.call_s / at_once
    if options.rate_per_s:
        seconds = max(seconds, taking.calls / options.rate_per_s)
    cost = None
    if options.prices is not None and taking.tokens:
        prices = _prices(options.prices)
        cost = prices.of(Tokens(*(number * taking.calls for number in taking.tokens)))
    return structs.replace(taking, seconds=seconds, cost=cost)


def settled(options: SweepOptions) -> SweepOptions:
    """The options with the grid and the rate that they come to; raises UsageError."""
    grid = options.grid
    if options.preset:
        grid = msgspec.convert(PRESETS[options.preset], Grid, strict=False)
    if options.preset == "trace":
        grid = structs.replace(grid, paraphrases=TRACE_PARAPHRASES)
    parts = {name: getattr(options, name) for name in ("seeds", "temperatures", "jitters")}
    parts |= {"repeats": options.repeats, "profile": options.jitter_profile}
    grid = structs.replace(grid, **{name: one for name, one in parts.items() if one is not None})
    check_grid(grid)
    if options.prices is not None:
        _prices(options.prices)
    if options.gates and not options.adaptive:
        raise UsageError("--gates: a sweep judges nothing unless it is --adaptive; drop them here")
    rate = options.rate_per_s or rate_of(options.rate)
    return structs.replace(options, grid=grid, rate_per_s=rate)


def allowed_errors(text: str) -> Callable[[int], Fraction]:
    """How many runs of a number may fail: `P%` of them, or a count."""
    written = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", text, re.ASCII)
    if not written or (written[2] and float(written[1]) > 100):
        raise UsageError(f'--error-budget "{text}" is neither a percentage such as 5% nor a count')
    number = Fraction(written[1])
    return lambda planned: number / 100 * planned if written[2] else number


class _Sweep:
    """The runs of one part of a sweep, and what becomes of them."""

    def __init__(
        self,
        gold: list[Gold],
        options: SweepOptions,
        ledger: Ledger,
        budget: Fraction,
        watch: Watch,
        announce: Announce | None,
        taking: SweepEstimate,
    ) -> None:
        self._knobs, self._ledger, self._budget, self._watch = options.knobs, ledger, budget, watch
        self._options, self._announce, self._taking = options, announce, taking
        self._constraints = {q.qid: q.constraints for q in gold}

    def rounds(self) -> Iterator[Iterator[Iterator[Call]]]:
        """All that is left, in one round."""
        self._tell()

        def call(run: PlannedRun) -> Call:
            return Call(run.run_id, run, ask_of(run, self._knobs, self._constraints[run.qid]))

        yield (map(call, job) for job in self._ledger.jobs())

    def note(self, call: Call, trace: Trace) -> None:
        self._ledger.note(call.run, trace)
        if self._announce and trace.status == "ok":
            announce, self._announce = self._announce, None
            announce(self._measured(trace))

    def _measured(self, first: Trace) -> SweepEstimate:
        """The estimate of what is left, by the first call that was answered."""
        usage = first.usage or {}
        used = [
            usage.get("prompt_tokens", usage.get("input_tokens")),
            usage.get("completion_tokens", usage.get("output_tokens")),
        ]
        known = [number for number in used if type(number) is int and number >= 0]
        tokens = self._taking.tokens
        return _at(
            structs.replace(
                self._taking,
                calls=self._taking.calls - 1,
                call_s=(first.latency_ms or 0.0) / 1000,
                measured=True,
                tokens=(known[0], known[1]) if tokens and len(known) == 2 else tokens,
                measured_tokens=tokens is not None and len(known) == 2,
            ),
            self._options,
        )

    def line(self, call: Call, trace: Trace) -> bytes:
        return msgspec.json.encode(trace_line(trace), order="sorted")

    def count(self, made: Sequence[Made]) -> Ended | None:
        for _, trace in made:
            self._ledger.count(trace)
        self._tell()
        return "error_budget" if self._ledger.failed > self._budget else None

    def _tell(self) -> None:
        ledger = self._ledger
        self._watch(Progress(ledger.done, ledger.planned, ledger.failed, ledger.saved))
