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


def run_suite(
    suite: Suite,
    history: History,
    *,
    folder: Path,
    system_of: SystemOf,
    deliver: Callable[[SuiteReport], None],
    only: Sequence[str] = (),
    fresh: bool = False,
    workers: int = 1,
    watcher: Watcher | None = None,
    store: str | None = None,
    place: str | None = None,
) -> Outcome[SuiteReport]:
    """The outcome of all tasks, or of some; each that could be measured is a run of the history.

    Files are named from the folder. What an earlier start with the same inputs has recorded is
    not measured again, unless a `fresh` start forgets it. The session ends after the report was
    delivered: one that nobody got is made again, from the history. `store` is where the user said
    the history is, for the report to say it again; `place` is where it is. Raises UsageError
    before anything runs.
    """
    _check(suite, only)
    here = Path.cwd()
    with chdir(folder):
        inputs = inputs_of(suite, only)
        with work(work_folder(suite, only), inputs, fresh=fresh) as state:
            around = Around(
                state=state,
                history=history,
                place=place,
                system_of=system_of,
                workers=workers,
                watch=watcher.answers if watcher else None,
            )
            running = _Running(suite, state, around, watcher)
            identity = {"command": "run", "ragauge": __version__, "file": suite.file}
            identity |= {"inputs": inputs, **({"store": store} if store else {})}
            outcome = running.outcome(only, identity)
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


class _Kept(Struct, frozen=True):
    """What a suite takes from the report of a task."""

    findings: tuple[Finding, ...] = ()
    strata: dict[str, dict[str, dict[str, Score]]] = {}


class _Running:
    """A suite under way: its tasks, and their metrics, gates and findings by the task's name."""

    def __init__(self, suite: Suite, state: Work, around: Around, watcher: Watcher | None) -> None:
        self._suite, self._state, self._around, self._watcher = suite, state, around, watcher
        self._history = around.history
        mine = RunFilter(labels={SESSION_LABEL: state.session.id})
        before = self._history.runs(mine) if state.resumed else []
        self._done = {run.record.labels[TASK_LABEL]: run for run in before}
        """The tasks that an earlier start of this session has recorded."""
        self.finished = True
        """Every task that was to run came to a result: there is nothing to go on with."""
        self._metrics: dict[str, Score] = {}
        self._gates: list[Verdict] = []
        self._findings = Findings()

    def outcome(self, only: Sequence[str], identity: dict[str, Any]) -> Outcome[SuiteReport]:
        tasks = tuple(
            self._task(task) if not only or task.name in only else _ended(task, "skipped")
            for task in self._suite.tasks
        )
        counts = Counter(task.status for task in tasks)
        exit_code = NOT_MEASURED if counts["error"] else GATE_FAILED if counts["failed"] else 0
        evaluation = Evaluation(given=self._metrics)
        report = evaluation.report(
            SuiteReport,
            self._findings,
            identity,
            passed=False if exit_code else True if counts["passed"] else None,
            suite=self._suite.name,
            exit_code=exit_code,
            metrics=self._metrics,
            gates=tuple(self._gates),
            tasks=tasks,
            coverage=SuiteCoverage(
                tasks=len(tasks), **{status: counts[status] for status in get_args(Status)}
            ),
        )
        return evaluation.outcome(report)

    def _task(self, task: Task) -> TaskReport:
        run = before = self._done.get(task.name)
        if self._watcher:
            self._watcher.begins(task)
        try:
            made = before or self._measured(task)
            if isinstance(made, RunReport):
                report = self._reported(task, made)
            else:
                run = made
                report = self._recorded(task, run)
        except Exception as error:  # whatever it is, the other tasks go on
            self.finished = False
            report = _failed(task, run, error)
        if self._watcher:
            self._watcher.ends(report, before=before is not None)
        return report

    def _measured(self, task: Task) -> Run | RunReport:
        """The recorded run of a task, or the report of one that is not recorded."""
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder) / "records.parquet"
            outcome = KINDS[task.kind].outcome(task, structs.replace(self._around, rows=rows))
            if isinstance(outcome, RunReport):
                return outcome
            _check_strata(task, outcome)
            own = {SUITE_LABEL: self._suite.name, TASK_LABEL: task.name}
            return record(
                outcome,
                self._history,
                name=self._suite.named(task),
                labels={
                    **self._suite.labels,
                    **task.labels,
                    **own,
                    SESSION_LABEL: self._state.session.id,
                },
                folder=Path.cwd(),
                keep=task.keep_texts,
            )

    def _reported(self, task: Task, made: RunReport) -> TaskReport:
        """What a task came to that is not recorded: a diagnosis, or a comparison of two runs."""
        comparison = made if isinstance(made, ComparisonReport) else None
        if comparison is None:
            self._take(task, "", made.metrics, made.gates)
            self._note(task, made.findings, made.finding_counts)
        self._compared(task, comparison)
        coverage = msgspec.to_builtins(made.coverage)
        return _ended(task, _status(made.passed), comparison=comparison, coverage=coverage)

    def _recorded(self, task: Task, run: Run) -> TaskReport:
        """What a recorded task came to, read from the history: the same whenever it was made."""
        with self._history.file(run, REPORT) as path:
            kept = msgspec.json.decode(path.read_bytes(), type=_Kept)
        recorded, against = run.record, task.against
        shown = KINDS[task.kind].metrics(task) or recorded.metrics
        self._take(task, "", {id: recorded.metrics[id] for id in shown}, recorded.gates)
        self._note(task, kept.findings, recorded.finding_counts)
        if task.name in self._done:
            message = "an earlier start of this session has measured it; --fresh measures anew"
            self._findings.add(Finding("done_before", task.name, message))
        comparison = None
        if against is not None:
            try:
                comparison = compare(self._history, against.run, run.id, **_options(task, against))
            except RagaugeError as error:
                facts = [f"baseline {against.run}: {problem}" for problem in error.problems]
                raise type(error)(*facts, more=error.more) from None
        self._compared(task, comparison)
        return _ended(
            task,
            _status(recorded.passed, comparison.passed if comparison else None),
            run=run.id,
            strata={name: kept.strata[name] for name in task.dataset.strata if name in kept.strata},
            comparison=comparison,
            coverage=recorded.coverage,
        )

    def _compared(self, task: Task, comparison: ComparisonReport | None) -> None:
        """Take a comparison; a run that fails it is nobody's baseline from then on.

        A start that was killed in between is gone on with, and then compares and marks again.
        """
        if comparison is None:
            return
        self._take(task, CHANGE, comparison.metrics, comparison.gates)
        self._note(task, comparison.findings, comparison.finding_counts)
        if comparison.passed is False and comparison.before is not None:
            run = comparison.after.id
            self._history.regressed(run, comparison.before.id)
            message = f"run {run[:ID_SHOWN]} is marked as regressed: `green` passes over it"
            self._findings.add(Finding("regressed", task.name, message))

    def _take(
        self, task: Task, of: str, scores: Mapping[str, Score], gates: Sequence[Verdict]
    ) -> None:
        """Metrics and gates, with the task's name before their ids."""
        own = f"{task.name}/{of}"
        for id, score in scores.items():
            fields = {name: getattr(score, name) for name in Score.__struct_fields__}
            self._metrics[own + id] = Score(**fields)
        for gate in gates:
            rule, metric = own + gate.rule, own + gate.metric
            self._gates.append(structs.replace(gate, rule=rule, metric=metric))

    def _note(self, task: Task, findings: Sequence[Finding], counts: dict[str, int]) -> None:
        kept = Counter(finding.code for finding in findings)
        for one in findings:
            self._findings.add(Finding(one.code, f"{task.name}: {one.where}", one.message))
        for code, times in counts.items():
            self._findings.count(code, times - kept[code])


def _options(task: Task, against: Against) -> dict[str, Any]:
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


def _status(*passed: bool | None) -> Status:
    """What a task came to by its gates and those of its comparison."""
    return "failed" if False in passed else "passed" if True in passed else "ungated"


_EXIT_CODES: dict[Status, int | None] = {"skipped": None, "failed": GATE_FAILED}


def _ended(task: Task, status: Status, *, run: str | None = None, **what: Any) -> TaskReport:
    exit_code = what.pop("exit_code", _EXIT_CODES.get(status, 0))
    return TaskReport(
        name=task.name,
        kind=task.kind,
        dataset=task.dataset.name,
        status=status,
        exit_code=exit_code,
        run=run,
        **what,
    )


def _failed(task: Task, run: Run | None, error: Exception) -> TaskReport:
    """The report on a task that came to no result: why, in words, and its exit code."""
    if isinstance(error, RagaugeError):
        more = [f"and {error.more:,} more"] if error.more else []
        problems, exit_code = [*error.problems, *more], error.exit_code
    else:
        # A fault nobody foresaw, with its place: it is to be seen, not passed over.
        at = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(at.filename).name}:{at.lineno}"
        problems, exit_code = [f"{type(error).__name__}: {error} ({place})"], NOT_MEASURED
    problem = {"exit_code": exit_code, "problems": tuple(problems)}
    return _ended(task, "error", run=run.id if run else None, **problem)
