"""`ragauge run`: all the tasks of a suite, recorded, with one verdict."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.command import (
    INTERRUPTED,
    call_bar,
    formats,
    forms_of,
    options_of,
    report_option,
    show,
    verdict_code,
    write_reports,
)
from ragauge.cli.run_store import opened, told
from ragauge.cli.sweep import GO_ON
from ragauge.text.visible import visible

if TYPE_CHECKING:
    from ragauge.contracts.suite import PipelineUnderTest, Task, TaskReport
    from ragauge.contracts.sweep import Progress
    from ragauge.contracts.system import System
    from ragauge.ingest.suite import SuiteFile
    from ragauge.runners.suite import Watcher


@click.command()
@click.argument("suite", metavar="[SUITE]", required=False)
@options_of("store")
@click.option("--only", metavar="TASK", multiple=True, help="Run this task; repeatable.")
@click.option("--fresh", is_flag=True, help="Forget what an unfinished start has done.")
@formats("text", "json", "markdown", "junit", "github")
@report_option("Also .json .md .xml .txt.")
@options_of("require_gates", "quiet")
@click.pass_context
def run(ctx: click.Context, /, **given: Any) -> None:
    """Run the tasks of SUITE: a suite that ragauge.toml names, or a .toml file of its own.

    Without SUITE, every task runs. Each is recorded in the history; one that fails leaves the
    others alone. Started again after a kill, the same command does only what is left.

    \b
    Example:
      ragauge init --case traces
      ragauge run --report summary.md
    """
    from ragauge.contracts.kinds import KINDS
    from ragauge.contracts.suite import SuiteReport
    from ragauge.ingest.suite import read_suite
    from ragauge.runners.suite import Part, run_suite
    from ragauge.store.places import default_place

    file = read_suite(given["suite"], Path.cwd(), os.environ)
    usual = file.settings["format"]
    form = given["format"] or (usual if usual in KINDS[SuiteReport].forms else "text")
    files = forms_of(given["reports"], SuiteReport)
    quiet = given["quiet"] or file.settings["quiet"]
    # As the flag says, else the file, else the project's own.
    place = given["store"] or file.settings["store"] or default_place(file.folder, os.environ)

    def deliver(report: SuiteReport) -> None:
        write_reports(report, files, quiet)
        show(report, form)

    try:
        with opened(place, create=True) as history, _watcher(quiet) as watcher:
            report = run_suite(
                file.suite,
                history,
                folder=file.folder,
                system_of=_system_of(file),
                deliver=deliver,
                part=Part(only=given["only"], fresh=given["fresh"]),
                workers=file.settings["workers"] or os.cpu_count() or 1,
                watcher=watcher,
                store=told(given["store"]) if given["store"] else None,
            ).report
    except KeyboardInterrupt:
        click.echo(GO_ON, err=True)
        ctx.exit(INTERRUPTED)
    required = given["require_gates"] or file.settings["require_gates"]
    ctx.exit(report.exit_code or verdict_code(report.passed, required))


def _system_of(file: SuiteFile) -> Callable[[PipelineUnderTest, int], System]:
    """Makes the system under test; relative names are from the current folder by then."""

    def made(pipeline: PipelineUnderTest, concurrency: int) -> System:
        if pipeline.demo:
            from ragauge.demo.pipeline import Pipeline

            return Pipeline.of()
        from ragauge.pipelines.mapping import read_mapping
        from ragauge.pipelines.systems import system_of

        shape = pipeline.map or (file.settings["sweep.map"] if pipeline.http else None)
        return system_of(
            http=pipeline.http,
            call=pipeline.call,
            command=pipeline.command,
            replay=pipeline.replay,
            mapping=read_mapping(shape, os.environ) if shape else None,
            concurrency=concurrency,
        )

    return made


@contextmanager
def _watcher(quiet: bool) -> Iterator[Watcher | None]:
    """Progress on stderr, where a person sees it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    screen = _OnScreen()
    try:
        yield screen
    finally:
        screen.clear()


class _OnScreen:
    """A line for each task that is done, and a bar while the pipeline is asked."""

    def __init__(self) -> None:
        self._started = monotonic()
        self._bars = ExitStack()
        self._watch: Callable[[Progress], None] | None = None

    def begins(self, task: Task) -> None:
        self._started = monotonic()
        click.echo(visible(f"{task.name}: {task.kind} of {task.dataset.name} …"), err=True)

    def answers(self, now: Progress) -> None:
        if self._watch is None:
            self._watch = self._bars.enter_context(call_bar())
        self._watch(now)

    def ends(self, report: TaskReport, *, before: bool) -> None:
        self.clear()
        took = "done before" if before else f"{monotonic() - self._started:.1f} s"
        click.echo(visible(f"{report.name}: {report.status} ({took})"), err=True)

    def clear(self) -> None:
        """Take the bar away."""
        self._bars.close()
        self._watch = None
