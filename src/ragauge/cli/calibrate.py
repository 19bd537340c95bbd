"""`ragauge calibrate`: what a measure must show before a gate may rest on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import Struct

from ragauge.cli.command import (
    counting,
    deliver,
    exit_code,
    forms_of,
    group,
    refuse_overwriting,
    remark,
)
from ragauge.cli.eval import announced, kept_replies
from ragauge.cli.run_store import keep_in_store
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import (
    GroundednessOptions,
    JudgeOptions,
    Mapped,
    MappedGold,
    Output,
    Stored,
)

if TYPE_CHECKING:
    from ragauge.contracts.answer_calibration import AnswerCalibrationReport

FORMS = ("text", "json", "markdown")
KEPT = Opt("Keep the calibration, as JSON.", metavar="FILE")


@group(short_help="Hold a measure against labels, and fit it to them.")
def calibrate() -> None:
    """Find out whether a measure tells what it should before a gate rests on it.

    \b
    Example:
      ragauge calibrate deltas --demo
      ragauge calibrate groundedness labelled.jsonl --out calibration.json
    """


class Deltas(Struct, frozen=True, kw_only=True):
    """What is measured with which embedder."""

    embedder: Annotated[str, Opt("ngram, minilm, or minilm:/path.", metavar="E")] = "ngram"
    docs: Annotated[
        str | None, Opt("The documents that anchors and decoys point into.", metavar="DIR")
    ] = None
    demo: Annotated[bool, Opt("Try it on the bundled documents and gold set.")] = False
    out: Annotated[str | None, KEPT] = None


@calibrate.verb(*FORMS, short="Fit the threshold of ΔS on gold anchors and decoys.")
def deltas(gold: str | None = None, *, options: Deltas, mapped: MappedGold, output: Output) -> int:
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

    forms, docs = forms_of(output.reports, CalibrationReport), options.docs
    if options.out:
        forms |= {Path(options.out): "json"}
    if options.demo:
        if gold or docs:
            raise click.UsageError("--demo brings its own GOLD and --docs: leave those out")
        from ragauge.demo import DOCUMENTS, GOLD

        gold, docs = str(GOLD), str(DOCUMENTS)
    if not gold or not docs:
        raise click.UsageError("give GOLD and --docs DIR; or --demo, to try it")
    refuse_overwriting([gold], list(forms), docs)
    with counting("embedding", output.quiet) as progress:
        report = calibrate_deltas(
            gold,
            embedder=options.embedder,
            docs=Path(docs),
            progress=progress,
            columns=mapped.columns,
        ).report
    deliver(report, forms, output)
    return exit_code(report)


class Kept(Struct, frozen=True, kw_only=True):
    """Where the calibration goes."""

    out: Annotated[str | None, KEPT] = None


@calibrate.verb(*FORMS, short="Refit groundedness to your labels, tested out of fold.")
def groundedness(
    rows: str, options: GroundednessOptions, mapped: Mapped, kept: Kept, output: Output
) -> int:
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

    def run() -> AnswerCalibrationReport:
        with counting("reading answers", output.quiet) as progress:
            return calibrate_groundedness(
                rows, progress=progress, columns=mapped.columns, options=options
            ).report

    return _calibrated([rows], run, kept.out, output)


@calibrate.verb(*FORMS, short="Hold a judge's scores against people's labels.")
def judge(
    labels: str, options: JudgeOptions, mapped: Mapped, kept: Kept, stored: Stored, output: Output
) -> int:
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

    def run() -> AnswerCalibrationReport:
        with (
            kept_replies(options.judge, stored.store) as replies,
            counting("judging", output.quiet) as progress,
        ):
            asking = Asking(
                replies=replies,
                announce=partial(announced, quiet=output.quiet),
                progress=progress,
            )
            report = calibrate_judge(
                labels,
                scores=options.scores,
                asking=asking,
                columns=mapped.columns,
                options=options,
            ).report
        if report.measured:
            keep_in_store(report, stored.store, output.quiet)
        return report

    return _calibrated([labels, options.scores], run, kept.out, output)


def _calibrated(
    read: list[str | None],
    run: Callable[[], AnswerCalibrationReport],
    out: str | None,
    output: Output,
) -> int:
    """Calibrate with the options given, keep and show what came of it; the exit code.

    It is 3 where nothing could be measured, or a judge was stopped; 1 where it may be chance.
    """
    from ragauge.contracts.answer_calibration import AnswerCalibrationReport
    from ragauge.runners.answers.kept_calibrations import check_calibration_file, keep_calibration

    forms = forms_of(output.reports, AnswerCalibrationReport)
    refuse_overwriting(read, [*forms, out or None])
    if out is not None:
        check_calibration_file(out)
    report = run()
    if out is not None and report.agreement:
        keep_calibration(report, out)
        remark(f"wrote {out}", output.quiet)
    deliver(report, forms, output)
    return exit_code(report)
