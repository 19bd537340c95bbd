"""How far the work is, on stderr: a bar in a terminal, lines in a log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ragauge.contracts.sweep import Progress

LOG_EVERY_S = 10.0


@contextmanager
def bar(
    doing: str, quiet: bool, *columns: str, total: int | None = None
) -> Iterator[Callable[..., None] | None]:
    """What updates a bar with these columns of rich; None where nobody sees it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    made = (getattr(progress, name)() if name.endswith("Column") else name for name in columns)
    with progress.Progress(*made, console=Console(stderr=True), transient=True) as shown:
        yield partial(shown.update, shown.add_task(doing, total=total))


@contextmanager
def counting(doing: str, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """What is called with how many of how many are done; None where nobody sees it."""
    with bar(doing, quiet) as update:
        yield update and (lambda done, of: update(completed=done, total=of))


@contextmanager
def reading_progress(
    traces: tuple[str, ...], quiet: bool, doing: str
) -> Iterator[Callable[[int], None] | None]:
    """What is called with the bytes that were read; None where nobody sees it."""
    from ragauge.ingest.lines import size_of

    sizes = [size_of(name) for name in traces] if not quiet else []
    total = None if None in sizes else sum(size for size in sizes if size is not None)
    columns = (doing, "BarColumn", "DownloadColumn", "TimeRemainingColumn")
    with bar(doing, quiet, *columns, total=total) as update:
        yield update and (lambda done: update(advance=done))


@contextmanager
def call_progress(
    quiet: bool, doing: str = "sweeping"
) -> Iterator[Callable[[Progress], None] | None]:
    """Rate, errors and time left of calls: a bar for a person, a line now and then for a log."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with call_bar(doing) as watch:
            yield watch
    else:
        yield _call_lines(doing)


@contextmanager
def call_bar(doing: str = "sweeping") -> Iterator[Callable[[Progress], None]]:
    """A bar that appears with the first progress and goes away at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]} {task.fields[failed]}"),
        TimeRemainingColumn(),
    )
    speed = _Speed()
    shown = Bar(*columns, console=Console(stderr=True), transient=True)
    task = shown.add_task(doing, total=None, rate="", failed="")

    def watch(now: Progress) -> None:
        shown.start()
        settled = now.done + now.failed + now.saved
        rate, failed = _rate_words(speed.rate(now)), _failed_words(now)
        shown.update(task, total=now.of, completed=settled, rate=rate, failed=failed)

    try:
        yield watch
    finally:
        shown.stop()


def _call_lines(doing: str) -> Callable[[Progress], None]:
    """Writes a line every few seconds."""
    speed = _Speed()
    last = monotonic()

    def watch(now: Progress) -> None:
        nonlocal last
        rate = speed.rate(now)
        if monotonic() - last < LOG_EVERY_S:
            return
        last = monotonic()
        settled, left = now.done + now.failed + now.saved, ""
        if rate is not None:
            minutes, seconds = divmod(round((now.of - settled) / rate), 60)
            left = f"{minutes}:{seconds:02} left"
        parts = [f"{doing}: {settled:,} of {now.of:,} runs", _rate_words(rate), left]
        click.echo(", ".join(filter(None, [*parts, _failed_words(now)])), err=True)

    return watch


class _Speed:
    """Runs a second since the first look, which resumed runs are no part of."""

    def __init__(self) -> None:
        self._start: tuple[float, int] | None = None

    def rate(self, now: Progress) -> float | None:
        settled = now.done + now.failed
        self._start = self._start or (monotonic(), settled)
        passed, made = monotonic() - self._start[0], settled - self._start[1]
        return made / passed if made and passed else None


def _rate_words(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.3g}/s"


def _failed_words(now: Progress) -> str:
    return f"{now.failed:,} failed" if now.failed else ""
