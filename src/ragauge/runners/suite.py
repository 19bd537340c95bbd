"""The suite: every task measured, recorded and compared, whatever becomes of the others."""

from __future__ import annotations

import difflib
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any, Protocol, get_args

import msgspec
from msgspec import Struct, structs

from ragauge import __version__
from ragauge.contracts.comparison import ComparisonReport
from ragauge.contracts.history import ID_SHOWN, REPORT, History, Run, RunFilter
from ragauge.contracts.report import Finding, Findings, Outcome, RunReport, Score, Verdict
from ragauge.contracts.suite import (
    CHANGE,
    SESSION_LABEL,
    SUITE_LABEL,
    TASK_LABEL,
    Against,
    Status,
    Suite,
    SuiteCoverage,
    SuiteReport,
    Task,
    TaskReport,
)
from ragauge.contracts.sweep import Progress
from ragauge.errors import RagaugeError, UsageError
from ragauge.runners.compare import compare
from ragauge.runners.evaluation import Evaluation
from ragauge.runners.recording import record
from ragauge.runners.suite_state import Work, inputs_of, work, work_folder
from ragauge.runners.suite_tasks import KINDS, Around, SystemOf

NOT_MEASURED, GATE_FAILED = 3, 1


class Watcher(Protocol):
    """Whoever looks on while a suite runs."""

    def begins(self, task: Task) -> None: ...

    def answers(self, now: Progress) -> None:
        """The pipeline is asked, and so far it is."""

    def ends(self, report: TaskReport, *, before: bool) -> None:
        """A task is done; `before` where an earlier start had done it."""


class Part(Struct, frozen=True, kw_only=True):
    """What of a suite to run."""

    only: tuple[str, ...] = ()
    """Tasks; all where none is named."""
    fresh: bool = False
    """Forget what an unfinished start has done."""


def run_suite(
    suite: Suite,
    history: History,
    *,
    folder: Path,
    system_of: SystemOf,
    deliver: Callable[[SuiteReport], None],
    part: Part | None = None,
    workers: int = 1,
    watcher: Watcher | None = None,
    store: str | None = None,
    place: str | None = None,
) -> Outcome[SuiteReport]:
    """The outcome of all tasks; each that could be measured is a run of the history.

    Files are named from the folder. What an earlier start with the same inputs has recorded is
    not measured again. The session ends after the report was delivered: one that nobody got is
    made again, from the history. `store` is where the user said the history is, for the report to
    say it again; `place` is where it is. Raises UsageError before anything runs.
    """
    part = part or Part()
    _check(suite, part.only)
    here = Path.cwd()
    with chdir(folder):
        inputs = inputs_of(suite, part.only)
        with work(work_folder(suite, part.only), inputs, fresh=part.fresh) as state:
            looking = watcher or _Nobody()
            running = _Running(suite, history, state, system_of, workers, looking, place)
            outcome = running.outcome(part.only, inputs, store)
            with chdir(here):
                deliver(outcome.report)
            if running.finished:
                state.forget()
    return outcome


def _check(suite: Suite, only: Sequence[str]) -> None:
    """Raise UsageError with all that is wrong with the tasks, before the first one runs."""
    problems = []
    names = [task.name for task in suite.tasks]
    for name in only:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(names)}"
            problems.append(f'--only "{name}": suite {suite.name} has no such task; {hint}')
    for task in suite.tasks:
        try:
            KINDS[task.kind].check(task)
        except UsageError as error:
            problems += [f"{suite.file}: tasks.{task.name}: {fact}" for fact in error.problems]
    if problems:
        raise UsageError(*problems)


class _Running:
    """A suite under way."""

    def __init__(
        self,
        suite: Suite,
        history: History,
        state: Work,
        system_of: SystemOf,
        workers: int,
        watcher: Watcher,
        place: str | None,
    ) -> None:
        self._suite, self._history, self._state = suite, history, state
        self._system_of, self._workers, self._watcher = system_of, workers, watcher
        self._place = place
        self._done = self._recorded()
        self.finished = True
        """Every task that was to run came to a result: there is nothing to go on with."""
        self._summary = _Summary()

    def outcome(self, only: Sequence[str], inputs: str, store: str | None) -> Outcome[SuiteReport]:
        tasks = tuple(
            self._task(task) if not only or task.name in only else _skipped(task)
            for task in self._suite.tasks
        )
        counts = Counter(task.status for task in tasks)
        exit_code = NOT_MEASURED if counts["error"] else GATE_FAILED if counts["failed"] else 0
        evaluation = Evaluation(given=self._summary.metrics)
        report = evaluation.report(
            SuiteReport,
            self._summary.findings,
            {
                "command": "run",
                "ragauge": __version__,
                "file": self._suite.file,
                "inputs": inputs,
                **({"store": store} if store else {}),
            },
            passed=False if exit_code else True if counts["passed"] else None,
            suite=self._suite.name,
            exit_code=exit_code,
            metrics=self._summary.metrics,
            gates=tuple(self._summary.gates),
            tasks=tasks,
            coverage=SuiteCoverage(
                tasks=len(tasks), **{status: counts[status] for status in get_args(Status)}
            ),
        )
        return evaluation.outcome(report)

    def _recorded(self) -> dict[str, Run]:
        """The tasks that an earlier start of this session has recorded."""
        if not self._state.resumed:
            return {}
        mine = RunFilter(labels={SESSION_LABEL: self._state.session.id})
        return {run.record.labels[TASK_LABEL]: run for run in self._history.runs(mine)}

    def _task(self, task: Task) -> TaskReport:
        before = self._done.get(task.name)
        self._watcher.begins(task)
        run = before
        try:
            made = before or self._measured(task)
            if isinstance(made, RunReport):
                report = self._reported(task, made)
            else:
                run = made
                report = self._told(task, run)
        except Exception as error:  # whatever it is, the other tasks go on
            self.finished = False
            report = _failed(task, run, error)
        self._watcher.ends(report, before=before is not None)
        return report

    def _measured(self, task: Task) -> Run | RunReport:
        """The recorded run of a task, or the report of one that is not recorded."""
        with tempfile.TemporaryDirectory() as folder:
            around = Around(
                journal=self._state.journal(task),
                rows=Path(folder) / "records.parquet",
                history=self._history,
                place=self._place,
                system_of=self._system_of,
                workers=self._workers,
                watch=self._watcher.answers,
            )
            outcome = KINDS[task.kind].outcome(task, around)
            if isinstance(outcome, RunReport):
                return outcome
            _check_strata(task, outcome)
            return record(
                outcome,
                self._history,
                name=self._suite.named(task),
                labels=self._labels(task),
                folder=Path.cwd(),
                keep=task.keep_texts,
            )

    def _reported(self, task: Task, made: RunReport) -> TaskReport:
        """What a task came to that is not recorded: a diagnosis, or a comparison of two runs."""
        comparison = made if isinstance(made, ComparisonReport) else None
        if comparison is None:
            self._summary.report(task, made)
        else:
            self._summary.compare(task, comparison)
            self._mark(task, comparison)
        status: Status = "ungated" if made.passed is None else "failed"
        return TaskReport(
            name=task.name,
            kind=task.kind,
            dataset=task.dataset.name,
            status="passed" if made.passed else status,
            exit_code=GATE_FAILED if made.passed is False else 0,
            run=None,
            comparison=comparison,
            coverage=msgspec.to_builtins(made.coverage),
        )

    def _labels(self, task: Task) -> dict[str, str]:
        return {
            **self._suite.labels,
            **task.labels,
            SUITE_LABEL: self._suite.name,
            TASK_LABEL: task.name,
            SESSION_LABEL: self._state.session.id,
        }

    def _told(self, task: Task, run: Run) -> TaskReport:
        """What a recorded task came to, read from the history: the same whenever it was made."""
        kept = self._kept(run)
        self._summary.add(task, run, kept)
        if task.name in self._done:
            message = "an earlier start of this session has measured it; --fresh measures anew"
            self._summary.findings.add(Finding("done_before", task.name, message))
        comparison = self._compared(task, run)
        self._summary.compare(task, comparison)
        self._mark(task, comparison)
        verdicts = (run.record.passed, None if comparison is None else comparison.passed)
        status: Status = "passed" if True in verdicts else "ungated"
        if False in verdicts:
            status = "failed"
        return TaskReport(
            name=task.name,
            kind=task.kind,
            dataset=task.dataset.name,
            status=status,
            exit_code=GATE_FAILED if status == "failed" else 0,
            run=run.id,
            strata={name: kept.strata[name] for name in task.dataset.strata if name in kept.strata},
            comparison=comparison,
            coverage=run.record.coverage,
        )

    def _kept(self, run: Run) -> _Kept:
        with self._history.file(run, REPORT) as path:
            return msgspec.json.decode(path.read_bytes(), type=_Kept)

    def _compared(self, task: Task, run: Run) -> ComparisonReport | None:
        against = task.against
        if against is None:
            return None
        try:
            return compare(self._history, against.run, run.id, **_comparing(task, against))
        except RagaugeError as error:
            told = [f"baseline {against.run}: {problem}" for problem in error.problems]
            raise type(error)(*told, more=error.more) from None

    def _mark(self, task: Task, comparison: ComparisonReport | None) -> None:
        """A run that failed its comparison is nobody's baseline, from before its task is done.

        A start that was killed in between is gone on with, and then compares and marks again.
        """
        if comparison is None or comparison.passed is not False or comparison.before is None:
            return
        run = comparison.after.id
        self._history.regressed(run, comparison.before.id)
        message = f"run {run[:ID_SHOWN]} is marked as regressed: `green` passes over it"
        self._summary.findings.add(Finding("regressed", task.name, message))


def _comparing(task: Task, against: Against) -> dict[str, Any]:
    """The options of a task's comparison."""
    margins = [f"{name}={margin!r}" for name, margin in sorted(against.margins.items())]
    if against.margin is not None:
        margins.append(repr(against.margin))
    return {
        "metrics": task.metrics,
        "margins": tuple(margins),
        "slices": task.dataset.strata,
        "correction": against.correction,
        "gate": against.gate,
        "allow": (*against.allow, *(() if against.required else ("no-baseline",))),
    }


class _Kept(Struct, frozen=True):
    """What the summary takes from a task's own report."""

    findings: tuple[Finding, ...] = ()
    strata: dict[str, dict[str, dict[str, Score]]] = {}


class _Summary:
    """Metrics, gates and findings of all tasks, each under its task's name."""

    def __init__(self) -> None:
        self.metrics: dict[str, Score] = {}
        self.gates: list[Verdict] = []
        self.findings = Findings()

    def add(self, task: Task, run: Run, kept: _Kept) -> None:
        recorded = run.record.metrics
        shown = {id: recorded[id] for id in KINDS[task.kind].metrics(task) or recorded}
        self._take(f"{task.name}/", shown, run.record.gates)
        self._note(task, kept.findings, run.record.finding_counts)

    def report(self, task: Task, made: RunReport) -> None:
        self._take(f"{task.name}/", made.metrics, made.gates)
        self._note(task, made.findings, made.finding_counts)

    def compare(self, task: Task, comparison: ComparisonReport | None) -> None:
        if comparison:
            self._take(f"{task.name}/{CHANGE}", comparison.metrics, comparison.gates)
            self._note(task, comparison.findings, comparison.finding_counts)

    def _take(self, own: str, scores: Mapping[str, Score], gates: Sequence[Verdict]) -> None:
        """Metrics and gates, with a name of their own before their ids."""
        for id, score in scores.items():
            fields = {name: getattr(score, name) for name in Score.__struct_fields__}
            self.metrics[own + id] = Score(**fields)
        for gate in gates:
            rule, metric = own + gate.rule, own + gate.metric
            self.gates.append(structs.replace(gate, rule=rule, metric=metric))

    def _note(self, task: Task, findings: Sequence[Finding], counts: dict[str, int]) -> None:
        kept = Counter(finding.code for finding in findings)
        for one in findings:
            self.findings.add(Finding(one.code, f"{task.name}: {one.where}", one.message))
        for code, times in counts.items():
            self.findings.count(code, times - kept[code])


def _check_strata(task: Task, outcome: Outcome[Any]) -> None:
    known = {"answerable"}.union(*(question.strata for question in outcome.gold))
    problems = [
        f'datasets.{task.dataset.name}.strata: no question has "{name}"; '
        f"there are {', '.join(sorted(known))}"
        for name in task.dataset.strata
        if name not in known
    ]
    if problems:
        raise UsageError(*problems)


def _skipped(task: Task) -> TaskReport:
    return TaskReport(
        name=task.name,
        kind=task.kind,
        dataset=task.dataset.name,
        status="skipped",
        exit_code=None,
        run=None,
    )


def _failed(task: Task, run: Run | None, error: Exception) -> TaskReport:
    """The report on a task that came to no result: why, in words, and its exit code."""
    problems, exit_code = [_described(error)], NOT_MEASURED
    if isinstance(error, RagaugeError):
        more = [f"and {error.more:,} more"] if error.more else []
        problems, exit_code = [*error.problems, *more], error.exit_code
    return TaskReport(
        name=task.name,
        kind=task.kind,
        dataset=task.dataset.name,
        status="error",
        exit_code=exit_code,
        run=run.id if run else None,
        problems=tuple(problems),
    )


def _described(error: Exception) -> str:
    """A fault nobody foresaw, with its place: it is to be seen, not passed over."""
    at = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(at.filename).name}:{at.lineno})"


class _Nobody:
    """Looks at nothing."""

    def begins(self, task: Task) -> None: ...

    def answers(self, now: Progress) -> None: ...

    def ends(self, report: TaskReport, *, before: bool) -> None: ...
