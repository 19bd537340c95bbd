"""The tasks of a suite: what each kind checks before it runs, and the outcome it comes to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.history import History
from ragauge.contracts.metric import Reads
from ragauge.contracts.options import (
    AnswerOptions,
    AuditOptions,
    Baselines,
    Compared,
    DiagnoseOptions,
    EvalOptions,
    LinkingOptions,
    Model,
    ScoreOptions,
    StabilityOptions,
    Subject,
)
from ragauge.contracts.report import Outcome, RunReport
from ragauge.contracts.run import Grid
from ragauge.contracts.suite import PipelineUnderTest, Task, TaskKind
from ragauge.contracts.sweep import SweepReport
from ragauge.contracts.system import System
from ragauge.errors import InputRejected, UsageError
from ragauge.gates.stability import STABLE
from ragauge.gates.stability import rules_of as stability_rules
from ragauge.ingest.fields import allowed_bad
from ragauge.metrics.table import find, reading
from ragauge.runners.plan import check_grid
from ragauge.runners.score import rules_of, score
from ragauge.runners.stability import stability
from ragauge.runners.suite_state import Work
from ragauge.runners.sweep import Watch, allowed_errors, settled, sweep

ONE_EACH = Grid(seeds=(0,), temperatures=(0.0,), jitters=("none",))
"""What is asked where an answer to each question is needed and no more."""
EXAMPLES_SHOWN = 3

SystemOf = Callable[[PipelineUnderTest, int], System]
"""Makes the system under test, with so many calls in flight."""


class Around(Struct, frozen=True, kw_only=True):
    """What a task finds around it."""

    state: Work
    """Where the answers of the pipeline are kept while they come in."""
    rows: Path = Path()
    """Where to write a row for every record."""
    history: History
    place: str | None
    """Where the history is; replies of a judge are kept there, too."""
    system_of: SystemOf
    workers: int
    watch: Watch | None


class Kind(Struct, frozen=True):
    """A kind of task."""

    check: Callable[[Task], None]
    """Raises UsageError with what is wrong, before anything runs."""
    outcome: Callable[[Task, Around], Outcome[Any] | RunReport]
    """A report alone is not recorded."""
    metrics: Callable[[Task], tuple[str, ...]]
    """The ids of the metrics the task names."""


def _score_metrics(task: Task) -> tuple[str, ...]:
    return tuple(find(name, "facts").id for name in task.metrics)


def _check_score(task: Task) -> None:
    options: ScoreOptions = task.options  # type: ignore[assignment]
    gated = {rule.metric for rule in rules_of(options)}
    allowed_bad(options.max_bad)
    _check_calls(task)
    for id in _score_metrics(task):
        if id not in gated and id not in reading("facts"):
            raise UsageError(f"metrics: {id} is measured where a gate names it; add one")


def _score_outcome(task: Task, around: Around) -> Outcome[Any]:
    traces, rows = _traces(task, around), str(around.rows)
    own = {"out": rows, "keep_answers": True, "workers": around.workers}
    outcome = score(task.dataset.gold, traces, columns=task.columns, options=task.options, **own)
    if not outcome.report.coverage.scored:
        raise InputRejected(f"{', '.join(traces)}: nothing was scored: no trace has an answer")
    return outcome


def _check_stability(task: Task) -> None:
    options: StabilityOptions = task.options  # type: ignore[assignment]
    stability_rules(options.profile, options.gates, lambda name: find(name, "runs"))
    allowed_bad(options.max_bad)
    _check_calls(task)
    _stability_metrics(task)


def _stability_metrics(task: Task) -> tuple[str, ...]:
    own = (STABLE, STABLE.partition(".")[2])
    return tuple(STABLE if name in own else find(name, "runs").id for name in task.metrics)


def _stability_outcome(task: Task, around: Around) -> Outcome[Any]:
    runs = task.dataset.runs or (str(_asked(task, around)),)
    outcome = stability(
        task.dataset.gold, runs, columns=task.columns, options=task.options, out=str(around.rows)
    )
    if not outcome.report.coverage.runs:
        raise InputRejected(f"{', '.join(runs)}: nothing was scored: no run has an answer")
    return outcome


READS: dict[TaskKind, Reads] = {
    "audit": "audit",
    "trace-eval": "audit",
    "eval ner": "entities",
    "eval types": "labels",
    "eval linking": "links",
    "eval retrieval": "ranking",
    "eval qa": "answers",
    "eval answers": "answers",
}
"""What the metrics of a kind read, where a short name would be ambiguous."""


def _any_metrics(task: Task) -> tuple[str, ...]:
    kinds = [READS[task.kind]] if task.kind in READS else []
    return tuple(find(name, *kinds).id for name in task.metrics)


def _check_audit(task: Task) -> None:
    options: AuditOptions = task.options  # type: ignore[assignment]
    allowed_bad(options.max_bad)
    _any_metrics(task)


def _audit_outcome(task: Task, around: Around) -> Outcome[Any]:
    from ragauge.runners.audit import audit

    traces, gold = _traces(task, around), task.dataset.gold or None
    outcome = audit(
        traces, columns=task.columns, options=task.options, gold=gold, workers=around.workers
    )
    if not outcome.report.coverage.audited:
        raise InputRejected(f"{', '.join(traces)}: nothing was audited: no trace has an answer")
    return outcome


def _trace_eval_outcome(task: Task, around: Around) -> Outcome[Any]:
    from ragauge.runners.trace_eval import trace_eval

    pipeline = task.pipeline
    assert pipeline is not None, "checked when the suite was read"
    system = around.system_of(pipeline, task.sweep.concurrency)
    own: dict[str, Any] = {"knobs": pipeline.knobs} if pipeline.knobs else {}
    gold, out = task.dataset.gold, around.state.journal(task)
    own |= {"columns": task.columns}
    done = trace_eval(gold, system, out, around.watch, options=task.options, **own)
    _refuse_unfinished(done.swept)
    assert done.outcome is not None, "the sweep is complete"
    return done.outcome


def _check_eval(task: Task) -> None:
    options: EvalOptions = task.options  # type: ignore[assignment]
    from ragauge.runners.components.options import rules_for

    part: Any = task.kind.partition(" ")[2]
    if isinstance(options, AnswerOptions):
        from ragauge.runners.answers.options import check_options

        check_options(part, options)
    elif part != "all":
        rules_for(part, options)
    allowed_bad(options.max_bad)
    _any_metrics(task)


def _eval_outcome(task: Task, around: Around) -> Outcome[Any]:
    part, data, options = task.kind.partition(" ")[2], task.dataset, task.options
    read: tuple[Any, ...] = (data.gold, data.predicted)
    more: dict[str, Any] = {}
    if isinstance(options, LinkingOptions):
        more = {"equivalents": options.equivalents, "crosswalk": options.crosswalk}
    elif isinstance(task.more, Baselines):
        more = {"baselines": task.more.baselines}
    elif isinstance(task.more, Model):
        read = (data.gold, task.more.model)
        more = {"qrels": task.more.qrels, "queries": task.more.queries}
    elif part == "answers":
        read = (data.predicted,)
    elif part == "qa" and not data.predicted:
        read = (data.gold, *_traces(task, around))
    if "workers" in options.__struct_fields__:
        more["workers"] = around.workers
    more["columns"] = task.columns
    room = "answers" if isinstance(options, AnswerOptions) else "components"
    evaluate = getattr(import_module(f"ragauge.runners.{room}.evaluate_{part}"), f"evaluate_{part}")
    with ExitStack() as stack:
        if isinstance(options, AnswerOptions):
            more["asking"] = _asking(options, around, stack)
        outcome: Outcome[Any] = evaluate(*read, options=options, **more)
    if not outcome.report.coverage.get("scored"):
        raise InputRejected(f"{', '.join(map(str, read))}: nothing was scored")
    return outcome


def _asking(options: AnswerOptions, around: Around, stack: ExitStack) -> Any:
    """Where the replies of a judge or an embedder at an endpoint are kept."""
    from ragauge.runners.answers.gathering import Asking

    if options.endpoint is None and "://" not in (options.embedder or ""):
        return Asking()
    from ragauge.store.reply_cache import open_replies

    if around.place is None:
        return Asking()
    replies = open_replies(around.place)
    stack.callback(replies.close)
    return Asking(replies=replies, vectors=replies)


def _diagnose_outcome(task: Task, around: Around) -> RunReport:
    from ragauge.runners.diagnosis.diagnose import diagnose, diagnose_traces

    subject, data = task.more, task.dataset
    assert isinstance(subject, Subject)
    own: dict[str, Any] = {"metrics": task.metrics or None, "top": subject.top}
    own |= {"columns": task.columns}
    if data.predicted:
        return diagnose(data.predicted, options=task.options, **own)
    own |= {"manifest": subject.manifest, "docs": subject.docs}
    return diagnose_traces(_traces(task, around), data.gold, options=task.options, **own)


def _check_diagnose(task: Task) -> None:
    options: DiagnoseOptions = task.options  # type: ignore[assignment]
    allowed_bad(options.max_bad)
    if not task.dataset.predicted and not task.dataset.gold:
        raise UsageError("traces are diagnosed against a gold set; give the data set its gold")


def _compare_outcome(task: Task, around: Around) -> RunReport:
    from ragauge.runners.compare import compare

    runs = task.more
    assert isinstance(runs, Compared)
    own = {"metrics": task.metrics} if task.metrics else {}
    return compare(around.history, runs.before, runs.after, options=task.options, **own)


def _check_metrics(task: Task) -> None:
    _any_metrics(task)


def _nothing(task: Task) -> None:
    """What is wrong with it shows when it runs."""


def _check_calls(task: Task) -> None:
    check_grid(settled(task.sweep).grid)
    allowed_errors(task.sweep.error_budget)


def _traces(task: Task, around: Around) -> tuple[str, ...]:
    """The traces there are, or an answer of the pipeline to each question."""
    return task.dataset.traces or (str(_asked(task, around, grid=ONE_EACH)),)


def _asked(task: Task, around: Around, **options: Any) -> Path:
    """The journal with what the pipeline answered; goes on where an earlier start stopped."""
    pipeline = task.pipeline
    assert pipeline is not None, "checked when the suite was read"
    chosen = structs.replace(task.sweep, knobs=pipeline.knobs, **options)
    system = around.system_of(pipeline, chosen.concurrency)
    columns = {
        field.removeprefix("gold."): column
        for field, column in task.columns.items()
        if field.startswith("gold.")
    }
    gold, out = task.dataset.gold, around.state.journal(task)
    report = sweep(gold, system, out, around.watch, columns=columns, options=chosen)
    _refuse_unfinished(report)
    return out


def _refuse_unfinished(report: SweepReport) -> None:
    if report.ended == "interrupted":
        raise KeyboardInterrupt
    if report.ended == "error_budget":
        found = report.coverage
        failures = [one for one in report.findings if one.code == "failed_run"][:EXAMPLES_SHOWN]
        raise InputRejected(
            f"the error budget is spent: {found.failed:,} of {found.planned:,} calls failed, and "
            "the rest were not made; fix the pipeline, or raise sweep.error_budget",
            *(f"{one.where}: {one.message}" for one in failures),
        )


_EVALUATED = Kind(_check_eval, _eval_outcome, _any_metrics)
KINDS: dict[TaskKind, Kind] = {
    "score": Kind(_check_score, _score_outcome, _score_metrics),
    "stability": Kind(_check_stability, _stability_outcome, _stability_metrics),
    "audit": Kind(_check_audit, _audit_outcome, _any_metrics),
    "trace-eval": Kind(_check_metrics, _trace_eval_outcome, _any_metrics),
    "eval ner": _EVALUATED,
    "eval types": _EVALUATED,
    "eval linking": _EVALUATED,
    "eval retrieval": _EVALUATED,
    "eval qa": _EVALUATED,
    "eval answers": _EVALUATED,
    "eval all": _EVALUATED,
    "diagnose": Kind(_check_diagnose, _diagnose_outcome, lambda task: ()),
    "compare": Kind(_nothing, _compare_outcome, lambda task: ()),
}
