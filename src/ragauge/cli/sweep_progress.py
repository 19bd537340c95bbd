"""How far calls are, for whoever looks: a bar in a terminal, lines in a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

import click

from ragauge.contracts.sweep import Progress

Watch = Callable[[Progress], None]

LOG_EVERY_S = 10.0


@contextmanager
def bar(doing: str = "sweeping") -> Iterator[Watch]:
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
        shown.update(
            task,
            total=now.of,
            completed=now.done + now.failed + now.saved,
            rate=speed.words(now),
            failed=_failed(now),
        )

    try:
        yield watch
    finally:
        shown.stop()


@contextmanager
def lines(doing: str = "sweeping") -> Iterator[Watch]:
    """A line every few seconds."""
    speed = _Speed()
    last = monotonic()

    def watch(now: Progress) -> None:
        nonlocal last
        speed.look(now)
        if monotonic() - last >= LOG_EVERY_S:
            last = monotonic()
            settled = now.done + now.failed + now.saved
            parts = [f"{doing}: {settled:,} of {now.of:,} runs", speed.words(now), speed.left(now)]
            click.echo(", ".join(filter(None, [*parts, _failed(now)])), err=True)

    yield watch


class _Speed:
    """Runs a second since the first look, which resumed runs are no part of."""

    def __init__(self) -> None:
        self._start: tuple[float, int] | None = None

    def look(self, now: Progress) -> None:
        """The first look is where the time begins."""
        if self._start is None:
            self._start = monotonic(), now.done + now.failed

    def _rate(self, now: Progress) -> float | None:
        self.look(now)
        assert self._start
        settled = now.done + now.failed
        passed, made = monotonic() - self._start[0], settled - self._start[1]
        return made / passed if made and passed else None

    def words(self, now: Progress) -> str:
        rate = self._rate(now)
        return "" if rate is None else f"{rate:.3g}/s"

    def left(self, now: Progress) -> str:
        rate = self._rate(now)
        if rate is None:
            return ""
        minutes, seconds = divmod(round((now.of - now.done - now.failed - now.saved) / rate), 60)
        return f"{minutes}:{seconds:02} left"


def _failed(now: Progress) -> str:
    return f"{now.failed:,} failed" if now.failed else ""
