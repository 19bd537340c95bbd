"""`ragauge diagnose`: why is it low, and what to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
from msgspec import Struct, structs

from ragauge.cli.command import (
    INTERRUPTED,
    call_progress,
    command,
    counting,
    deliver,
    forms_of,
    refuse_overwriting,
    screen,
)
from ragauge.cli.run_store import history_at
from ragauge.cli.sweep import GO_ON, asked_system
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import (
    DiagnoseOptions,
    Mapped,
    Output,
    Stored,
    Subject,
    SystemOptions,
)

if TYPE_CHECKING:
    from ragauge.contracts.diagnosis import DiagnosisReport, Replay
    from ragauge.runners.diagnosis.diagnose import AskAgain
    from ragauge.runners.diagnosis.replay_plan import Failing

CONCURRENCY = 8
ENDING = ".replay.jsonl"
KNOBS = {"top_k": "rerank_keep_k"}
"""What a replay turns, by the name that the knob map has for it."""
BUDGET = 200


class Showing(Struct, frozen=True, kw_only=True):
    """How much is shown."""

    full: Annotated[bool, Opt("Print everything, not only the top causes.")] = False
    catalogue: Annotated[bool, Opt("Print all known causes and actions.")] = False


class Replaying(Struct, frozen=True, kw_only=True):
    """How failed questions are sent again."""

    replay: Annotated[bool, Opt("Send failed questions again, with one change.")] = False
    http: Annotated[
        str | None, Opt("The pipeline to send them to: POST {q, seed, knobs, …}.", metavar="URL")
    ] = None
    call: Annotated[
        str | None, Opt("The pipeline as a Python function.", metavar="MODULE:FUNCTION")
    ] = None
    demo: Annotated[bool, Opt("The bundled reference pipeline.")] = False
    map: Annotated[
        str | None,
        Opt("The shape of its requests and replies, as for sweep.", metavar="FILE"),
    ] = None
    send: Annotated[
        dict[str, Any] | None,
        Opt("Knobs sent with every call: an object, or a file.", metavar="JSON", json=True),
    ] = None
    budget: Annotated[int | None, Opt("The most calls to make.", shown=str(BUDGET))] = None
    journal: Annotated[
        str | None, Opt("Where to keep replies; by default next to SCORES.", metavar="FILE")
    ] = None


@command("text", "json", "markdown", "html", "junit")
def diagnose(
    source: Annotated[tuple[str, ...], "SCORES|RUN"] = (),
    *,
    subject: Subject,
    options: DiagnoseOptions,
    showing: Showing,
    replaying: Replaying,
    mapped: Mapped,
    stored: Stored,
    output: Output,
) -> int:
    """Say why SCORES, or a recorded RUN, are low: ranked causes, evidence, and what to change.

    SCORES are rows as JSON Lines, JSON, CSV or Parquet, also those of ragas, deepeval and
    promptfoo; with --gold they are traces. A RUN is the beginning of its id, a tag, `latest` or
    `green`. The terminal shows the verdict and the top causes; --full and all other formats show
    everything.

    \b
    Example:
      ragauge diagnose scores.jsonl --metrics faithfulness,context_recall
      ragauge diagnose runs.jsonl --gold gold.jsonl --report why.html
      ragauge diagnose latest --lang zh
      ragauge diagnose runs.jsonl --gold gold.jsonl --replay --http http://localhost:8000/qa
    """
    metrics = _metrics(subject)
    if showing.catalogue:
        from ragauge.reports.kinds.catalogue import catalogue_text

        color, width = screen()
        text = catalogue_text(
            language=options.lang, form=output.format, metrics=metrics, color=color, width=width
        )
        click.echo(text, nl=False)
        return 0
    from ragauge.contracts.diagnosis import DiagnosisReport

    given = click.get_current_context().params
    read = [*source, subject.gold, subject.manifest, options.rules, given["knobs"]]
    refuse_overwriting(read, output.reports, subject.docs)
    forms = forms_of(output.reports, DiagnosisReport)
    report = _diagnosed(
        source, metrics, subject, options, replaying, mapped.columns, stored, output.quiet
    )
    deliver(report, forms, output, brief=not showing.full)
    if report.replay is not None and report.replay.ended == "interrupted":
        click.echo(GO_ON, err=True)
        return INTERRUPTED
    return 0 if report.passed else 1


def _metrics(subject: Subject) -> tuple[str, ...] | None:
    """The metrics that are asked for, by name or by a scenario; None for all."""
    from ragauge.ingest.options import scenario

    named = [name.strip() for text in subject.metrics for name in text.split(",")]
    if subject.scenario is not None:
        if named:
            raise click.UsageError("--scenario names the metrics; drop --metrics, or drop it")
        return scenario(subject.scenario, Path.cwd())
    if not all(named):
        raise click.UsageError("--metrics: a name is empty; write for example faithfulness")
    return tuple(named) or None


def _diagnosed(
    source: tuple[str, ...],
    metrics: tuple[str, ...] | None,
    subject: Subject,
    options: DiagnoseOptions,
    replaying: Replaying,
    columns: Mapping[str, str],
    stored: Stored,
    quiet: bool,
) -> DiagnosisReport:
    """The report on what the arguments name: traces, a file of scores, or a recorded run."""
    from ragauge.ingest.options import configured_knobs, knob_names, read_knobs
    from ragauge.runners.diagnosis.diagnose import diagnose as of_rows
    from ragauge.runners.diagnosis.diagnose import diagnose_run, diagnose_traces

    if options.knobs is None:
        knobs = configured_knobs(Path.cwd())
    else:
        knobs = knob_names(read_knobs(str(options.knobs)), "--knobs")
    asked: dict[str, Any] = {
        "metrics": metrics,
        "top": subject.top,
        "options": structs.replace(options, knobs=dict(knobs)),
        "ask_again": _ask_again(source, subject, replaying, options, knobs, quiet),
    }
    if not source:
        raise click.UsageError("name what to diagnose: a file of scores, or a recorded run")
    if subject.gold is not None:
        if options.form != "auto":
            raise click.UsageError("--input-format is for scores; with --gold they are traces")
        against = {"manifest": subject.manifest, "docs": subject.docs}
        with counting("looking at questions", quiet) as asked["progress"]:
            return diagnose_traces(source, subject.gold, columns=columns, **against, **asked)
    if stray := [name for name in ("manifest", "docs") if getattr(subject, name) is not None]:
        raise click.UsageError(f"--{stray[0]} is for traces; give their gold set with --gold")
    if len(source) > 1:
        raise click.UsageError("one file of scores, or one run, at a time; traces need --gold")
    if Path(source[0]).exists() or source[0] == "-":
        with counting("taking answers apart", quiet) as asked["progress"]:
            return of_rows(source[0], columns=columns, **asked)
    with history_at(stored.store) as history:
        return diagnose_run(history, history.find(source[0]), **asked)


def _ask_again(
    source: tuple[str, ...],
    subject: Subject,
    given: Replaying,
    options: DiagnoseOptions,
    knobs: Mapping[str, str | None],
    quiet: bool,
) -> AskAgain | None:
    """What asks again, its answers read as the others are; None where no replay is wanted."""
    if not given.replay:
        for name in Replaying.__struct_fields__:
            if getattr(given, name):
                raise click.UsageError(f"--{name} is for a replay; add --replay")
        return None
    if not (given.http or given.call or given.demo):
        raise click.UsageError("--replay: name the pipeline, by --http, --call or --demo")
    way = SystemOptions(http=given.http, call=given.call, demo=given.demo, map=given.map)
    system = asked_system(way, CONCURRENCY)
    journal = given.journal
    if not journal:  # next to what is diagnosed; a run has no place of its own
        if len(source) != 1 or not Path(source[0]).exists():
            raise click.UsageError("--replay: say with --journal FILE where to keep the replies")
        journal = f"{source[0]}{ENDING}"
    names = {turned: knobs[known] for turned, known in KNOBS.items() if known in knobs}

    def ask_again(failing: Sequence[Failing]) -> Replay:
        from ragauge.ingest.gold import read_gold
        from ragauge.metrics.facts import Reading
        from ragauge.runners.diagnosis.replay import replay

        counts = options.settled(read_gold(subject.gold).metadata if subject.gold else None)
        with call_progress(quiet, "asking again") as watch:
            made = replay(
                failing,
                system,
                Path(journal),
                budget=BUDGET if given.budget is None else given.budget,
                concurrency=CONCURRENCY,
                knob_names=names,
                knobs=given.send or {},
                reading=Reading("unicode", counts.strength, counts.tokens, options.inline),
                language=options.lang,
                watch=watch,
            )
        if made.ended == "error_budget":
            # At the very end: a bar of the diagnosis still has the screen.
            reason = next(one.reason for one in made.interventions if one.failed)
            fact = (
                f"replay given up: {reason}; fix the system, then run the same command to continue"
            )
            click.get_current_context().call_on_close(partial(click.echo, fact, err=True))
        return made

    return ask_again
