"""`ragauge calibrate groundedness` and `judge`: scores of answers beside what people said."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ragauge.cli.answering import CALL_OPTIONS, SPENT, announced, kept_replies
from ragauge.cli.calibration_store import keep_in_store
from ragauge.cli.evaluating import input_format
from ragauge.cli.exit_codes import NOT_MEASURED
from ragauge.cli.outputs import refuse_overwriting
from ragauge.cli.progress import counting
from ragauge.cli.run_store import store_option
from ragauge.cli.score import show, write_reports
from ragauge.cli.settings import formats, options_of, remark, settings

if TYPE_CHECKING:
    from ragauge.contracts.answer_calibration import AnswerCalibrationReport

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--label", metavar="FIELD", help="What people said  [label, grounded, …]"),
    click.option("--good", metavar="RULE", help="Which labels are good: '>=3.5', or words."),
    click.option(
        "--group", metavar="FIELD", help="What answers share  [group, source, or the contexts]"
    ),
    click.option("--out", metavar="FILE", help="Keep the calibration, as JSON."),
    click.option("--report", "reports", metavar="FILE", multiple=True, help="Also .json .md."),
)
_JUDGING = (
    click.option("--scores", metavar="FILE", help="The judge's scores, joined by id."),
    click.option("--score", metavar="FIELD", help="The judge's score in the rows  [scores]"),
    click.option("--metric", metavar="NAME", help="Which score  [faithfulness, or the only one]"),
    click.option("--lower-is-better", is_flag=True, help="Low scores are the good ones."),
    click.option("--threshold", type=float, help="Good from there on  [fitted out of fold]"),
    click.option("--judge", metavar="lexical|URL", help="Ask it now, without a model or with."),
    click.option("--judge-model", metavar="NAME", help="The model to ask, or whose scores it are."),
    *CALL_OPTIONS,
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
            return calibrate_groundedness(rows, progress=progress, **options).report

    ctx.exit(_calibrated([rows], given, run))


@click.command(short_help="Hold a judge's scores against people's labels.")
@click.argument("labels", metavar="LABELS")
@_options(*_JUDGING, store_option)
@click.pass_context
def judge(ctx: click.Context, /, labels: str, **given: Any) -> None:
    """Print how far a judge agrees with the labels of LABELS: κ, AUROC, ECE, and its biases.

    LABELS are rows as in `ragauge calibrate groundedness`. The judge's scores stand in the rows,
    in a file that `ragauge eval answers --out` wrote, or are asked for now. Where there is a
    store it is kept there, and `ragauge eval answers` shows it next to the metric whenever this
    judge is asked with the same prompts. --out keeps it in a file, for --calibration.

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
        with kept_replies(given["judge"], place) as replies, counting("judging", quiet) as progress:
            announce = partial(announced, quiet=quiet)
            asking = Asking(replies=replies, announce=announce, progress=progress)
            report = calibrate_judge(labels, asking=asking, **options).report
        if report.agreement and SPENT not in report.finding_counts:
            keep_in_store(report, place, quiet)
        return report

    ctx.exit(_calibrated([labels, given["scores"]], given, run))


def _calibrated(
    read: list[str | None], given: dict[str, Any], run: Callable[..., AnswerCalibrationReport]
) -> int:
    """Calibrate with the options given, keep and show what came of it; the exit code."""
    from ragauge.contracts.answer_calibration import AnswerCalibrationReport
    from ragauge.reports.forms import form_of
    from ragauge.runners.answers.calibration_report import check_calibration_file, keep_calibration

    form, out = given.pop("format") or "text", given.pop("out")
    forms = {
        Path(name): form_of(Path(name), AnswerCalibrationReport) for name in given.pop("reports")
    }
    refuse_overwriting(read, [*forms, *filter(None, [out])])
    if out is not None:
        check_calibration_file(out)
    chosen = settings(quiet=given.pop("quiet"), max_bad=given.pop("max_bad"))
    report = run(**given, max_bad=chosen["max_bad"])
    if out is not None and report.agreement:
        keep_calibration(report, out)
        remark(f"wrote {out}", chosen["quiet"])
    write_reports(report, forms, chosen["quiet"])
    show(report, form)
    return _exit_code(report)


def _exit_code(report: AnswerCalibrationReport) -> int:
    """3 where nothing could be told, or a judge was stopped; 1 where it may be chance."""
    if not report.agreement or SPENT in report.finding_counts:
        return NOT_MEASURED
    return 0 if report.passed else 1
