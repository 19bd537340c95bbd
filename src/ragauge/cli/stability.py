"""`ragauge stability`: what a sweep shows to change that should not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from ragauge.cli.command import command, counting
from ragauge.cli.run_store import delivered
from ragauge.contracts.options import Mapped, Recording, StabilityOptions
from ragauge.contracts.stability import StabilityReport

if TYPE_CHECKING:
    from ragauge.cli.run_store import Delivery
    from ragauge.contracts.report import Outcome


@command()
def stability(
    gold: str,
    runs: tuple[str, ...],
    options: StabilityOptions,
    mapped: Mapped,
    output: Recording,
) -> int | None:
    """Score RUNS, the journal of `ragauge sweep` or traces of repeated runs, against GOLD.

    A question is stable when every gate holds over its runs; the rest are flaky, wrong every time
    or incomplete, and the report says which factor the variation goes with.

    \b
    Example:
      ragauge stability gold.jsonl runs.jsonl --report stability.html
      ragauge stability gold.jsonl runs.jsonl --gates 'acr>=0.9' --min-stable 0.98
    """
    from ragauge.runners.stability import stability as run

    def measure(delivery: Delivery) -> Outcome[StabilityReport]:
        chosen = structs.replace(options, out=delivery.rows(options.out))
        with counting("judging questions", output.quiet) as progress:
            return run(gold, runs, progress, columns=mapped.columns, options=chosen)

    return delivered(output, StabilityReport, measure, [gold, *runs], [options.out])
