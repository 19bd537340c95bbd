"""`ragauge eval all`: every task a model can do, over heritage entries."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ragauge.cli.evaluating import evaluated, evaluating_options
from ragauge.cli.progress import counting


@click.command("all", short_help="All tasks of a model over heritage entries, in one report.")
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
        gold, bundled = _bundled(given)
        model = model or bundled
    if not gold or not model:
        raise click.UsageError("give GOLD and --model module:object, or --demo")
    from ragauge.runners.components.evaluate_all import evaluate_all

    read = [one for one in (gold, given["qrels"], given["queries"], given["crosswalk"]) if one]
    with counting("asking the model", given["quiet"]) as progress:
        run = partial(evaluate_all, gold, model, progress=progress)
        code = evaluated(given, read, run)
    ctx.exit(code)


def _bundled(given: dict[str, Any]) -> tuple[str, Any]:
    """The bundled entries and baselines; what was not asked otherwise is the bundled files'."""
    from ragauge.demo import GOLD
    from ragauge.demo.components import ANNOTATED, CROSSWALK, MODEL, QRELS

    bundled = {"queries": GOLD, "qrels": QRELS, "crosswalk": CROSSWALK, "labels": "heritage"}
    for name, value in bundled.items():
        given[name] = given[name] or str(value)
    return str(ANNOTATED), MODEL
