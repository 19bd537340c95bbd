"""An archive of runs, read with suspicion: every member is proven before anything is recorded."""

from __future__ import annotations

import errno
import re
import shutil
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import msgspec
from msgspec import Struct

from ragauge.contracts.archive import (
    ARCHIVE_SCHEMA,
    CONTENTS,
    ArchivedRun,
    Contents,
    file_member,
    gold_member,
    is_file_name,
    record_member,
    units_member,
)
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import ID_SHOWN, RUN_SCHEMA, RunRecord, UnitRow, canonical
from ragauge.errors import InputRejected, UsageError
from ragauge.store.files import PIECE, pieces_in, seal_of

LONGEST = 64 << 20
"""Bytes of a line or of a record; what is longer was made to fill memory."""
SHOWN = 100
"""Problems that are spelled out; the rest are counted."""

_ID = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_ENCRYPTED = 0x1

# What a zip raises that was cut, altered or made to harm: ValueError holds negative places and
# undecodable names, RuntimeError a nesting without end.
_BROKEN = (BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error)
_ALTERED = "was altered or damaged; export it again"

Line = TypeVar("Line", bound=Struct)


class Parcel(Struct, frozen=True):
    """A run of an archive, as far as its proven record tells."""

    held: ArchivedRun
    record: RunRecord
    document: bytes
    """The record as it was written: numbers in it may be written in another way today."""

    @property
    def id(self) -> str:
        return self.held.id

    @property
    def tags(self) -> Sequence[str]:
        return self.held.tags

    @property
    def regressions(self) -> Sequence[str]:
        return self.held.regressions


class _Fault(Exception):
    """What is wrong with a member."""


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """The archive at a path; raises UsageError where there is none, InputRejected if it is none."""
    try:
        with path.open("rb") as file:
            try:
                members = ZipFile(file)
            except _BROKEN:
                raise InputRejected(
                    f"{path}: is no whole archive of `ragauge runs export`; it may have been cut"
                ) from None
            with members:
                yield Archive(path, members, path.stat().st_size)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise UsageError(f"{path}: is a folder; name an archive of `ragauge runs export`") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InputRejected(
                f"{path}: is a link that leads back to itself; name the file"
            ) from None
        raise


class Archive:
    """Runs in a zip file; what `checked` has not proven is not to be read."""

    def __init__(self, path: Path, file: ZipFile, size: int) -> None:
        self._path, self._file, self._size = path, file, size
        self._members = {member.filename: member for member in file.infolist()}
        self._problems: list[str] = []

    def checked(self) -> list[Parcel]:
        """The runs, each proven by its hashes; raises InputRejected with all that is wrong."""
        self._check_members()
        self._refuse()
        held = self._held()
        self._refuse()
        parcels = [parcel for run in held if (parcel := self._parcel(run))]
        if len(parcels) == len(held):
            self._check_strays(parcels)
        for sha256 in sorted({p.record.gold_sha256 for p in parcels if p.record.gold_sha256}):
            self._check_gold(sha256)
        for parcel in parcels:
            self._check_units(parcel)
            self._check_files(parcel)
        self._refuse()
        return parcels

    def units(self, parcel: Parcel) -> Iterator[UnitRow]:
        return self._lines(units_member(parcel.id), UnitRow)

    def gold(self, parcel: Parcel) -> Iterator[Gold]:
        sha256 = parcel.record.gold_sha256
        return self._lines(gold_member(sha256), Gold) if sha256 else iter(())

    def unpacked(self, parcel: Parcel, folder: Path) -> dict[str, Path]:
        """The run's files, written to a folder."""
        files = {name: folder / name for name in parcel.record.files}
        for name, path in files.items():
            with self._file.open(file_member(parcel.id, name)) as member, path.open("wb") as out:
                shutil.copyfileobj(member, out, PIECE)
        return files

    def _check_members(self) -> None:
        """Nothing in the zip may expand, hide behind a password or stand there twice."""
        members = self._file.infolist()
        times = Counter(member.filename for member in members)
        for name in sorted(name for name, count in times.items() if count > 1):
            self._problem(name, "stands there more than once")
        for member in members:
            if member.flag_bits & _ENCRYPTED:
                self._problem(member.filename, "is encrypted")
            elif member.compress_type != ZIP_STORED or member.compress_size != member.file_size:
                self._problem(member.filename, "is compressed; Ragauge stores members as they are")
        if sum(member.file_size for member in members) > self._size:
            self._problems.append(f"{self._path}: claims more bytes than it has; it {_ALTERED}")

    def _held(self) -> Sequence[ArchivedRun]:
        """The runs that the archive says it holds."""
        with self._noted(CONTENTS):
            contents = _decoded(self._content(CONTENTS), Contents, ARCHIVE_SCHEMA)
            ids = Counter(run.id for run in contents.runs)
            if not all(_ID.fullmatch(id) and times == 1 for id, times in ids.items()):
                raise _Fault("names a run twice, or by what is no id")
            tags = Counter(tag for run in contents.runs for tag in run.tags)
            if any(times > 1 for times in tags.values()):
                raise _Fault("gives one tag to two runs")
            for run in contents.runs:
                _check_regressions(run)
            return contents.runs
        return ()

    def _parcel(self, held: ArchivedRun) -> Parcel | None:
        """A run whose record is what its id says; None where it is not, and that is noted."""
        name = record_member(held.id)
        with self._noted(name):
            self._prove(name, held.id)
            document = self._content(name)
            record = _decoded(document, RunRecord, RUN_SCHEMA)
            _check_record(record)
            return Parcel(held, record, document)
        return None

    def _check_strays(self, parcels: Sequence[Parcel]) -> None:
        """Every member belongs to a run: what has another name is not read, nor passed over."""
        known = {CONTENTS}
        for parcel in parcels:
            known |= {record_member(parcel.id), units_member(parcel.id)}
            known |= {file_member(parcel.id, name) for name in parcel.record.files}
            known |= {gold_member(sha256) for sha256 in [parcel.record.gold_sha256] if sha256}
        for name in sorted(self._members.keys() - known):
            self._problem(name, "belongs to no run of the archive")

    def _check_gold(self, sha256: str) -> None:
        name = gold_member(sha256)
        with self._noted(name):
            self._prove(name, sha256)
            _check_ids(question.qid for question in self._lines(name, Gold))

    def _check_units(self, parcel: Parcel) -> None:
        name = units_member(parcel.id)
        with self._noted(name):
            self._prove(name, parcel.record.units_sha256)
            rows = _check_ids(row.unit for row in self._lines(name, UnitRow))
            if rows != parcel.record.units:
                raise _Fault(f"holds {rows:,} rows, and its record says {parcel.record.units:,}")

    def _check_files(self, parcel: Parcel) -> None:
        for name, seal in sorted(parcel.record.files.items()):
            with self._noted(file_member(parcel.id, name)):
                self._prove(file_member(parcel.id, name), seal.sha256, seal.size)

    def _prove(self, name: str, sha256: str, size: int | None = None) -> None:
        """Raise a fault where the member is not what was sealed."""
        member = self._member(name)
        if size is not None and member.file_size != size:
            raise _Fault(f"has {member.file_size:,} bytes, not {size:,}; it {_ALTERED}")
        with self._file.open(member) as content:
            found = seal_of(pieces_in(content))
        if found.sha256 != sha256:
            raise _Fault(f"is not what was recorded; it {_ALTERED}")

    def _content(self, name: str) -> bytes:
        """A small member's bytes."""
        member = self._member(name)
        if member.file_size > LONGEST:
            raise _Fault(f"has {member.file_size:,} bytes, more than any record")
        return self._file.read(member)

    def _lines(self, name: str, kind: type[Line]) -> Iterator[Line]:
        """The records of a member, one a line; raises a fault where one is none."""
        with self._file.open(name) as content:
            number = 0
            while line := content.readline(LONGEST + 1):
                number += 1
                if len(line) > LONGEST:
                    raise _Fault(f"line {number}: is longer than {LONGEST >> 20} MiB")
                try:
                    yield _decoded(line.removesuffix(b"\n"), kind)
                except _Fault as fault:
                    raise _Fault(f"line {number}: {fault}") from None

    def _member(self, name: str) -> ZipInfo:
        if name not in self._members:
            raise _Fault(f"is missing; the archive {_ALTERED}")
        return self._members[name]

    @contextmanager
    def _noted(self, name: str) -> Iterator[None]:
        """Whatever is wrong with the member becomes a problem."""
        try:
            yield
        except _Fault as fault:
            self._problem(name, str(fault))
        except _BROKEN:
            self._problem(name, _ALTERED)

    def _problem(self, name: str, fact: str) -> None:
        self._problems.append(f"{self._path}: {name}: {fact}")

    def _refuse(self) -> None:
        if self._problems:
            more = max(0, len(self._problems) - SHOWN)
            raise InputRejected(*self._problems[:SHOWN], more=more)


class _Versioned(Struct):
    schema: str


def _decoded(content: bytes, kind: type[Line], schema: str | None = None) -> Line:
    """The record in these bytes, of this schema; raises a fault unless they are how it is written.

    Bytes that are not canonical would become other bytes in the history, and so another id.
    """
    try:
        if schema is not None:
            _check_schema(msgspec.json.decode(content, type=_Versioned).schema, schema)
        found = msgspec.json.decode(content, type=kind)
        as_written = canonical(found) == content or (schema is not None and _same(found, content))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise _Fault(f"is not what it should be: {error}") from None
    if not as_written:
        raise _Fault("is not written as Ragauge writes it")
    return found


def _same(record: Struct, content: bytes) -> bool:
    """Whether the bytes are the record as an older version wrote it.

    It wrote a gate's bound of 0 as `0`, which is read as 0.0, and no fields that are newer.
    """
    plain = msgspec.json.decode(content)
    return canonical(plain) == content and _within(plain, msgspec.to_builtins(record))


def _within(part: Any, known: Any) -> bool:
    """Whether two values are equal, but for keys that only the second has."""
    if isinstance(part, dict) and isinstance(known, dict):
        return known.keys() >= part.keys() and all(
            _within(value, known[key]) for key, value in part.items()
        )
    if isinstance(part, list) and isinstance(known, list | tuple):
        return len(part) == len(known) and all(map(_within, part, known))
    return bool(part == known)


def _check_schema(found: str, known: str) -> None:
    if found != known:
        raise _Fault(f'has the schema "{found}", and this version of Ragauge reads {known}')


def _check_record(record: RunRecord) -> None:
    """Raise a fault for what no run that Ragauge recorded has, and a store might trip over."""
    if not _TIME.fullmatch(record.recorded_at):
        raise _Fault(f'recorded_at: "{record.recorded_at}" is no time to the microsecond')
    if record.gold_sha256 is not None and not _ID.fullmatch(record.gold_sha256):
        raise _Fault(f'gold_sha256: "{record.gold_sha256}" is no hash')
    for name in record.files:
        if not is_file_name(name):
            raise _Fault(f'files: "{name}" is no plain file name')


def _check_regressions(run: ArchivedRun) -> None:
    """Raise a fault where the baselines are not ids, each once and in order."""
    ids = run.regressions
    if list(ids) != sorted(set(ids)) or not all(map(_ID.fullmatch, ids)):
        raise _Fault(f"regressions of {run.id[:ID_SHOWN]}: are not ids, each once and in order")


def _check_ids(ids: Iterable[str]) -> int:
    """How many there are; raises a fault where one stands there twice."""
    seen: set[str] = set()
    count = 0
    for count, id in enumerate(ids, 1):
        if id in seen:
            raise _Fault(f'line {count}: "{id}" stands there twice')
        seen.add(id)
    return count
