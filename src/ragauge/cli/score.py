"""`ragauge score`: the main job."""

from __future__ import annotations

from typing import Annotated

from msgspec import structs

from ragauge.cli.command import NOT_MEASURED, command, reading_progress, verdict_code
from ragauge.cli.run_store import delivering, rows_of
from ragauge.contracts.options import Gating, Mapped, Output, Recording, ScoreOptions
from ragauge.errors import UsageError

OF_GOLD = ("preset", "canon", "each", "out", "baseline")
"""Options that mean nothing without a gold set."""


@command()
def score(
    files: Annotated[tuple[str, ...], "[GOLD] TRACES..."],
    options: ScoreOptions,
    mapped: Mapped,
    gating: Gating,
    recording: Recording,
    output: Output,
) -> int:
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
    from ragauge.contracts.score import ScoreReport
    from ragauge.ingest.traces import gold_and_traces
    from ragauge.runners.score import score as run

    gold, traces = gold_and_traces(files)
    if gold is None:
        return _without_gold(traces, options, mapped, gating, recording, output)
    read = [gold, *traces, options.baseline]
    with (
        delivering(recording, output, ScoreReport, read, [options.out]) as delivery,
        rows_of(delivery, options.out) as out,
    ):
        chosen = structs.replace(options, out=out, keep_answers=delivery.on)
        with reading_progress(traces, output.quiet, "scoring") as progress:
            outcome = run(gold, traces, progress, columns=mapped.columns, options=chosen)
        delivery.deliver(outcome)
    if not outcome.report.coverage.scored:
        return NOT_MEASURED
    return verdict_code(outcome.report.passed, gating.require_gates)


def _without_gold(
    traces: tuple[str, ...],
    options: ScoreOptions,
    mapped: Mapped,
    gating: Gating,
    recording: Recording,
    output: Output,
) -> int:
    """The first report from traces alone."""
    from ragauge.contracts.trace_score import TraceScoreReport
    from ragauge.runners.score_traces import TraceScoreOptions, score_traces

    plain = ScoreOptions()
    given = [name for name in OF_GOLD if getattr(options, name) != getattr(plain, name)]
    if given:
        flags = ", ".join(f"--{name}" for name in given)
        raise UsageError(f"{flags}: needs a gold set; name it before the traces")
    names = [name for name in TraceScoreOptions.__struct_fields__ if hasattr(options, name)]
    chosen = TraceScoreOptions(**{name: getattr(options, name) for name in names})
    with delivering(recording, output, TraceScoreReport, list(traces), []) as delivery:
        outcome = score_traces(traces, columns=mapped.columns, options=chosen)
        delivery.deliver(outcome)
    return verdict_code(outcome.report.passed, gating.require_gates)
