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
from ragauge.gates.rules import decide
from ragauge.gates.stability import rules_of
from ragauge.ingest.traces import BadLine, trace_in
from ragauge.metrics.facts import Reader, Reading, run_facts, variation_of
from ragauge.metrics.table import find
from ragauge.runners.plan import plan_path, planned_runs, question_plan, read_plan, shuffled
from ragauge.runners.question_stability import Judge
from ragauge.runners.verdicts import promise
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
        self.resumed = self.done = self._planned_among(self._finished)
        self.failed = self.saved = 0
        self.errors: Counter[str] = Counter()
        """Failed runs of this part by what happened."""

    def jobs(self) -> Iterator[Iterator[PlannedRun]]:
        """What is left to do: single runs, or the runs of a question one after the other.

        An adaptive sweep asks a question's runs in turn: each may be the one that decides.
        """
        for question in self._gold:
            left = (run for run in self._in_order(question) if run.run_id not in self._finished)
            if self._stopper:
                yield self._until_decided(question, left)
            else:
                yield from (iter((run,)) for run in left)

    def note(self, run: PlannedRun, trace: Trace) -> None:
        """Tell what a run came to, before it is on the disk: its question may be decided."""
        if self._stopper:
            self._stopper.add(run.qid, trace)

    def count(self, trace: Trace) -> None:
        """Count a run that is on the disk."""
        if trace.status == "ok":
            self.done += 1
        else:
            self.failed += 1
            self.errors[_kind(trace.error or "")] += 1
            self.findings.add(Finding("failed_run", trace.run_id or "", trace.error or ""))

    def report(self, ended: Ended, budget: Fraction) -> SweepReport:
        missing = self.planned - self.done - self.failed - self.saved
        share = _error_share(self.failed, self.planned)
        bound = float(budget / self.planned) if self.planned else 0.0
        gate = decide(Rule(metric="sweep.error_rate", op="<=", bound=bound), share)
        plans = self.plan.questions.values()
        self._note_prompts()
        return SweepReport(
            passed=gate.holds and not missing,
            ended=ended,
            metrics={"sweep.error_rate": share},
            gates=(gate,),
            errors=dict(sorted(self.errors.items())),
            promise=promise(self.plan) if self.saved else None,
            prompts=median(plan.prompts for plan in plans) if plans else None,
            noop=dict(sorted(Counter(j for plan in plans for j in plan.noop).items())),
            findings=tuple(self.findings.kept()),
            finding_counts=dict(sorted(self.findings.counts.items())),
            coverage=SweepCoverage(
                questions=len(self._gold),
                planned=self.planned,
                done=self.done,
                resumed=self.resumed,
                failed=self.failed,
                saved=self.saved,
                missing=missing,
            ),
            out=str(self._journal.path),
            identity={
                "command": "sweep",
                "ragauge": __version__,
                "gold_sha256": self.plan.parts["gold"],
                "system": self.plan.system,
                "grid": msgspec.to_builtins(self.plan.grid),
                "adaptive": self.plan.adaptive,
            },
        )

    def _in_order(self, question: Gold) -> Iterator[PlannedRun]:
        runs = planned_runs(question, self._options.grid)
        if not self._stopper:
            return runs
        by_variation = {run.variation: run for run in runs}
        return iter([by_variation[v] for v in shuffled(question.qid, list(by_variation))])

    def _until_decided(self, question: Gold, left: Iterator[PlannedRun]) -> Iterator[PlannedRun]:
        assert self._stopper
        for run in left:
            if self._stopper.decided(question.qid):
                self.saved += 1
            else:
                yield run
        self._stopper.forget(question.qid)

    def _open(self, runs: Journal) -> None:
        """Go on with a journal of this sweep, begin an empty one, refuse any other untouched."""
        path = plan_path(runs.path)
        if self._options.restart:
            self._set_aside(runs)
        if runs.empty:
            write_whole(path, msgspec.json.encode(self.plan, order="sorted"))
            return
        refuse_another(runs.path, self.plan)
        if torn := runs.drop_torn_line():
            message = f"a last line cut short ({torn} bytes) was dropped; its run is made anew"
            self.findings.add(Finding("torn_line", str(runs.path), message))

    def _set_aside(self, runs: Journal) -> None:
        """Keep the runs of before, and their plan, under other names."""
        aside, plan = runs.set_aside(), plan_path(runs.path)
        if aside is None:
            return
        if plan.is_file():
            plan.rename(plan_path(aside))
        message = f"the runs of before are kept as {aside.name}"
        self.findings.add(Finding("set_aside", str(runs.path), message))

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

    def _planned_among(self, finished: set[str]) -> int:
        """How many of the finished runs are planned; the others are a finding."""
        if not finished:
            return 0
        planned = sum(
            run.run_id in finished
            for question in self._gold
            for run in planned_runs(question, self._options.grid)
        )
        if others := len(finished) - planned:
            message = f"{others} runs that this sweep did not plan; they are left alone"
            self.findings.add(Finding("unplanned_run", str(self._journal.path), message), others)
        return planned

    def _note_prompts(self) -> None:
        grid = self._options.grid
        asked = len(grid.jitters) * len(grid.paraphrases)
        for qid, plan in self.plan.questions.items():
            if plan.prompts < asked:
                left_out = ", ".join(plan.noop) or f"paraphrases {plan.unworded}"
                message = f"{plan.prompts} distinct prompts of {asked} asked for; no-op: {left_out}"
                self.findings.add(Finding("fewer_prompts", qid, message))


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


def _kind(error: str) -> str:
    """What happened, in a word; an empty answer is no call that failed."""
    kind, colon, _ = error.partition(": ")
    return kind if colon else "empty"


def _hash(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()


def _error_share(failed: int, planned: int) -> Score:
    signature = f"sweep.error_rate|v1|n:{planned}"
    if not planned:
        reason = "no run was planned"
        return Score(value=None, n=0, of=0, reason=reason, signature=signature)
    share = failed / planned
    return Score(value=share, n=planned, of=planned, ci=wilson(share, planned), signature=signature)
