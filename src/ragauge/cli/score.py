"""`ragauge score`: the main job."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.exit_codes import NOT_MEASURED
from ragauge.cli.recording import recorder, recording_options, rows_of
from ragauge.cli.settings import options_of, remark, settings

if TYPE_CHECKING:
    from ragauge.contracts.report import Report
    from ragauge.contracts.score import ScoreReport


SCORING = (
    *("preset", "min_coverage", "refusal", "refusal_tokens", "canon", "each", "inline"),
    "max_bad",
)
"""Settings that are options of the score itself."""


@click.command(short_help="Score traces against a gold set, with gates.")
@click.argument("gold", metavar="GOLD")
@click.argument("traces", metavar="TRACES...", nargs=-1, required=True)
@options_of(
    "preset",
    "gates",
    "min_coverage",
    "require_gates",
    "refusal",
    "refusal_tokens",
    "canon",
    "each",
    "inline",
)
@options_of("workers", "max_bad", "format", "quiet")
@recording_options
@click.option("--baseline", metavar="FILE", help="An earlier JSON report to compare with.")
@click.option("--out", metavar="FILE", help="Write a row for every trace as Parquet.")
@click.option(
    "--report",
    "reports",
    metavar="FILE",
    multiple=True,
    help="Also .html .json .md .xml .csv .txt.",
)
@click.pass_context
def score(ctx: click.Context, /, **given: Any) -> None:
    """Score the answers, citations and refusals in TRACES against GOLD, and decide the gates.

    GOLD is a gold.jsonl or a JSON array. TRACES are JSON Lines, plain, .gz or .zst; - is stdin.
    Without a gate on quality there is no PASS; every gold question must be traced and none may
    have failed all the same.

    \b
    Example:
      ragauge score gold.jsonl traces.jsonl --preset ship --report report.md
      ragauge score gold.jsonl new.jsonl --gates 'precision_cited>=0.8' --baseline old.json
    """
    from ragauge.runners.score import score as run

    gold, traces, reports = given.pop("gold"), given.pop("traces"), given.pop("reports")
    baseline, wanted = given.pop("baseline"), given.pop("out")
    chosen = settings(**{name: None if value == () else value for name, value in given.items()})
    options = {name: chosen[name] for name in SCORING}
    options["gates"] = ",".join(chosen["gates"]) or None
    options["workers"] = chosen["workers"] or os.cpu_count() or 1
    forms = forms_of(reports)
    with recorder(chosen) as history, rows_of(history, wanted) as out:
        with reading_progress(traces, chosen["quiet"], "scoring") as progress:
            options |= {"out": out, "baseline": baseline, "keep_answers": history.on}
            outcome = run(gold, traces, progress, **options)
        write_reports(outcome.report, forms, chosen["quiet"])
        show(outcome.report, chosen["format"])
        history.keep(outcome)
    ctx.exit(_exit_code(outcome.report, chosen["require_gates"]))


def show(report: Report, form: str) -> None:
    """Print a report on stdout, in colour only where a person looks at it."""
    from ragauge.reports.forms import render

    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    width = shutil.get_terminal_size((100, 24)).columns
    click.echo(render(report, form, color=color, width=width), nl=False, color=color)


def _exit_code(report: ScoreReport, require_gates: bool) -> int:
    if not report.coverage.scored:
        return NOT_MEASURED
    return verdict_code(report.passed, require_gates)


def verdict_code(passed: bool | None, require_gates: bool = False) -> int:
    """0 where a run passed, and where no gate is on quality, unless one is required."""
    return 1 if passed is False or (passed is None and require_gates) else 0


def forms_of(reports: tuple[str, ...]) -> dict[Path, str]:
    """The files to write and their forms, known before any work is done."""
    from ragauge.reports.forms import form_of

    return {Path(name): form_of(Path(name)) for name in reports}


def write_reports(report: Report, forms: dict[Path, str], quiet: bool) -> None:
    from ragauge.reports.forms import render
    from ragauge.store.files import write_whole

    for path, form in forms.items():
        write_whole(path, render(report, form).encode())
        remark(f"wrote {path}", quiet)


@contextmanager
def reading_progress(
    traces: tuple[str, ...], quiet: bool, doing: str
) -> Iterator[Callable[[int], None] | None]:
    """A bar on stderr for the bytes that are read, where a person sees it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    from ragauge.ingest.lines import size_of

    sizes = [size_of(name) for name in traces]
    total = None if None in sizes else sum(size for size in sizes if size is not None)
    bar = Progress(
        doing,
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(doing, total=total)
        yield lambda done: bar.advance(task, done)
