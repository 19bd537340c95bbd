"""`ragauge diagnose`: why is it low, and what to change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.diagnose_replay import replaying
from ragauge.cli.exit_codes import INTERRUPTED
from ragauge.cli.outputs import refuse_overwriting
from ragauge.cli.progress import counting
from ragauge.cli.run_store import history_at, screen, store_option
from ragauge.cli.score import show, write_reports
from ragauge.cli.settings import formats, options_of, settings
from ragauge.cli.sweep import GO_ON

if TYPE_CHECKING:
    from ragauge.contracts.diagnosis import DiagnosisReport

READING = ("refusal", "refusal_tokens", "inline")
"""Settings by which answers of traces are read."""
CHOSEN = (*READING, "min_coverage", "max_bad")
"""Settings that are options of the diagnosis."""
TOLD = ("lang", "fail_on", "rules", "knobs", "claims")
"""Options that every kind of input has."""


@click.command(short_help="Find out why scores are low, and what to change.")
@click.argument("source", metavar="SCORES|RUN", nargs=-1)
@click.option("--gold", metavar="GOLD", help="SCORES are traces or a sweep; this is their gold.")
@click.option("--manifest", metavar="FILE", help="The live index, for the citations of traces.")
@click.option("--docs", metavar="DIR", help="The frozen documents, for the citations of traces.")
@click.option("--metrics", metavar="NAMES", multiple=True, help="Only these; with commas.")
@click.option("--scenario", metavar="NAME", help="The metrics of [scenario.NAME] in ragauge.toml.")
@click.option("--lang", type=click.Choice(("en", "zh")), default="en", help="The language to tell.")
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
@click.option("--claims/--no-claims", default=True, help="Take answers apart by words.")
@click.option("--replay", is_flag=True, help="Ask what went wrong again, one thing changed.")
@click.option("--http", metavar="URL", help="The pipeline to ask again: POST {q, seed, knobs, …}.")
@click.option("--call", metavar="MODULE:FUNCTION", help="The pipeline as a Python function.")
@click.option("--demo", is_flag=True, help="The bundled reference pipeline.")
@click.option("--map", metavar="FILE", help="The shape of its requests and replies, as for sweep.")
@click.option("--send", metavar="JSON", help="Knobs sent with every call: an object, or a file.")
@click.option("--budget", type=int, help="Calls at most.  [200]")
@click.option("--journal", metavar="FILE", help="Where replies are kept; else beside SCORES.")
@click.option("--catalogue", is_flag=True, help="Print the causes and actions there are.")
@store_option
@options_of("refusal", "refusal_tokens", "inline", "min_coverage", "max_bad", "quiet")
@formats("text", "json", "markdown", "html", "junit")
@click.option("--report", "reports", metavar="FILE", multiple=True, help="Also .html .json .md …")
@click.pass_context
def diagnose(ctx: click.Context, /, **given: Any) -> None:
    """Tell why SCORES, or a recorded RUN, are low: ranked causes, their evidence, what to turn.

    SCORES are score rows as JSON Lines, JSON, CSV or Parquet, as ragas, deepeval and promptfoo
    write them too; with --gold they are traces. A RUN is the beginning of its id, a tag, `latest`
    or `green`. Causes that the samples exclude are struck out.

    \b
    Example:
      ragauge diagnose scores.jsonl --metrics faithfulness,context_recall
      ragauge diagnose runs.jsonl --gold gold.jsonl --report why.html
      ragauge diagnose latest --lang zh
      ragauge diagnose runs.jsonl --gold gold.jsonl --replay --http http://localhost:8000/qa
    """
    flags = {name: given[name] or None for name in (*CHOSEN, "quiet", "format")}
    chosen = settings(**flags)
    given["metrics"] = _metrics(given)
    if given["catalogue"]:
        click.echo(_catalogue(given, chosen["format"]), nl=False)
        return
    forms = _forms(given)
    report = _diagnosed(given, {name: chosen[name] for name in CHOSEN})
    write_reports(report, forms, chosen["quiet"])
    show(report, chosen["format"])
    ctx.exit(_exit_code(report))


def _exit_code(report: DiagnosisReport) -> int:
    if report.replay is not None and report.replay.ended == "interrupted":
        click.echo(GO_ON, err=True)
        return INTERRUPTED
    return 0 if report.passed else 1


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


def _forms(given: dict[str, Any]) -> dict[Path, str]:
    from ragauge.contracts.diagnosis import DiagnosisReport
    from ragauge.reports.forms import form_of

    named = ("gold", "manifest", "rules", "knobs")
    read = [*given["source"], *(given[name] for name in named)]
    refuse_overwriting(read, given["reports"], given["docs"])
    return {Path(name): form_of(Path(name), DiagnosisReport) for name in given["reports"]}


def _diagnosed(given: dict[str, Any], reading: dict[str, Any]) -> DiagnosisReport:
    """The report on what the arguments name: traces, a file of scores, or a recorded run."""
    from ragauge.runners.diagnosis.diagnose import diagnose as of_rows
    from ragauge.runners.diagnosis.diagnose import diagnose_run, diagnose_traces

    source = given["source"]
    told = {name: given[name] for name in TOLD} | {"knobs": _knobs(given["knobs"])}
    asked: dict[str, Any] = {"metrics": given["metrics"], "top": given["top"], **told}
    asked["ask_again"] = replaying(given, told["knobs"], reading)
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


def _knobs(text: str | None) -> dict[str, str | None]:
    """The knob map: as given, else the configuration's."""
    from ragauge.ingest.options import configured_knobs, knob_names, read_knobs

    if text is None:
        return configured_knobs(Path.cwd())
    return knob_names(read_knobs(text), "--knobs")


def _catalogue(given: dict[str, Any], form: str) -> str:
    from ragauge.diagnosis.catalogue import catalogue, rules
    from ragauge.reports.catalogue.page import catalogue_text

    color, width = screen()
    return catalogue_text(
        catalogue(given["lang"]),
        rules(),
        language=given["lang"],
        form=form,
        metrics=given["metrics"],
        color=color,
        width=width,
    )
