"""The sweep: every question of a gold set, asked again and again under what should not matter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from ragauge import __version__
from ragauge.contracts.gold import Gold
from ragauge.contracts.opt import takes
from ragauge.contracts.options import SweepOptions
from ragauge.contracts.report import Finding, Findings, Rule, Score
from ragauge.contracts.run import (
    ORIGINAL,
    Grid,
    QuestionRuns,
    RunFacts,
    SweepPlan,
)
from ragauge.contracts.sweep import (
    Ended,
    Progress,
    SweepCoverage,
    SweepEstimate,
    SweepReport,
)
from ragauge.contracts.system import System
from ragauge.contracts.trace import Trace
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import Columns
from ragauge.ingest.gold import read_gold
from ragauge.ingest.options import PRESETS, TRACE_PARAPHRASES, rate_of
from ragauge.ingest.records import Source
from ragauge.ingest.traces import BadLine, trace_in
from ragauge.metrics.facts import Reader, Reading, run_facts, variation_of
from ragauge.pipelines.systems import as_system
from ragauge.pipelines.threads import run_async
from ragauge.runners.calling import Call, Calling, Made, Manner, ask_of, trace_line, unwatched
from ragauge.runners.evaluation import Evaluation
from ragauge.runners.plan import (
    check_grid,
    columns_of,
    plan_path,
    planned_runs,
    refuse_another,
    shuffled,
    stopping_rules,
    sweep_plan,
)
from ragauge.runners.question_stability import QuestionGates
from ragauge.runners.stability import promise
from ragauge.stats.exact import ALPHA
from ragauge.stats.intervals import wilson
from ragauge.store.files import write_whole
from ragauge.store.journal import Journal, journal, lines_of

if TYPE_CHECKING:
    from ragauge.models.judges.budget import Prices

Watch = Callable[[Progress], None]
Announce = Callable[[SweepEstimate], None]

ERROR_RATE = "sweep.error_rate"


@takes(SweepOptions, "sweep")
def sweep(
    gold: Source,
    system: System | Callable[..., Any],
    out: str | Path,
    watch: Watch | None = None,
    announce: Announce | None = None,
    *,
    columns: Columns | None = None,
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
    chosen, questions, plan = _planned(gold, system, options, columns)
    budget = allowed_errors(chosen.error_budget)
    with journal(Path(out)) as runs:
        sweeping = _Sweep(questions[: plan.limit], plan, chosen, runs, budget, watch or unwatched)
        if announce:
            sweeping.announce(announce, len(questions))
        how = msgspec.convert(chosen, Manner, from_attributes=True)
        return sweeping.report(run_async(Calling(system, how, runs, sweeping).run()))


@takes(SweepOptions, "sweep")
def estimate_sweep(
    gold: Source,
    system: System | Callable[..., Any],
    out: str | Path,
    *,
    columns: Columns | None = None,
    options: SweepOptions,
) -> SweepEstimate:
    """What a sweep with these options would take; nothing is called and nothing is written."""
    system = as_system(system, options.concurrency)
    chosen, questions, plan = _planned(gold, system, options, columns)
    allowed_errors(chosen.error_budget)
    path, before = Path(out), set[str]()
    if not chosen.restart and path.is_file() and path.stat().st_size:
        refuse_another(path, plan)
        # A line cut short would be dropped, and its run made anew.
        before = {run_id for run_id, _ in _finished(path, passing_over=True)}
    finished = sum(
        run.run_id in before
        for question in questions[: plan.limit]
        for run in planned_runs(question, chosen.grid)
    )
    return _estimate(len(questions), plan, chosen, finished)


def _planned(
    gold: Source, system: System, options: SweepOptions, columns: Columns | None
) -> tuple[SweepOptions, list[Gold], SweepPlan]:
    """The options, all questions of the gold set, and the plan of what is asked of them."""
    chosen = settled(options)
    questions = read_gold(gold, columns)
    if chosen.paraphrases:
        most = max(len(question.paraphrases) for question in questions)
        wordings = {ORIGINAL, *chosen.grid.paraphrases, *range(1, most + 1)}
        grid = structs.replace(chosen.grid, paraphrases=tuple(sorted(wordings)))
        chosen = structs.replace(chosen, grid=grid)
    return chosen, questions, sweep_plan(questions, system.identity, chosen)


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


def _finished(path: Path, *, passing_over: bool = False) -> Iterator[tuple[str, Trace]]:
    """The runs a journal holds an answer to; a line that is no trace is refused or passed over."""
    for number, line in lines_of(path):
        try:
            trace = trace_in(line)
        except BadLine as fault:
            if passing_over:
                continue
            raise InputRejected(
                f"{path}:{number}: {fault}; mend or remove the line, or --restart"
            ) from None
        if trace.status == "ok" and trace.run_id:
            yield trace.run_id, trace


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


def _measured(taking: SweepEstimate, first: Trace, options: SweepOptions) -> SweepEstimate:
    """The estimate of what is left, by the first call that was answered."""
    usage, tokens = first.usage or {}, taking.tokens
    used = (
        usage.get("prompt_tokens", usage.get("input_tokens")),
        usage.get("completion_tokens", usage.get("output_tokens")),
    )
    known = tokens is not None and all(type(number) is int and number >= 0 for number in used)
    left = structs.replace(
        taking,
        calls=taking.calls - 1,
        call_s=(first.latency_ms or 0.0) / 1000,
        measured=True,
        tokens=used if known else tokens,
        measured_tokens=known,
    )
    return _at(left, options)


class _Sweep:
    """What a sweep set out to do, what is done over all its parts, and the calls that are left."""

    def __init__(
        self,
        gold: list[Gold],
        plan: SweepPlan,
        options: SweepOptions,
        runs: Journal,
        budget: Callable[[int], Fraction],
        watch: Watch,
    ) -> None:
        self._gold, self._plan, self._options, self._journal = gold, plan, options, runs
        self._watch = watch
        self._first_answer: Callable[[Trace], None] | None = None
        self._planned = sum(question.runs for question in plan.questions.values())
        self._budget = budget(self._planned)
        self._stopper = _Stopper(gold, options, plan) if options.adaptive else None
        self._findings = Findings()
        self._open()
        self._finished = set[str]()
        for run_id, trace in _finished(runs.path):
            self._finished.add(run_id)
            if self._stopper and trace.qid:
                self._stopper.add(trace.qid, trace)
        self._resumed = sum(
            run.run_id in self._finished
            for question in (gold if self._finished else ())
            for run in planned_runs(question, options.grid)
        )
        if others := len(self._finished) - self._resumed:
            message = f"{others} runs that this sweep did not plan; they are left alone"
            self._findings.add(Finding("unplanned_run", str(runs.path), message), others)
        self._done, self._failed, self._saved = self._resumed, 0, 0
        self._errors: Counter[str] = Counter()
        """Failed runs of this part by what happened."""

    def _open(self) -> None:
        """Go on with a journal of this sweep, begin an empty one, refuse any other untouched."""
        runs = self._journal
        path, place = plan_path(runs.path), str(runs.path)
        if self._options.restart and (aside := runs.set_aside()) is not None:
            if path.is_file():
                path.rename(plan_path(aside))
            message = f"the runs of before are kept as {aside.name}"
            self._findings.add(Finding("set_aside", place, message))
        if runs.empty:
            write_whole(path, msgspec.json.encode(self._plan, order="sorted"))
            return
        refuse_another(runs.path, self._plan)
        if torn := runs.drop_torn_line():
            message = f"a last line cut short ({torn} bytes) was dropped; its run is made anew"
            self._findings.add(Finding("torn_line", place, message))

    def announce(self, announce: Announce, questions: int) -> None:
        """Say what the calls will take, and once more when the first of them was answered."""
        taking = _estimate(questions, self._plan, self._options, self._done)
        announce(taking)
        self._first_answer = lambda trace: announce(_measured(taking, trace, self._options))

    def rounds(self) -> Iterator[Iterator[Iterator[Call]]]:
        """All that is left, in one round."""
        self._tell()
        yield self._jobs()

    def _jobs(self) -> Iterator[Iterator[Call]]:
        """Single calls; of an adaptive sweep those of a question, each of which may decide it."""
        for question in self._gold:
            if self._stopper:
                yield self._until_decided(self._stopper, question)
            else:
                yield from (iter((call,)) for call in self._calls(question))

    def _calls(self, question: Gold) -> Iterator[Call]:
        """The calls of a question that are left; they are made later, when others are under way."""
        for run in planned_runs(question, self._options.grid):
            if run.run_id not in self._finished:
                yield Call(run.run_id, run, ask_of(run, self._options.knobs, question.constraints))

    def _until_decided(self, stopper: _Stopper, question: Gold) -> Iterator[Call]:
        by_variation = {call.run.variation: call for call in self._calls(question)}
        planned = [run.variation for run in planned_runs(question, self._options.grid)]
        for variation in shuffled(question.qid, planned):
            if (call := by_variation.get(variation)) is None:
                continue
            if stopper.decided(question.qid):
                self._saved += 1
            else:
                yield call
        stopper.forget(question.qid)

    def note(self, call: Call, trace: Trace) -> None:
        if self._stopper:
            self._stopper.add(call.run.qid, trace)
        if self._first_answer and trace.status == "ok":
            say, self._first_answer = self._first_answer, None
            say(trace)

    def line(self, call: Call, trace: Trace) -> bytes:
        return msgspec.json.encode(trace_line(trace), order="sorted")

    def count(self, made: Sequence[Made]) -> Ended | None:
        for _, trace in made:
            if trace.status == "ok":
                self._done += 1
                continue
            self._failed += 1
            # What happened, in a word; an empty answer is no call that failed.
            kind, colon, _ = (trace.error or "").partition(": ")
            self._errors[kind if colon else "empty"] += 1
            self._findings.add(Finding("failed_run", trace.run_id or "", trace.error or ""))
        self._tell()
        return "error_budget" if self._failed > self._budget else None

    def _tell(self) -> None:
        self._watch(Progress(self._done, self._planned, self._failed, self._saved))

    def report(self, ended: Ended) -> SweepReport:
        planned, grid, plans = self._planned, self._options.grid, self._plan.questions
        missing = planned - self._done - self._failed - self._saved
        asked = len(grid.jitters) * len(grid.paraphrases)
        for qid, plan in plans.items():
            if plan.prompts < asked:
                left_out = ", ".join(plan.noop) or f"paraphrases {plan.unworded}"
                message = f"{plan.prompts} distinct prompts of {asked} asked for; no-op: {left_out}"
                self._findings.add(Finding("fewer_prompts", qid, message))
        share = self._failed / planned if planned else None
        rate = Score(
            value=share,
            n=planned,
            of=planned,
            ci=None if share is None else wilson(share, planned),
            reason=None if planned else "no run was planned",
            signature=f"{ERROR_RATE}|v1|n:{planned}",
        )
        bound = float(self._budget / planned) if planned else 0.0
        evaluation = Evaluation(
            given={ERROR_RATE: rate}, rules=(Rule(metric=ERROR_RATE, op="<=", bound=bound),)
        )
        return evaluation.report(
            SweepReport,
            self._findings,
            {
                "command": "sweep",
                "ragauge": __version__,
                "gold_sha256": self._plan.parts["gold"],
                "system": self._plan.system,
                "grid": msgspec.to_builtins(self._plan.grid),
                "adaptive": self._plan.adaptive,
            },
            passed=evaluation.all_hold and not missing,
            ended=ended,
            errors=dict(sorted(self._errors.items())),
            promise=promise(self._plan) if self._saved else None,
            prompts=median(plan.prompts for plan in plans.values()) if plans else None,
            noop=dict(sorted(Counter(j for plan in plans.values() for j in plan.noop).items())),
            coverage=SweepCoverage(
                questions=len(self._gold),
                planned=planned,
                done=self._done,
                resumed=self._resumed,
                failed=self._failed,
                saved=self._saved,
                missing=missing,
            ),
            out=str(self._journal.path),
        )


class _Stopper:
    """Runs of questions under way, and whether those that are left can be spared."""

    def __init__(self, gold: list[Gold], options: SweepOptions, plan: SweepPlan) -> None:
        self._reader = Reader(Reading())
        self._gold = {question.qid: question for question in gold}
        self._plan = plan
        self._gates = QuestionGates(stopping_rules(options), plan.adaptive, plan.alpha or ALPHA)
        self._runs: dict[str, list[RunFacts]] = {}
        self._failed: Counter[str] = Counter()

    def add(self, qid: str, trace: Trace) -> None:
        """Take what a run came to, before it is on the disk: its question may be decided."""
        question = self._gold.get(qid)
        if question is None:
            return
        key = self._reader.key(question)
        facts = run_facts(self._reader, key, trace, variation_of(trace))
        if facts is None:
            self._failed[qid] += 1
        else:
            self._runs.setdefault(qid, []).append(facts)

    def decided(self, qid: str) -> bool:
        question = self._gold[qid]
        # In the order an adaptive sweep plans them, whenever they were made.
        by_variation = {run.variation: run for run in self._runs.get(qid, [])}
        runs = tuple(by_variation[v] for v in shuffled(qid, list(by_variation)))
        planned, failed = self._plan.questions[qid].runs, self._failed[qid]
        unit = QuestionRuns(question.answerable, bool(question.constraints), runs, planned, failed)
        return self._gates.decided(question, unit)

    def forget(self, qid: str) -> None:
        self._runs.pop(qid, None)
