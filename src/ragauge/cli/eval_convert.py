"""`ragauge eval convert`: annotated texts and rankings in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragauge.cli.settings import remark

if TYPE_CHECKING:
    from ragauge.ingest.ranked.ranking_rows import Role

FORMS = {
    "entities": (
        "jsonl",
        "brat",
        "hipe",
        "iob1",
        "iob2",
        "bioes",
        "bilou",
        "conll2003",
        "conllu",
        "tsv",
    ),
    "qrels": ("trec", "ranx", "jsonl", "beir", "tsv"),
    "run": ("trec", "ranx", "jsonl", "beir", "tsv"),
}


@click.command("convert", short_help="Write annotated texts or rankings in another format.")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--to", "form", metavar="FORMAT", required=True, help="What to write; see below.")
@click.option(
    "--what", type=click.Choice(list(FORMS)), default="entities", help="What IN holds  [entities]"
)
@click.option("--input-format", metavar="FORMAT", help="Force it  [seen from the content]")
@click.option("--lossy", is_flag=True, help="Leave out what the format cannot hold, and tell it.")
@click.option("--reanchor", is_flag=True, help="Move misplaced spans to where their text is.")
@click.option("--quiet", is_flag=True, help="No remarks on standard error.")
def eval_convert(
    source: str,
    target: Path,
    form: str,
    what: str,
    input_format: str | None,
    lossy: bool,
    reanchor: bool,
    quiet: bool,
) -> None:
    """Read IN in any format that `eval` reads, and write it to OUT.

    Entities are written as jsonl, brat (OUT is then a new folder), hipe, iob1, iob2, bioes, bilou,
    conll2003, conllu or tsv; qrels and runs as trec, ranx, jsonl, beir or tsv. What a format cannot
    hold, such as nested entities in IOB2 or links, is told, and nothing is written, unless it may
    be --lossy.

    \b
    Example:
      ragauge eval convert annotated.jsonl gold.iob2 --to iob2
      ragauge eval convert run.json run.txt --what run --to trec
    """
    if form not in FORMS[what]:
        known = ", ".join(FORMS[what])
        raise click.UsageError(f"--to {form}: {what} are written as {known}")
    from ragauge.reports.envelope import finding_text
    from ragauge.runners.components.eval_convert import convert_entities, convert_rankings

    if what == "entities":
        count, found = convert_entities(
            source, target, form, input_format=input_format, reanchor=reanchor, lossy=lossy
        )
        for finding in found:
            remark(f"{finding.code}: {finding_text(finding)}", quiet)
        remark(f"wrote {target}: {count:,} documents", quiet)
        return
    role: Role = "qrels" if what == "qrels" else "run"
    count = convert_rankings(source, target, form, role, input_format=input_format)
    remark(f"wrote {target}: {count:,} queries", quiet)
