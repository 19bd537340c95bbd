"""The files of runs in the tables of a server, so that whoever sees a run sees its files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, LargeBinary, Select, func, insert, select

from ragauge.contracts.history import NewRun, Run, Seal
from ragauge.store.database import Database
from ragauge.store.files import PIECE, seal_of
from ragauge.store.shelf import Brought, check_names, check_seal, given_pieces, missing, part_within
from ragauge.store.tables import file_pieces, runs


class PieceShelf:
    """Files cut into rows; they come and go with their run, in its transactions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def bring(self, run: NewRun, id: str) -> Iterator[Brought]:
        check_names(run)
        yield _Given(run)

    @contextmanager
    def open(self, run: Run, name: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="ragauge-") as folder:
            path = Path(folder) / name
            with self._database.reading() as connection:
                if name not in run.record.files or not _has(connection, run.id, name):
                    raise missing(run, name)
                with path.open("wb") as file:
                    file.writelines(_kept(connection, run.id, name))
            yield path

    def part(self, run: Run, name: str, start: int, stop: int) -> bytes:
        first, last = part_within(run, name, start, stop)
        with self._database.reading() as connection:
            try:
                return b"".join(_cut(connection, run.id, name, first, last))
            except LookupError as error:
                raise missing(run, name) from error

    def found(self, connection: Connection, id: str, name: str) -> Seal | None:
        if not _has(connection, id, name):
            return None
        return seal_of(_kept(connection, id, name))

    def clear(self, ids: Iterable[str]) -> None:
        """Nothing: the pieces went with their runs."""

    def leftovers(self) -> list[str]:
        return []

    def sweep(self, older_than_s: float) -> list[str]:
        return []


class _Given:
    """The files where the user has them."""

    def __init__(self, run: NewRun) -> None:
        self._run = run

    def keep(self, connection: Connection, number: int) -> None:
        for name, path in sorted(self._run.files.items()):
            seal = seal_of(_sent(connection, number, name, given_pieces(path)))
            check_seal(path, self._run.record, name, seal)


def _sent(
    connection: Connection, number: int, name: str, pieces: Iterable[bytes]
) -> Iterator[bytes]:
    for place, piece in enumerate(pieces):
        row = {"run": number, "name": name, "number": place, "content": piece}
        connection.execute(insert(file_pieces), row)
        yield piece


def _has(connection: Connection, id: str, name: str) -> bool:
    return next(_kept(connection, id, name), None) is not None


def _kept(connection: Connection, id: str, name: str) -> Iterator[bytes]:
    """The pieces of a file, fetched one by one."""
    for place in count():
        row = connection.execute(_piece(file_pieces.c.content, id, name, place)).first()
        if row is None:
            return
        yield bytes(row[0])


def _cut(connection: Connection, id: str, name: str, first: int, last: int) -> Iterator[bytes]:
    """What the pieces have between two bytes; raises LookupError where one is not there.

    The server cuts them, so that what is not asked for does not travel. All pieces but the last
    are of one size.
    """
    end = max(last - 1, 0)
    for place in range(min(first, end) // PIECE, end // PIECE + 1):
        start = max(first - place * PIECE, 0)
        length = min(last - place * PIECE, PIECE) - start
        cut = func.substr(file_pieces.c.content, start + 1, length, type_=LargeBinary)
        row = connection.execute(_piece(cut, id, name, place)).first()
        if row is None or len(row[0]) != length:
            raise LookupError
        yield bytes(row[0])


def _piece(content: ColumnElement[bytes], id: str, name: str, place: int) -> Select[Any]:
    return (
        select(content)
        .join(runs, runs.c.number == file_pieces.c.run)
        .where(runs.c.id == id, file_pieces.c.name == name, file_pieces.c.number == place)
    )
