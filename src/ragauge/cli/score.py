"""`ragauge score`: the main job."""

from __future__ import annotations

from msgspec import structs

from ragauge.cli.command import NOT_MEASURED, command, reading_progress, verdict_code
from ragauge.cli.run_store import delivering, rows_of
from ragauge.contracts.options import Gating, Output, Recording, ScoreOptions


@command()
def score(
    gold: str,
    traces: tuple[str, ...],
    options: ScoreOptions,
    gating: Gating,
    recording: Recording,
    output: Output,
) -> int:
    """Score the answers, citations and refusals in TRACES against GOLD, and decide the gates.

    GOLD is a gold.jsonl or a JSON array. TRACES are JSON Lines, plain, .gz or .zst; - is stdin.
    Without a gate on quality there is no PASS; every gold question must be traced and none may
    have failed all the same.

    \b
    Example:
      ragauge score gold.jsonl traces.jsonl --preset ship --report report.md
      ragauge score gold.jsonl new.jsonl --gates 'precision_cited>=0.8' --baseline old.json
    """
    from ragauge.contracts.score import ScoreReport
    from ragauge.runners.score import score as run

    read = [gold, *traces, options.baseline]
    with (
        delivering(recording, output, ScoreReport, read, [options.out]) as delivery,
        rows_of(delivery, options.out) as out,
    ):
        chosen = structs.replace(options, out=out, keep_answers=delivery.on)
        with reading_progress(traces, output.quiet, "scoring") as progress:
            outcome = run(gold, traces, progress, options=chosen)
        delivery.deliver(outcome)
    if not outcome.report.coverage.scored:
        return NOT_MEASURED
    return verdict_code(outcome.report.passed, gating.require_gates)
