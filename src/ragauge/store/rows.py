"""Rows as Parquet, written as they come, in one file at the end."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.store.files import whole

if TYPE_CHECKING:
    import polars as pl

PART_ROWS = 131_072
"""Rows held in memory before they go to disk."""


class RowWriter:
    """Takes frames one after the other; holds a part at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: list[pl.DataFrame] = []
        self._rows = 0
        self.parts: list[Path] = []

    def add(self, frame: pl.DataFrame) -> None:
        self._held.append(frame)
        self._rows += frame.height
        if self._rows >= PART_ROWS:
            self.flush()

    def flush(self) -> None:
        if self._held:
            import polars as pl

            part = self._folder / f"{len(self.parts):06d}.parquet"
            pl.concat(self._held).write_parquet(part, statistics=False)
            self.parts.append(part)
            self._held, self._rows = [], 0


@contextmanager
def parquet_rows(path: Path) -> Iterator[RowWriter]:
    """A writer whose rows become the file `path` when all went well, and nothing otherwise."""
    with whole(path) as target:
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        try:
            writer = RowWriter(folder)
            yield writer
            writer.flush()
            _join(writer.parts, target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _join(parts: list[Path], target: Path) -> None:
    import polars as pl

    if not parts:
        pl.DataFrame().write_parquet(target)
    elif len(parts) == 1:
        parts[0].replace(target)
    else:
        pl.scan_parquet(parts).sink_parquet(target, statistics=False)
