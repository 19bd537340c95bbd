"""`ragauge latency`: how fast and how right a system is, under load and under each setting."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
from msgspec import Meta

from ragauge.cli.command import INTERRUPTED, bar, command, deliver, exit_code, forms_of, remark
from ragauge.contracts.gold import RefusalOptions
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import CANON, INLINE, Canon, MappedGold, Output

if TYPE_CHECKING:
    from ragauge.contracts.latency import Load
    from ragauge.contracts.system import System

SPARE_FILES = 64
"""Files besides the connections that are open at a time."""


class Options(RefusalOptions, frozen=True, kw_only=True):
    """What is asked, how fast, and what is allowed."""

    http: Annotated[str, Opt("The endpoint: POST {q, knobs, …}.", metavar="URL")]
    gold: Annotated[
        str | None, Opt("The questions to ask, and what is correct.", metavar="GOLD")
    ] = None
    question: Annotated[
        str | None,
        Opt("Ask this alone; then nothing is correct or wrong.", metavar="TEXT"),
    ] = None
    rates: Annotated[str, Opt("Calls a second.")] = "1,5,20"
    knobs: Annotated[str | None, Opt("Configurations: knobs by name.", metavar="K.json")] = None
    duration: Annotated[
        Annotated[float, Meta(gt=0)] | None, Opt("Seconds of load for each rate", shown="10")
    ] = None
    requests: Annotated[Annotated[int, Meta(ge=1)] | None, Opt("Calls instead of a duration.")] = (
        None
    )
    timeout: Annotated[float, Meta(gt=0), Opt("Seconds a call.")] = 90.0
    arrivals: Annotated[Literal["even", "poisson"], Opt("How calls are spaced.")] = "even"
    seed: Annotated[int, Opt("Of Poisson arrivals.")] = 0
    warmup: Annotated[
        int, Meta(ge=0), Opt("Calls of each configuration that are not measured.")
    ] = 1
    map: Annotated[str | None, Opt("The shape of requests and replies.", metavar="MAP.json")] = None
    baseline: Annotated[
        str | None, Opt("The configuration to hold the others against.", metavar="NAME")
    ] = None
    max_p95_increase: Annotated[str, Opt("Allowed above it.")] = "15%"
    max_precision_drop: Annotated[str, Opt("Points below it.")] = "2"
    max_errors: Annotated[str, Opt("Calls that may fail.")] = "0%"
    canon: Annotated[Canon, CANON] = "unicode"
    inline: Annotated[bool, INLINE] = False
    out: Annotated[str | None, Opt("Write each call, as a trace.", metavar="ROWS.jsonl")] = None


@command("text", "json", "markdown", "csv")
def latency(options: Options, mapped: MappedGold, output: Output) -> int:
    """Ask a system at fixed rates, whether or not it keeps up, under each configuration of knobs.

    Calls do not wait for answers, and a latency counts from when the call was to arrive: a queue
    is seen. Exit 1 when a configuration is slower or less precise than the baseline (the first,
    or --baseline) by more than is allowed, or when calls fail.

    \b
    Example:
      ragauge latency --http http://localhost:8000/qa --gold gold.jsonl --rates 1,5,20 \\
        --knobs knobs.json
    """
    from ragauge.contracts.gold import GoldSet
    from ragauge.contracts.latency import Guard, LatencyReport, Load
    from ragauge.ingest.gold import read_gold
    from ragauge.ingest.options import read_configurations
    from ragauge.metrics.facts import Reading
    from ragauge.runners.latency import DEFAULT, planned_calls
    from ragauge.runners.latency import latency as run
    from ragauge.text.visible import shown

    forms = forms_of(output.reports, LatencyReport)
    if options.duration and options.requests:
        raise click.UsageError("--duration and --requests both say how long; keep one")
    load = Load(
        rates=_rates(options.rates),
        duration_s=None if options.requests else options.duration or 10.0,
        requests=options.requests,
        timeout_s=options.timeout,
        arrivals=options.arrivals,
        seed=options.seed,
        warmup=options.warmup,
    )
    guard = Guard(
        baseline=options.baseline,
        max_p95_increase=_hundredths("--max-p95-increase", options.max_p95_increase),
        max_precision_drop=_hundredths("--max-precision-drop", options.max_precision_drop),
        max_errors=_hundredths("--max-errors", options.max_errors),
    )
    knobs = (read_configurations(options.knobs) if options.knobs else {}) or dict(DEFAULT)
    if (options.gold is None) == (options.question is None):
        raise click.UsageError("give --gold GOLD, or one --question, to ask")
    gold = read_gold(options.gold, mapped.columns) if options.gold else GoldSet(())
    system = _system(options, load, knobs)
    counts = options.settled(gold.metadata)
    columns, calls = ("BarColumn", "MofNCompleteColumn"), planned_calls(load, knobs)
    with bar("warming up", output.quiet, *columns, total=calls) as update:
        report = run(
            system,
            load,
            gold=gold,
            question=options.question,
            knobs=knobs,
            guard=guard,
            reading=Reading(options.canon, counts.strength, counts.tokens, options.inline),
            out=options.out,
            progress=update and (lambda name: update(description=shown(name, 30), advance=1)),
        ).report
    deliver(report, forms, output)
    if report.partial:
        remark("interrupted; what was measured until then is reported", output.quiet)
        return INTERRUPTED
    return exit_code(report)


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


def _system(options: Options, load: Load, knobs: dict[str, dict[str, Any]]) -> System:
    """The endpoint, over as many connections as calls may be open at once."""
    import resource

    from ragauge.pipelines.http import HttpSystem
    from ragauge.pipelines.mapping import read_mapping
    from ragauge.runners.latency import most_open

    mapping = read_mapping(options.map, os.environ) if options.map else None
    for name, configuration in knobs.items():
        missing = [knob for knob in mapping.knobs if knob not in configuration] if mapping else []
        if missing:
            needed = ", ".join(missing)
            raise click.UsageError(f'{options.map}: needs the knob {needed}, which "{name}" lacks')
    import aiohttp  # noqa: F401 (now, rather than while the first call waits)

    most = most_open(load)
    # As many files as connections may be open at a time, as far as the machine allows.
    files = most + SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY != soft < files:
        room = files if hard == resource.RLIM_INFINITY else min(files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (room, hard))
    # A connection that has to wait belongs to the latency.
    return HttpSystem(options.http, mapping=mapping, concurrency=most, connect_s=None)
