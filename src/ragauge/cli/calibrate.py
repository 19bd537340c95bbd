"""`ragauge calibrate`: what a measure must show before a gate may rest on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ragauge.cli.answering import SPENT, announced, call_options, kept_replies
from ragauge.cli.command import (
    NOT_MEASURED,
    bar,
    counting,
    formats,
    forms_of,
    input_format,
    kind_option,
    options,
    options_of,
    refuse_overwriting,
    remark,
    report_option,
    settings,
    show,
    write_reports,
)
from ragauge.cli.run_store import keep_in_store, store_option

if TYPE_CHECKING:
    from ragauge.contracts.answer_calibration import AnswerCalibrationReport

Command = TypeVar("Command", bound=Callable[..., Any])
FORMS = ("text", "json", "markdown")


@click.group(
    short_help="Hold a measure against labels, and fit it to them.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
def calibrate() -> None:
    """Find out whether a measure tells what it should before a gate rests on it.

    \b
    Example:
      ragauge calibrate deltas --demo
      ragauge calibrate groundedness labelled.jsonl --out calibration.json
    """


@calibrate.command(short_help="Fit the threshold of ΔS on gold anchors and decoys.")
@click.argument("gold", metavar="[GOLD]", required=False)
@click.option(
    "--embedder",
    metavar="E",
    default="ngram",
    show_default=True,
    help="ngram, minilm, or minilm:/path.",
)
@click.option("--docs", metavar="DIR", help="The documents that anchors and decoys point into.")
@click.option("--demo", is_flag=True, help="Try it on the bundled documents and gold set.")
@click.option("--out", metavar="FILE", help="Keep the calibration, as JSON.")
@formats(*FORMS)
@report_option("Also .json .md .txt.")
@options_of("quiet")
@click.pass_context
def deltas(ctx: click.Context, /, **given: Any) -> None:
    """Measure ΔS from each question of GOLD to its anchor and to its decoy, and part the two.

    ΔS is 1 − cos of two texts in the eyes of one embedder: how unlike they look to it, and never
    whether an answer is supported. A threshold holds for its embedder alone.

    Exit 0 when the AUC is 0.8 or more over at least 10 questions: a gate on ΔS may then use the
    threshold. Exit 1 when it is not; such a gate is not evaluated. Exit 3 when no question has an
    anchor and a decoy that can be read.

    \b
    Example:
      ragauge calibrate deltas gold.jsonl --docs documents --embedder minilm --out calibration.json
      ragauge calibrate deltas --demo
    """
    from ragauge.contracts.calibration import CalibrationReport
    from ragauge.runners.calibrate import calibrate_deltas

    forms = forms_of(given["reports"], CalibrationReport)
    if given["out"]:
        forms |= {Path(given["out"]): "json"}
    gold, docs = given["gold"], given["docs"]
    if given["demo"]:
        if gold or docs:
            raise click.UsageError("--demo brings its own GOLD and --docs: leave those out")
        from ragauge.demo import DOCUMENTS, GOLD

        gold, docs = str(GOLD), str(DOCUMENTS)
    if not gold or not docs:
        raise click.UsageError("give GOLD and --docs DIR; or --demo, to try it")
    refuse_overwriting([gold], list(forms), docs)
    quiet = settings(quiet=given["quiet"])["quiet"]
    with bar("embedding", quiet, "embedding", "BarColumn", "MofNCompleteColumn") as update:
        progress = update and (lambda done, of: update(total=of, advance=done))
        report = calibrate_deltas(
            gold, embedder=given["embedder"], docs=Path(docs), progress=progress
        ).report
    write_reports(report, forms, quiet)
    show(report, given["format"])
    if not report.coverage.pairs:
        ctx.exit(NOT_MEASURED)
    ctx.exit(0 if report.passed else 1)


_labelled_options = options(
    click.option("--label", metavar="FIELD", help="What people said  [label, grounded, …]"),
    click.option("--good", metavar="RULE", help="Which labels are good: '>=3.5', or words."),
    click.option(
        "--group", metavar="FIELD", help="What answers share  [group, source, or the contexts]"
    ),
    click.option("--out", metavar="FILE", help="Keep the calibration, as JSON."),
    report_option("Also .json .md."),
    input_format("json", "jsonl", "csv", "tsv", "parquet"),
    options_of("max_bad", "quiet"),
    formats(*FORMS),
)


@calibrate.command(short_help="Refit groundedness to your labels, tested out of fold.")
@click.argument("rows", metavar="ROWS")
@kind_option
@_labelled_options
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


@calibrate.command(short_help="Hold a judge's scores against people's labels.")
@click.argument("labels", metavar="LABELS")
@click.option("--scores", metavar="FILE", help="The judge's scores, joined by id.")
@click.option("--score", metavar="FIELD", help="The judge's score in the rows  [scores]")
@click.option("--metric", metavar="NAME", help="Which score  [faithfulness, or the only one]")
@click.option("--lower-is-better", is_flag=True, help="Low scores are the good ones.")
@click.option("--threshold", type=float, help="Good from there on  [fitted out of fold]")
@click.option("--judge", metavar="lexical|URL", help="Ask it now, without a model or with.")
@click.option("--judge-model", metavar="NAME", help="The model to ask, or whose scores it are.")
@call_options
@store_option
@_labelled_options
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
            asking = Asking(
                replies=replies, announce=partial(announced, quiet=quiet), progress=progress
            )
            report = calibrate_judge(labels, asking=asking, **options).report
        if report.agreement and SPENT not in report.finding_counts:
            keep_in_store(report, place, quiet)
        return report

    ctx.exit(_calibrated([labels, given["scores"]], given, run))


def _calibrated(
    read: list[str | None], given: dict[str, Any], run: Callable[..., AnswerCalibrationReport]
) -> int:
    """Calibrate with the options given, keep and show what came of it; the exit code.

    It is 3 where nothing could be measured, or a judge was stopped; 1 where it may be chance.
    """
    from ragauge.contracts.answer_calibration import AnswerCalibrationReport
    from ragauge.runners.answers.calibration_report import check_calibration_file, keep_calibration

    form, out = given.pop("format"), given.pop("out")
    forms = forms_of(given.pop("reports"), AnswerCalibrationReport)
    refuse_overwriting(read, [*forms, out or None])
    if out is not None:
        check_calibration_file(out)
    chosen = settings(quiet=given.pop("quiet"), max_bad=given.pop("max_bad"))
    report = run(**given, max_bad=chosen["max_bad"])
    if out is not None and report.agreement:
        keep_calibration(report, out)
        remark(f"wrote {out}", chosen["quiet"])
    write_reports(report, forms, chosen["quiet"])
    show(report, form)
    if not report.agreement or SPENT in report.finding_counts:
        return NOT_MEASURED
    return 0 if report.passed else 1
