"""`ragauge trace-eval`: the recipe for traceability, from the asking to the verdict."""

from __future__ import annotations

from typing import Any

import click

from ragauge.cli.exit_codes import INTERRUPTED, NOT_MEASURED
from ragauge.cli.recording import recorder, recording_options
from ragauge.cli.score import forms_of, show, write_reports
from ragauge.cli.settings import formats, options_of, settings
from ragauge.cli.sweep import GO_ON, asked_system, progress

AUDITING = ("manifest", "docs", "allow_cross_section", "offsets_in", "tokenizer")
DELTAS = ("embedder", "calibration")


@click.command(
    short_help="Ask each question in three wordings and two seeds; audit every citation."
)
@click.argument("gold", metavar="GOLD")
@click.option("--http", metavar="URL", help="Ask an endpoint: POST {q, seed, temperature, …}.")
@click.option("--call", metavar="MODULE:FUNCTION", help="Ask a Python function.")
@click.option("--command", metavar="CMD", help="Ask a command: JSON on stdin, JSON on stdout.")
@click.option("--replay", metavar="TRACES", help="Answer from recorded traces.")
@click.option("--demo", is_flag=True, help="Ask the bundled reference pipeline.")
@click.option(
    "--out", metavar="RUNS.jsonl", required=True, help="The journal; started anew or resumed."
)
@click.option("--wordings", type=click.IntRange(2, 20), default=3, help="Of each question  [3]")
@click.option("--seeds", metavar="N,N", default="0,1", help="Seeds to ask with  [0,1]")
@click.option("--temperature", type=click.FloatRange(0), default=0.2, help="To ask at  [0.2]")
@click.option("--manifest", metavar="FILE", help="The live index: its hash, analyzer, revisions.")
@click.option("--docs", metavar="DIR", help="The frozen documents that citations point into.")
@click.option("--allow-cross-section", metavar="PAIRS", help="As in `ragauge audit`.")
@click.option(
    "--offsets-in",
    type=click.Choice(["code-points", "utf-16", "bytes"]),
    default="code-points",
    help="What character offsets count  [code-points]",
)
@click.option("--tokenizer", metavar="NAME", help="For offsets in tokens.")
@click.option("--embedder", metavar="NAME", help="Measure ΔS with it: ngram, minilm, minilm:/path.")
@click.option("--calibration", metavar="FILE", help="Gate ΔS by what `calibrate deltas` wrote.")
@click.option("--strict", is_flag=True, help="Every question must be convergent.")
@click.option("--knobs", metavar="JSON", help="Knobs sent with every call: an object, or a file.")
@click.option("--restart", is_flag=True, help="Set the runs of another recipe in --out aside.")
@options_of("sweep.concurrency", "sweep.timeout", "sweep.retries", "sweep.rate", "sweep.map")
@options_of("sweep.error_budget", "gates", "refusal", "refusal_tokens", "quiet")
@recording_options
@click.option(
    "--report", "reports", metavar="FILE", multiple=True, help="Also .html .json .md .xml."
)
@formats("text", "json", "markdown", "junit", "html")
@click.pass_context
def trace_eval(ctx: click.Context, /, **given: Any) -> None:
    """Ask a system every question of GOLD in three wordings under two seeds, and audit the answers.

    Match rate and coverage come first. Below 0.95 the codes are shown before any knob: a citation
    that does not hold cannot be mended by a better search.

    \b
    Example:
      ragauge trace-eval gold.jsonl --http http://localhost:8000/qa --docs docs/ --out runs.jsonl
      ragauge trace-eval gold.jsonl --demo --out runs.jsonl --report trace.html
    """
    from ragauge.runners.trace_eval import trace_eval as run

    names = ("http", "call", "command", "replay", "demo")
    gold, out, reports = given.pop("gold"), given.pop("out"), given.pop("reports")
    systems = {name: given.pop(name) for name in names}
    form = given.pop("format") or "text"
    options = {name: given.pop(name) for name in (*AUDITING, *DELTAS, "strict")}
    options["recipe"] = _recipe(given)
    calling = {name: given.pop(name) for name in ("knobs", "restart")}
    chosen = settings("sweep", **{n: None if v == () else v for n, v in given.items()})
    options |= {name: chosen[name] for name in ("refusal", "refusal_tokens")}
    options["gates"] = ",".join(chosen["gates"]) or None
    options["asking"] = _asking(chosen, calling)
    files = forms_of(reports)
    system = asked_system(systems, chosen["map"], chosen["concurrency"])
    with recorder(chosen) as history:
        with progress(chosen["quiet"]) as watch:
            found = run(gold, system, out, watch, **options)
        if found.outcome is None:
            _unfinished(ctx, found.swept.ended)
            return
        write_reports(found.outcome.report, files, chosen["quiet"])
        show(found.outcome.report, form)
        history.keep(found.outcome)
    ctx.exit(0 if found.outcome.report.passed else 1)


def _recipe(given: dict[str, Any]) -> dict[str, Any]:
    written = given.pop("seeds")
    try:
        seeds = [int(part) for part in written.split(",")]
    except ValueError:
        raise click.UsageError(f'--seeds "{written}": write whole numbers such as 0,1') from None
    return {
        "wordings": given.pop("wordings"),
        "seeds": seeds,
        "temperature": given.pop("temperature"),
    }


def _asking(chosen: dict[str, Any], calling: dict[str, Any]) -> dict[str, Any]:
    from ragauge.ingest.configuration import flag_of
    from ragauge.ingest.knobs import read_knobs
    from ragauge.ingest.sweep_settings import call_options

    return {
        **call_options(chosen, flag_of),
        "knobs": read_knobs(calling["knobs"]) if calling["knobs"] is not None else {},
        "restart": calling["restart"],
    }


def _unfinished(ctx: click.Context, ended: str) -> None:
    if ended == "interrupted":
        click.echo(GO_ON, err=True)
        ctx.exit(INTERRUPTED)
    click.echo("the error budget is spent: too many calls failed; nothing is evaluated", err=True)
    ctx.exit(NOT_MEASURED)
