"""`ragauge score`: the main job."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.command import (
    NOT_MEASURED,
    forms_of,
    options_of,
    reading_progress,
    report_option,
    settings,
    show,
    verdict_code,
    write_reports,
)
from ragauge.cli.run_store import recorder, recording_options, rows_of

if TYPE_CHECKING:
    pass


SCORING = (
    *("preset", "min_coverage", "refusal", "refusal_tokens", "canon", "each", "inline"),
    "max_bad",
)
"""Settings that are options of the score itself."""


@click.command()
@click.argument("gold", metavar="GOLD")
@click.argument("traces", metavar="TRACES...", nargs=-1, required=True)
@options_of("preset", "gates", "min_coverage", "require_gates", "refusal", "refusal_tokens")
@options_of("canon", "each", "inline", "workers", "max_bad", "format", "quiet")
@recording_options
@click.option("--baseline", metavar="FILE", help="An earlier JSON report to compare with.")
@click.option("--out", metavar="FILE", help="Write a row for every trace as Parquet.")
@report_option("Also .html .json .md .xml .csv .txt.")
@click.pass_context
def score(ctx: click.Context, /, **given: Any) -> None:
    """Score the answers, citations and refusals in TRACES against GOLD, and decide the gates.

    GOLD is a gold.jsonl or a JSON array. TRACES are JSON Lines, plain, .gz or .zst; - is stdin.
    Without a gate on quality there is no PASS; every gold question must be traced and none may
    have failed all the same.

    \b
    Example:
      ragauge score gold.jsonl traces.jsonl --preset ship --report report.md
      ragauge score gold.jsonl new.jsonl --gates 'precision_cited>=0.8' --baseline old.json
    """
    from ragauge.runners.score import score as run

    gold, traces, reports = given.pop("gold"), given.pop("traces"), given.pop("reports")
    baseline, wanted = given.pop("baseline"), given.pop("out")
    chosen = settings(**given)
    options = {name: chosen[name] for name in SCORING}
    options["gates"] = ",".join(chosen["gates"]) or None
    options["workers"] = chosen["workers"] or os.cpu_count() or 1
    forms = forms_of(reports)
    with recorder(chosen) as history, rows_of(history, wanted) as out:
        with reading_progress(traces, chosen["quiet"], "scoring") as progress:
            options |= {"out": out, "baseline": baseline, "keep_answers": history.on}
            outcome = run(gold, traces, progress, **options)
        write_reports(outcome.report, forms, chosen["quiet"])
        show(outcome.report, chosen["format"])
        history.keep(outcome)
    if not outcome.report.coverage.scored:
        ctx.exit(NOT_MEASURED)
    ctx.exit(verdict_code(outcome.report.passed, chosen["require_gates"]))
