"""Rows as Parquet, written as they come: memory does not grow with their number."""

from __future__ import annotations

import queue
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.errors import UsageError
from ragauge.store.files import whole

if TYPE_CHECKING:
    import polars as pl

GROUP_ROWS = 32_768
"""Rows of a Parquet row group: what is held in memory while it is encoded."""
AHEAD = 4
PATIENCE_S = 0.1


class RowWriter:
    """Takes frames one after the other; polars writes them in a thread of its own.

    Polars pulls frames from a source, while a runner pushes them as blocks are scored: a short
    queue joins the two, and leaves the main thread free to be interrupted.
    """

    def __init__(self, part: Path, path: Path) -> None:
        self._part, self._path = part, path
        self._frames: queue.Queue[pl.DataFrame | None] = queue.Queue(maxsize=AHEAD)
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None

    def add(self, frame: pl.DataFrame) -> None:
        """Take a frame; raises UsageError once the file can no longer be written."""
        self._refuse_failure()
        if self._thread is None:
            self._thread = threading.Thread(target=self._write, args=(frame.schema,), daemon=True)
            self._thread.start()
        self._put(frame)

    def close(self) -> None:
        """End the file; raises UsageError where it could not be written."""
        if self._thread is not None:
            self._put(None)
            self._thread.join()
        self._refuse_failure()

    def _refuse_failure(self) -> None:
        if self._failure is not None:
            raise UsageError(f"{self._path}: cannot be written: {self._failure}")

    def _put(self, frame: pl.DataFrame | None) -> None:
        """Hand a frame over, unless nobody will ever take it."""
        while self._thread is not None and self._thread.is_alive():
            try:
                self._frames.put(frame, timeout=PATIENCE_S)
                return
            except queue.Full:
                continue

    def _write(self, schema: Any) -> None:
        from polars.io.plugins import register_io_source

        try:
            rows = register_io_source(self._taken, schema=schema)
            rows.sink_parquet(self._part, row_group_size=GROUP_ROWS, statistics=False)
        except BaseException as failure:  # it belongs to the thread that called `add`
            self._failure = failure

    def _taken(self, *_unused: object) -> Iterator[pl.DataFrame]:
        while (frame := self._frames.get()) is not None:
            yield frame


@contextmanager
def parquet_rows(path: Path) -> Iterator[RowWriter]:
    """A writer whose rows become the file `path` when all went well, and nothing otherwise."""
    _keep_interrupts()
    with whole(path) as part:
        writer = RowWriter(part, path)
        try:
            yield writer
        finally:
            writer.close()


def _keep_interrupts() -> None:
    """Let Ctrl-C reach the main thread while polars works in another.

    Polars puts a handler of its own below Python's when it is imported, and a query would keep
    the signal to itself; setting Python's handler again takes that back.
    """
    import polars  # noqa: F401 (for its handler)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
