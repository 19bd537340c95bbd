"""`ragauge score`: the main job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import structs

from ragauge.cli.command import command, reading_progress
from ragauge.cli.run_store import delivered
from ragauge.contracts.options import Gated, Mapped, ScoreOptions
from ragauge.contracts.score import ScoreReport
from ragauge.contracts.trace_score import TraceScoreReport
from ragauge.errors import UsageError

if TYPE_CHECKING:
    from ragauge.cli.run_store import Delivery
    from ragauge.contracts.report import Outcome

OF_GOLD = ("preset", "canon", "each", "out", "baseline")
"""Options that mean nothing without a gold set."""


@command()
def score(
    files: Annotated[tuple[str, ...], "[GOLD] TRACES..."],
    options: ScoreOptions,
    mapped: Mapped,
    output: Gated,
) -> int | None:
    """Score the answers, citations and refusals in TRACES against GOLD, and decide the gates.

    GOLD and TRACES are JSON Lines, JSON, CSV, Parquet or Arrow, plain, .gz or .zst; - is stdin.
    Without a gate on quality there is no PASS; every gold question must be traced and none may
    have failed all the same. Without GOLD the report says what traces alone can tell.

    \b
    Example:
      ragauge score traces.jsonl
      ragauge score gold.jsonl traces.jsonl --preset ship --report report.md
      ragauge score gold.jsonl new.jsonl --gates 'precision_cited>=0.8' --baseline old.json
    """
    from ragauge.ingest.traces import gold_and_traces
    from ragauge.runners.score import score as run

    gold, traces = gold_and_traces(files)
    if gold is None:
        return _without_gold(traces, options, mapped, output)

    def measure(delivery: Delivery) -> Outcome[ScoreReport]:
        out = delivery.rows(options.out)
        chosen = structs.replace(options, out=out, keep_answers=delivery.on)
        with reading_progress(traces, output.quiet, "scoring") as progress:
            return run(gold, traces, progress, columns=mapped.columns, options=chosen)

    read = [gold, *traces, options.baseline]
    return delivered(output, ScoreReport, measure, read, [options.out])


def _without_gold(
    traces: tuple[str, ...], options: ScoreOptions, mapped: Mapped, output: Gated
) -> int | None:
    """The first report from traces alone."""
    from ragauge.runners.score_traces import TraceScoreOptions, score_traces

    plain = ScoreOptions()
    given = [name for name in OF_GOLD if getattr(options, name) != getattr(plain, name)]
    if given:
        flags = ", ".join(f"--{name}" for name in given)
        raise UsageError(f"{flags}: needs a gold set; name it before the traces")
    names = [name for name in TraceScoreOptions.__struct_fields__ if hasattr(options, name)]
    chosen = TraceScoreOptions(**{name: getattr(options, name) for name in names})

    def measure(_: Delivery) -> Outcome[TraceScoreReport]:
        return score_traces(traces, columns=mapped.columns, options=chosen)

    return delivered(output, TraceScoreReport, measure, traces)
