"""`ragauge eval` of components: their options, commands, and the way from outcome to exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ragauge.cli.command import (
    NOT_MEASURED,
    counting,
    formats,
    forms_of,
    gates_option,
    input_format,
    options,
    options_of,
    refuse_overwriting,
    remark,
    report_option,
    settings,
    show,
    verdict_code,
    write_file,
    write_reports,
)
from ragauge.cli.run_store import recorder, recording_options

if TYPE_CHECKING:
    from ragauge.contracts.report import Outcome
    from ragauge.ingest.ranked.ranking_rows import Role

Command = TypeVar("Command", bound=Callable[..., Any])
FORMS = ("text", "json", "markdown", "junit", "csv", "html")
ENDINGS = {"html": ".html", "json": ".json", "markdown": ".md", "junit": ".xml", "csv": ".csv"}
OWN = (
    *("record", "store", "name", "label", "keep_texts", "quiet", "max_bad", "workers"),
    *("min_coverage", "require_gates"),
)
"""Options that are settings."""


def evaluating_options(*forms: str) -> Callable[[Command], Command]:
    """What every evaluation takes: gates, strata, history, and reports in these forms."""
    return options(
        click.option(
            "--preset", type=click.Choice(["integrity", "heritage"]), help="Gates by name."
        ),
        gates_option("In place of the preset's, or beside them."),
        click.option(
            "--by", metavar="STRATUM", multiple=True, help="Slice by it  [all strata of the gold]"
        ),
        click.option("--strata", metavar="FILE", help="A table of strata: id, country, language …"),
        click.option("--intervals/--no-intervals", default=True, help="Resample for intervals."),
        click.option("--out", metavar="FILE", help="A row for each unit: .jsonl .csv .parquet."),
        recording_options,
        options_of("min_coverage", "require_gates", "max_bad", "quiet"),
        report_option(f"Also {' '.join(ENDINGS[form] for form in forms if form in ENDINGS)}."),
        formats(*forms),
    )


def evaluated(
    given: dict[str, Any],
    read: Iterable[str],
    run: Callable[..., Outcome[Any]],
) -> int:
    """Evaluate with the options given, write and show what came of it; the exit code.

    It is 3 where nothing could be scored, 1 where a gate does not hold. `run` gets what is left
    of the options: those of the runner.
    """
    form, out, reports = given.pop("format") or "text", given.pop("out"), given.pop("reports")
    given["gates"] = ",".join(given["gates"]) or None
    flags = {name: given.pop(name) for name in OWN if name in given}
    chosen = settings(**flags)
    forms = forms_of(reports)
    names = list(read)
    if len(names) > 1 and names[0] == names[1]:
        remark(f"{names[0]} is compared with itself: every number is the best there is", False)
    refuse_overwriting([*names, given["strata"]], [*forms, out or None])
    with recorder(chosen) as history:
        if "workers" in flags:
            given["workers"] = chosen["workers"] or os.cpu_count() or 1
        outcome = run(**given, **{name: chosen[name] for name in ("max_bad", "min_coverage")})
        if out is not None:
            from ragauge.store.rows import units_table

            write_file(out, units_table(outcome.units, Path(out)), chosen["quiet"])
        write_reports(outcome.report, forms, chosen["quiet"])
        show(outcome.report, form)
        history.keep(outcome)
    report = outcome.report
    values = [score.value for id, score in report.metrics.items() if not id.endswith(".coverage")]
    if not report.coverage.get("scored") or all(value is None for value in values):
        return NOT_MEASURED
    return verdict_code(report.passed, chosen["require_gates"])


@click.command("ner", short_help="Entities: strict, exact, partial and by token.")
@click.argument("gold", metavar="GOLD")
@click.argument("predicted", metavar="PRED")
@input_format(
    *("json", "jsonl", "brat", "iob1", "iob2", "iobes", "bioes", "bilou", "conll2003", "conllu"),
    *("hipe", "tsv", "neleval"),
)
@click.option(
    "--matching",
    type=click.Choice(["best", "hipe", "nervaluate"]),
    default="best",
    help="How predictions meet gold  [best]",
)
@click.option("--level", type=click.IntRange(1), help="Compare types by their first N parts.")
@click.option("--layer", metavar="NAME", help="Only this layer, such as NE-COARSE-LIT.")
@click.option("--types", metavar="A,B,…", help="The types there are  [those met]")
@click.option("--min-overlap", type=click.FloatRange(0, 1), help="Share of gold to overlap.")
@click.option(
    "--empty",
    type=click.Choice(["null", "zero", "gerbil"]),
    default="null",
    help="A document with nothing to find and nothing found  [null: absent]",
)
@click.option(
    "--offsets",
    type=click.Choice(["characters", "tokens"]),
    help="What start and end count  [tokens where a record has them]",
)
@click.option(
    "--scheme",
    type=click.Choice(["repair", "strict"]),
    help="Tags out of order: as conlleval, or no entity  [repair]",
)
@click.option("--column", type=int, help="The column of the tags, from 1  [the last]")
@click.option(
    "--token-rule",
    type=click.Choice(["overlap", "brief"]),
    default="overlap",
    help="A token is in an entity if they overlap, or its first character is  [overlap]",
)
@click.option("--reanchor", is_flag=True, help="Move misplaced spans to where their text is.")
@evaluating_options(*FORMS)
@click.pass_context
def eval_ner(ctx: click.Context, /, gold: str, predicted: str, **given: Any) -> None:
    """Evaluate the entities of PRED against those of GOLD, document by document.

    Both are JSON or JSON Lines, a folder of BRAT files, IOB, BIOES, CoNLL-2003, CoNLL-U, HIPE TSV
    or a table of spans; what they are is seen from their content. f1_partial is the fuzzy match of
    HIPE: any overlap, the same type. SemEval's half credit is f1_semeval_partial.

    \b
    Example:
      ragauge eval ner gold.jsonl predicted.jsonl --by language --report ner.html
      ragauge eval ner gold.tsv predicted.tsv --matching hipe --format json
    """
    from ragauge.runners.components.evaluate_ner import evaluate_ner

    types = (given["types"] or "").split(",")
    given["types"] = tuple(filter(None, (one.strip() for one in types)))
    ctx.exit(evaluated(given, [gold, predicted], partial(evaluate_ner, gold, predicted)))


@click.command("types")
@click.argument("gold", metavar="GOLD")
@click.argument("predicted", metavar="PRED")
@input_format("json", "jsonl", "tsv", "csv")
@click.option(
    "--labels",
    metavar="SET",
    help="The labels there are: heritage, a TOML file, or A,B,…  [those met]",
)
@click.option("--field", metavar="NAME", help="Where records have their label.")
@click.option("--predicted-field", metavar="NAME", help="Where PRED has it, if elsewhere.")
@evaluating_options(*FORMS)
@click.pass_context
def eval_types(ctx: click.Context, /, gold: str, predicted: str, **given: Any) -> None:
    """Evaluate the types of PRED against those of GOLD, joined on id, or on text where it is one.

    Both are tables (id, label; or text, gold_type, secondary_types), JSON, JSON Lines or heritage
    entries. An item without a prediction is MISSING, and wrong; a label outside the set is OTHER.

    \b
    Example:
      ragauge eval types gold.tsv predicted.tsv --labels heritage --report types.html
    """
    from ragauge.runners.components.evaluate_types import evaluate_types

    ctx.exit(evaluated(given, [gold, predicted], partial(evaluate_types, gold, predicted)))


@click.command("linking", short_help="Links: hits, MRR, NIL, end to end, consistency.")
@click.argument("gold", metavar="GOLD")
@click.argument("predicted", metavar="PRED")
@input_format("json", "jsonl", "tsv", "neleval", "hipe")
@click.option("--kb", metavar="NAME", help="The knowledge base that decides  [any id in common]")
@click.option("-k", type=click.IntRange(1), multiple=True, help="Ranks of hits@k  [1, 5 and 10]")
@click.option("--equivalents", metavar="FILE", help="Ids that are one: for the relaxed numbers.")
@click.option("--crosswalk", metavar="FILE", help="Ids across knowledge bases: id, id, relation.")
@click.option(
    "--layer",
    type=click.Choice(["NEL-LIT", "NEL-METO"]),
    default="NEL-LIT",
    help="The column of links of HIPE files  [NEL-LIT]",
)
@click.option(
    "--duplicates",
    type=click.Choice(["error", "best"]),
    default="error",
    help="Several predictions for a mention  [error]",
)
@evaluating_options(*FORMS)
@click.pass_context
def eval_linking(ctx: click.Context, /, gold: str, predicted: str, **given: Any) -> None:
    """Evaluate the links of PRED against those of GOLD, joined on document and span, or on id.

    Hits@k and MRR are over all gold mentions that are in a knowledge base; those that are in none
    are NIL, and have numbers of their own. Nothing is looked up on the network: what belongs
    together across knowledge bases is read from --crosswalk. HIPE files have their scorer's numbers
    as well: hipe_f1@1, @3 and @5, where NIL is an id like any other.

    \b
    Example:
      ragauge eval linking gold.jsonl predicted.jsonl --crosswalk wikidata-viaf.tsv
    """
    from ragauge.runners.components.evaluate_linking import evaluate_linking

    given["k"] = given["k"] or (1, 5, 10)
    read = [gold, predicted, *filter(None, (given["equivalents"], given["crosswalk"]))]
    ctx.exit(evaluated(given, read, partial(evaluate_linking, gold, predicted)))


@click.command("retrieval", short_help="Rankings: nDCG, P, R, RR, AP and more.")
@click.argument("qrels", metavar="QRELS")
@click.argument("run", metavar="RUN")
@input_format("trec", "beir", "ranx", "tsv", "json", "jsonl")
@click.option(
    "--measures", metavar="NAMES", multiple=True, help="Such as nDCG@10 or P(rel=2)@5; repeatable."
)
@click.option(
    "--baseline", "baselines", metavar="RUN", multiple=True, help="Compare with it, query by query."
)
@click.option("-k", type=click.IntRange(1), multiple=True, help="Cut-offs  [5, 10 and 20]")
@click.option("--rel", type=int, default=1, help="The grade from which on it is relevant  [1]")
@click.option(
    "--no-rel",
    type=click.Choice(["exclude", "zero"]),
    help="Queries with nothing relevant  [TREC: zero, as trec_eval; else exclude from the means]",
)
@click.option(
    "--as",
    "counted_as",
    type=click.Choice(["trec_eval"]),
    help="Count queries as trec_eval -c does  [the default for TREC judgements]",
)
@click.option("--collapse", metavar="SEP", help="Chunks to documents: what stands before SEP.")
@click.option(
    "--duplicates",
    type=click.Choice(["collapse", "error"]),
    default="collapse",
    help="A document twice for a query  [collapse: the best rank stays]",
)
@click.option("--drop-self", is_flag=True, help="Leave out documents that have the query's id.")
@click.option(
    "--test",
    type=click.Choice(["auto", "mcnemar", "randomisation", "t", "wilcoxon", "bootstrap"]),
    default="auto",
    help="The paired test with --baseline  [auto]",
)
@click.option(
    "--correction",
    type=click.Choice(["holm", "bh"]),
    default="holm",
    help="For several measures and runs  [holm]",
)
@click.option("--source-depth", type=click.IntRange(1), help="Credit sources down to this rank.")
@options_of("workers")
@evaluating_options(*FORMS)
@click.pass_context
def eval_retrieval(ctx: click.Context, /, qrels: str, run: str, **given: Any) -> None:
    """Evaluate the ranking in RUN against the graded judgements in QRELS.

    Both are TREC files, BEIR tables, ranx JSON, tables with a header, JSON or JSON Lines. Ranked
    by score, ties by document id descending, as trec_eval does; a query that RUN lacks counts 0.
    With TREC judgements, or --as trec_eval, a query with nothing relevant counts 0 too; with other
    formats it is left out of the means.

    \b
    Example:
      ragauge eval retrieval qrels.txt run.txt --measures nDCG@10 --measures 'P(rel=2)@5'
      ragauge eval retrieval qrels.txt new.txt --baseline old.txt --out per-query.csv
    """
    from ragauge.runners.components.evaluate_retrieval import evaluate_retrieval

    read = [qrels, run, *given["baselines"]]
    ctx.exit(evaluated(given, read, partial(evaluate_retrieval, qrels, run)))


@click.command("all")
@click.argument("gold", metavar="[GOLD]", required=False)
@click.option("--model", metavar="MODULE:OBJECT", help="What to evaluate: yours, or a baseline.")
@click.option("--demo", is_flag=True, help="The bundled entries, and --model or baselines.")
@click.option(
    "--task",
    "tasks",
    type=click.Choice(["ner", "types", "linking", "retrieval"]),
    multiple=True,
    help="Only these; repeatable  [all the model can do]",
)
@click.option("--qrels", metavar="FILE", help="Judgements for retrieval, in any of its formats.")
@click.option("--queries", metavar="FILE", help="A gold set whose questions are the queries.")
@click.option("--labels", metavar="SET", help="The labels of types: heritage, a file, or A,B,…")
@click.option("--crosswalk", metavar="FILE", help="Ids across knowledge bases: id, id, relation.")
@click.option("--embedder", metavar="NAME", help="Of answers: ngram, minilm or URL  [ngram]")
@click.option("-k", type=click.IntRange(1), default=20, help="Results to retrieve  [20]")
@evaluating_options("text", "json", "markdown", "junit", "html")
@click.pass_context
def eval_all(ctx: click.Context, /, gold: str | None, **given: Any) -> None:
    """Run a model over the entries of GOLD, and evaluate every task it can do.

    The model is any object with some of the methods extract_entities(text), classify(text),
    link(mention, context), retrieve(query, k), answer(question). Baselines to compare with go by
    name: spacy:PIPELINE, zero-shot:MODEL, wikidata:LANGUAGE or wikidata:URL. A call that fails is
    an error in the report, and so is a task that fails altogether; the rest finish. Answers are
    judged by words alone: `ragauge eval qa --judge URL` asks a model.

    \b
    Example:
      ragauge eval all --demo
      ragauge eval all --demo --model ragauge.demo.components:BM25
      ragauge eval all entries.jsonl --model spacy:nl_core_news_sm --task ner
      ragauge eval all entries.jsonl --model mymodels:pipeline --preset heritage
    """
    demo, model = given.pop("demo"), given.pop("model")
    if demo and gold:
        raise click.UsageError("--demo brings its own entries; give none beside it")
    if demo:
        from ragauge.demo import GOLD
        from ragauge.demo.components import ANNOTATED, CROSSWALK, MODEL, QRELS

        gold, model = str(ANNOTATED), model or MODEL
        bundled = {"queries": GOLD, "qrels": QRELS, "crosswalk": CROSSWALK, "labels": "heritage"}
        given |= {name: given[name] or str(value) for name, value in bundled.items()}
    if not gold or not model:
        raise click.UsageError("give GOLD and --model module:object, or --demo")
    from ragauge.runners.components.evaluate_all import evaluate_all

    read = [one for one in (gold, given["qrels"], given["queries"], given["crosswalk"]) if one]
    with counting("asking the model", given["quiet"]) as progress:
        code = evaluated(given, read, partial(evaluate_all, gold, model, progress=progress))
    ctx.exit(code)


WRITTEN = {
    "entities": (
        *("jsonl", "brat", "hipe", "iob1", "iob2", "bioes", "bilou", "conll2003", "conllu"),
        "tsv",
    ),
    "qrels": ("trec", "ranx", "jsonl", "beir", "tsv"),
    "run": ("trec", "ranx", "jsonl", "beir", "tsv"),
}


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--to", "form", metavar="FORMAT", required=True, help="What to write; see below.")
@click.option(
    "--what", type=click.Choice(list(WRITTEN)), default="entities", help="What IN holds  [entities]"
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
    if form not in WRITTEN[what]:
        known = ", ".join(WRITTEN[what])
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
