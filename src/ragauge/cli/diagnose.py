"""`ragauge diagnose`: why is it low, and what to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.command import (
    INTERRUPTED,
    call_progress,
    counting,
    formats,
    forms_of,
    options_of,
    refuse_overwriting,
    report_option,
    screen,
    settings,
    show,
    write_reports,
)
from ragauge.cli.run_store import history_at, store_option
from ragauge.cli.sweep import GO_ON, asked_system

if TYPE_CHECKING:
    from ragauge.contracts.diagnosis import DiagnosisReport, Replay
    from ragauge.runners.diagnosis.diagnose import AskAgain
    from ragauge.runners.diagnosis.replay_plan import Failing

CHOSEN = ("refusal", "refusal_tokens", "inline", "min_coverage", "max_bad")
"""Settings that are options of the diagnosis."""
TOLD = ("metrics", "top", "lang", "fail_on", "rules", "claims")
"""Options that every kind of input has."""
CONCURRENCY = 8
ENDING = ".replay.jsonl"
KNOBS = {"top_k": "rerank_keep_k"}
"""What a replay turns, by the name that the knob map has for it."""
OF_A_REPLAY = ("http", "call", "demo", "map", "send", "budget", "journal")
BUDGET = 200


@click.command()
@click.argument("source", metavar="SCORES|RUN", nargs=-1)
@click.option("--gold", metavar="GOLD", help="The gold set, where SCORES are traces or a sweep.")
@click.option("--manifest", metavar="FILE", help="The live index, for the citations of traces.")
@click.option("--docs", metavar="DIR", help="The frozen documents, for the citations of traces.")
@click.option(
    "--metrics", metavar="NAMES", multiple=True, help="Only these metrics, separated by commas."
)
@click.option("--scenario", metavar="NAME", help="The metrics of [scenario.NAME] in ragauge.toml.")
@click.option(
    "--lang", type=click.Choice(("en", "zh")), default="en", help="The language of the report."
)
@click.option("--full", is_flag=True, help="Print everything, not only the top causes.")
@click.option("--top", type=int, default=3, show_default=True, help="Worst samples of a metric.")
@click.option("--rules", metavar="FILE", help="Causes and thresholds of your own: TOML, JSON.")
@click.option("--knobs", metavar="MAP", help='Your names: {"recall_top_k": "k"}; or a file.')
@click.option(
    "--fail-on",
    type=click.Choice(("warning", "critical", "never")),
    default="critical",
    show_default=True,
    help="How bad a metric must be to end with 1.",
)
@click.option(
    "--input-format", metavar="FORM", default="auto", help="rows, ragas, deepeval, promptfoo."
)
@click.option(
    "--claims/--no-claims", default=True, help="Split answers into claims, judged by words."
)
@click.option("--replay", is_flag=True, help="Send failed questions again, with one change.")
@click.option(
    "--http", metavar="URL", help="The pipeline to send them to: POST {q, seed, knobs, …}."
)
@click.option("--call", metavar="MODULE:FUNCTION", help="The pipeline as a Python function.")
@click.option("--demo", is_flag=True, help="The bundled reference pipeline.")
@click.option("--map", metavar="FILE", help="The shape of its requests and replies, as for sweep.")
@click.option("--send", metavar="JSON", help="Knobs sent with every call: an object, or a file.")
@click.option("--budget", type=int, help="The most calls to make.  [200]")
@click.option("--journal", metavar="FILE", help="Where to keep replies; by default next to SCORES.")
@click.option("--catalogue", is_flag=True, help="Print all known causes and actions.")
@store_option
@options_of(*CHOSEN, "quiet")
@formats("text", "json", "markdown", "html", "junit")
@report_option("Also .html .json .md …")
@click.pass_context
def diagnose(ctx: click.Context, /, **given: Any) -> None:
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
    chosen = settings(**{name: given[name] or None for name in (*CHOSEN, "quiet", "format")})
    given["metrics"] = _metrics(given)
    if given["catalogue"]:
        from ragauge.reports.kinds.catalogue import catalogue_text

        color, width = screen()
        text = catalogue_text(
            language=given["lang"],
            form=chosen["format"],
            metrics=given["metrics"],
            color=color,
            width=width,
        )
        click.echo(text, nl=False)
        return
    from ragauge.contracts.diagnosis import DiagnosisReport

    read = [*given["source"], *(given[name] for name in ("gold", "manifest", "rules", "knobs"))]
    refuse_overwriting(read, given["reports"], given["docs"])
    forms = forms_of(given["reports"], DiagnosisReport)
    report = _diagnosed(given, {name: chosen[name] for name in CHOSEN})
    write_reports(report, forms, chosen["quiet"])
    show(report, chosen["format"], brief=not given["full"])
    if report.replay is not None and report.replay.ended == "interrupted":
        click.echo(GO_ON, err=True)
        ctx.exit(INTERRUPTED)
    ctx.exit(0 if report.passed else 1)


def _metrics(given: dict[str, Any]) -> tuple[str, ...] | None:
    """The metrics that are asked for, by name or by a scenario; None for all."""
    from ragauge.ingest.options import scenario

    named = [name.strip() for text in given["metrics"] for name in text.split(",")]
    if given["scenario"] is not None:
        if named:
            raise click.UsageError("--scenario names the metrics; drop --metrics, or drop it")
        return scenario(given["scenario"], Path.cwd())
    if not all(named):
        raise click.UsageError("--metrics: a name is empty; write for example faithfulness")
    return tuple(named) or None


def _diagnosed(given: dict[str, Any], reading: dict[str, Any]) -> DiagnosisReport:
    """The report on what the arguments name: traces, a file of scores, or a recorded run."""
    from ragauge.ingest.options import configured_knobs, knob_names, read_knobs
    from ragauge.runners.diagnosis.diagnose import diagnose as of_rows
    from ragauge.runners.diagnosis.diagnose import diagnose_run, diagnose_traces

    source = given["source"]
    if given["knobs"] is None:
        knobs = configured_knobs(Path.cwd())
    else:
        knobs = knob_names(read_knobs(given["knobs"]), "--knobs")
    asked = {name: given[name] for name in TOLD} | {"knobs": knobs}
    asked["ask_again"] = _replaying(given, knobs, reading)
    if not source:
        raise click.UsageError("name what to diagnose: a file of scores, or a recorded run")
    if given["gold"] is not None:
        if given["input_format"] != "auto":
            raise click.UsageError("--input-format is for scores; with --gold they are traces")
        against = {name: given[name] for name in ("manifest", "docs")}
        with counting("looking at questions", given["quiet"]) as asked["progress"]:
            return diagnose_traces(source, given["gold"], **against, **asked, **reading)
    stray = [f"--{name}" for name in ("manifest", "docs") if given[name] is not None]
    if stray:
        raise click.UsageError(f"{stray[0]} is for traces; give their gold set with --gold")
    if len(source) > 1:
        raise click.UsageError("one file of scores, or one run, at a time; traces need --gold")
    if Path(source[0]).exists() or source[0] == "-":
        form = given["input_format"]
        with counting("taking answers apart", given["quiet"]) as asked["progress"]:
            return of_rows(source[0], form=form, **asked, **reading)
    with history_at(given["store"]) as history:
        return diagnose_run(history, history.find(source[0]), **asked)


def _replaying(
    given: Mapping[str, Any], knobs: Mapping[str, str | None], reading: Mapping[str, Any]
) -> AskAgain | None:
    """What asks again, its answers read as the others are; None where no replay is wanted."""
    from ragauge.ingest.options import read_knobs

    named = [f"--{name}" for name in OF_A_REPLAY if given[name]]
    if not given["replay"]:
        if named:
            raise click.UsageError(f"{named[0]} is for a replay; add --replay")
        return None
    ways = {name: given[name] for name in ("http", "call", "demo")}
    if not any(ways.values()):
        raise click.UsageError("--replay: name the pipeline, by --http, --call or --demo")
    ways |= {"command": None, "replay": None}
    system = asked_system(ways, given["map"], CONCURRENCY)
    source, journal = given["source"], given["journal"]
    if not journal:  # next to what is diagnosed; a run has no place of its own
        if len(source) != 1 or not Path(source[0]).exists():
            raise click.UsageError("--replay: say with --journal FILE where to keep the replies")
        journal = f"{source[0]}{ENDING}"
    names = {turned: knobs[known] for turned, known in KNOBS.items() if known in knobs}
    sent = {} if given["send"] is None else read_knobs(given["send"])

    def ask_again(failing: Sequence[Failing]) -> Replay:
        from ragauge.contracts.gold import RefusalOptions
        from ragauge.ingest.gold import read_gold
        from ragauge.metrics.facts import Reading
        from ragauge.runners.diagnosis.replay import replay

        said = RefusalOptions(refusal=reading["refusal"], refusal_tokens=reading["refusal_tokens"])
        counts = said.settled(read_gold(given["gold"]).metadata if given["gold"] else None)
        with call_progress(given["quiet"], "asking again") as watch:
            made = replay(
                failing,
                system,
                Path(journal),
                budget=BUDGET if given["budget"] is None else given["budget"],
                concurrency=CONCURRENCY,
                knob_names=names,
                knobs=sent,
                reading=Reading("unicode", counts.strength, counts.tokens, reading["inline"]),
                language=given["lang"],
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
