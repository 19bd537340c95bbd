"""Rows for whoever goes on with them elsewhere: CSV without formulas, JSON Lines, Parquet."""

from __future__ import annotations

import csv
import io
import queue
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.contracts.report import UnitRows
from ragauge.errors import UsageError
from ragauge.store.files import whole
from ragauge.text.visible import FORMULA, readable

if TYPE_CHECKING:
    import polars as pl

ENDINGS = (".jsonl", ".csv", ".parquet")


def written(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """The rows as CSV with a header line (RFC 4180); lines end with CR LF."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(map(cell, columns))  # heads may be foreign too: the fields of a payload
    writer.writerows([cell(content) for content in row] for row in rows)
    return out.getvalue()


def cell(content: object) -> str:
    """A field as a cell: nothing for None, a list joined by blanks, a formula defused.

    >>> cell(True), cell(None), cell(("p1#1", "p2#4")), cell("=1+1"), cell(-0.25)
    ('true', '', 'p1#1 p2#4', "'=1+1", '-0.25')
    """
    match content:
        case None:
            return ""
        case bool():
            return "true" if content else "false"
        case int() | float():
            return str(content)
        case tuple():
            content = " ".join(str(one) for one in content)
    text = str(content)
    return f"'{readable(text)}" if text.startswith(FORMULA) else readable(text)


def table(columns: Mapping[str, type | None], rows: Iterable[Sequence[Any]], path: Path) -> bytes:
    """Rows in the form of the file's ending; each column of its type, or of that of its cells."""
    match path.suffix.lower():
        case ".jsonl":
            import msgspec

            lines = (msgspec.json.encode(dict(zip(columns, row, strict=True))) for row in rows)
            return b"".join(line + b"\n" for line in lines)
        case ".csv":
            return written(list(columns), rows).encode()
        case ".parquet":
            import polars as pl

            out = io.BytesIO()
            given, schema = list(rows), dict(columns)
            pl.DataFrame(given, schema, orient="row", infer_schema_length=None).write_parquet(out)
            return out.getvalue()
    raise UsageError(unknown_ending(path))


def unknown_ending(path: Path) -> str:
    return f'{path}: no rows have the ending "{path.suffix}"; known: {", ".join(ENDINGS)}'


def units_table(units: UnitRows, path: Path) -> bytes:
    """A row for each unit of an evaluation; an absent value is null or an empty cell."""
    ids = sorted(units.measured)
    columns = dict.fromkeys(["unit", "right", *units.details, *ids])
    values = [
        [None if value != value else value for value in units.measured[id].values.tolist()]
        for id in ids
    ]
    rows = zip(units.ids, units.right, *units.details.values(), *values, strict=True)
    return table(columns, rows, path)


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
    import polars  # noqa: F401 (for its handler)

    # Ctrl-C has to reach the main thread while polars works in another. Polars puts a handler of
    # its own below Python's when it is imported, and a query would keep the signal to itself;
    # setting Python's handler again takes that back.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
    with whole(path) as part:
        writer = RowWriter(part, path)
        try:
            yield writer
        finally:
            writer.close()
