"""`ragauge history`: a metric over the recorded runs."""

from __future__ import annotations

from typing import Any

import click

from ragauge.cli.command import (
    formats,
    forms_of,
    options_of,
    report_option,
    settings,
    show,
    write_reports,
)
from ragauge.cli.run_store import history_at, store_option


@click.command()
@click.argument("metric", metavar="METRIC")
@click.option("--name", metavar="NAME", help="Only runs of this name; the newest run's by default.")
@click.option("--command", metavar="VERB", help="Only runs of this command, such as score.")
@click.option("--branch", metavar="BRANCH", help="Only runs made on this branch.")
@click.option("--label", "labels", metavar="K=V", multiple=True, help="Only runs so labelled.")
@click.option(
    "--last", type=click.IntRange(min=1), default=50, show_default=True, help="So many runs."
)
@click.option(
    "--gate",
    metavar="RULES",
    help="Fail unless these hold: cv<=0.05 (σ/μ), slope>=0 (a run), no-change-point.",
)
@store_option
@formats("text", "json", "markdown", "csv")
@options_of("quiet")
@report_option("Also .json .md .csv .txt.")
@click.pass_context
def history(ctx: click.Context, /, **given: Any) -> None:
    """Show METRIC over the recorded runs, oldest first: its line, its level and where it changed.

    Where the questions of the gold set change, or how the metric is made, the line is cut: levels
    are not compared across. With --gate, the runs since the last such cut must meet the rules: a
    rule that fails, or that has too few runs to be evaluated, ends with 1.

    \b
    Example:
      ragauge history precision_cited --branch main --last 100
      ragauge history precision_cited --gate "cv<=0.05,slope>=-0.001,no-change-point"
    """
    from ragauge.contracts.comparison import HistoryReport
    from ragauge.contracts.options import HistoryOptions
    from ragauge.ingest.configuration import read_labels
    from ragauge.runners.run_history import run_history

    forms = forms_of(given["reports"], HistoryReport)
    options = HistoryOptions(
        labels=read_labels(given["labels"]),
        **{name: given[name] for name in ("name", "command", "branch", "last", "gate")},
    )
    with history_at(given["store"]) as kept:
        report = run_history(kept, given["metric"], options)
    write_reports(report, forms, settings(quiet=given["quiet"])["quiet"])
    show(report, given["format"])
    ctx.exit(0 if report.passed else 1)
