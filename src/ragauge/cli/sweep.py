"""`ragauge sweep`: ask a system every question again and again, and keep what it says."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.command import (
    INTERRUPTED,
    NOT_MEASURED,
    call_progress,
    formats,
    options_of,
    origins,
    remark,
    say_json,
    screen,
    settings,
    system_options,
)

if TYPE_CHECKING:
    from ragauge.contracts.sweep import SweepEstimate
    from ragauge.contracts.system import System
    from ragauge.runners.sweep import Announce

MANY_CALLS = 1_000
"""More calls than this are asked about on a terminal."""
GO_ON = "interrupted; the same command goes on where this one stopped"


@click.command()
@click.argument("gold", metavar="GOLD")
@system_options("q, seed, jitter")
@options_of("sweep.preset", "sweep.seeds", "sweep.temperatures", "sweep.jitters")
@options_of("sweep.paraphrases", "sweep.repeats", "sweep.concurrency", "sweep.timeout")
@options_of("sweep.retries", "sweep.rate", "sweep.max_wait", "sweep.error_budget")
@options_of("sweep.adaptive", "sweep.jitter_profile", "sweep.map")
@click.option("--gates", metavar="RULES", help="Gates an adaptive sweep stops by.")
@click.option("--knobs", metavar="JSON", help="Knobs sent with every call: an object, or a file.")
@click.option("--restart", is_flag=True, help="Set the runs of another sweep in --out aside.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N questions.")
@click.option("--prices", metavar="IN,OUT", help="Of a million tokens, for the estimate.")
@click.option("--dry-run", is_flag=True, help="Show what the sweep would take; call nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before more than 1,000 calls.")
@formats("text", "json")
@options_of("quiet")
@click.pass_context
def sweep(ctx: click.Context, /, **given: Any) -> None:
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
    from ragauge.ingest.configuration import flag_of
    from ragauge.ingest.options import call_options, grid_of, read_knobs, with_preset
    from ragauge.runners.sweep import estimate_sweep
    from ragauge.runners.sweep import sweep as run

    gold, out, form = given.pop("gold"), given.pop("out"), given.pop("format") or "text"
    systems = {name: given.pop(name) for name in ("http", "call", "command", "replay", "demo")}
    extra = {name: given.pop(name) for name in ("knobs", "gates", "restart", "limit", "prices")}
    dry_run, yes = given.pop("dry_run"), given.pop("yes")
    # A preset stands for the parts of the grid that were not given.
    told = [name for name, origin in origins("sweep", **given).items() if origin != "default"]
    chosen = with_preset(settings("sweep", **given), told)
    quiet = chosen.pop("quiet")
    system = asked_system(systems, chosen["map"], chosen["concurrency"])
    options = {
        "grid": grid_of(chosen, flag_of),
        **call_options(chosen, flag_of),
        "paraphrases": chosen["paraphrases"],
        "adaptive": chosen["adaptive"],
        **extra,
        "knobs": read_knobs(extra["knobs"]) if extra["knobs"] is not None else {},
    }
    if dry_run:
        taking = estimate_sweep(gold, system, out, **options)
        if form == "json":
            say_json(taking, sort=False)
        else:
            for line in (*_estimate_words(taking), "dry run: nothing was called"):
                click.echo(line)
        return
    try:
        with call_progress(quiet) as watch:
            report = run(gold, system, out, watch, announcer(yes, quiet), **options)
    except KeyboardInterrupt:  # a second one, or one before the first call
        click.echo(GO_ON, err=True)
        ctx.exit(INTERRUPTED)
    if form == "json":
        from ragauge.reports.json import render

        click.echo(render(report), nl=False)
    else:
        gates = ["--gates", extra["gates"]] if extra["gates"] else []
        scoring = shlex.join(["ragauge", "stability", gold, report.out, *gates])
        from ragauge.reports.formats import text
        from ragauge.reports.kinds.sweep import document

        color, width = screen()
        shown = text.render(document(report, scoring), color=color, width=width)
        click.echo(shown, nl=False, color=color)
    if report.ended == "interrupted":
        ctx.exit(INTERRUPTED)
    ctx.exit(0 if report.passed else NOT_MEASURED)


def asked_system(given: dict[str, Any], map: str | None, concurrency: int) -> System:
    if given.pop("demo"):
        if any(given.values()) or map:
            raise click.UsageError("--demo stands alone: it is the system under test")
        from ragauge.demo.pipeline import Pipeline

        return Pipeline.of()
    from ragauge.pipelines.mapping import read_mapping
    from ragauge.pipelines.systems import system_of

    mapping = read_mapping(map, os.environ) if map else None
    return system_of(**given, mapping=mapping, concurrency=concurrency)


def announcer(yes: bool, quiet: bool) -> Announce:
    """Shows what a sweep will take, and on a terminal asks before it makes many calls."""

    def announce(taking: SweepEstimate) -> None:
        if taking.measured:
            if not quiet:
                sys.stderr.write(f"{_pace_words(taking)}\n")  # rich puts it above its bar
            return
        for line in _estimate_words(taking):
            remark(line, quiet)
        asked = sys.stdin.isatty() and sys.stderr.isatty() and not yes
        if taking.calls > MANY_CALLS and asked:
            ask = f"Make {taking.calls:,} calls? (--yes skips this question)"
            if not click.confirm(ask, err=True):
                raise click.UsageError("no call was made; --limit N or fewer seeds make fewer")

    return announce


def _estimate_words(taking: SweepEstimate) -> Iterator[str]:
    """What a sweep will take: its calls, its time, its cost, and what it cannot show."""
    from ragauge.reports.numbers import counted

    of = f" (the first of {taking.of:,})" if taking.questions < taking.of else ""
    parts = [f"{counted(taking.questions, 'question')}{of}, {counted(taking.grid, 'run')}"]
    parts += (
        [f"{taking.noop:,} left out because the wording does not change"] if taking.noop else []
    )
    parts += [f"{taking.finished:,} finished before"] if taking.finished else []
    most = "at most " if taking.adaptive else ""
    yield f"{most}{counted(taking.calls, 'call')} to make: {'; '.join(parts)}"
    if taking.calls:
        yield _pace_words(taking)
    if taking.single:
        one = counted(taking.single, "question has", "questions have")
        yield f"{one} one run, and stability needs two: add seeds, jitters or --repeats 2"


def _pace_words(taking: SweepEstimate) -> str:
    """How long the calls will take, and what they will cost."""
    from ragauge.reports.numbers import counted

    how = "the first call took that long" if taking.measured else "assumed"
    at_once = min(taking.concurrency, max(1, taking.calls))
    words = f"about {_duration(taking.seconds)}"
    words += f" at {taking.call_s:.2g} s per call ({how}), {at_once:,} at a time"
    if taking.measured:
        words = f"{counted(taking.calls, 'call')} left: {words}"
    if taking.cost is not None and taking.tokens:
        known = "as the first call reported" if taking.measured_tokens else "assumed"
        went, came = taking.tokens
        words += (
            f"; about {taking.cost:,.2f} at {went:,} tokens in and {came:,} out per call ({known})"
        )
    return words


def _duration(seconds: float) -> str:
    """
    >>> _duration(0.3), _duration(95), _duration(7300)
    ('1 s', '1 min 35 s', '2 h 1 min')
    """
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
