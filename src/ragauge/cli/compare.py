"""`ragauge compare`: whether a run is better or worse than an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragauge.cli.command import command, deliver, exit_code, forms_of
from ragauge.cli.run_store import history_at
from ragauge.contracts.options import CompareOptions, Output, Stored

if TYPE_CHECKING:
    from ragauge.contracts.comparison import ComparisonReport
    from ragauge.contracts.history import History


@command()
def compare(
    before: str, after: str, options: CompareOptions, stored: Stored, output: Output
) -> int:
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
    from ragauge.runners.compare import compare as run

    forms = forms_of(output.reports, ComparisonReport)
    with history_at(stored.store) as history:
        report = run(history, before, after, options=options)
        said = _mark(history, report, output.quiet)
    deliver(report, forms, output)
    if said:
        click.echo(said, err=True)
    return exit_code(report)


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
