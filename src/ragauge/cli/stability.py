"""`ragauge stability`: what a sweep shows to change that should not."""

from __future__ import annotations

from typing import Any

import click

from ragauge.cli.command import (
    NOT_MEASURED,
    counting,
    forms_of,
    options_of,
    report_option,
    settings,
    show,
    write_reports,
)
from ragauge.cli.run_store import recorder, recording_options, rows_of


@click.command()
@click.argument("gold", metavar="GOLD")
@click.argument("runs", metavar="RUNS...", nargs=-1, required=True)
@options_of("stability.profile", "stability.gates", "stability.min_stable")
@options_of("refusal", "refusal_tokens", "canon", "inline", "max_bad", "format", "quiet")
@recording_options
@click.option("--out", metavar="FILE", help="Write a row for every run as Parquet.")
@report_option("Also .html .json .md .xml .csv .txt.")
@click.pass_context
def stability(ctx: click.Context, /, **given: Any) -> None:
    """Score RUNS, the journal of `ragauge sweep` or traces of repeated runs, against GOLD.

    A question is stable when every gate holds over its runs; the rest are flaky, wrong every time
    or incomplete, and the report says which factor the variation goes with.

    \b
    Example:
      ragauge stability gold.jsonl runs.jsonl --report stability.html
      ragauge stability gold.jsonl runs.jsonl --gates 'acr>=0.9' --min-stable 0.98
    """
    from ragauge.runners.stability import stability as run

    gold, runs, reports = given.pop("gold"), given.pop("runs"), given.pop("reports")
    wanted = given.pop("out")
    chosen = settings("stability", **given)
    forms = forms_of(reports)
    names = ("profile", "min_stable", "refusal", "refusal_tokens", "inline", "max_bad")
    with recorder(chosen) as history, rows_of(history, wanted) as out:
        with counting("judging questions", chosen["quiet"]) as progress:
            outcome = run(
                gold,
                runs,
                progress,
                gates=",".join(chosen["gates"]) or None,
                canon=given["canon"],
                out=out,
                **{name: chosen[name] for name in names},
            )
        write_reports(outcome.report, forms, chosen["quiet"])
        show(outcome.report, chosen["format"])
        history.keep(outcome)
    if not outcome.report.coverage.runs:
        ctx.exit(NOT_MEASURED)
    ctx.exit(0 if outcome.report.passed else 1)
