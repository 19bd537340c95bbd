"""Suites as `ragauge.toml` writes them: data sets, a pipeline, tasks over them, a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct

from ragauge.contracts.opt import Option, chosen_options, options_in
from ragauge.contracts.options import (
    AllOptions,
    AnswerOptions,
    AuditOptions,
    Baselines,
    Compared,
    CompareOptions,
    DiagnoseOptions,
    LinkingOptions,
    Model,
    NerOptions,
    RetrievalOptions,
    ScoreOptions,
    StabilityOptions,
    Subject,
    SweepOptions,
    TraceEvalOptions,
    TypesOptions,
)
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
from ragauge.ingest.toml_tables import (
    Problems,
    Record,
    named_tables,
    read_table,
    refuse_other_than_json,
    table_of,
)

ALL = "all"
"""The suite that runs where none is named: every task, unless the file says otherwise."""

OPTIONS: dict[TaskKind, tuple[type[Struct], type[Struct] | None]] = {
    "score": (ScoreOptions, None),
    "stability": (StabilityOptions, None),
    "audit": (AuditOptions, None),
    "trace-eval": (TraceEvalOptions, None),
    "eval ner": (NerOptions, None),
    "eval types": (TypesOptions, None),
    "eval linking": (LinkingOptions, None),
    "eval retrieval": (RetrievalOptions, Baselines),
    "eval qa": (AnswerOptions, None),
    "eval answers": (AnswerOptions, None),
    "eval all": (AllOptions, Model),
    "diagnose": (DiagnoseOptions, Subject),
    "compare": (CompareOptions, Compared),
}
"""The options of each kind of task, and what its command takes next to them."""
SUITES = ("out", "workers", "baseline", "gold", "demo", "scenario", "store")
"""Options that the suite itself has an answer to."""
CALLED = {"kind": "answer_kind"}
"""Options that a task calls otherwise, for a task has a key of that name."""
NEEDS: dict[TaskKind, tuple[tuple[str, ...], ...]] = {
    "score": (("gold",), ("traces", "pipeline")),
    "stability": (("gold",), ("runs", "pipeline")),
    "audit": (("traces", "pipeline"),),
    "trace-eval": (("gold",), ("pipeline",)),
    "eval ner": (("gold",), ("predicted",)),
    "eval types": (("gold",), ("predicted",)),
    "eval linking": (("gold",), ("predicted",)),
    "eval retrieval": (("gold",), ("predicted",)),
    "eval qa": (("gold",), ("predicted", "traces", "pipeline")),
    "eval answers": (("predicted",),),
    "eval all": (("gold",),),
    "diagnose": (("predicted", "traces", "pipeline"),),
    "compare": (),
}
"""What a task of each kind needs of its data set; of each group, one."""
UNMAPPED: tuple[TaskKind, ...] = ("compare",)
"""Kinds whose commands have no `--map`."""
CALLS = ("concurrency", "timeout", "retries", "rate", "max_wait", "error_budget")
GRID = (
    *("preset", "seeds", "temperatures", "jitters", "paraphrases", "repeats"),
    *("adaptive", "jitter_profile"),
)

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
    gold: str = ""
    predicted: str = ""
    traces: Texts = ()
    runs: Texts = ()
    strata: Texts = ()


class _Task(Struct, frozen=True, kw_only=True):
    kind: TaskKind
    dataset: str | None = None
    pipeline: Any = None
    baseline: Any = None
    metrics: Texts = ()
    labels: Any = {}
    sweep: Any = None
    columns: dict[str, str] = {}


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
                if STDIN in (
                    read.gold,
                    read.predicted,
                    *_several(read.traces),
                    *_several(read.runs),
                ):
                    fact = "a suite reads files, not standard input: it may have to read again"
                    self._problems.add(f"datasets.{name}", fact)
                found[name] = Dataset(
                    name=name,
                    gold=read.gold,
                    predicted=read.predicted,
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
        written = table.get("kind") if isinstance(table, dict) else None
        kind: TaskKind = written if written in OPTIONS else "score"
        kinds = [one for one in OPTIONS[kind] if one]
        own = {
            key: option
            for one in kinds
            for option in options_in(one)
            for key in (CALLED.get(option.field, option.field), option.flag.strip("-"))
            if option.field not in SUITES and not (option.opt.json or option.opt.pairs)
        }
        own = {key.replace("-", "_"): option for key, option in own.items()}
        for key_of, option in (("kind", None), ("keep_texts", SETTINGS["keep_texts"])):
            own.pop(key_of, None)
            own |= {key_of: option} if option else {}
        read = read_table(_Task, table, key, self._problems, beside=own)
        if read is None:
            return None
        table = table_of(table, key, self._problems)
        if read.columns and kind in UNMAPPED:
            self._problems.add(f"{key}.columns", f"a task of kind {kind} maps no columns")
        labels = read.labels
        if not isinstance(labels, dict):  # the labels of a component's items
            labels = {}
            if "labels" not in own:
                self._problems.add(f"{key}.labels", "expected a table of labels")
        else:
            table.pop("labels", None)
            if not all(isinstance(value, str) for value in labels.values()):
                self._problems.add(f"{key}.labels", "expected texts")
        self._check_labels(labels, f"{key}.labels")
        dataset = self._dataset_of(read, key, needed=bool(NEEDS[kind]))
        pipeline = self._read_pipeline(read.pipeline, f"{key}.pipeline") or self._pipeline
        for needs in NEEDS[kind] if dataset else ():
            there = [pipeline if one == "pipeline" else getattr(dataset, one) for one in needs]
            if not any(there):
                files = [one for one in needs if one != "pipeline"]
                lacks = f"data set {dataset.name} has no {' or '.join(files)}" if dataset else ""
                asked = "there is no [pipeline] to ask" if "pipeline" in needs else ""
                fact = ", and ".join(filter(None, (lacks if files else "", asked)))
                self._problems.add(key, fact)
        options, *more = [self._options(one, own, table, key) for one in kinds]
        sweep = self._sweep(read, options, key)
        keep: dict[str, Any] = {}
        self._put(keep, SETTINGS["keep_texts"], table.get("keep_texts"), f"{key}.keep_texts")
        if dataset is None or options is None:
            return None
        return Task(
            name=name,
            kind=read.kind,
            dataset=dataset,
            pipeline=pipeline,
            metrics=_several(read.metrics),
            against=self._against_of(read.baseline, f"{key}.baseline", against),
            labels=labels,
            options=options,
            more=more[0] if more else None,
            sweep=sweep,
            keep_texts=keep.get("keep_texts", True),
            mapped=read.columns or UNSET,
        )

    def _options(
        self, kind: type[Struct], own: Mapping[str, Option], table: dict[str, Any], key: str
    ) -> Struct | None:
        """The options of a task: its own before the file's, and the environment before both."""
        given: dict[str, Any] = {}
        for option in options_in(kind):
            names = [name for name, one in own.items() if one is option]
            name = next((name for name in names if name in table), None)
            if names or (option.opt.setting and option.field not in SUITES):
                value = None if name is None else table[name]
                self._put(given, option, value, f"{key}.{name or option.field}")
        # As in `configured`: a file that names its refusal tokens promises them under `ship`.
        if kind is ScoreOptions and given.get("preset") == "ship" and "refusal_tokens" in given:
            given.setdefault("refusal", "exact")
        return self._chosen(kind, given, key)

    def _sweep(self, read: _Task, options: Struct | None, key: str) -> SweepOptions:
        """How the pipeline is asked: over a grid where stability is measured, else once."""
        swept = table_of(read.sweep, f"{key}.sweep", self._problems) if read.sweep else {}
        known = (*GRID, *CALLS) if read.kind == "stability" else CALLS
        for name in swept:
            if name not in known:
                self._problems.unknown(f"{key}.sweep.{name}", "key", name, known)
        given: dict[str, Any] = {}
        for option in options_in(SweepOptions):
            name = (option.opt.setting or "").partition(".")[2]
            if name not in known:
                continue
            # A preset of the task's own comes before what the file says for all.
            below = name in GRID and name not in swept and "preset" in swept
            if below and not self.values[f"sweep.{name}"].origin.startswith(PREFIX):
                continue
            self._put(given, option, swept.get(name), f"{key}.sweep.{name}")
        if isinstance(options, StabilityOptions):
            given |= {"profile": options.profile}
            given |= {"gates": options.gates} if given.get("adaptive") else {}
        return self._chosen(SweepOptions, given, f"{key}.sweep") or SweepOptions()

    def _put(self, given: dict[str, Any], option: Option, value: Any, key: str) -> None:
        """Read an option of a task, unless the environment says it: that beats every file."""
        read = None
        if value is not None:
            try:
                read = read_setting(option, value)
            except ValueError as error:
                self._problems.add(key, str(error))
                return
        if option.opt.setting:
            usual = self.values[option.opt.setting]
            if usual.origin.startswith(PREFIX) or (read is None and usual.origin != "default"):
                read = usual.value
        if read is not None and option.opt.joined:
            read = ",".join(read) or None
        if read is not None and option.opt.content:
            read = self._content(read, key)
        if read is not None:
            given[option.field] = read

    def _content(self, name: str, key: str) -> str | None:
        assert self._file.path
        try:
            return (self._file.path.parent / name).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            self._problems.add(key, f"{name}: cannot be read: {error}")
            return None

    def _chosen(self, kind: type[Record], given: dict[str, Any], key: str) -> Record | None:
        needed = {one.field for one in options_in(kind) if one.required} - given.keys()
        for name in sorted(needed):
            self._problems.add(f"{key}.{name}", "missing")
        try:
            return None if needed else chosen_options(kind, key, given)
        except UsageError as error:
            self._problems.found += [f"{self._file.name}: {fact}" for fact in error.problems]
            return None

    def _dataset_of(self, read: _Task, key: str, *, needed: bool) -> Dataset | None:
        """The data set a task names; the only one where it names none, and needs one."""
        if read.dataset is not None:
            if read.dataset not in self._dataset_tables:
                known = list(self._dataset_tables)
                self._problems.unknown(f"{key}.dataset", "data set", read.dataset, known)
            return self._datasets.get(read.dataset)
        if not needed:
            return Dataset(name="")
        if len(self._dataset_tables) == 1:
            return next(iter(self._datasets.values()), None)
        named = ", ".join(self._dataset_tables) or "none; write [datasets.NAME] with its gold"
        self._problems.add(f"{key}.dataset", f"missing; there are: {named}")
        return None


def _several(texts: Texts) -> tuple[str, ...]:
    """A text alone means a list of it."""
    return (texts,) if isinstance(texts, str) else texts
