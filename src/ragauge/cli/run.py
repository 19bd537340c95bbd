"""`ragauge run`: all the tasks of a suite, recorded, with one verdict."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import Struct, structs

from ragauge.cli.command import (
    INTERRUPTED,
    call_progress,
    command,
    exit_code,
    forms_of,
)
from ragauge.cli.command import deliver as deliver_to
from ragauge.cli.run_store import opened, told
from ragauge.cli.sweep import GO_ON, asked_system
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import Gating, Output, Stored, SystemOptions
from ragauge.text.visible import visible

if TYPE_CHECKING:
    from ragauge.contracts.suite import PipelineUnderTest, Task, TaskReport
    from ragauge.contracts.sweep import Progress
    from ragauge.contracts.system import System
    from ragauge.ingest.suite import SuiteFile
    from ragauge.runners.suite import Watcher


class Which(Struct, frozen=True, kw_only=True):
    """What of the suite to run."""

    only: Annotated[tuple[str, ...], Opt("Run this task; repeatable.", metavar="TASK")] = ()
    fresh: Annotated[bool, Opt("Forget what an unfinished start has done.")] = False


@command("text", "json", "markdown", "junit", "github", settings=False)
def run(
    suite: str | None = None,
    *,
    which: Which,
    gating: Gating,
    stored: Stored,
    output: Output,
) -> int:
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
    from ragauge.runners.suite import run_suite
    from ragauge.store.places import default_place

    file = read_suite(suite, Path.cwd(), os.environ)
    usual = file.settings["format"]
    usual = usual if usual in KINDS[SuiteReport].forms else "text"
    form = click.get_current_context().params["format"] or usual
    files = forms_of(output.reports, SuiteReport)
    quiet = output.quiet or file.settings["quiet"]
    # As the flag says, else the file, else the project's own.
    place = stored.store or file.settings["store"] or default_place(file.folder, os.environ)

    def deliver(report: SuiteReport) -> None:
        deliver_to(report, files, structs.replace(output, quiet=quiet, format=form))

    try:
        with opened(place, create=True) as history, _watcher(quiet) as watcher:
            report = run_suite(
                file.suite,
                history,
                folder=file.folder,
                system_of=_system_of(file),
                deliver=deliver,
                only=which.only,
                fresh=which.fresh,
                workers=file.settings["workers"] or os.cpu_count() or 1,
                watcher=watcher,
                place=place,
                store=told(stored.store) if stored.store else None,
            ).report
    except KeyboardInterrupt:
        click.echo(GO_ON, err=True)
        return INTERRUPTED
    required = gating.require_gates or file.settings["require_gates"]
    return report.exit_code or exit_code(report, required)


def _system_of(file: SuiteFile) -> Callable[[PipelineUnderTest, int], System]:
    """Makes the system under test; relative names are from the current folder by then."""

    def made(pipeline: PipelineUnderTest, concurrency: int) -> System:
        shape = pipeline.map or (file.settings["sweep.map"] if pipeline.http else None)
        named = {name: getattr(pipeline, name) for name in SystemOptions.__struct_fields__}
        return asked_system(SystemOptions(**{**named, "map": shape}), concurrency)

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
        of = f"of {task.dataset.name}" if task.dataset.name else ""
        click.echo(visible(f"{task.name}: {task.kind} {of} …"), err=True)

    def answers(self, now: Progress) -> None:
        if self._watch is None:
            self._watch = self._bars.enter_context(call_progress(quiet=False))
        if self._watch:
            self._watch(now)

    def ends(self, report: TaskReport, *, before: bool) -> None:
        self.clear()
        took = "done before" if before else f"{monotonic() - self._started:.1f} s"
        click.echo(visible(f"{report.name}: {report.status} ({took})"), err=True)

    def clear(self) -> None:
        """Take the bar away."""
        self._bars.close()
        self._watch = None
