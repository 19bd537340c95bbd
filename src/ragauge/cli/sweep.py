"""`ragauge sweep`: ask a system every question again and again, and keep what it says."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import Struct

from ragauge.cli.command import (
    INTERRUPTED,
    NOT_MEASURED,
    call_progress,
    command,
    remark,
    say_json,
    screen,
)
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import MappedGold, Shown, SweepOptions, SystemOptions

if TYPE_CHECKING:
    from ragauge.contracts.sweep import SweepEstimate
    from ragauge.contracts.system import System
    from ragauge.runners.sweep import Announce

MANY_CALLS = 1_000
"""More calls than this are asked about on a terminal."""
GO_ON = "interrupted; the same command goes on where this one stopped"


class Calls(Struct, frozen=True, kw_only=True):
    """Where the answers go, and whether anything is called."""

    out: Annotated[str, Opt("The journal; started anew or resumed.", metavar="RUNS.jsonl")]
    dry_run: Annotated[bool, Opt("Show what the sweep would take; call nothing.")] = False
    yes: Annotated[bool, Opt("Do not ask before more than 1,000 calls.")] = False


@command("text", "json")
def sweep(
    gold: str,
    system: SystemOptions,
    calls: Calls,
    options: SweepOptions,
    mapped: MappedGold,
    output: Shown,
) -> int:
    """Ask a system every question of GOLD over a grid of seeds, temperatures and rewordings.

    Each finished run is a line of --out before it counts as done. Started again, the same command
    asks only what is missing. `ragauge stability` scores the runs.

    Before the first call it shows how many calls it will make and how long they will take. The
    first call is made alone: if the endpoint cannot be reached, nothing else is called.

    \b
    Example:
      ragauge sweep gold.jsonl --http http://localhost:8000/qa --out runs.jsonl --dry-run
      ragauge sweep gold.jsonl --http http://localhost:8000/qa --preset pr --out runs.jsonl
      ragauge stability gold.jsonl runs.jsonl
    """
    from ragauge.runners.sweep import estimate_sweep
    from ragauge.runners.sweep import sweep as run

    asked, out = asked_system(system, options.concurrency), calls.out
    if calls.dry_run:
        from ragauge.reports.kinds.sweep import estimate_lines

        taking = estimate_sweep(gold, asked, out, columns=mapped.columns, options=options)
        if output.format == "json":
            say_json(taking, sort=False)
        else:
            for line in (*estimate_lines(taking), "dry run: nothing was called"):
                click.echo(line)
        return 0
    announce = announcer(calls.yes, output.quiet)
    try:
        with call_progress(output.quiet) as watch:
            report = run(gold, asked, out, watch, announce, columns=mapped.columns, options=options)
    except KeyboardInterrupt:  # a second one, or one before the first call
        click.echo(GO_ON, err=True)
        return INTERRUPTED
    if output.format == "json":
        from ragauge.reports.json import render

        click.echo(render(report), nl=False)
    else:
        gates = ["--gates", options.gates] if options.gates else []
        scoring = shlex.join(["ragauge", "stability", gold, report.out, *gates])
        from ragauge.reports.formats import text
        from ragauge.reports.kinds.sweep import document

        color, width = screen()
        shown = text.render(document(report, scoring), color=color, width=width)
        click.echo(shown, nl=False, color=color)
    if report.ended == "interrupted":
        return INTERRUPTED
    return 0 if report.passed else NOT_MEASURED


def asked_system(given: SystemOptions, concurrency: int) -> System:
    ways = {name: getattr(given, name) for name in ("http", "call", "command", "replay")}
    if given.demo:
        if any(ways.values()) or given.map:
            raise click.UsageError("--demo stands alone: it is the system under test")
        from ragauge.demo.pipeline import Pipeline

        return Pipeline.of()
    from ragauge.pipelines.mapping import read_mapping
    from ragauge.pipelines.systems import system_of

    mapping = read_mapping(given.map, os.environ) if given.map else None
    return system_of(**ways, mapping=mapping, concurrency=concurrency)


def announcer(yes: bool, quiet: bool) -> Announce:
    """Shows what a sweep will take, and on a terminal asks before it makes many calls."""

    from ragauge.reports.kinds.sweep import estimate_lines, pace_text

    def announce(taking: SweepEstimate) -> None:
        if taking.measured:
            if not quiet:
                sys.stderr.write(f"{pace_text(taking)}\n")  # rich puts it above its bar
            return
        for line in estimate_lines(taking):
            remark(line, quiet)
        asked = sys.stdin.isatty() and sys.stderr.isatty() and not yes
        if taking.calls > MANY_CALLS and asked:
            ask = f"Make {taking.calls:,} calls? (--yes skips this question)"
            if not click.confirm(ask, err=True):
                raise click.UsageError("no call was made; --limit N or fewer seeds make fewer")

    return announce
