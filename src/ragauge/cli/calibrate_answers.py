"""`ragauge calibrate groundedness` and `judge`: scores of answers beside what people said."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ragauge.cli.answering import SPENT
from ragauge.cli.evaluating import input_format
from ragauge.cli.exit_codes import NOT_MEASURED
from ragauge.cli.outputs import refuse_overwriting
from ragauge.cli.progress import counting
from ragauge.cli.run_store import place_of, store_option
from ragauge.cli.settings import formats, options_of, remark, settings

if TYPE_CHECKING:
    from ragauge.contracts.answer_calibration import AnswerCalibrationReport
    from ragauge.models.judges.budget import Estimate
    from ragauge.store.reply_cache import StoredReplies

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--label", metavar="FIELD", help="What people said  [label, grounded, …]"),
    click.option("--good", metavar="RULE", help="Which labels are good: '>=3.5', or words."),
    click.option(
        "--group", metavar="FIELD", help="What answers share  [group, source, or the contexts]"
    ),
    click.option("--out", metavar="FILE", help="Keep the calibration, as JSON."),
    click.option("--report", "reports", metavar="FILE", multiple=True, help="Also .json .md .txt."),
)
_JUDGING = (
    click.option("--scores", metavar="FILE", help="The judge's scores, joined by id."),
    click.option("--score", metavar="FIELD", help="The judge's score in the rows  [scores]"),
    click.option("--metric", metavar="NAME", help="Which score  [faithfulness, or the only one]"),
    click.option("--lower-is-better", is_flag=True, help="Low scores are the good ones."),
    click.option("--threshold", type=float, help="Good from there on  [fitted out of fold]"),
    click.option("--judge", metavar="lexical|URL", help="Ask it now, without a model or with."),
    click.option("--judge-model", metavar="NAME", help="The model to ask, or whose scores it are."),
    click.option("--judge-key-env", metavar="VARIABLE", help="Where the environment has its key."),
    click.option("--budget", metavar="LIMITS", help="Stop there: calls=100,cost=2.5."),
    click.option("--prices", metavar="IN,OUT", help="Of a million tokens, for the estimate."),
    click.option("--rate", metavar="CALLS", help="At most: 5/s or 300/min."),
    click.option("--concurrency", type=click.IntRange(1), help="Calls under way at a time."),
    click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for a call."),
)


def _options(*more: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """What both calibrations take, and more."""

    def decorated(command: Command) -> Command:
        command = formats("text", "json", "markdown")(command)
        command = options_of("max_bad", "quiet")(command)
        command = input_format("json", "jsonl", "csv", "tsv", "parquet")(command)
        for option in reversed((*more, *_OPTIONS)):
            command = option(command)
        return command

    return decorated


@click.command(short_help="Refit groundedness to your labels, tested out of fold.")
@click.argument("rows", metavar="ROWS")
@click.option(
    "--kind",
    type=click.Choice(["qa", "summary", "data_to_text"]),
    help="What every answer is  [the row's, or seen from it]",
)
@_options()
@click.pass_context
def groundedness(ctx: click.Context, /, rows: str, **given: Any) -> None:
    """Fit lexical groundedness to the labels of ROWS, and print it before and after.

    ROWS are those of `ragauge eval answers`, each with what people said: label, grounded,
    attributable, supported or faithful, true or false or from 0 to 1; or hallucinated. Any other
    field is named by --label, and --good says which of its values are good. Coefficients are
    refitted for each kind of answer with 30 labels, 10 of each; with fewer only its threshold is
    moved. What is printed is of sources that were not fitted to.

    Exit 1 when the AUROC may be that of chance; exit 3 when labels are too few, or all the same.

    \b
    Example:
      ragauge calibrate groundedness labelled.jsonl --out calibration.json
      ragauge calibrate groundedness rows.jsonl --label human.faithfulness --good '>=3.5'
    """
    from ragauge.runners.answers.calibrate_groundedness import calibrate_groundedness

    quiet = settings(quiet=given["quiet"])["quiet"]

    def run(**options: Any) -> AnswerCalibrationReport:
        with counting("reading answers", quiet) as progress:
            return calibrate_groundedness(rows, progress=progress, **options)

    ctx.exit(_calibrated([rows], given, run))


@click.command(short_help="Hold a judge's scores against people's labels.")
@click.argument("labels", metavar="LABELS")
@_options(*_JUDGING, store_option)
@click.pass_context
def judge(ctx: click.Context, /, labels: str, **given: Any) -> None:
    """Print how far a judge agrees with the labels of LABELS: κ, AUROC, ECE, and its biases.

    LABELS are rows as in `ragauge calibrate groundedness`. The judge's scores stand in the rows,
    in a file that `ragauge eval answers --out` wrote, or are asked for now. --out keeps it, and
    `ragauge eval answers --calibration` shows it next to the metric.

    Exit 1 when the AUROC may be that of chance; exit 3 when labels are too few, or all the same.

    \b
    Example:
      ragauge calibrate judge labels.jsonl --scores scores.jsonl --metric faithfulness
      ragauge calibrate judge labels.jsonl --judge lexical --out calibration.json
    """
    from ragauge.runners.answers.calibrate_judge import calibrate_judge
    from ragauge.runners.answers.gathering import Asking

    quiet = settings(quiet=given["quiet"])["quiet"]

    def run(**options: Any) -> AnswerCalibrationReport:
        place = options.pop("store")
        with _replies(given["judge"], place) as replies, counting("judging", quiet) as progress:
            announce = partial(_announce, quiet=quiet)
            asking = Asking(replies=replies, announce=announce, progress=progress)
            return calibrate_judge(labels, asking=asking, **options)

    ctx.exit(_calibrated([labels, given["scores"]], given, run))


@contextmanager
def _replies(judge: str | None, store: str | None) -> Iterator[StoredReplies | None]:
    """Where the replies of a judge that is called are kept; None for any other."""
    if judge in (None, "lexical"):
        yield None
        return
    from ragauge.store.reply_cache import open_replies

    replies = open_replies(place_of(store))
    try:
        yield replies
    finally:
        replies.close()


def _announce(planned: Estimate, *, quiet: bool) -> None:
    """Say what a judge will take, before it is asked."""
    cost = "" if planned.cost is None else f", about {planned.cost:,.2f}"
    remark(f"judge: at most {planned.calls:,} calls{cost}", quiet)


def _calibrated(
    read: list[str | None], given: dict[str, Any], run: Callable[..., AnswerCalibrationReport]
) -> int:
    """Calibrate with the options given, keep and show what came of it; the exit code."""
    from ragauge.reports.answer_calibration.forms import form_of
    from ragauge.runners.answers.calibrated_file import check_calibration_file, keep_calibration

    form, out = given.pop("format") or "text", given.pop("out")
    forms = {Path(name): form_of(Path(name)) for name in given.pop("reports")}
    refuse_overwriting(read, [*forms, *filter(None, [out])])
    if out is not None:
        check_calibration_file(out)
    chosen = settings(quiet=given.pop("quiet"), max_bad=given.pop("max_bad"))
    report = run(**given, max_bad=chosen["max_bad"])
    if out is not None and report.agreement:
        keep_calibration(report, out)
        remark(f"wrote {out}", chosen["quiet"])
    _write(report, forms, chosen["quiet"])
    _show(report, form)
    return _exit_code(report)


def _exit_code(report: AnswerCalibrationReport) -> int:
    """3 where nothing could be told, or a judge was stopped; 1 where it may be chance."""
    if not report.agreement or SPENT in report.finding_counts:
        return NOT_MEASURED
    return 0 if report.passed else 1


def _write(report: AnswerCalibrationReport, forms: dict[Path, str], quiet: bool) -> None:
    from ragauge.reports.answer_calibration.forms import render
    from ragauge.store.files import write_whole

    for path, form in forms.items():
        write_whole(path, render(report, form).encode())
        remark(f"wrote {path}", quiet)


def _show(report: AnswerCalibrationReport, form: str) -> None:
    """Print a report on stdout, in colour only where a person looks at it."""
    from ragauge.reports.answer_calibration.forms import render

    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    width = shutil.get_terminal_size((100, 24)).columns
    click.echo(render(report, form, color=color, width=width), nl=False, color=color)
