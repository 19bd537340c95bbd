"""How far a count of things is, for whoever looks at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def counting(doing: str, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr that is told how many of how many are done; None where nobody sees it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)
