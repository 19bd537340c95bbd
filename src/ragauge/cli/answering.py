"""`ragauge eval answers` and `eval qa`: finished answers, their options and the rows of --out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.command import (
    NOT_MEASURED,
    counting,
    input_format,
    kind_option,
    options,
    options_of,
    refuse_overwriting,
    remark,
    settings,
)
from ragauge.cli.evaluating import FORMS, evaluated, evaluating_options
from ragauge.cli.run_store import calibrations_at, place_of
from ragauge.contracts.gold import RefusalOptions
from ragauge.errors import UsageError

if TYPE_CHECKING:
    from ragauge.models.judges.budget import Estimate
    from ragauge.runners.answers.scores import AnswersOutcome
    from ragauge.store.reply_cache import StoredReplies

SPENT = "budget_spent"
"""The finding of a run whose judge had to stop."""
REFUSALS = ("refusal", "refusal_tokens")
"""Settings that say what a refusal is."""
call_options = options(
    click.option("--judge-key-env", metavar="VARIABLE", help="Where the environment has its key."),
    click.option("--budget", metavar="LIMITS", help="Stop there: calls=100,cost=2.5."),
    click.option("--prices", metavar="IN,OUT", help="Of a million tokens, for the estimate."),
    click.option("--rate", metavar="CALLS", help="At most: 5/s or 300/min."),
    click.option("--concurrency", type=click.IntRange(1), help="Calls under way at a time."),
    click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for a call."),
)
"""How a judge is called, whoever calls it."""
answering_options = options(
    input_format("json", "jsonl", "csv", "tsv", "parquet"),
    click.option("--metrics", metavar="NAMES", multiple=True, help="Only these; comma or repeat."),
    click.option("--judge", metavar="lexical|URL", help="Judge claims: without a model, or with."),
    click.option("--judge-model", metavar="NAME", help="The model to ask at URL."),
    call_options,
    click.option("--seed", type=click.IntRange(0), help="What the judge draws with  [0]"),
    click.option("--rubric", metavar="FILE", help="Your own rubric, for the metric rubric."),
    click.option("--embedder", metavar="NAME", help="ngram, minilm, minilm:/path or URL  [ngram]"),
    click.option(
        "--tokenizer",
        type=click.Choice(["unicode", "rouge155"]),
        default="unicode",
        help="Words of ROUGE  [unicode]",
    ),
    kind_option,
    click.option(
        "--calibration", metavar="FILE", multiple=True, help="From `ragauge calibrate`; repeatable."
    ),
    options_of(*REFUSALS, "workers"),
    evaluating_options(*FORMS),
)


def evaluated_answers(
    given: dict[str, Any], read: Sequence[str], run: Callable[..., AnswersOutcome]
) -> int:
    """Evaluate with the options given, and write every row's scores; the exit code."""
    from ragauge.runners.answers.gathering import Asking
    from ragauge.runners.answers.scores import check_ending, write_scores

    out, quiet = given["out"], settings(quiet=given["quiet"])["quiet"]
    given["out"] = None
    chosen = settings(**{name: given[name] or None for name in REFUSALS})
    said = RefusalOptions(**{name: chosen[name] for name in REFUSALS})
    given |= {"refusal": said.strength, "refusal_tokens": said.tokens}
    given["metrics"] = given["metrics"] or None
    if out is not None:
        check_ending(out)
        names = [*read, given["strata"], given["rubric"], *given["calibration"]]
        refuse_overwriting(names, [*given["reports"], out])
    if (rubric := given["rubric"]) is not None:
        try:
            given["rubric"] = Path(rubric).read_text("utf-8")
        except OSError as error:
            raise UsageError(f"--rubric {rubric}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise UsageError(f"--rubric {rubric}: is not UTF-8 text") from None
    judge, store, embedder = given["judge"], given["store"], given["embedder"]
    spent = False

    def ran(**options: Any) -> AnswersOutcome:
        nonlocal spent
        with (
            kept_replies(judge, store, embedder) as replies,
            calibrations_at(store) as calibrations,
            counting("measuring answers", quiet) as progress,
        ):
            asking = Asking(
                replies=replies,
                vectors=replies,
                calibrations=calibrations,
                announce=partial(announced, quiet=quiet),
                progress=progress,
            )
            outcome = run(asking=asking, **options)
        if out is not None:
            write_scores(outcome, out)
            remark(f"wrote {out}", quiet)
        spent = SPENT in outcome.report.finding_counts
        return outcome

    code = evaluated(given, read, ran)
    return NOT_MEASURED if spent else code


@contextmanager
def kept_replies(
    judge: str | None, store: str | None, embedder: str | None = None
) -> Iterator[StoredReplies | None]:
    """Where replies and vectors of endpoints are kept, whether the run is recorded or not.

    None where neither the judge nor the embedder is one.
    """
    if judge in (None, "lexical") and "://" not in (embedder or ""):
        yield None
        return
    from ragauge.store.reply_cache import open_replies

    replies = open_replies(place_of(store))
    try:
        yield replies
    finally:
        replies.close()


def announced(planned: Estimate, *, quiet: bool) -> None:
    """Say what a judge will take, before it is asked."""
    from ragauge.reports.numbers import counted

    tokens = f"about {planned.prompt_tokens:,} tokens in and {planned.completion_tokens:,} out"
    cost = "" if planned.cost is None else f", about {planned.cost:,.2f}"
    replies = counted(planned.cached, "reply is", "replies are")
    known = f"; {replies} known already" if planned.cached else ""
    remark(f"judge: at most {counted(planned.calls, 'call')}, {tokens}{cost}{known}", quiet)


@click.command("answers")
@click.argument("rows", metavar="ROWS")
@answering_options
@click.pass_context
def eval_answers(ctx: click.Context, /, rows: str, **given: Any) -> None:
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

    ctx.exit(evaluated_answers(given, [rows], partial(evaluate_answers, rows)))


@click.command("qa")
@click.argument("gold", metavar="GOLD")
@click.argument("predicted", metavar="PRED")
@answering_options
@click.pass_context
def eval_qa(ctx: click.Context, /, gold: str, predicted: str, **given: Any) -> None:
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

    ctx.exit(evaluated_answers(given, [gold, predicted], partial(evaluate_qa, gold, predicted)))
