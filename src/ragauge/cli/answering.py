"""What `ragauge eval answers` and `ragauge eval qa` share: their options, and the rows of --out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ragauge.cli.calibration_store import calibrations_at
from ragauge.cli.evaluating import evaluated
from ragauge.cli.exit_codes import NOT_MEASURED
from ragauge.cli.outputs import refuse_overwriting
from ragauge.cli.progress import counting
from ragauge.cli.run_store import place_of
from ragauge.cli.settings import options_of, remark, settings
from ragauge.contracts.refusal import RefusalOptions
from ragauge.errors import UsageError

if TYPE_CHECKING:
    from ragauge.models.judges.budget import Estimate
    from ragauge.runners.answers.scores import AnswersOutcome
    from ragauge.store.reply_cache import StoredReplies

SPENT = "budget_spent"
"""The finding of a run whose judge had to stop."""
REFUSALS = ("refusal", "refusal_tokens")
"""Settings that say what a refusal is."""
Command = TypeVar("Command", bound=Callable[..., Any])

CALL_OPTIONS = (
    click.option("--judge-key-env", metavar="VARIABLE", help="Where the environment has its key."),
    click.option("--budget", metavar="LIMITS", help="Stop there: calls=100,cost=2.5."),
    click.option("--prices", metavar="IN,OUT", help="Of a million tokens, for the estimate."),
    click.option("--rate", metavar="CALLS", help="At most: 5/s or 300/min."),
    click.option("--concurrency", type=click.IntRange(1), help="Calls under way at a time."),
    click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for a call."),
)
"""How a judge is called, whoever calls it."""
_OPTIONS = (
    click.option("--metrics", metavar="NAMES", multiple=True, help="Only these; comma or repeat."),
    click.option("--judge", metavar="lexical|URL", help="Judge claims: without a model, or with."),
    click.option("--judge-model", metavar="NAME", help="The model to ask at URL."),
    *CALL_OPTIONS,
    click.option("--seed", type=click.IntRange(0), help="What the judge draws with  [0]"),
    click.option("--rubric", metavar="FILE", help="Your own rubric, for the metric rubric."),
    click.option("--embedder", metavar="NAME", help="ngram, minilm, minilm:/path or URL  [ngram]"),
    click.option(
        "--tokenizer",
        type=click.Choice(["unicode", "rouge155"]),
        default="unicode",
        help="Words of ROUGE  [unicode]",
    ),
    click.option(
        "--kind",
        type=click.Choice(["qa", "summary", "data_to_text"]),
        help="What every answer is  [the row's, or seen from it]",
    ),
    click.option(
        "--calibration", metavar="FILE", multiple=True, help="From `ragauge calibrate`; repeatable."
    ),
)


def answering_options(command: Command) -> Command:
    """The options of an evaluation of answers."""
    command = options_of(*REFUSALS, "workers")(command)
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


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
    given["rubric"] = _text(given["rubric"])
    replies_at = partial(kept_replies, given["judge"], given["store"], given["embedder"])
    calibrations_kept = partial(calibrations_at, given["store"])
    spent = False

    def ran(**options: Any) -> AnswersOutcome:
        nonlocal spent
        with (
            replies_at() as replies,
            calibrations_kept() as calibrations,
            counting("measuring answers", quiet) as progress,
        ):
            announce = partial(announced, quiet=quiet)
            asking = Asking(
                replies=replies,
                vectors=replies,
                calibrations=calibrations,
                announce=announce,
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


def _text(file: str | None) -> str | None:
    """What stands in a file that the user names."""
    if file is None:
        return None
    try:
        return Path(file).read_text("utf-8")
    except OSError as error:
        raise UsageError(f"--rubric {file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--rubric {file}: is not UTF-8 text") from None


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
