"""A suite: tasks over data sets and a pipeline, and what they came to together."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from ragauge.contracts.comparison import ComparisonReport, Correction
from ragauge.contracts.options import SweepOptions
from ragauge.contracts.report import RunReport, Score

SUITE_SCHEMA = "ragauge.suite/1"

TaskKind = Literal[
    "score",
    "stability",
    "audit",
    "trace-eval",
    "eval ner",
    "eval types",
    "eval linking",
    "eval retrieval",
    "eval qa",
    "eval answers",
    "eval all",
    "diagnose",
    "compare",
]
"""The command that a task is."""
Status = Literal["passed", "ungated", "failed", "error", "skipped"]

SUITE_LABEL, TASK_LABEL, SESSION_LABEL = "suite", "task", "session"
"""Labels every recorded task has; the session tells which of them belong together."""

CHANGE = "change/"
"""Stands between the task and the metric where its change against the baseline is meant."""


class Dataset(Struct, frozen=True, kw_only=True):
    """What there is to measure with; files are named from the suite's folder."""

    name: str
    gold: str = ""
    """Questions, entries or judgements; the empty name where a task needs none."""
    traces: tuple[str, ...] = ()
    """Answers, one a question; without them the pipeline is asked."""
    runs: tuple[str, ...] = ()
    """Runs of a sweep that was made before; without them the pipeline is swept."""
    predicted: str = ""
    """What a component or a system said: the second file of `ragauge eval`, or scored rows."""
    strata: tuple[str, ...] = ()
    """What to slice by."""


class PipelineUnderTest(Struct, frozen=True, kw_only=True):
    """The system to ask, named in one of the ways of `ragauge sweep`."""

    http: str | None = None
    call: str | None = None
    command: str | None = None
    replay: str | None = None
    demo: bool = False
    map: str | None = None
    knobs: dict[str, Any] = {}


class Against(Struct, frozen=True, kw_only=True):
    """The run to compare with, and what that decides."""

    run: str
    """A reference such as `green@main`, a tag, or an id."""
    gate: Literal["no-regression", "not-worse"] | None = None
    margin: float | None = None
    """A loss that is accepted, of any metric."""
    margins: dict[str, float] = {}
    """The same by metric."""
    correction: Correction = "holm"
    allow: tuple[Literal["gold", "versions"], ...] = ()
    """Compare what is comparable although these differ."""
    required: bool = False
    """Fail where there is no such run; else the first run of all has nothing to be held to."""


class Task(Struct, frozen=True, kw_only=True):
    """One measurement of a suite, with every setting it needs."""

    name: str
    kind: TaskKind
    dataset: Dataset
    pipeline: PipelineUnderTest | None
    metrics: tuple[str, ...]
    """What to report and compare; where none is named all are reported, and the headline and
    gated ones tested."""
    against: Against | None
    labels: dict[str, str]
    options: Struct
    """Those of the command, such as ScoreOptions."""
    more: Struct | None = None
    """What the command takes next to its options, such as the runs to compare."""
    sweep: SweepOptions = SweepOptions()
    """How the pipeline is asked."""
    keep_texts: bool = True
    mapped: dict[str, str] | UnsetType = UNSET
    """Where the files of the data set have the fields; unset, a suite's inputs have no such key."""

    @property
    def columns(self) -> dict[str, str]:
        return self.mapped or {}


class Suite(Struct, frozen=True, kw_only=True):
    """The tasks that one command runs."""

    name: str
    file: str
    """What messages call the file it was read from."""
    title: str | None
    """Goes before the task's name in the name of a recorded run."""
    labels: dict[str, str]
    tasks: tuple[Task, ...]

    def named(self, task: Task) -> str:
        """What the runs of a task are called in the history: runs of one name are a line."""
        return f"{self.title}/{task.name}" if self.title else task.name


class TaskReport(Struct, frozen=True, kw_only=True):
    """What became of a task."""

    name: str
    kind: TaskKind
    dataset: str
    status: Status
    exit_code: int | None
    """As the command of its kind would have ended; None where it was skipped."""
    run: str | None
    """The id under which the history has it."""
    problems: tuple[str, ...] = ()
    """Why there is nothing to report, in the words of what went wrong."""
    strata: dict[str, dict[str, dict[str, Score]]] = {}
    """Of the data set's strata: metrics by stratum and value."""
    comparison: ComparisonReport | None = None
    coverage: dict[str, Any] = {}


class SuiteCoverage(Struct, frozen=True, kw_only=True):
    """How many of the tasks came to what."""

    tasks: int
    passed: int
    ungated: int = 0
    """Measured, without a gate on quality."""
    failed: int
    error: int
    skipped: int


class SuiteReport(RunReport, frozen=True, kw_only=True):
    """What `ragauge run` says, versioned.

    Metrics and gates are named `task/metric`, and `task/change/metric` against the baseline.
    """

    schema: str = SUITE_SCHEMA
    suite: str
    exit_code: int
    tasks: tuple[TaskReport, ...]
    coverage: SuiteCoverage
