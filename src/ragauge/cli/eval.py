"""`ragauge eval`: the components of a system, each against gold of its own kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
from msgspec import Struct, structs

from ragauge.cli.command import counting, group, remark
from ragauge.cli.run_store import calibrations_at, delivered, kept_at
from ragauge.contracts.evaluation import EvalAllReport, EvalReport
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import (
    AllOptions,
    AnswerOptions,
    Baselines,
    EvalOptions,
    Gated,
    LinkingOptions,
    Mapped,
    Model,
    NerOptions,
    Quiet,
    RetrievalOptions,
    TypesOptions,
)

if TYPE_CHECKING:
    from ragauge.cli.run_store import Delivery
    from ragauge.contracts.report import Outcome
    from ragauge.ingest.ranked.ranking_rows import Role
    from ragauge.models.judges.budget import Estimate
    from ragauge.runners.answers.scores import AnswersOutcome
    from ragauge.store.reply_cache import StoredReplies

FORMS = ("text", "json", "markdown", "junit", "csv", "html")


class Evaluating(Gated, frozen=True, kw_only=True):
    """Where an evaluation goes, and its units with it."""

    out: Annotated[
        str | None, Opt("A row for each unit: .jsonl .csv .parquet.", metavar="FILE")
    ] = None


@group()
def eval() -> None:
    """Evaluate a component of a system: entities, types, links, retrieval or answers.

    Every number has an interval over documents, queries or answers, and says how much it covers.
    Without gates, everything in the gold must have been predicted.

    \b
    Example:
      ragauge eval retrieval qrels.txt run.txt
      ragauge eval answers answers.jsonl
      ragauge eval all --demo
    """


def _evaluated(
    read: Sequence[str],
    run: Callable[..., Outcome[Any]],
    options: EvalOptions,
    output: Evaluating,
    kind: type[EvalReport] | type[EvalAllReport] = EvalReport,
    write: Callable[[Any, str], None] | None = None,
) -> int | None:
    """Evaluate, write and show what came of it; the exit code.

    It is 3 where nothing could be scored, 1 where a gate does not hold.
    """
    if len(read) > 1 and read[0] == read[1]:
        remark(f"{read[0]} is compared with itself: every number is the best there is", False)

    def measure(_: Delivery) -> Outcome[Any]:
        outcome = run(options=options)
        if output.out is not None:
            (write or _write_units)(outcome, output.out)
            remark(f"wrote {output.out}", output.quiet)
        return outcome

    return delivered(output, kind, measure, [*read, options.strata], [output.out])


def _write_units(outcome: Outcome[Any], out: str) -> None:
    from ragauge.store.files import write_whole
    from ragauge.store.rows import units_table

    write_whole(Path(out), units_table(outcome.units, Path(out)))


@eval.verb(*FORMS, short="Entities: strict, exact, partial and by token, with an error browser.")
def ner(
    gold: str,
    predicted: Annotated[str, "PRED"],
    options: NerOptions,
    mapped: Mapped,
    output: Evaluating,
) -> int | None:
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

    run = partial(evaluate_ner, gold, predicted, columns=mapped.columns)
    return _evaluated([gold, predicted], run, options, output)


@eval.verb(*FORMS, short="Types: accuracy, macro F1, confusion matrix, categories.")
def types(
    gold: str,
    predicted: Annotated[str, "PRED"],
    options: TypesOptions,
    mapped: Mapped,
    output: Evaluating,
) -> int | None:
    """Evaluate the types of PRED against those of GOLD, joined on id, or on text where it is one.

    Both are tables (id, label; or text, gold_type, secondary_types), JSON, JSON Lines or heritage
    entries. An item without a prediction is MISSING, and wrong; a label outside the set is OTHER.

    \b
    Example:
      ragauge eval types gold.tsv predicted.tsv --labels heritage --report types.html
    """
    from ragauge.runners.components.evaluate_types import evaluate_types

    run = partial(evaluate_types, gold, predicted, columns=mapped.columns)
    return _evaluated([gold, predicted], run, options, output)


@eval.verb(*FORMS, short="Links: hits, MRR, NIL, end to end, consistency of knowledge bases.")
def linking(
    gold: str,
    predicted: Annotated[str, "PRED"],
    options: LinkingOptions,
    mapped: Mapped,
    output: Evaluating,
) -> int | None:
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

    tables = {"equivalents": options.equivalents, "crosswalk": options.crosswalk}
    run = partial(evaluate_linking, gold, predicted, columns=mapped.columns, **tables)
    read = [gold, predicted, *filter(None, tables.values())]
    return _evaluated(read, run, options, output)


@eval.verb(*FORMS, short="Rankings: nDCG, P, R, RR, AP and more, as trec_eval has them.")
def retrieval(
    qrels: str,
    others: Baselines,
    options: RetrievalOptions,
    mapped: Mapped,
    output: Evaluating,
    run: Annotated[str | None, "RUN"] = None,
) -> int | None:
    """Evaluate the ranking in RUN against the graded judgements in QRELS.

    Both are TREC files, BEIR tables, ranx JSON, tables with a header, JSON or JSON Lines. QRELS can
    be the gold set and RUN the traces of `ragauge score`: citations are relevant then. Leave RUN
    out where the records of QRELS have their results. Ranked by score, ties by document id
    descending, as trec_eval does; a query that RUN lacks counts 0. With TREC judgements, or --as
    trec_eval, a query with nothing relevant counts 0 too; with other formats it is left out of the
    means.

    \b
    Example:
      ragauge eval retrieval qrels.txt run.txt --measures nDCG@10 --measures 'P(rel=2)@5'
      ragauge eval retrieval qrels.txt new.txt --baseline old.txt --out per-query.csv
    """
    from ragauge.runners.components.evaluate_retrieval import evaluate_retrieval

    evaluate = partial(
        evaluate_retrieval, qrels, run, columns=mapped.columns, baselines=others.baselines
    )
    # Records may have judgements and results: then a file is both.
    read = [*dict.fromkeys([qrels, run or qrels, *others.baselines])]
    return _evaluated(read, evaluate, options, output)


@eval.verb(*FORMS, short="Answers against gold, by type of question.")
def qa(
    gold: str,
    predicted: Annotated[str, "PRED"],
    options: AnswerOptions,
    mapped: Mapped,
    output: Evaluating,
) -> int | None:
    """Evaluate the answers of PRED against the questions of GOLD, joined on qid, or on question.

    GOLD is a gold set, a list of question, gold_answer and answer_type, or heritage entries with
    qa_pairs; PRED rows as `ragauge eval answers` takes them, or traces. A question without an
    answer is missing, and fails the gate on coverage. Whether a system refuses when it should is
    measured by `ragauge score`.

    \b
    Example:
      ragauge eval qa gold.jsonl answers.jsonl --by question_type --report qa.html
    """
    from ragauge.runners.answers.evaluate_qa import evaluate_qa

    run = partial(evaluate_qa, gold, predicted, columns=mapped.columns)
    return _answers([gold, predicted], run, options, output)


@eval.verb(*FORMS, short="Answers: groundedness, numbers, overlap, judged metrics.")
def answers(
    rows: str,
    options: AnswerOptions,
    mapped: Mapped,
    output: Evaluating,
) -> int | None:
    """Evaluate the answers of ROWS: how far their contexts support them, and what else is known.

    ROWS are JSON Lines, JSON, CSV, TSV or Parquet of id, question, answer, contexts and
    reference; or the samples of ragas, or the test cases of deepeval. What a row does not have is
    not measured, and the report says so. --out FILE.jsonl has the scores of every row with their
    reasons and evidence, in the order of ROWS. From 2,000 rows on, --workers share them.

    \b
    Example:
      ragauge eval answers answers.jsonl --out scores.jsonl
      ragauge eval answers answers.jsonl --judge lexical --gates 'groundedness>=0.7'
    """
    from ragauge.runners.answers.evaluate_answers import evaluate_answers

    run = partial(evaluate_answers, rows, columns=mapped.columns)
    return _answers([rows], run, options, output)


def _answers(
    read: Sequence[str],
    run: Callable[..., AnswersOutcome],
    options: AnswerOptions,
    output: Evaluating,
) -> int | None:
    """Evaluate answers, and write every row's scores."""
    from ragauge.runners.answers.gathering import Asking
    from ragauge.runners.answers.scores import check_ending, write_scores

    if output.out is not None:
        check_ending(output.out)
    rubric = click.get_current_context().params["rubric"]

    def ran(options: AnswerOptions) -> AnswersOutcome:
        store = output.store
        with (
            kept_replies(options.judge, store, options.embedder) as replies,
            calibrations_at(store) as calibrations,
            counting("measuring answers", output.quiet) as progress,
        ):
            asking = Asking(
                replies=replies,
                vectors=replies,
                calibrations=calibrations,
                announce=partial(announced, quiet=output.quiet),
                progress=progress,
            )
            return run(asking=asking, options=options)

    read = [*read, *filter(None, [rubric]), *options.calibration]
    return _evaluated(read, ran, options, output, write=write_scores)


def kept_replies(
    judge: str | None, store: str | None, embedder: str | None = None
) -> AbstractContextManager[StoredReplies | None]:
    """Where replies and vectors of endpoints are kept, whether the run is recorded or not.

    None where neither the judge nor the embedder is one.
    """
    if judge in (None, "lexical") and "://" not in (embedder or ""):
        return nullcontext()
    return kept_at(store, create=True)


def announced(planned: Estimate, *, quiet: bool) -> None:
    """Say what a judge will take, before it is asked."""
    from ragauge.reports.phrasing import pluralize

    tokens = f"about {planned.prompt_tokens:,} tokens in and {planned.completion_tokens:,} out"
    cost = "" if planned.cost is None else f", about {planned.cost:,.2f}"
    replies = pluralize(planned.cached, "reply is", "replies are")
    known = f"; {replies} known already" if planned.cached else ""
    remark(f"judge: at most {pluralize(planned.calls, 'call')}, {tokens}{cost}{known}", quiet)


@eval.verb(
    *("text", "json", "markdown", "junit", "html"),
    short="All tasks of a model over heritage entries, in one report.",
)
def all_(
    gold: str | None = None,
    *,
    of: Model,
    options: AllOptions,
    mapped: Mapped,
    output: Evaluating,
) -> int | None:
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
    model: Any = of.model
    queries, qrels = of.queries, of.qrels
    if of.demo and gold:
        raise click.UsageError("--demo brings its own entries; leave out yours")
    if of.demo:
        from ragauge.demo import GOLD
        from ragauge.demo.components import ANNOTATED, CROSSWALK, MODEL, QRELS

        gold, model = str(ANNOTATED), model or MODEL
        queries, qrels = queries or str(GOLD), qrels or str(QRELS)
        known = {
            "crosswalk": options.crosswalk or str(CROSSWALK),
            "labels": options.labels or "heritage",
        }
        options = structs.replace(options, **known)
    if not gold or not model:
        raise click.UsageError("give GOLD and --model module:object, or --demo")
    from ragauge.runners.components.evaluate_all import evaluate_all

    read = [one for one in (gold, qrels, queries, options.crosswalk) if one]
    with counting("asking the model", output.quiet) as progress:
        files: dict[str, Any] = {"queries": queries, "qrels": qrels, "columns": mapped.columns}
        run = partial(evaluate_all, gold, model, **files, progress=progress)
        return _evaluated(read, run, options, output, EvalAllReport)


class Converting(Struct, frozen=True, kw_only=True):
    """What is read, and what is written."""

    to: Annotated[str, Opt("What to write; see below.", metavar="FORMAT")]
    what: Annotated[str, Opt("What IN holds", choices=("entities", "qrels", "run"))] = "entities"
    input_format: Annotated[
        str | None, Opt("Force it", metavar="FORMAT", shown="seen from the content")
    ] = None
    lossy: Annotated[bool, Opt("Leave out what the format cannot hold, and say so.")] = False
    reanchor: Annotated[bool, Opt("Move misplaced spans to where their text is.")] = False


@eval.verb(short="Write annotated texts or rankings in another format.")
def convert(
    source: Annotated[str, "IN"],
    target: Annotated[str, "OUT"],
    options: Converting,
    mapped: Mapped,
    output: Quiet,
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
    form, what, path = options.to, options.what, Path(target)
    from ragauge.reports.phrasing import finding_text
    from ragauge.runners.components.eval_convert import FORMS as WRITTEN
    from ragauge.runners.components.eval_convert import convert_entities, convert_rankings

    if form not in WRITTEN[what]:
        known = ", ".join(WRITTEN[what])
        raise click.UsageError(f"--to {form}: {what} are written as {known}")

    if what == "entities":
        count, found = convert_entities(
            source,
            path,
            form,
            input_format=options.input_format,
            reanchor=options.reanchor,
            lossy=options.lossy,
            columns=mapped.columns,
        )
        for finding in found:
            remark(f"{finding.code}: {finding_text(finding)}", output.quiet)
        remark(f"wrote {target}: {count:,} documents", output.quiet)
        return
    role: Role = "qrels" if what == "qrels" else "run"
    count = convert_rankings(
        source, path, form, role, input_format=options.input_format, columns=mapped.columns
    )
    remark(f"wrote {target}: {count:,} queries", output.quiet)
