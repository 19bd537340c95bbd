"""`ragauge consistency`: whether two judges say the same of the same answers."""

from __future__ import annotations

from typing import Annotated

import click
from msgspec import Struct

from ragauge.cli.command import command, deliver, exit_code, forms_of, write_file
from ragauge.contracts.consistency import ConsistencyReport
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import Mapped, Output

TSV = "tsv"


class Options(Struct, frozen=True, kw_only=True):
    """How labels are compared."""

    raters: Annotated[
        str | None,
        Opt("The two columns of one file that hold labels: scholar,auditor.", metavar="A,B"),
    ] = None
    gates: Annotated[
        str | None,
        Opt("In place of the defaults: kappa>=0.8.", metavar="RULES", joined=True),
    ] = None
    disagreements: Annotated[
        str | None, Opt("Write all of them, with final label and why.", metavar="FILE.tsv")
    ] = None


@command("text", "json", "markdown", "csv", TSV)
def consistency(
    a: str, b: str | None = None, *, options: Options, mapped: Mapped, output: Output
) -> int:
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
    from ragauge.reports.kinds.consistency import tsv
    from ragauge.runners.consistency import consistency as run

    forms = forms_of(output.reports, ConsistencyReport)
    raters = None
    if options.raters is not None:
        text = options.raters
        one, _, other = (part.strip() for part in text.partition(","))
        if not one or not other or "," in other or one.lower() == other.lower():
            raise click.UsageError(f'--raters "{text}": name two columns, such as scholar,auditor')
        raters = (one, other)
    outcome = run(a, b, gates=options.gates, raters=raters, columns=mapped.columns)
    if options.disagreements:
        write_file(options.disagreements, tsv(outcome.disagreements).encode(), output.quiet)
    instead = tsv(outcome.disagreements) if output.format == TSV else None
    deliver(outcome.report, forms, output, instead=instead)
    return exit_code(outcome.report)
