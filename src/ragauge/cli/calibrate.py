"""`ragauge calibrate`: what a measure must show before a gate may rest on it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.calibrate_answers import groundedness, judge
from ragauge.cli.exit_codes import NOT_MEASURED
from ragauge.cli.outputs import refuse_overwriting
from ragauge.cli.score import show, write_reports
from ragauge.cli.settings import formats, options_of, settings

if TYPE_CHECKING:
    from ragauge.contracts.calibration import CalibrationReport

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


calibrate.add_command(groundedness)
calibrate.add_command(judge)


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
@click.option("--report", "reports", metavar="FILE", multiple=True, help="Also .json .md .txt.")
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
    from ragauge.reports.forms import form_of

    forms = {Path(name): form_of(Path(name), CalibrationReport) for name in given["reports"]}
    if given["out"]:
        forms |= {Path(given["out"]): "json"}
    gold, docs = _files(given)
    refuse_overwriting([str(gold)], list(forms), str(docs))
    quiet = settings(quiet=given["quiet"])["quiet"]
    report = _measured(gold, docs, given["embedder"], quiet)
    write_reports(report, forms, quiet)
    show(report, given["format"] or "text")
    ctx.exit(_exit_code(report))


def _files(given: dict[str, Any]) -> tuple[str, Path]:
    """The gold set and the folder of its documents."""
    if given["demo"]:
        if given["gold"] or given["docs"]:
            raise click.UsageError("--demo brings its own GOLD and --docs: leave those out")
        from ragauge.demo import DOCUMENTS, GOLD

        return str(GOLD), DOCUMENTS
    if not given["gold"] or not given["docs"]:
        raise click.UsageError("give GOLD and --docs DIR; or --demo, to try it")
    return given["gold"], Path(given["docs"])


def _measured(gold: str, docs: Path, embedder: str, quiet: bool) -> CalibrationReport:
    from ragauge.runners.calibrate import calibrate_deltas

    with _progress(quiet) as progress:
        return calibrate_deltas(gold, embedder=embedder, docs=docs, progress=progress).report


def _exit_code(report: CalibrationReport) -> int:
    if not report.coverage.pairs:
        return NOT_MEASURED
    return 0 if report.passed else 1


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr, where a person sees it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress

    columns = ("embedding", BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("embedding", total=None)
        yield lambda done, of: bar.update(task, total=of, advance=done)
