"""The files of runs in the tables of a server, so that whoever sees a run sees its files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from sqlalchemy import Connection, insert, select

from ragauge.contracts.history import NewRun, Run, Seal
from ragauge.store.database import Database
from ragauge.store.files import seal_of
from ragauge.store.shelf import Brought, check_names, check_seal, given_pieces, missing
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
    piece = (
        select(file_pieces.c.content)
        .join(runs, runs.c.number == file_pieces.c.run)
        .where(runs.c.id == id, file_pieces.c.name == name)
    )
    for place in count():
        row = connection.execute(piece.where(file_pieces.c.number == place)).first()
        if row is None:
            return
        yield bytes(row.content)
