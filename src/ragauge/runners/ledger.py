"""The ledger of a sweep: what it set out to do, what is done, and so what is left."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import msgspec

from ragauge import __version__
from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.report import Finding, Findings, Rule, Score
from ragauge.contracts.run import PlannedRun, QuestionRuns, RunFacts, SweepPlan
from ragauge.contracts.sweep import Ended, SweepCoverage, SweepReport
from ragauge.contracts.trace import Trace
from ragauge.errors import InputRejected, UsageError
from ragauge.gates.stability import rules_of
from ragauge.ingest.traces import BadLine, trace_in
from ragauge.metrics.facts import Reader, Reading, run_facts, variation_of
from ragauge.metrics.table import find
from ragauge.runners.evaluation import Evaluation
from ragauge.runners.plan import plan_path, planned_runs, question_plan, read_plan, shuffled
from ragauge.runners.question_stability import Judge
from ragauge.runners.stability import promise
from ragauge.stats.exact import ALPHA
from ragauge.stats.intervals import wilson
from ragauge.store.files import write_whole
from ragauge.store.journal import Journal, lines_of

if TYPE_CHECKING:
    from ragauge.contracts.options import SweepOptions


_CHANGED = {
    "gold": "the gold set",
    "grid": "the grid of seeds, temperatures, jitters and paraphrases",
    "system": "the system under test",
    "knobs": "the knobs",
    "stopping": "the rule for stopping early",
    "prompts": "the rewordings",
    "limit": "--limit",
}
ANOTHER = "give another --out, or --restart to set these runs aside"
ERROR_RATE = "sweep.error_rate"


class Ledger:
    """Planned, done, failed and saved runs of a sweep, over all its parts."""

    def __init__(
        self, gold: list[Gold], plan: SweepPlan, options: SweepOptions, runs: Journal
    ) -> None:
        self._gold, self.plan, self._options, self._journal = gold, plan, options, runs
        self.planned = sum(question.runs for question in plan.questions.values())
        self._stopper = _Stopper(gold, stopping_rules(options), plan) if options.adaptive else None
        self.findings = Findings()
        self._open(runs)
        self._finished = self._finished_before()
        self.resumed = sum(
            run.run_id in self._finished
            for question in (gold if self._finished else ())
            for run in planned_runs(question, options.grid)
        )
        if others := len(self._finished) - self.resumed:
            message = f"{others} runs that this sweep did not plan; they are left alone"
            self.findings.add(Finding("unplanned_run", str(runs.path), message), others)
        self.done = self.resumed
        self.failed = self.saved = 0
        self.errors: Counter[str] = Counter()
        """Failed runs of this part by what happened."""

    def jobs(self) -> Iterator[Iterator[PlannedRun]]:
        """What is left to do: single runs, or the runs of a question one after the other.

        An adaptive sweep asks a question's runs in turn: each may be the one that decides.
        """
        for question in self._gold:
            runs = planned_runs(question, self._options.grid)
            if self._stopper:
                yield self._until_decided(self._stopper, question, runs)
            else:
                yield from (iter((run,)) for run in runs if run.run_id not in self._finished)

    def note(self, run: PlannedRun, trace: Trace) -> None:
        """Tell what a run came to, before it is on the disk: its question may be decided."""
        if self._stopper:
            self._stopper.add(run.qid, trace)

    def count(self, trace: Trace) -> None:
        """Count a run that is on the disk."""
        if trace.status == "ok":
            self.done += 1
            return
        self.failed += 1
        # What happened, in a word; an empty answer is no call that failed.
        kind, colon, _ = (trace.error or "").partition(": ")
        self.errors[kind if colon else "empty"] += 1
        self.findings.add(Finding("failed_run", trace.run_id or "", trace.error or ""))

    def report(self, ended: Ended, budget: Fraction) -> SweepReport:
        planned, grid, plans = self.planned, self._options.grid, self.plan.questions
        missing = planned - self.done - self.failed - self.saved
        asked = len(grid.jitters) * len(grid.paraphrases)
        for qid, plan in plans.items():
            if plan.prompts < asked:
                left_out = ", ".join(plan.noop) or f"paraphrases {plan.unworded}"
                message = f"{plan.prompts} distinct prompts of {asked} asked for; no-op: {left_out}"
                self.findings.add(Finding("fewer_prompts", qid, message))
        share = self.failed / planned if planned else None
        rate = Score(
            value=share,
            n=planned,
            of=planned,
            ci=None if share is None else wilson(share, planned),
            reason=None if planned else "no run was planned",
            signature=f"{ERROR_RATE}|v1|n:{planned}",
        )
        bound = float(budget / planned) if planned else 0.0
        evaluation = Evaluation(
            given={ERROR_RATE: rate}, rules=(Rule(metric=ERROR_RATE, op="<=", bound=bound),)
        )
        return evaluation.report(
            SweepReport,
            self.findings,
            {
                "command": "sweep",
                "ragauge": __version__,
                "gold_sha256": self.plan.parts["gold"],
                "system": self.plan.system,
                "grid": msgspec.to_builtins(self.plan.grid),
                "adaptive": self.plan.adaptive,
            },
            passed=evaluation.all_hold and not missing,
            ended=ended,
            errors=dict(sorted(self.errors.items())),
            promise=promise(self.plan) if self.saved else None,
            prompts=median(plan.prompts for plan in plans.values()) if plans else None,
            noop=dict(sorted(Counter(j for plan in plans.values() for j in plan.noop).items())),
            coverage=SweepCoverage(
                questions=len(self._gold),
                planned=planned,
                done=self.done,
                resumed=self.resumed,
                failed=self.failed,
                saved=self.saved,
                missing=missing,
            ),
            out=str(self._journal.path),
        )

    def _until_decided(
        self, stopper: _Stopper, question: Gold, runs: Iterator[PlannedRun]
    ) -> Iterator[PlannedRun]:
        by_variation = {run.variation: run for run in runs}
        for variation in shuffled(question.qid, list(by_variation)):
            run = by_variation[variation]
            if run.run_id in self._finished:
                continue
            if stopper.decided(question.qid):
                self.saved += 1
            else:
                yield run
        stopper.forget(question.qid)

    def _open(self, runs: Journal) -> None:
        """Go on with a journal of this sweep, begin an empty one, refuse any other untouched."""
        path, place = plan_path(runs.path), str(runs.path)
        if self._options.restart and (aside := runs.set_aside()) is not None:
            if path.is_file():
                path.rename(plan_path(aside))
            message = f"the runs of before are kept as {aside.name}"
            self.findings.add(Finding("set_aside", place, message))
        if runs.empty:
            write_whole(path, msgspec.json.encode(self.plan, order="sorted"))
            return
        refuse_another(runs.path, self.plan)
        if torn := runs.drop_torn_line():
            message = f"a last line cut short ({torn} bytes) was dropped; its run is made anew"
            self.findings.add(Finding("torn_line", place, message))

    def _finished_before(self) -> set[str]:
        """The runs the journal holds an answer to."""
        finished = set()
        place = self._journal.path
        for number, line in self._journal.lines():
            try:
                trace = trace_in(line)
            except BadLine as fault:
                raise InputRejected(
                    f"{place}:{number}: {fault}; mend or remove the line, or --restart"
                ) from None
            if trace.status == "ok" and trace.run_id:
                finished.add(trace.run_id)
                if self._stopper and trace.qid:
                    self._stopper.add(trace.qid, trace)
        return finished


def refuse_another(out: Path, plan: SweepPlan) -> None:
    """Raise UsageError where a journal holds the runs of another sweep than this plan's."""
    before = read_plan(out, ANOTHER)
    if before.fingerprint == plan.fingerprint:
        return
    changed = [
        _CHANGED.get(part, part)
        for part in sorted(plan.parts.keys() | before.parts.keys())
        if before.parts.get(part) != plan.parts.get(part)
    ]
    raise UsageError(
        f"{out}: holds runs of another sweep: changed since: "
        f"{', '.join(changed) or 'what its plan says of itself'}; {ANOTHER}"
    )


def finished_in(out: Path, plan: SweepPlan) -> set[str]:
    """The runs that a journal holds an answer to, without touching it; a line cut short is not one.

    Raises UsageError where it holds the runs of another sweep.
    """
    if not out.is_file() or not out.stat().st_size:
        return set()
    refuse_another(out, plan)
    finished = set()
    for _, line in lines_of(out):
        with suppress(*BadLine):
            trace = trace_in(line)
            if trace.status == "ok" and trace.run_id:
                finished.add(trace.run_id)
    return finished


class _Stopper:
    """Runs of questions under way, and whether those that are left can be spared."""

    def __init__(self, gold: list[Gold], rules: tuple[Rule, ...], plan: SweepPlan) -> None:
        self._reader = Reader(Reading())
        self._gold = {question.qid: question for question in gold}
        self._plan = plan
        self._judge = Judge(rules, plan.adaptive, plan.alpha or ALPHA)
        self._runs: dict[str, list[RunFacts]] = {}
        self._failed: Counter[str] = Counter()

    def add(self, qid: str, trace: Trace) -> None:
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
        runs = in_planned_order(qid, self._runs.get(qid, []))
        planned = self._plan.questions[qid].runs
        failed = self._failed[qid]
        unit = QuestionRuns(question.answerable, bool(question.constraints), runs, planned, failed)
        return self._judge.decided(question, unit)

    def forget(self, qid: str) -> None:
        self._runs.pop(qid, None)


def in_planned_order(qid: str, runs: list[RunFacts]) -> tuple[RunFacts, ...]:
    """The runs in the order an adaptive sweep plans them, whenever they were made."""
    by_variation = {run.variation: run for run in runs}
    return tuple(by_variation[v] for v in shuffled(qid, list(by_variation)))


def sweep_plan(gold: list[Gold], system: dict[str, Any], options: SweepOptions) -> SweepPlan:
    """What a sweep sets out to do; raises UsageError where that makes no sense."""
    rules = stopping_rules(options)
    grid, adaptive = options.grid, options.adaptive
    asked = gold[: options.limit]
    questions = {question.qid: question_plan(question, grid) for question in asked}
    if not any(question.runs for question in questions.values()):
        raise UsageError(
            "nothing to ask: no question has the wordings asked for; the gold set may lack "
            "paraphrases, or no jitter asked for changes anything"
        )
    parts = {
        "gold": fingerprint(gold),
        "grid": _hash(grid),
        "system": _hash(system),
        "knobs": _hash(options.knobs),
        "stopping": _hash([adaptive, *map(str, rules)] if adaptive else []),
        "prompts": _hash([[run.question_sent for run in planned_runs(q, grid)] for q in asked]),
    }
    limit = len(asked) if len(asked) < len(gold) else None
    if limit is not None:
        parts["limit"] = _hash(limit)
    return SweepPlan(
        fingerprint=_hash(parts),
        parts=parts,
        grid=grid,
        system=system,
        knobs=options.knobs,
        adaptive=adaptive,
        rules=tuple(map(str, rules)) if adaptive else (),
        alpha=ALPHA if adaptive == "anytime" else None,
        questions=questions,
        limit=limit,
    )


def stopping_rules(options: SweepOptions) -> tuple[Rule, ...]:
    """The gates a question is judged by while its runs come in."""
    return rules_of(options.profile, options.gates, lambda name: find(name, "runs"))


def _hash(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()
