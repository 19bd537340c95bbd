"""`ragauge compare`: whether a run is better or worse than an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.command import (
    NOT_MEASURED,
    forms_of,
    options_of,
    report_option,
    settings,
    show,
    verdict_code,
    write_reports,
)
from ragauge.cli.run_store import history_at, store_option

if TYPE_CHECKING:
    from ragauge.contracts.comparison import ComparisonReport
    from ragauge.contracts.history import History

METHODS = ("auto", "mcnemar", "randomisation", "t", "wilcoxon", "bootstrap")


@click.command()
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="AFTER")
@click.option(
    "--metric",
    "metrics",
    metavar="NAME",
    multiple=True,
    help="Only these; `all` tests all. Else the headlines, and what the runs' gates are on.",
)
@click.option(
    "--margin",
    "margins",
    metavar="[NAME=]LOSS",
    multiple=True,
    help="A loss you accept: 0.02 of any metric, or precision_cited=0.02.",
)
@click.option(
    "--slice", "slices", metavar="STRATUM", multiple=True, help="Also by country, answerable, …"
)
@click.option(
    "--correction",
    type=click.Choice(("holm", "bh", "none")),
    default="holm",
    show_default=True,
    help="For testing several metrics, and many slices.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="auto",
    show_default=True,
    help="McNemar for 0/1 scores, randomisation else.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 0.5, min_open=True),
    default=0.05,
    show_default=True,
    help="Level of significance: verdicts, and intervals at 100·(1 − alpha) %.",
)
@click.option(
    "--gate",
    type=click.Choice(("no-regression", "not-worse")),
    help="Fail what got worse, or what was not shown not to.",
)
@click.option(
    "--allow",
    metavar="WHAT",
    multiple=True,
    help="gold: compare the questions that mean the same. versions: metrics made another way stay "
    "not comparable, the rest is compared. no-baseline: let a first run pass. With commas.",
)
@store_option
@options_of("min_coverage", "format", "quiet")
@report_option("Also .html .json .md .xml .csv .txt.")
@click.pass_context
def compare(ctx: click.Context, /, **given: Any) -> None:
    """Compare the recorded runs BEFORE and AFTER, on the questions they share.

    A run is the beginning of its id, a tag, `latest`, `green` (the last that passed, and that no
    gate failed here), one of these on a branch, or commit:HASH. BEFORE is looked for among the
    runs of AFTER's command and name that were recorded before it. Metrics that are not tested are
    shown below the others, without a verdict. Without --gate a comparison is
    information, and ends with 0; with it, an AFTER that fails is marked, and not green any more.

    \b
    Example:
      ragauge compare green@main latest --gate no-regression
      ragauge compare v1 v2 --metric precision_cited --margin 0.02 --slice country
    """
    from ragauge.contracts.comparison import ComparisonReport
    from ragauge.errors import UsageError
    from ragauge.runners.compare import ALLOWANCES
    from ragauge.runners.compare import compare as run

    forms = forms_of(given["reports"], ComparisonReport)
    chosen = settings(**{name: given[name] for name in ("min_coverage", "format", "quiet")})
    names = ("metrics", "margins", "slices", "correction", "method", "alpha", "gate")
    options = {name: given[name] for name in names} | {"min_coverage": chosen["min_coverage"]}
    allowed = [word.strip() for text in given["allow"] for word in text.split(",")]
    if unknown := [word for word in allowed if word not in ALLOWANCES]:
        there = ", ".join(ALLOWANCES)
        raise UsageError(*(f'--allow "{word}": is none of {there}' for word in unknown))
    with history_at(given["store"]) as history:
        allow = tuple(dict.fromkeys(allowed))
        report = run(history, given["before"], given["after"], allow=allow, **options)
        said = _mark(history, report, chosen["quiet"])
    write_reports(report, forms, chosen["quiet"])
    show(report, chosen["format"])
    if said:
        click.echo(said, err=True)
    if report.before is not None and all(one.change is None for one in report.compared.values()):
        ctx.exit(NOT_MEASURED)
    ctx.exit(verdict_code(report.passed))


def _mark(history: History, report: ComparisonReport, quiet: bool) -> str | None:
    """Mark the run that a gate failed, so that it is nobody's baseline; what to say of it."""
    if report.passed is not False or report.before is None:
        return None
    from ragauge.contracts.history import ID_SHOWN
    from ragauge.errors import RagaugeError

    run, baseline = report.after.id[:ID_SHOWN], report.before.id[:ID_SHOWN]
    try:
        history.regressed(report.after.id, report.before.id)
    except RagaugeError as error:
        return f"run {run} could not be marked as regressed, and may still be green: {error}"
    told = f"run {run} is marked as regressed against {baseline}: `green` passes over it"
    return None if quiet else told
