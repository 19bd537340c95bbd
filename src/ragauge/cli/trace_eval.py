"""`ragauge trace-eval`: the recipe for traceability, from the asking to the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import Struct

from ragauge.cli.command import INTERRUPTED, NOT_MEASURED, call_progress, command, remark
from ragauge.cli.run_store import delivered, remark_logs
from ragauge.cli.sweep import GO_ON, announcer, asked_system
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import (
    CONCURRENT,
    MappedGold,
    Recording,
    SystemOptions,
    TraceEvalOptions,
)
from ragauge.text.visible import visible

if TYPE_CHECKING:
    from ragauge.cli.run_store import Delivery
    from ragauge.contracts.report import Outcome
    from ragauge.contracts.sweep import SweepReport

SPENT = (
    "stopped: the error budget is spent and nothing is evaluated; fix the system and run the "
    "same command to go on, or raise --error-budget"
)


class Calls(Struct, frozen=True, kw_only=True):
    """Where the answers go, and whether to ask before many calls."""

    out: Annotated[str, Opt("The journal; started anew or resumed.", metavar="RUNS.jsonl")]
    yes: Annotated[bool, Opt("Do not ask before more than 1,000 calls.")] = False


@command("text", "json", "markdown", "junit", "html")
def trace_eval(
    gold: str,
    system: SystemOptions,
    calls: Calls,
    options: TraceEvalOptions,
    mapped: MappedGold,
    output: Recording,
) -> int:
    """Ask a system every question of GOLD in three wordings under two seeds, and audit the answers.

    Match rate and coverage come first. Below 0.95 the codes are shown before any knob: a citation
    that does not hold cannot be fixed by a better search.

    \b
    Example:
      ragauge trace-eval gold.jsonl --http http://localhost:8000/qa --docs docs/ --out runs.jsonl
      ragauge trace-eval gold.jsonl --demo --out runs.jsonl --report trace.html
    """
    from ragauge.contracts.trace_eval import TraceEvalReport
    from ragauge.runners.trace_eval import Evaluated
    from ragauge.runners.trace_eval import trace_eval as run

    found: Evaluated | None = None

    def measure(_: Delivery) -> Outcome[TraceEvalReport] | None:
        nonlocal found
        asked = asked_system(system, options.concurrency or CONCURRENT)
        announce = announcer(calls.yes, output.quiet)
        own = {"columns": mapped.columns, "options": options}
        with call_progress(output.quiet) as watch:
            found = run(gold, asked, calls.out, watch, announce, **own)
        for line in _remarks(found.swept):
            remark(line, output.quiet)
        return found.outcome

    read = [gold, calls.out, options.manifest, options.calibration, system.replay]
    code = None
    try:
        code = delivered(output, TraceEvalReport, measure, read, [options.log], options.docs)
    except KeyboardInterrupt:  # a second one, or one outside the asking
        found = None
    if found is None or found.swept.ended == "interrupted":
        click.echo(GO_ON, err=True)
        return INTERRUPTED
    if code is None:
        click.echo(SPENT, err=True)
        return NOT_MEASURED
    remark_logs(options, output.quiet)
    return code


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
