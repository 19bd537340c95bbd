"""The sweep: every question of a gold set, asked again and again under what should not matter."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, structs

from ragauge.contracts.gold import Gold
from ragauge.contracts.run import ORIGINAL, Grid, PlannedRun
from ragauge.contracts.sweep import Ended, Progress, SweepReport
from ragauge.contracts.system import System
from ragauge.contracts.trace import Trace
from ragauge.errors import UsageError
from ragauge.gates.stability import Profile
from ragauge.ingest.gold import read_gold
from ragauge.runners.calling import (
    Call,
    Calling,
    Made,
    Manner,
    ask_of,
    trace_line,
    unwatched,
)
from ragauge.runners.judge import Adaptive
from ragauge.runners.ledger import Ledger, sweep_plan
from ragauge.runners.options import in_flags
from ragauge.runners.plan import check_grid
from ragauge.store.journal import journal

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
        allowed = budget(ledger.planned)
        sweeping = _Sweep(questions, chosen, ledger, allowed, watch or unwatched)
        how = msgspec.convert(chosen, Manner, from_attributes=True)
        ended = asyncio.run(Calling(system, how, runs, sweeping).run())
        return ledger.report(ended, allowed)


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
    """The runs of one part of a sweep, and what becomes of them."""

    def __init__(
        self,
        gold: list[Gold],
        options: SweepOptions,
        ledger: Ledger,
        budget: Fraction,
        watch: Watch,
    ) -> None:
        self._knobs, self._ledger, self._budget, self._watch = options.knobs, ledger, budget, watch
        self._constraints = {q.qid: q.constraints for q in gold}

    def rounds(self) -> Iterator[Iterator[Iterator[Call]]]:
        """All that is left, in one round."""
        self._tell()
        yield (map(self._call, job) for job in self._ledger.jobs())

    def note(self, call: Call, trace: Trace) -> None:
        self._ledger.note(call.run, trace)

    def line(self, call: Call, trace: Trace) -> bytes:
        return msgspec.json.encode(trace_line(trace), order="sorted")

    def count(self, made: Sequence[Made]) -> Ended | None:
        for _, trace in made:
            self._ledger.count(trace)
        self._tell()
        return "error_budget" if self._ledger.failed > self._budget else None

    def _call(self, run: PlannedRun) -> Call:
        return Call(run.run_id, run, ask_of(run, self._knobs, self._constraints[run.qid]))

    def _tell(self) -> None:
        ledger = self._ledger
        self._watch(Progress(ledger.done, ledger.planned, ledger.failed, ledger.saved))
