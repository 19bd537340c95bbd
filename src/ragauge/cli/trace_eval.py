"""`ragauge trace-eval`: the recipe for traceability, from the asking to the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.command import (
    INTERRUPTED,
    NOT_MEASURED,
    auditing_options,
    call_progress,
    formats,
    forms_of,
    logging_options,
    options_of,
    refuse_overwriting,
    remark,
    report_option,
    settings,
    show,
    system_options,
    write_reports,
)
from ragauge.cli.run_store import recorder, recording_options, remark_logs
from ragauge.cli.sweep import GO_ON, announcer, asked_system
from ragauge.text.visible import visible

if TYPE_CHECKING:
    from ragauge.contracts.sweep import SweepReport

SYSTEMS = ("http", "call", "command", "replay", "demo")
AUDITING = (
    *("manifest", "docs", "allow_cross_section", "offsets_in", "tokenizer"),
    *("embedder", "calibration", "strict", "log", "to_db"),
)
"""Options of the evaluation that are no settings."""
SPENT = (
    "stopped: the error budget is spent and nothing is evaluated; mend the system and run the "
    "same command to go on, or raise --error-budget"
)


@click.command(
    short_help="Ask each question in three wordings and two seeds; audit every citation."
)
@click.argument("gold", metavar="GOLD")
@system_options("q, seed, temperature")
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
@report_option("Also .html .json .md .xml .txt.")
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
    from ragauge.contracts.trace_eval import TraceEvalReport
    from ragauge.ingest.configuration import flag_of
    from ragauge.ingest.options import call_options, read_knobs
    from ragauge.runners.trace_eval import trace_eval as run

    gold, out, form, yes = (given.pop(name) for name in ("gold", "out", "format", "yes"))
    files = forms_of(given.pop("reports"), TraceEvalReport)
    read = [gold, out, *(given[name] for name in ("manifest", "calibration", "replay"))]
    refuse_overwriting(read, [*files, given["log"] or None], given["docs"])
    systems = {name: given.pop(name) for name in SYSTEMS}
    options = {name: given.pop(name) for name in AUDITING} | {"run": given.pop("run_name")}
    options["k"] = _numbers("--k", given.pop("k") or "")
    options["gates"] = ",".join(given.pop("gates")) or None
    options["recipe"] = {
        "wordings": given.pop("wordings"),
        "seeds": _numbers("--seeds", given.pop("seeds")),
        "temperature": given.pop("temperature"),
    }
    knobs, restart = given.pop("knobs"), given.pop("restart")
    chosen = settings("sweep", **given)
    options |= {name: chosen[name] for name in ("refusal", "refusal_tokens", "min_coverage")}
    options["asking"] = {
        **call_options(chosen, flag_of),
        "knobs": read_knobs(knobs) if knobs is not None else {},
        "restart": restart,
    }
    system = asked_system(systems, chosen["map"], chosen["concurrency"])
    with recorder(chosen) as history:
        with call_progress(chosen["quiet"]) as watch:
            found = run(gold, system, out, watch, announcer(yes, chosen["quiet"]), **options)
        for line in _remarks(found.swept):
            remark(line, chosen["quiet"])
        if found.outcome:
            write_reports(found.outcome.report, files, chosen["quiet"])
            show(found.outcome.report, form)
            history.keep(found.outcome)
            remark_logs(options, chosen["quiet"])
    if found.swept.ended == "interrupted":
        click.echo(GO_ON, err=True)
        return INTERRUPTED
    if found.outcome is None:
        click.echo(SPENT, err=True)
        return NOT_MEASURED
    if not found.outcome.report.coverage.runs:
        return NOT_MEASURED
    return 0 if found.outcome.report.passed else 1


def _numbers(flag: str, written: str) -> list[int]:
    try:
        numbers = [int(part) for part in written.split(",")] if written else []
    except ValueError:
        raise click.UsageError(f'{flag} "{written}": write whole numbers such as 0,1') from None
    if len(set(numbers)) < len(numbers):
        raise click.UsageError(f'{flag} "{written}": one is there twice; name different ones')
    return numbers


def _remarks(swept: SweepReport) -> Iterator[str]:
    """What happened to the calls, next to the report or in its place."""
    for finding in swept.findings:
        if finding.code in ("set_aside", "torn_line", "unplanned_run"):
            yield visible(finding.message)
    if swept.ended == "complete":
        return
    made = f"{swept.coverage.done:,} of {swept.coverage.planned:,} runs done"
    yield visible(f"{made}, {swept.coverage.failed:,} failed: {swept.out}")
    failed = next((one for one in swept.findings if one.code == "failed_run"), None)
    if failed:
        yield visible(f"the first that failed: {failed.where}: {failed.message}")
