"""`ragauge consistency`: whether two judges say the same of the same answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragauge.cli.command import (
    NOT_MEASURED,
    formats,
    forms_of,
    gates_option,
    options_of,
    report_option,
    settings,
    show,
    write_file,
    write_reports,
)

TSV = "tsv"


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="[B]", required=False)
@click.option(
    "--raters", metavar="A,B", help="The two columns of one file that hold labels: scholar,auditor."
)
@gates_option("In place of the defaults: kappa>=0.8.")
@click.option(
    "--disagreements", metavar="FILE.tsv", help="Write all of them, with final label and why."
)
@formats("text", "json", "markdown", "csv", TSV)
@report_option("Also .json .md .csv .tsv.")
@options_of("quiet")
@click.pass_context
def consistency(ctx: click.Context, /, **given: Any) -> None:
    """Compare the labels of two judges, A and B, for the same questions.

    A and B are JSON Lines, CSV or TSV of qid, label and perhaps reason; one of them may be -,
    which is stdin. Labels are VALID, NOT_IN_CONTEXT, REJECT and ABSTAIN. Without other gates:
    agreement>=0.9, kappa>=0.75, abstain<=0.02, and every question judged by both.

    Without B, A has the labels of both judges: a qid and a column for each, such as scholar and
    auditor. The two columns that hold labels are taken; where more do, --raters names two.

    Where they disagree the stricter label is final: REJECT over NOT_IN_CONTEXT over VALID; an
    abstention never outweighs a label.

    \b
    Example:
      ragauge consistency scholar.jsonl auditor.jsonl --disagreements disagreements.tsv
      ragauge consistency labels.csv --raters scholar,auditor
    """
    from ragauge.contracts.consistency import ConsistencyReport
    from ragauge.reports.kinds.consistency import tsv
    from ragauge.runners.consistency import consistency as run

    forms = forms_of(given["reports"], ConsistencyReport)
    quiet = settings(quiet=given["quiet"])["quiet"]
    raters = None
    if given["raters"] is not None:
        raters = tuple(name.strip() for name in given["raters"].split(","))
        if len(raters) != 2 or not all(raters) or raters[0].lower() == raters[1].lower():
            text = given["raters"]
            raise click.UsageError(f'--raters "{text}": name two columns, such as scholar,auditor')
    gates = ",".join(given["gates"]) if given["gates"] else None
    outcome = run(given["a"], given["b"], gates=gates, raters=raters)
    if given["disagreements"]:
        content = tsv(outcome.disagreements).encode()
        write_file(Path(given["disagreements"]), content, quiet)
    write_reports(outcome.report, forms, quiet)
    if given["format"] == TSV:
        click.echo(tsv(outcome.disagreements), nl=False)
    else:
        show(outcome.report, given["format"])
    if not outcome.report.coverage.both:
        ctx.exit(NOT_MEASURED)
    ctx.exit(0 if outcome.report.passed else 1)
