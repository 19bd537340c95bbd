"""The tasks of a suite: what each kind checks before it runs, and the outcome it comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.report import Outcome
from ragauge.contracts.run import Grid
from ragauge.contracts.suite import PipelineUnderTest, Task, TaskKind
from ragauge.contracts.sweep import SweepReport
from ragauge.contracts.system import System
from ragauge.errors import InputRejected, UsageError
from ragauge.gates.stability import STABLE
from ragauge.gates.stability import rules_of as stability_rules
from ragauge.ingest.options import call_options, grid_of
from ragauge.metrics.table import find, reading
from ragauge.runners.observations import allowed_bad
from ragauge.runners.options import chosen_options
from ragauge.runners.plan import check_grid
from ragauge.runners.score import ScoreOptions, rules_of, score
from ragauge.runners.stability import StabilityOptions, stability
from ragauge.runners.sweep import SweepOptions, Watch, allowed_errors, sweep

ONE_EACH = Grid(seeds=(0,), temperatures=(0.0,), jitters=("none",))
"""What is asked where a score needs an answer to each question and no more."""
EXAMPLES_SHOWN = 3

SystemOf = Callable[[PipelineUnderTest, int], System]
"""Makes the system under test, with so many calls in flight."""


class Around(Struct, frozen=True, kw_only=True):
    """What a task finds around it."""

    journal: Path
    """Where the answers of the pipeline are kept while they come in."""
    rows: Path
    """Where to write a row for every record."""
    system_of: SystemOf
    workers: int
    watch: Watch | None


class Kind(Struct, frozen=True):
    """A kind of task."""

    check: Callable[[Task], None]
    """Raises UsageError with what is wrong, before anything runs."""
    outcome: Callable[[Task, Around], Outcome[Any]]
    metrics: Callable[[Task], tuple[str, ...]]
    """The ids of the metrics the task names."""


def _score_options(task: Task) -> dict[str, Any]:
    chosen = task.settings
    names = ("preset", "min_coverage", "each", "refusal", "refusal_tokens", "inline", "max_bad")
    # As in `configured`: a file that names its refusal tokens promises them under `ship`.
    promised = chosen["preset"] == "ship" and chosen["refusal_tokens"] is not None
    return {
        **{name: chosen[name] for name in names},
        "refusal": chosen["refusal"] or ("exact" if promised else None),
        "gates": ",".join(chosen["gates"]) or None,
        "canon": chosen["canon"] or "unicode",
    }


def _check_score(task: Task) -> None:
    options = chosen_options(ScoreOptions, "score", _score_options(task))
    gated = {rule.metric for rule in rules_of(options)}
    allowed_bad(options.max_bad)
    _check_calls(_call_options(task))
    for id in _score_metrics(task):
        if id not in gated and id not in reading("facts"):
            raise UsageError(f"metrics: {id} is measured where a gate names it; add one")


def _score_metrics(task: Task) -> tuple[str, ...]:
    return tuple(find(name, "facts").id for name in task.metrics)


def _score_outcome(task: Task, around: Around) -> Outcome[Any]:
    traces = task.dataset.traces or (str(_asked(task, around, grid=ONE_EACH)),)
    outcome = score(
        task.dataset.gold,
        traces,
        out=str(around.rows),
        keep_answers=True,
        workers=around.workers,
        **_score_options(task),
    )
    if not outcome.report.coverage.scored:
        raise InputRejected(f"{', '.join(traces)}: nothing was scored: no trace has an answer")
    return outcome


def _stability_options(task: Task) -> dict[str, Any]:
    chosen = task.settings
    names = ("refusal", "refusal_tokens", "canon", "inline", "max_bad")
    return {
        **{name: chosen[name] for name in names},
        "profile": chosen["stability.profile"],
        "min_stable": chosen["stability.min_stable"],
        "gates": ",".join(chosen["stability.gates"]) or None,
    }


def _check_stability(task: Task) -> None:
    options = _typed(_stability_options(task), StabilityOptions)
    stability_rules(options.profile, options.gates, lambda name: find(name, "runs"))
    allowed_bad(options.max_bad)
    _check_calls(_sweep_options(task))
    _stability_metrics(task)


def _stability_metrics(task: Task) -> tuple[str, ...]:
    own = (STABLE, STABLE.partition(".")[2])
    return tuple(STABLE if name in own else find(name, "runs").id for name in task.metrics)


def _stability_outcome(task: Task, around: Around) -> Outcome[Any]:
    runs = task.dataset.runs or (str(_asked(task, around, **_sweep_options(task))),)
    options = _stability_options(task)
    outcome = stability(task.dataset.gold, runs, out=str(around.rows), **options)
    if not outcome.report.coverage.runs:
        raise InputRejected(f"{', '.join(runs)}: nothing was scored: no run has an answer")
    return outcome


def _call_options(task: Task) -> dict[str, Any]:
    return call_options(_swept(task), _named)


def _sweep_options(task: Task) -> dict[str, Any]:
    chosen = _swept(task)
    adaptive = chosen["adaptive"]
    return {
        "grid": grid_of(chosen, _named),
        "paraphrases": chosen["paraphrases"],
        "adaptive": adaptive,
        "profile": task.settings["stability.profile"],
        "gates": ",".join(task.settings["stability.gates"]) or None if adaptive else None,
        **_call_options(task),
    }


def _swept(task: Task) -> dict[str, Any]:
    """The settings of the sweep by their short names."""
    own = "sweep."
    settings = task.settings.items()
    return {name.removeprefix(own): value for name, value in settings if name.startswith(own)}


def _named(name: str) -> str:
    return f"sweep.{name}"


def _check_calls(options: Mapping[str, Any]) -> None:
    chosen = _typed(options, SweepOptions)
    check_grid(chosen.grid)
    allowed_errors(chosen.error_budget)


def _typed(options: Mapping[str, Any], kind: type[Any]) -> Any:
    try:
        return msgspec.convert(dict(options), kind)
    except msgspec.ValidationError as error:
        raise UsageError(str(error)) from None


def _asked(task: Task, around: Around, **options: Any) -> Path:
    """The journal with what the pipeline answered; goes on where an earlier start stopped."""
    pipeline = task.pipeline
    assert pipeline is not None, "checked when the suite was read"
    options = {**_call_options(task), **options, "knobs": pipeline.knobs}
    system = around.system_of(pipeline, options["concurrency"])
    report = sweep(task.dataset.gold, system, around.journal, around.watch, **options)
    if report.ended == "interrupted":
        raise KeyboardInterrupt
    if report.ended == "error_budget":
        raise InputRejected(*_spent(report))
    return around.journal


def _spent(report: SweepReport) -> list[str]:
    found = report.coverage
    failures = [one for one in report.findings if one.code == "failed_run"][:EXAMPLES_SHOWN]
    return [
        f"the error budget is spent: {found.failed:,} of {found.planned:,} calls failed, and the "
        "rest were not made; mend the pipeline, or raise sweep.error_budget",
        *(f"{one.where}: {one.message}" for one in failures),
    ]


KINDS: dict[TaskKind, Kind] = {
    "score": Kind(_check_score, _score_outcome, _score_metrics),
    "stability": Kind(_check_stability, _stability_outcome, _stability_metrics),
}
