"""`ragauge stability`: what a sweep shows to change that should not."""

from __future__ import annotations

from msgspec import structs

from ragauge.cli.command import NOT_MEASURED, command, counting
from ragauge.cli.run_store import delivering, rows_of
from ragauge.contracts.options import Mapped, Output, Recording, StabilityOptions


@command()
def stability(
    gold: str,
    runs: tuple[str, ...],
    options: StabilityOptions,
    mapped: Mapped,
    recording: Recording,
    output: Output,
) -> int:
    """Score RUNS, the journal of `ragauge sweep` or traces of repeated runs, against GOLD.

    A question is stable when every gate holds over its runs; the rest are flaky, wrong every time
    or incomplete, and the report says which factor the variation goes with.

    \b
    Example:
      ragauge stability gold.jsonl runs.jsonl --report stability.html
      ragauge stability gold.jsonl runs.jsonl --gates 'acr>=0.9' --min-stable 0.98
    """
    from ragauge.contracts.stability import StabilityReport
    from ragauge.runners.stability import stability as run

    with (
        delivering(recording, output, StabilityReport, [gold, *runs], [options.out]) as delivery,
        rows_of(delivery, options.out) as out,
    ):
        with counting("judging questions", output.quiet) as progress:
            chosen = structs.replace(options, out=out)
            outcome = run(gold, runs, progress, columns=mapped.columns, options=chosen)
        delivery.deliver(outcome)
    if not outcome.report.coverage.runs:
        return NOT_MEASURED
    return 0 if outcome.report.passed else 1
