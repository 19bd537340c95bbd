"""`ragauge consistency`: whether two judges say the same of the same answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.exit_codes import NOT_MEASURED
from ragauge.cli.score import show, write_reports
from ragauge.cli.settings import formats, options_of, remark, settings

if TYPE_CHECKING:
    from ragauge.contracts.consistency import ConsistencyOutcome

FORMS = ("text", "json", "markdown", "csv")
TSV = "tsv"


@click.command(short_help="Compare two judges' labels for the same questions.")
@click.argument("a", metavar="A")
@click.argument("b", metavar="[B]", required=False)
@click.option(
    "--raters", metavar="A,B", help="The two columns of one file that hold labels: scholar,auditor."
)
@click.option(
    "--gates", metavar="RULES", multiple=True, help="In place of the defaults: kappa>=0.8."
)
@click.option(
    "--disagreements", metavar="FILE.tsv", help="Write all of them, with final label and why."
)
@formats(*FORMS, TSV)
@click.option(
    "--report", "reports", metavar="FILE", multiple=True, help="Also .json .md .csv .tsv."
)
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
    from ragauge.reports.forms import form_of
    from ragauge.runners.consistency import consistency as run

    forms = {Path(name): form_of(Path(name), ConsistencyReport) for name in given["reports"]}
    quiet = settings(quiet=given["quiet"])["quiet"]
    outcome = run(
        given["a"],
        given["b"],
        gates=",".join(given["gates"]) if given["gates"] else None,
        raters=_raters(given["raters"]),
    )
    if given["disagreements"]:
        _write_disagreements(outcome, Path(given["disagreements"]), quiet)
    write_reports(outcome.report, forms, quiet)
    _show(outcome, given["format"] or "text")
    if not outcome.report.coverage.both:
        ctx.exit(NOT_MEASURED)
    ctx.exit(0 if outcome.report.passed else 1)


def _raters(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names) or names[0].lower() == names[1].lower():
        raise click.UsageError(f'--raters "{text}": name two columns, such as scholar,auditor')
    return names[0], names[1]


def _show(outcome: ConsistencyOutcome, form: str) -> None:
    if form == TSV:
        from ragauge.reports.kinds.consistency import tsv

        click.echo(tsv(outcome.disagreements), nl=False)
    else:
        show(outcome.report, form)


def _write_disagreements(outcome: ConsistencyOutcome, path: Path, quiet: bool) -> None:
    from ragauge.reports.kinds.consistency import tsv
    from ragauge.store.files import write_whole

    write_whole(path, tsv(outcome.disagreements).encode())
    remark(f"wrote {path}", quiet)
