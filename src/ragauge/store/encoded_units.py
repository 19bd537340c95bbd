"""The unit rows of a run, encoded and proven before the database is locked for them.

Of many rows this takes longer than to insert them, and whoever else wants to write would wait.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import msgspec

from ragauge.contracts.history import NewRun, UnitRow, canonical
from ragauge.errors import InputRejected, UsageError
from ragauge.store.database import BATCH
from ragauge.store.recorded import unit_columns

IN_MEMORY = 16 << 20
"""Bytes of encoded rows that are kept in memory; more wait in a temporary file."""
_LENGTH = 8

_batch = msgspec.msgpack.Decoder(list[dict[str, Any]])


@contextmanager
def encoded_units(run: NewRun) -> Iterator[Iterator[dict[str, Any]]]:
    """The rows as the table takes them, to be read once while the context lasts.

    Raises InputRejected where they are not those the run's record seals.
    """
    with SpooledTemporaryFile(max_size=IN_MEMORY) as spool:
        digest = hashlib.sha256()
        try:
            _write(spool, _rows(run, digest))
        except OSError as error:
            raise UsageError(
                f"the rows of the run cannot be written to a temporary file: "
                f"{error.strerror or error}; make room, or set TMPDIR to another folder"
            ) from error
        if digest.hexdigest() != run.record.units_sha256:
            raise InputRejected(
                f"run {run.id[:12]}: units_sha256: the unit rows are not those the record seals"
            )
        spool.seek(0)
        yield _read(spool)


def _rows(run: NewRun, digest: Any) -> Iterator[dict[str, Any]]:
    for place, row in enumerate(run.units):
        _refuse_endless(row)
        line = canonical(row)
        digest.update(line + b"\n")
        columns = unit_columns(row)
        values = canonical(columns["values"])
        yield {"place": place, **columns, "values": values, "line": line.decode()}


def _refuse_endless(row: UnitRow) -> None:
    if not all(map(math.isfinite, row.values.values())):
        raise InputRejected(
            f"unit {row.unit!r}: values: NaN or Infinity; leave a metric that does not apply out"
        )


def _write(spool: IO[bytes], rows: Iterator[dict[str, Any]]) -> None:
    while batch := list(islice(rows, BATCH)):
        content = msgspec.msgpack.encode(batch)
        spool.write(len(content).to_bytes(_LENGTH, "big"))
        spool.write(content)


def _read(spool: IO[bytes]) -> Iterator[dict[str, Any]]:
    while length := spool.read(_LENGTH):
        for row in _batch.decode(spool.read(int.from_bytes(length, "big"))):
            row["values"] = msgspec.Raw(row["values"])  # JSON already: written as it is
            yield row
