"""`ragauge latency`: how fast and how right a system is, under load and under each setting."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.command import (
    INTERRUPTED,
    NOT_MEASURED,
    formats,
    forms_of,
    options_of,
    remark,
    report_option,
    settings,
    show,
    write_reports,
)

if TYPE_CHECKING:
    from ragauge.contracts.latency import Load
    from ragauge.contracts.system import System

SPARE_FILES = 64
"""Files besides the connections that are open at a time."""

_POSITIVE = click.FloatRange(min=0, min_open=True)


@click.command()
@click.option("--http", metavar="URL", required=True, help="The endpoint: POST {q, knobs, …}.")
@click.option("--gold", metavar="GOLD", help="The questions to ask, and what is right.")
@click.option("--question", metavar="TEXT", help="Ask this alone; then nothing is right or wrong.")
@click.option("--rates", default="1,5,20", show_default=True, help="Calls a second.")
@click.option("--knobs", metavar="K.json", help="Configurations: knobs by name.")
@click.option("--duration", type=_POSITIVE, help="Seconds of load for each rate [default: 10].")
@click.option("--requests", type=click.IntRange(min=1), help="Calls instead of a duration.")
@click.option("--timeout", type=_POSITIVE, default=90.0, show_default=True, help="Seconds a call.")
@click.option(
    "--arrivals", type=click.Choice(["even", "poisson"]), default="even", show_default=True
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of Poisson arrivals.")
@click.option(
    "--warmup",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Calls of each configuration that are not measured.",
)
@click.option("--map", metavar="MAP.json", help="The shape of requests and replies.")
@click.option("--baseline", metavar="NAME", help="The configuration to hold the others against.")
@click.option("--max-p95-increase", default="15%", show_default=True, help="Allowed above it.")
@click.option("--max-precision-drop", default="2", show_default=True, help="Points below it.")
@click.option("--max-errors", default="0%", show_default=True, help="Calls that may fail.")
@options_of("refusal", "refusal_tokens", "canon", "inline")
@click.option("--out", metavar="ROWS.jsonl", help="Write each call, as a trace.")
@formats("text", "json", "markdown", "csv")
@report_option("Also .json .md .csv .txt.")
@options_of("quiet")
@click.pass_context
def latency(ctx: click.Context, /, **given: Any) -> None:
    """Ask a system at fixed rates, whether or not it keeps up, under each configuration of knobs.

    Calls do not wait for answers, and a latency counts from when the call was to arrive: a queue
    is seen. Exit 1 when a configuration is slower or less precise than the baseline (the first,
    or --baseline) by more than is allowed, or when calls fail.

    \b
    Example:
      ragauge latency --http http://localhost:8000/qa --gold gold.jsonl --rates 1,5,20 \\
        --knobs knobs.json
    """
    from ragauge.contracts.gold import GoldSet, RefusalOptions
    from ragauge.contracts.latency import Guard, LatencyReport, Load
    from ragauge.ingest.gold import read_gold
    from ragauge.ingest.options import read_configurations
    from ragauge.metrics.facts import Reading
    from ragauge.runners.latency import DEFAULT
    from ragauge.runners.latency import latency as run

    forms = forms_of(given["reports"], LatencyReport)
    names = ("canon", "refusal", "refusal_tokens", "inline", "quiet")
    chosen = settings(**{name: given[name] for name in names})
    quiet = chosen["quiet"]
    if given["duration"] and given["requests"]:
        raise click.UsageError("--duration and --requests both say how long; keep one")
    load = Load(
        rates=_rates(given["rates"]),
        duration_s=None if given["requests"] else given["duration"] or 10.0,
        requests=given["requests"],
        timeout_s=given["timeout"],
        arrivals=given["arrivals"],
        seed=given["seed"],
        warmup=given["warmup"],
    )
    guard = Guard(
        baseline=given["baseline"],
        max_p95_increase=_hundredths("--max-p95-increase", given["max_p95_increase"]),
        max_precision_drop=_hundredths("--max-precision-drop", given["max_precision_drop"]),
        max_errors=_hundredths("--max-errors", given["max_errors"]),
    )
    knobs = (read_configurations(given["knobs"]) if given["knobs"] else {}) or dict(DEFAULT)
    if (given["gold"] is None) == (given["question"] is None):
        raise click.UsageError("give --gold GOLD, or one --question, to ask")
    gold = read_gold(given["gold"]) if given["gold"] else GoldSet(())
    system = _system(given, load, knobs)
    said = RefusalOptions(refusal=chosen["refusal"], refusal_tokens=chosen["refusal_tokens"])
    counts = said.settled(gold.metadata)
    with _progress(load, knobs, quiet) as progress:
        report = run(
            system,
            load,
            gold=gold,
            question=given["question"],
            knobs=knobs,
            guard=guard,
            reading=Reading(chosen["canon"], counts.strength, counts.tokens, chosen["inline"]),
            out=given["out"],
            progress=progress,
        ).report
    write_reports(report, forms, quiet)
    show(report, given["format"])
    if report.partial:
        remark("interrupted; what was measured until then is reported", quiet)
        ctx.exit(INTERRUPTED)
    if not report.coverage.answered:
        ctx.exit(NOT_MEASURED)
    ctx.exit(0 if report.passed else 1)


def _rates(text: str) -> tuple[float, ...]:
    """The rates, each once, lowest first.

    >>> _rates("20, 5,1")
    (1.0, 5.0, 20.0)
    """
    try:
        rates = {float(word) for word in text.split(",")}
    except ValueError:
        rates = {0.0}
    if not all(0 < rate < float("inf") for rate in rates):
        raise click.UsageError(f'--rates "{text}": expected calls a second, such as 1,5,20')
    return tuple(sorted(rates))


def _hundredths(flag: str, text: str) -> float:
    """A percentage, or a number of points, as a share.

    >>> _hundredths("--max-p95-increase", "15%"), _hundredths("--max-precision-drop", "2")
    (0.15, 0.02)
    """
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise click.UsageError(f'{flag} "{text}": expected a percentage or points, such as 15%')
    return number / 100


def _system(given: dict[str, Any], load: Load, knobs: dict[str, dict[str, Any]]) -> System:
    """The endpoint, over as many connections as calls may be open at once."""
    import resource

    from ragauge.pipelines.http import HttpSystem
    from ragauge.pipelines.mapping import read_mapping
    from ragauge.runners.latency import most_open

    mapping = read_mapping(given["map"], os.environ) if given["map"] else None
    for name, configuration in knobs.items():
        missing = [knob for knob in mapping.knobs if knob not in configuration] if mapping else []
        if missing:
            needed = ", ".join(missing)
            raise click.UsageError(f'{given["map"]}: needs the knob {needed}, which "{name}" lacks')
    import aiohttp  # noqa: F401 (now, rather than while the first call waits)

    most = most_open(load)
    # As many files as connections may be open at a time, as far as the machine allows.
    files = most + SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY != soft < files:
        room = files if hard == resource.RLIM_INFINITY else min(files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (room, hard))
    # A connection that has to wait belongs to the latency.
    return HttpSystem(given["http"], mapping=mapping, concurrency=most, connect_s=None)


@contextmanager
def _progress(
    load: Load, knobs: dict[str, dict[str, Any]], quiet: bool
) -> Iterator[Callable[[str], None] | None]:
    """A bar on stderr, where a person sees it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.text import Text

    from ragauge.runners.latency import planned_calls
    from ragauge.text.visible import shown

    class Name(TextColumn):
        """The cell that is measured: a foreign name, so never as markup."""

        def render(self, task: Any) -> Text:
            return Text(shown(task.description, 30))

    columns = (Name(""), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("warming up", total=planned_calls(load, knobs))
        yield lambda name: bar.update(task, description=name, advance=1)
