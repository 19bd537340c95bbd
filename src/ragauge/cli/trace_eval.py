"""`ragauge trace-eval`: the recipe for traceability, from the asking to the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.auditing import auditing_options, logging_options
from ragauge.cli.exit_codes import INTERRUPTED, NOT_MEASURED
from ragauge.cli.outputs import refuse_overwriting
from ragauge.cli.recording import recorder, recording_options
from ragauge.cli.run_store import told
from ragauge.cli.score import show, write_reports
from ragauge.cli.settings import formats, options_of, remark, settings
from ragauge.cli.sweep import GO_ON, announcer, asked_system, progress
from ragauge.text.visible import visible

if TYPE_CHECKING:
    from ragauge.contracts.sweep import SweepReport
    from ragauge.runners.trace_eval import Evaluated

SYSTEMS = ("http", "call", "command", "replay", "demo")
AUDITING = (
    *("manifest", "docs", "allow_cross_section", "offsets_in", "tokenizer"),
    *("embedder", "calibration", "strict", "log", "to_db"),
)
"""Options of the evaluation that are no settings."""
REMARKABLE = ("set_aside", "torn_line", "unplanned_run")
"""What happened to the journal, and the user should know."""
SPENT = (
    "stopped: the error budget is spent and nothing is evaluated; mend the system and run the "
    "same command to go on, or raise --error-budget"
)


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
@click.option("--k", metavar="N,N", help="Also measure the first N retrieved chunks: 5,10,20.")
@auditing_options
@click.option("--strict", is_flag=True, help="Every question must be convergent.")
@click.option("--knobs", metavar="JSON", help="Knobs sent with every call: an object, or a file.")
@click.option("--restart", is_flag=True, help="Set the runs of another recipe in --out aside.")
@options_of("sweep.concurrency", "sweep.timeout", "sweep.retries", "sweep.rate", "sweep.map")
@click.option("--yes", is_flag=True, help="Do not ask before more than 1,000 calls.")
@options_of("sweep.max_wait", "sweep.error_budget", "refusal", "refusal_tokens", "quiet")
@recording_options
@logging_options
@click.option(
    "--report", "reports", metavar="FILE", multiple=True, help="Also .html .json .md .xml .txt."
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
    try:
        ctx.exit(_evaluated(given))
    except KeyboardInterrupt:  # a second one, or one outside the asking
        click.echo(GO_ON, err=True)
        ctx.exit(INTERRUPTED)


def _evaluated(given: dict[str, Any]) -> int:
    from ragauge.runners.trace_eval import trace_eval as run

    gold, out, form = given.pop("gold"), given.pop("out"), given.pop("format") or "text"
    files, yes = _files(given.pop("reports")), given.pop("yes")
    read = [gold, out, *(given[name] for name in ("manifest", "calibration", "replay"))]
    refuse_overwriting(read, [*files, *filter(None, [given["log"]])], given["docs"])
    systems = {name: given.pop(name) for name in SYSTEMS}
    options, calling = _options(given), {name: given.pop(name) for name in ("knobs", "restart")}
    chosen = settings("sweep", **{name: None if v == () else v for name, v in given.items()})
    options |= {name: chosen[name] for name in ("refusal", "refusal_tokens", "min_coverage")}
    options["asking"] = _asking(chosen, calling)
    system = asked_system(systems, chosen["map"], chosen["concurrency"])
    with recorder(chosen) as history:
        with progress(chosen["quiet"]) as watch:
            found = run(gold, system, out, watch, announcer(yes, chosen["quiet"]), **options)
        for line in _remarks(found.swept):
            remark(line, chosen["quiet"])
        if found.outcome:
            write_reports(found.outcome.report, files, chosen["quiet"])
            show(found.outcome.report, form)
            history.keep(found.outcome)
            for written in (options["log"], options["to_db"] and told(options["to_db"])):
                if written:
                    remark(f"wrote {written}", chosen["quiet"])
    return _exit_code(found)


def _files(reports: tuple[str, ...]) -> dict[Path, str]:
    """The files to write and their forms, known before anything is asked."""
    from ragauge.contracts.trace_eval import TraceEvalReport
    from ragauge.reports.forms import form_of

    return {Path(name): form_of(Path(name), TraceEvalReport) for name in reports}


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """The options of the evaluation itself, taken out of what was given."""
    options = {name: given.pop(name) for name in AUDITING} | {"run": given.pop("run_name")}
    options["k"] = _numbers("--k", given.pop("k") or "")
    options["gates"] = ",".join(given.pop("gates")) or None
    options["recipe"] = {
        "wordings": given.pop("wordings"),
        "seeds": _numbers("--seeds", given.pop("seeds")),
        "temperature": given.pop("temperature"),
    }
    return options


def _numbers(flag: str, written: str) -> list[int]:
    try:
        numbers = [int(part) for part in written.split(",")] if written else []
    except ValueError:
        raise click.UsageError(f'{flag} "{written}": write whole numbers such as 0,1') from None
    if len(set(numbers)) < len(numbers):
        raise click.UsageError(f'{flag} "{written}": one is there twice; name different ones')
    return numbers


def _asking(chosen: dict[str, Any], calling: dict[str, Any]) -> dict[str, Any]:
    from ragauge.ingest.configuration import flag_of
    from ragauge.ingest.options import call_options, read_knobs

    return {
        **call_options(chosen, flag_of),
        "knobs": read_knobs(calling["knobs"]) if calling["knobs"] is not None else {},
        "restart": calling["restart"],
    }


def _remarks(swept: SweepReport) -> Iterator[str]:
    """What is to be said of the asking, beside the report or in its place."""
    for finding in swept.findings:
        if finding.code in REMARKABLE:
            yield visible(finding.message)
    if swept.ended == "complete":
        return
    made = f"{swept.coverage.done:,} of {swept.coverage.planned:,} runs done"
    yield visible(f"{made}, {swept.coverage.failed:,} failed: {swept.out}")
    failed = next((one for one in swept.findings if one.code == "failed_run"), None)
    if failed:
        yield visible(f"the first that failed: {failed.where}: {failed.message}")


def _exit_code(found: Evaluated) -> int:
    if found.swept.ended == "interrupted":
        click.echo(GO_ON, err=True)
        return INTERRUPTED
    if found.outcome is None:
        click.echo(SPENT, err=True)
        return NOT_MEASURED
    report = found.outcome.report
    if not report.coverage.runs:
        return NOT_MEASURED
    return 0 if report.passed else 1
