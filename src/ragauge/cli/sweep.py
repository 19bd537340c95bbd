"""`ragauge sweep`: ask a system every question again and again, and keep what it says."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.settings import formats, options_of, settings

if TYPE_CHECKING:
    from ragauge.contracts.run import Grid
    from ragauge.contracts.sweep import Progress, SweepReport
    from ragauge.contracts.system import System

INTERRUPTED = 130
NOT_DONE = 3

PRESETS: dict[str, dict[str, Any]] = {
    "pr": {"seeds": ("0", "1", "2"), "jitters": ("none", "ws", "syn")},
    "daily": {
        "seeds": ("0", "1", "2", "3", "4"),
        "jitters": ("none", "ws", "punct", "syn", "order", "case", "quote", "polite", "typo"),
    },
    "trace": {"seeds": ("0", "1"), "jitters": ("none",), "temperatures": ("0",)},
}
TRACE_PARAPHRASES = (1, 2, 3)
"""What the preset `trace` asks instead of the question itself."""


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
@options_of("sweep.retries", "sweep.rate", "sweep.error_budget", "sweep.adaptive")
@options_of("sweep.jitter_profile", "sweep.map")
@click.option("--gates", metavar="RULES", help="Gates an adaptive sweep stops by.")
@click.option("--knobs", metavar="JSON", help="Knobs sent with every call: an object, or a file.")
@click.option("--restart", is_flag=True, help="Set the runs of another sweep in --out aside.")
@formats("text", "json")
@options_of("quiet")
@click.pass_context
def sweep(ctx: click.Context, /, **given: Any) -> None:
    """Ask a system every question of GOLD over a grid of seeds, temperatures and rewordings.

    Each finished run is a line of --out before it counts as done. Started again, the same command
    asks only what is missing. `ragauge stability` scores the runs.

    \b
    Example:
      ragauge sweep gold.jsonl --http http://localhost:8000/qa --preset pr --out runs.jsonl
      ragauge stability gold.jsonl runs.jsonl
    """
    from ragauge.runners.sweep import sweep as run

    gold, out, form = given.pop("gold"), given.pop("out"), given.pop("format") or "text"
    systems = {name: given.pop(name) for name in ("http", "call", "command", "replay", "demo")}
    extra = {name: given.pop(name) for name in ("knobs", "gates", "restart")}
    chosen = _settings(given)
    quiet = chosen.pop("quiet")
    system = _system(systems, chosen["map"], chosen["concurrency"])
    with progress(quiet) as watch:
        report = run(gold, system, out, watch, **_options(chosen, extra))
    click.echo(_shown(report, gold, form), nl=False)
    ctx.exit(_exit_code(report))


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """The settings, where a preset stands for the parts of the grid that were not given."""
    flags = {name: None if value == () else value for name, value in given.items()}
    chosen = settings("sweep", **flags)
    for name, value in PRESETS.get(chosen["preset"] or "", {}).items():
        if flags.get(name) is None:
            chosen[name] = value
    return chosen


def _system(given: dict[str, Any], map: str | None, concurrency: int) -> System:
    if given.pop("demo"):
        if any(given.values()):
            raise click.UsageError("--demo stands alone: it is the system under test")
        from ragauge.demo.pipeline import Pipeline

        return Pipeline.of()
    from ragauge.pipelines.mapping import read_mapping
    from ragauge.pipelines.systems import system_of

    mapping = read_mapping(map, os.environ) if map else None
    return system_of(**given, mapping=mapping, concurrency=concurrency)


def _options(chosen: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    return {
        "grid": _grid(chosen),
        "paraphrases": chosen["paraphrases"],
        "concurrency": chosen["concurrency"],
        "timeout_s": chosen["timeout"],
        "retries": chosen["retries"],
        "rate_per_s": _rate(chosen["rate"]),
        "error_budget": chosen["error_budget"],
        "adaptive": chosen["adaptive"],
        "gates": extra["gates"],
        "knobs": read_knobs(extra["knobs"]),
        "restart": extra["restart"],
    }


def _grid(chosen: dict[str, Any]) -> Grid:
    from ragauge.contracts.run import ORIGINAL, Grid

    paraphrases = TRACE_PARAPHRASES if chosen["preset"] == "trace" else (ORIGINAL,)
    return Grid(
        seeds=_numbers("--seeds", chosen["seeds"], int),
        temperatures=_numbers("--temperatures", chosen["temperatures"], float),
        jitters=_distinct("--jitters", chosen["jitters"]),
        paraphrases=paraphrases,
        repeats=chosen["repeats"],
        profile=chosen["jitter_profile"],
    )


def _numbers(flag: str, words: tuple[str, ...], kind: type) -> tuple[Any, ...]:
    try:
        return _distinct(flag, tuple(kind(word) for word in words))
    except ValueError:
        wanted = "whole numbers" if kind is int else "numbers"
        raise click.UsageError(f"{flag}: expected {wanted}, got {', '.join(words)}") from None


def _distinct(flag: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    twice = sorted({str(value) for value in values if values.count(value) > 1})
    if twice:
        raise click.UsageError(f"{flag}: {', '.join(twice)} stands twice; --repeats asks again")
    return values


def _rate(text: str | None) -> float | None:
    """Calls a second.

    >>> _rate("10/s"), _rate("300/min"), _rate(None)
    (10.0, 5.0, None)
    """
    if text is None:
        return None
    written = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:/\s*(s|sec|min|h))?\s*", text, re.ASCII)
    if not written or float(written[1]) == 0:
        raise click.UsageError(f'--rate "{text}" is no rate; write 10/s or 300/min')
    return float(written[1]) / {"min": 60, "h": 3600}.get(written[2] or "s", 1)


def read_knobs(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    written = text if text.lstrip()[:1] in ("{", "[") else Path(text).read_text("utf-8")
    try:
        knobs = json.loads(written)
    except ValueError as error:
        raise click.UsageError(f"--knobs: is not JSON: {error}") from None
    if not isinstance(knobs, dict):
        raise click.UsageError("--knobs: expected an object of knobs and their values")
    return knobs


def _exit_code(report: SweepReport) -> int:
    if report.ended == "interrupted":
        return INTERRUPTED
    return 0 if report.passed else NOT_DONE


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Rate, errors and time left on stderr: a bar for a person, a line now and then for a log."""
    if quiet:
        yield None
        return
    from ragauge.cli.sweep_progress import bar, lines

    with bar() if sys.stderr.isatty() else lines() as watch:
        yield watch


def _shown(report: SweepReport, gold: str, form: str) -> str:
    if form == "json":
        from ragauge.reports.json import render

        return render(report)
    return "".join(f"{line}\n" for line in _words(report, gold))


def _words(report: SweepReport, gold: str) -> Iterator[str]:
    found = report.coverage
    parts = [f"{found.done:,} of {found.planned:,} runs done"]
    parts += [f"{found.resumed:,} of them before"] if found.resumed else []
    parts += [f"{found.saved:,} not needed"] if found.saved else []
    parts += [f"{found.failed:,} failed"] if found.failed else []
    yield f"{', '.join(parts)}: {report.out}"
    if report.promise:
        yield f"runs left out: {report.promise}"
    if report.errors:
        kinds = ", ".join(f"{kind} ({times:,})" for kind, times in report.errors.items())
        yield f"failed: {kinds}"
    if report.noop:
        jitters = ", ".join(f"{jitter} on {times:,}" for jitter, times in report.noop.items())
        yield f"jitters that changed nothing, and were not run: {jitters} questions"
    yield _next_step(report, gold)


def _next_step(report: SweepReport, gold: str) -> str:
    if report.ended == "interrupted":
        return "interrupted; the same command goes on where this one stopped"
    if report.ended == "error_budget":
        return (
            "stopped: the error budget is spent; mend the system and run the same command to go "
            "on, or raise --error-budget"
        )
    if report.coverage.failed:
        return f"run the same command to try the failed ones again, or: {_scoring(report, gold)}"
    return f"next: {_scoring(report, gold)}"


def _scoring(report: SweepReport, gold: str) -> str:
    return f"ragauge stability {gold} {report.out}"
