"""What a history asks of the place where the files of its runs stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection

from ragauge.contracts.archive import is_file_name
from ragauge.contracts.history import NewRun, Run, RunRecord, Seal
from ragauge.errors import InputRejected, UsageError
from ragauge.store.files import pieces_of


class Brought(Protocol):
    """Files that are ready to be kept."""

    def keep(self, connection: Connection, number: int) -> None:
        """Give them their place, inside the transaction that makes their run visible."""
        ...


class Shelf(Protocol):
    """The place of the files."""

    def bring(self, run: NewRun, id: str) -> AbstractContextManager[Brought]:
        """Take copies; raises InputRejected where a file is not as the record seals it."""
        ...

    def open(self, run: Run, name: str) -> AbstractContextManager[Path]: ...

    def part(self, run: Run, name: str, start: int, stop: int) -> bytes:
        """Bytes of a file, fewer where it ends before; no more of it is read."""
        ...

    def found(self, connection: Connection, id: str, name: str) -> Seal | None:
        """What a file is now; None where it is not there."""
        ...

    def clear(self, ids: Iterable[str]) -> None:
        """Remove the files of runs that are gone."""
        ...

    def leftovers(self) -> list[str]:
        """Files of no run; among them may be those of a writer at work."""
        ...

    def sweep(self, older_than_s: float) -> list[str]:
        """Remove the leftovers of that age; what was removed."""
        ...


def check_names(run: NewRun) -> None:
    """Refuse files other than the record has sealed, and names that lead out of the folder."""
    sealed, given = set(run.record.files), set(run.files)
    problems = [
        *(f"{name}: is sealed in the run's record and not given" for name in sealed - given),
        *(f"{name}: is given and not sealed in the run's record" for name in given - sealed),
        *(f"{name!r}: is no name for a file" for name in given if not is_file_name(name)),
    ]
    if problems:
        raise InputRejected(*sorted(problems))


def part_within(run: Run, name: str, start: int, stop: int) -> tuple[int, int]:
    """The bytes that a file has of those asked for; raises UsageError where there is no file."""
    seal = run.record.files.get(name)
    if seal is None:
        raise missing(run, name)
    first = min(max(start, 0), seal.size)
    return first, min(max(stop, first), seal.size)


def check_seal(path: Path, record: RunRecord, name: str, seal: Seal) -> None:
    """Refuse a file that is not what the run's record says."""
    if seal != record.files[name]:
        raise InputRejected(
            f"{path}: is not the file the run's record has sealed as {name}; it may have changed "
            "since"
        )


def missing(run: Run, name: str) -> UsageError:
    """The error for a file that is not there."""
    if name in run.record.files:
        return UsageError(
            f"run {run.shown}: its file {name} is gone; `ragauge runs verify` says what else is"
        )
    has = ", ".join(sorted(run.record.files)) or "none"
    return UsageError(f"run {run.shown}: was recorded without {name}; the files it has: {has}")


def given_pieces(path: Path) -> Iterator[bytes]:
    """The content of a file to be kept; raises UsageError where it cannot be read."""
    try:
        yield from pieces_of(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
