"""`ragauge gold agreement`: whether annotators agree well enough to call their labels gold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragauge.cli.exit_codes import NOT_MEASURED
from ragauge.cli.gold_split import names_in
from ragauge.cli.settings import formats, settings

FORMS = ("text", "json", "markdown", "csv")
LEVELS = ("nominal", "ordinal", "interval")
WEIGHTS = ("none", "linear", "quadratic")


@click.command(short_help="Say whether annotators agree well enough.")
@click.argument("files", metavar="A B [C...]", nargs=-1, required=True)
@click.option(
    "--field",
    metavar="NAME",
    help="What to compare: a field, or a path such as a.b.  [label, ner_annotations or spans]",
)
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    help="What labels are.  [nominal, with weights or an order: ordinal]",
)
@click.option(
    "--weights",
    type=click.Choice(WEIGHTS),
    default="none",
    help="Let near labels agree in part: weighted κ.",
)
@click.option("--order", metavar="a,b,c", help="The labels, lowest first, where no numbers are.")
@click.option(
    "--gates", metavar="RULES", multiple=True, help="In place of the default: alpha>=0.8."
)
@formats(*FORMS)
@click.option(
    "--report", "reports", metavar="FILE", multiple=True, help="Also .json .md .csv .txt."
)
@click.option("--quiet", is_flag=True, default=None, help="No remarks on stderr.")
@click.pass_context
def agreement(ctx: click.Context, /, **given: Any) -> None:
    """Compare the annotations of the same items by two annotators or more.

    Files are JSON Lines, a JSON array, CSV or TSV, an item a record: id or qid, and a label, or
    spans as [{start, end, type}]. One of them may be -, which is stdin. κ and span F1 of more
    than two annotators are means over pairs.

    Without other gates kappa>0.85 must hold; with weights, kappa_weighted>0.85; at interval level,
    alpha>0.85; for spans, span_f1>=0.85. Every item must be annotated by all.

    \b
    Example:
      ragauge gold agreement anna.jsonl ben.csv --field type --gates 'kappa>0.8'
      ragauge gold agreement a.csv b.csv c.csv --order low,middle,high --weights quadratic
    """
    from ragauge.cli.score import show, write_reports
    from ragauge.contracts.annotation import AgreementReport
    from ragauge.reports.forms import form_of
    from ragauge.runners.gold_agreement import agreement as run
    from ragauge.runners.label_agreement import Options

    forms = {Path(name): form_of(Path(name), AgreementReport) for name in given["reports"]}
    order = tuple(names_in(given["order"]) or ())
    report = run(
        given["files"],
        field=given["field"],
        options=Options(level=given["level"], weights=given["weights"], order=order),
        gates=",".join(given["gates"]) if given["gates"] else None,
    ).report
    write_reports(report, forms, settings(quiet=given["quiet"])["quiet"])
    show(report, given["format"] or "text")
    covered = report.coverage
    if not covered.all + covered.some:
        ctx.exit(NOT_MEASURED)
    ctx.exit(0 if report.passed else 1)
