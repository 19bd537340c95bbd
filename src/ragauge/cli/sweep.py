"""`ragauge sweep`: ask a system every question again and again, and keep what it says."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.exit_codes import INTERRUPTED, NOT_MEASURED
from ragauge.cli.settings import formats, options_of, origins, remark, settings
from ragauge.text.visible import visible

if TYPE_CHECKING:
    from ragauge.contracts.sweep import Progress, SweepEstimate, SweepReport
    from ragauge.contracts.system import System
    from ragauge.runners.sweep import Announce

MANY_CALLS = 1_000
"""More calls than this are asked about on a terminal."""
GO_ON = "interrupted; the same command goes on where this one stopped"


@click.command(short_help="Ask a system each question many times, under what should not matter.")
@click.argument("gold", metavar="GOLD")
@click.option("--http", metavar="URL", help="Ask an endpoint: POST {q, seed, jitter, …}.")
@click.option("--call", metavar="MODULE:FUNCTION", help="Ask a Python function.")
@click.option("--command", metavar="CMD", help="Ask a command: JSON on stdin, JSON on stdout.")
@click.option("--replay", metavar="TRACES", help="Answer from recorded traces.")
@click.option("--demo", is_flag=True, help="Ask the bundled reference pipeline.")
@click.option(
    "--out", metavar="RUNS.jsonl", required=True, help="The journal; started anew or resumed."
)
@options_of("sweep.preset", "sweep.seeds", "sweep.temperatures", "sweep.jitters")
@options_of("sweep.paraphrases", "sweep.repeats", "sweep.concurrency", "sweep.timeout")
@options_of("sweep.retries", "sweep.rate", "sweep.max_wait", "sweep.error_budget")
@options_of("sweep.adaptive")
@options_of("sweep.jitter_profile", "sweep.map")
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
    from ragauge.runners.sweep import estimate_sweep
    from ragauge.runners.sweep import sweep as run

    gold, out, form = given.pop("gold"), given.pop("out"), given.pop("format") or "text"
    systems = {name: given.pop(name) for name in ("http", "call", "command", "replay", "demo")}
    extra = {name: given.pop(name) for name in ("knobs", "gates", "restart", "limit", "prices")}
    dry_run, yes = given.pop("dry_run"), given.pop("yes")
    chosen = _settings(given)
    quiet = chosen.pop("quiet")
    system = asked_system(systems, chosen["map"], chosen["concurrency"])
    options = _options(chosen, extra)
    if dry_run:
        click.echo(_planned(estimate_sweep(gold, system, out, **options), form), nl=False)
        return
    try:
        with progress(quiet) as watch:
            report = run(gold, system, out, watch, announcer(yes, quiet), **options)
    except KeyboardInterrupt:  # a second one, or one before the first call
        click.echo(GO_ON, err=True)
        ctx.exit(INTERRUPTED)
    click.echo(_shown(report, gold, form, extra["gates"]), nl=False)
    ctx.exit(_exit_code(report))


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """The settings, where a preset stands for the parts of the grid that were not given."""
    from ragauge.ingest.options import with_preset

    flags = {name: None if value == () else value for name, value in given.items()}
    told = origins("sweep", **flags)
    given_names = [name for name, origin in told.items() if origin != "default"]
    return with_preset(settings("sweep", **flags), given_names)


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


def _options(chosen: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    from ragauge.ingest.configuration import flag_of
    from ragauge.ingest.options import call_options, grid_of, read_knobs

    return {
        "grid": grid_of(chosen, flag_of),
        **call_options(chosen, flag_of),
        "paraphrases": chosen["paraphrases"],
        "adaptive": chosen["adaptive"],
        "gates": extra["gates"],
        "knobs": read_knobs(extra["knobs"]) if extra["knobs"] is not None else {},
        **{name: extra[name] for name in ("restart", "limit", "prices")},
    }


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


def _planned(taking: SweepEstimate, form: str) -> str:
    """The estimate of a dry run."""
    if form == "json":
        import msgspec

        return msgspec.json.format(msgspec.json.encode(taking)).decode() + "\n"
    return "".join(
        f"{line}\n" for line in (*_estimate_words(taking), "dry run: nothing was called")
    )


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


def _exit_code(report: SweepReport) -> int:
    if report.ended == "interrupted":
        return INTERRUPTED
    return 0 if report.passed else NOT_MEASURED


@contextmanager
def progress(quiet: bool, doing: str = "sweeping") -> Iterator[Callable[[Progress], None] | None]:
    """Rate, errors and time left on stderr: a bar for a person, a line now and then for a log."""
    if quiet:
        yield None
        return
    from ragauge.cli.sweep_progress import bar, lines

    with bar(doing) if sys.stderr.isatty() else lines(doing) as watch:
        yield watch


def _shown(report: SweepReport, gold: str, form: str, gates: str | None) -> str:
    if form == "json":
        from ragauge.reports.json import render

        return render(report)
    scoring = ["ragauge", "stability", gold, report.out, *(["--gates", gates] if gates else [])]
    return "".join(f"{visible(line)}\n" for line in _words(report, shlex.join(scoring)))


def _words(report: SweepReport, scoring: str) -> Iterator[str]:
    found = report.coverage
    parts = [f"{found.done:,} of {found.planned:,} runs done"]
    parts += [f"{found.resumed:,} of them before"] if found.resumed else []
    parts += [f"{found.saved:,} not needed"] if found.saved else []
    parts += [f"{found.failed:,} failed"] if found.failed else []
    yield f"{', '.join(parts)}: {report.out}"
    if report.promise:
        yield f"runs left out: {report.promise}"
    for finding in report.findings:
        if finding.code in ("set_aside", "torn_line", "unplanned_run"):
            yield finding.message
    for kind, times in report.errors.items():
        yield f"failed: {kind} ({times:,}): {_example(report, kind)}"
    if report.noop:
        jitters = ", ".join(f"{jitter} on {times:,}" for jitter, times in report.noop.items())
        yield f"jitters that changed nothing, and were not run: {jitters} questions"
    yield _next_step(report, scoring)


def _example(report: SweepReport, kind: str) -> str:
    """The first run that failed in this way, in its own words."""
    for finding in report.findings:
        if finding.code == "failed_run" and finding.message.startswith(kind):
            return f"{finding.message.removeprefix(f'{kind}: ')} ({finding.where})"
    return "see the journal"


def _next_step(report: SweepReport, scoring: str) -> str:
    if report.ended == "interrupted":
        return GO_ON
    if report.ended == "error_budget":
        return (
            "stopped: the error budget is spent; mend the system and run the same command to go "
            "on, or raise --error-budget"
        )
    if report.coverage.failed:
        return f"run the same command to try the failed ones again, or: {scoring}"
    return f"next: {scoring}"
