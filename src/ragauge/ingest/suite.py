"""Suites as `ragauge.toml` writes them: data sets, a pipeline, tasks over them, a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from ragauge.contracts.suite import (
    SESSION_LABEL,
    SUITE_LABEL,
    TASK_LABEL,
    Against,
    Dataset,
    PipelineUnderTest,
    Suite,
    Task,
    TaskKind,
)
from ragauge.errors import UsageError
from ragauge.ingest.configuration import (
    PREFIX,
    SETTINGS,
    Value,
    Written,
    configured,
    read_labels,
    read_setting,
    written,
)
from ragauge.ingest.lines import STDIN
from ragauge.ingest.options import with_preset
from ragauge.ingest.toml_tables import (
    Problems,
    named_tables,
    read_table,
    refuse_other_than_json,
    table_of,
)

ALL = "all"
"""The suite that runs where none is named: every task, unless the file says otherwise."""

SHARED = ("refusal", "refusal_tokens", "canon", "inline", "max_bad", "keep_texts")
OWN: dict[TaskKind, tuple[str, ...]] = {
    "score": ("preset", "gates", "min_coverage", "each", *SHARED),
    "stability": ("stability.profile", "stability.gates", "stability.min_stable", *SHARED),
}
"""The settings a task of each kind may set for itself."""
CALLS = ("concurrency", "timeout", "retries", "rate", "max_wait", "error_budget")
GRID = (
    *("preset", "seeds", "temperatures", "jitters", "paraphrases", "repeats"),
    *("adaptive", "jitter_profile"),
)
SWEEP: dict[TaskKind, tuple[str, ...]] = {"score": CALLS, "stability": (*GRID, *CALLS)}
"""And in its table `sweep`: one that asks each question once has no grid."""

WAYS = ("http", "call", "command", "replay", "demo")
Texts = str | tuple[str, ...]


class SuiteFile(Struct, frozen=True, kw_only=True):
    """A suite, and the file it was read from."""

    suite: Suite
    path: Path
    settings: dict[str, Any]
    """The file's own, for whoever runs the suite: store, format, quiet, workers."""

    @property
    def folder(self) -> Path:
        return self.path.parent


class _Dataset(Struct, frozen=True, kw_only=True):
    gold: str
    traces: Texts = ()
    runs: Texts = ()
    strata: Texts = ()


class _Task(Struct, frozen=True, kw_only=True):
    kind: TaskKind
    dataset: str | None = None
    pipeline: Any = None
    baseline: Any = None
    metrics: Texts = ()
    labels: dict[str, str] = {}
    sweep: Any = None


class _Suite(Struct, frozen=True, kw_only=True):
    tasks: tuple[str, ...]
    labels: dict[str, str] = {}
    baseline: Any = None


def read_suite(which: str | None, folder: Path, environment: Mapping[str, str]) -> SuiteFile:
    """The suite a user means: a name in the nearest file, a path to a file, or all of it.

    Raises UsageError with everything that is wrong with the file.
    """
    path = folder / which if which and which.endswith(".toml") else None
    if path and not path.is_file():
        raise UsageError(f"{which}: there is no such file; `ragauge init` writes a starting one")
    broken: list[str] = []
    file = written(path or folder, broken)
    if broken:
        raise UsageError(*broken)
    if file.path is None:
        raise UsageError(
            "there is no ragauge.toml here or in a folder above; `ragauge init` writes one"
        )
    reading = _Reading(file, environment)
    suite = reading.suite(None if path else which)
    settings = {name: value.value for name, value in reading.values.items()}
    store = reading.values["store"]
    if store.value and "://" not in store.value and not store.origin.startswith(PREFIX):
        # What the file says of the history is meant from its folder.
        settings["store"] = str(file.path.parent / Path(store.value).expanduser())
    return SuiteFile(suite=suite, path=file.path, settings=settings)


class _Reading:
    """One file on its way to a suite: what it says, and all that is wrong with it."""

    def __init__(self, file: Written, environment: Mapping[str, str]) -> None:
        assert file.path
        self._file, self._table = file, file.table
        self._problems = Problems(file.name)
        try:
            self.values = configured({}, environment, file.path)
        except UsageError as error:
            self._problems.found += error.problems
            self.values = {name: Value(one.default, "default") for name, one in SETTINGS.items()}
        self._dataset_tables = named_tables(
            self._table.get("datasets", {}), "datasets", self._problems
        )
        self._datasets = self._read_datasets()
        self._pipeline = self._read_pipeline(self._table.get("pipeline"), "pipeline")
        self._against = self._read_against(self._table.get("baseline"), "baseline")

    def suite(self, name: str | None) -> Suite:
        """The suite of a name; raises UsageError with all the problems of the file."""
        tables = named_tables(self._table.get("tasks", {}), "tasks", self._problems)
        if not tables:
            self._problems.add("tasks", "there are none; `ragauge init` writes a file with some")
        suites = self._suites(tables)
        if name is not None and name != ALL and name not in suites:
            self._problems.unknown("suites", "suite", name, [*suites, ALL])
        chosen = suites.get(name or ALL) or _Suite(tasks=tuple(tables))
        against = self._against_of(chosen.baseline, f"suites.{name or ALL}.baseline", self._against)
        # Every task is read, also those of other suites: a file is right or wrong as a whole.
        tasks = {task: self._task(task, table, against) for task, table in tables.items()}
        labels: dict[str, str] = {}
        try:
            labels = read_labels(self.values["label"].value)
        except UsageError as error:
            self._problems.found += [f"{self._file.name}: {fact}" for fact in error.problems]
        if self._problems.found:
            raise UsageError(*dict.fromkeys(self._problems.found))
        return Suite(
            name=name or ALL,
            file=self._file.name,
            title=self.values["name"].value,
            labels=labels | chosen.labels,
            tasks=tuple(task for one in chosen.tasks if (task := tasks[one])),
        )

    def _read_datasets(self) -> dict[str, Dataset]:
        found = {}
        for name, table in self._dataset_tables.items():
            if read := read_table(_Dataset, table, f"datasets.{name}", self._problems):
                if STDIN in (read.gold, *_several(read.traces), *_several(read.runs)):
                    fact = "a suite reads files, not standard input: it may have to read again"
                    self._problems.add(f"datasets.{name}", fact)
                found[name] = Dataset(
                    name=name,
                    gold=read.gold,
                    traces=_several(read.traces),
                    runs=_several(read.runs),
                    strata=_several(read.strata),
                )
        return found

    def _read_pipeline(self, value: Any, key: str) -> PipelineUnderTest | None:
        if value is None:
            return None
        read = read_table(PipelineUnderTest, value, key, self._problems)
        if read is None:
            return None
        named = [way for way in WAYS if getattr(read, way)]
        if len(named) != 1:
            got = " and ".join(named) or "none"
            self._problems.add(key, f"name one system, by {', '.join(WAYS)}; got {got}")
        elif read.map and not read.http:
            self._problems.add(f"{key}.map", f"a mapping belongs to http; {named[0]} has none")
        refuse_other_than_json(read.knobs, f"{key}.knobs", self._problems)
        return read

    def _read_against(self, value: Any, key: str) -> Against | None:
        """The baseline; a text alone is the run to compare with."""
        if value is None or value is False:
            return None
        table = {"run": value} if isinstance(value, str) else value
        return read_table(Against, table, key, self._problems)

    def _against_of(self, value: Any, key: str, usual: Against | None) -> Against | None:
        """The baseline of a suite or a task: its own, none where it says false, or the usual."""
        return None if value is False else self._read_against(value, key) or usual

    def _suites(self, tasks: Mapping[str, Any]) -> dict[str, _Suite]:
        found = {}
        tables = named_tables(self._table.get("suites", {}), "suites", self._problems)
        for name, table in tables.items():
            read = read_table(_Suite, table, f"suites.{name}", self._problems)
            if read is None:
                continue
            found[name] = read
            self._check_labels(read.labels, f"suites.{name}.labels")
            for task in read.tasks:
                if task not in tasks:
                    self._problems.unknown(f"suites.{name}.tasks", "task", task, list(tasks))
            if not read.tasks or len(set(read.tasks)) < len(read.tasks):
                self._problems.add(f"suites.{name}.tasks", "name each task to run once")
        return found

    def _check_labels(self, labels: Mapping[str, str], key: str) -> None:
        for label in (SUITE_LABEL, TASK_LABEL, SESSION_LABEL):
            if label in labels:
                self._problems.add(f"{key}.{label}", "is set by `ragauge run`; take another name")

    def _task(self, name: str, table: Any, against: Against | None) -> Task | None:
        key = f"tasks.{name}"
        stability = isinstance(table, dict) and table.get("kind") == "stability"
        kind: TaskKind = "stability" if stability else "score"
        own = {SETTINGS[full].name.rpartition(".")[2]: full for full in OWN[kind]}
        read = read_table(_Task, table, key, self._problems, beside=own)
        if read is None:
            return None
        self._check_labels(read.labels, f"{key}.labels")
        dataset = self._dataset_of(read, key)
        pipeline = self._read_pipeline(read.pipeline, f"{key}.pipeline") or self._pipeline
        lacks = "traces" if kind == "score" else "runs"
        if dataset and not pipeline and not getattr(dataset, lacks):
            self._problems.add(
                key, f"data set {dataset.name} has no {lacks}, and there is no [pipeline] to ask"
            )
        settings = self._task_settings(read, table_of(table, key, self._problems), key, own)
        if dataset is None:
            return None
        return Task(
            name=name,
            kind=read.kind,
            dataset=dataset,
            pipeline=pipeline,
            metrics=_several(read.metrics),
            against=self._against_of(read.baseline, f"{key}.baseline", against),
            labels=read.labels,
            settings=settings,
        )

    def _dataset_of(self, read: _Task, key: str) -> Dataset | None:
        """The data set a task names; the only one where it names none."""
        if read.dataset is not None:
            if read.dataset not in self._dataset_tables:
                known = list(self._dataset_tables)
                self._problems.unknown(f"{key}.dataset", "data set", read.dataset, known)
            return self._datasets.get(read.dataset)
        if len(self._dataset_tables) == 1:
            return next(iter(self._datasets.values()), None)
        named = ", ".join(self._dataset_tables) or "none; write [datasets.NAME] with its gold"
        self._problems.add(f"{key}.dataset", f"missing; there are: {named}")
        return None

    def _task_settings(
        self, read: _Task, table: dict[str, Any], key: str, own: dict[str, str]
    ) -> dict[str, Any]:
        """The file's settings, with the task's own in their place."""
        mine = (*OWN[read.kind], *(f"sweep.{name}" for name in SWEEP[read.kind]))
        values = {name: self.values[name].value for name in mine}
        if self.values["canon"].origin == "default":
            values["canon"] = None  # each kind has its own
        for name, full in own.items():
            if name in table:
                self._put(values, full, table[name], f"{key}.{name}")
        swept = table_of(read.sweep, f"{key}.sweep", self._problems) if read.sweep else {}
        for name, value in swept.items():
            if name in SWEEP[read.kind]:
                self._put(values, f"sweep.{name}", value, f"{key}.sweep.{name}")
            else:
                self._problems.unknown(f"{key}.sweep.{name}", "key", name, SWEEP[read.kind])
        if read.kind != "stability":
            return values
        # A preset of the task's own comes before what the file says for all.
        origins = {name: self.values[f"sweep.{name}"].origin for name in GRID}
        given = {
            name
            for name, origin in origins.items()
            if name in swept
            or origin.startswith(PREFIX)
            or (origin != "default" and "preset" not in swept)
        }
        grid = with_preset({name: values[f"sweep.{name}"] for name in GRID}, given)
        return values | {f"sweep.{name}": value for name, value in grid.items()}

    def _put(self, values: dict[str, Any], name: str, value: Any, key: str) -> None:
        """Set a setting for a task, unless the environment does: that beats every file."""
        try:
            read = read_setting(SETTINGS[name], value)
        except ValueError as error:
            self._problems.add(key, str(error))
            return
        if not self.values[name].origin.startswith(PREFIX):
            values[name] = read


def _several(texts: Texts) -> tuple[str, ...]:
    """A text alone means a list of it."""
    return (texts,) if isinstance(texts, str) else texts
