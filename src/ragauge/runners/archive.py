"""Runs in one file: the same bytes on every machine, and checked whole before any is believed.

An archive is a zip whose members are stored as they are: nothing in it can expand, and no
compressor's version shows in its bytes. Its first member names the runs; a run's id is the hash
of its record, and the record seals the rest, so that each member has only one content it may
have. The members, in order:

    contents.json
    gold/<sha256>.jsonl
    runs/<id>/record.json
    runs/<id>/units.jsonl
    runs/<id>/files/<name>
"""

from __future__ import annotations

import errno
import hashlib
import re
import shutil
import struct
import tempfile
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
    Imported,
    file_member,
    gold_member,
    is_file_name,
    record_member,
    units_member,
)
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import (
    ID_SHOWN,
    RUN_SCHEMA,
    History,
    NewRun,
    Run,
    RunRecord,
    UnitRow,
    canonical,
)
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import InputRejected, RagaugeError, UsageError
from ragauge.store.files import PIECE, pieces_in, pieces_of, seal_of, whole
from ragauge.text.visible import writable

MANY_UNITS = 100_000
"""From here on the size of the rows, not known before they are written, gets 64 bits."""
LONGEST = 64 << 20
"""Bytes of a line or of a record; what is longer was made to fill memory."""

_DATE = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_PLAIN_FILE = 0o100644 << 16
_ID = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_ENCRYPTED = 0x1

# What a zip raises that was cut, altered or made to harm: ValueError holds negative places and
# undecodable names, RuntimeError a nesting without end.
_BROKEN = (BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error)
_ALTERED = "was altered or damaged; export it again"

Line = TypeVar("Line", bound=Struct)


def export_runs(history: History, runs: Sequence[Run], path: Path) -> list[Run]:
    """Write the runs as one archive, whole or not at all; they come back the oldest first.

    Raises InputRejected where a run is not what its record seals: a broken run must not travel.
    """
    ordered = sorted(
        {run.id: run for run in runs}.values(), key=lambda run: (run.record.recorded_at, run.id)
    )
    contents = Contents(
        runs=tuple(
            ArchivedRun(
                id=run.id, tags=tuple(sorted(run.tags)), regressions=tuple(sorted(run.regressions))
            )
            for run in ordered
        )
    )
    broken = []
    with whole(path) as part, ZipFile(part, "w", ZIP_STORED) as file:
        _put(file, CONTENTS, [canonical(contents)])
        for sha256 in sorted({run.record.gold_sha256 for run in ordered if run.record.gold_sha256}):
            content = b"\n".join(map(canonical, history.gold(sha256)))
            if _put(file, gold_member(sha256), [content], size=len(content)) != sha256:
                broken.append(f"gold set {sha256}")
        for run in ordered:
            record = run.record
            if _put(file, record_member(run.id), [history.document(run.id)]) != run.id:
                broken.append(f"run {run.shown}: its record")
            rows = (canonical(row) + b"\n" for row in history.units(run.id))
            large = record.units > MANY_UNITS
            if _put(file, units_member(run.id), rows, large=large) != record.units_sha256:
                broken.append(f"run {run.shown}: its rows")
            for name, seal in sorted(record.files.items()):
                with history.file(run, name) as kept:
                    member = file_member(run.id, name)
                    found = _put(file, member, pieces_of(kept), size=seal.size)
                if found != seal.sha256:
                    broken.append(f"run {run.shown}: {name}")
        if broken:
            remedy = "`ragauge runs verify` says which runs are whole"
            raise InputRejected(
                *(
                    f"{one}: not what was recorded, so nothing was exported; {remedy}"
                    for one in broken
                )
            )
    return ordered


def _put(
    file: ZipFile, name: str, pieces: Iterable[bytes], *, size: int = 0, large: bool = False
) -> str:
    """Write a member, and give its hash; the size is needed where it may be past 2 GiB."""
    member = ZipInfo(name, _DATE)
    member.create_system, member.external_attr, member.file_size = _UNIX, _PLAIN_FILE, size
    digest = hashlib.sha256()
    with file.open(member, "w", force_zip64=large) as out:
        for piece in pieces:
            digest.update(piece)
            out.write(piece)
    return digest.hexdigest()


@contextmanager
def proven(path: Path) -> Iterator[Archive]:
    """The archive at a path, every hash in it checked.

    Raises UsageError where there is no file, and InputRejected where anything in it is wrong.
    """
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


class Parcel(Struct, frozen=True):
    """A run of an archive, as far as its proven record tells."""

    held: ArchivedRun
    record: RunRecord
    document: bytes
    """The record as it was written: numbers in it may be written in another way today."""

    @property
    def id(self) -> str:
        return self.held.id


class _Fault(Exception):
    """What is wrong with a member."""


class Archive:
    """Runs in a zip file, each proven by its hashes before anything is done with it."""

    def __init__(self, path: Path, file: ZipFile, size: int) -> None:
        self._path, self._file, self._size = path, file, size
        self._members = {member.filename: member for member in file.infolist()}
        self._problems: list[str] = []
        self._parcels = self._checked()

    def recorded_in(self, history: History) -> Imported:
        """Record the runs that are not there yet.

        Where one cannot be, those before it are kept, and it is said so.
        """
        absent = [parcel for parcel in self._parcels if not _has(history, parcel.id)]
        for done, parcel in enumerate(absent):
            record = parcel.record
            try:
                with tempfile.TemporaryDirectory() as folder:
                    files = {name: Path(folder, name) for name in record.files}
                    for name, path in files.items():
                        kept = self._file.open(file_member(parcel.id, name))
                        with kept as member, path.open("wb") as out:
                            shutil.copyfileobj(member, out, PIECE)
                    sha256 = record.gold_sha256
                    history.record(
                        NewRun(
                            record=record,
                            units=list(self._lines(units_member(parcel.id), UnitRow)),
                            gold=list(self._lines(gold_member(sha256), Gold)) if sha256 else [],
                            files=files,
                            regressions=parcel.held.regressions,
                            document=parcel.document,
                        )
                    )
            except RagaugeError as error:
                kept_before = (
                    f"{done} of {len(absent)} runs were imported before; import again to go on"
                )
                raise type(error)(*error.problems, *([kept_before] if done else [])) from error
        new = {parcel.id for parcel in absent}
        present = [parcel for parcel in self._parcels if parcel.id not in new]
        for parcel in present:
            # What is known elsewhere to have regressed is not green here either.
            for baseline in parcel.held.regressions:
                history.regressed(parcel.id, baseline)
        tags, found = dict[str, str](), Findings()
        for parcel in self._parcels:
            for tag in parcel.held.tags:
                try:
                    history.tag(parcel.id, tag)
                    tags[tag] = parcel.id
                except UsageError as error:
                    found.add(Finding("tag_not_set", parcel.id, str(error)))
        return Imported(
            file=writable(str(self._path)),
            imported=tuple(parcel.id for parcel in absent),
            present=tuple(parcel.id for parcel in present),
            tags=tags,
            findings=tuple(found.kept()),
            finding_counts=found.counts,
            coverage={"runs": len(self._parcels), "imported": len(absent)},
        )

    def _checked(self) -> list[Parcel]:
        """The runs, each proven by its hashes; raises InputRejected with all that is wrong."""
        self._check_members()
        self._refuse()
        held = self._held()
        self._refuse()
        parcels = [parcel for run in held if (parcel := self._parcel(run))]
        gold = {p.record.gold_sha256 for p in parcels if p.record.gold_sha256}
        if len(parcels) == len(held):
            # Every member belongs to a run: what has another name is not read, nor passed over.
            known = {CONTENTS, *map(gold_member, gold)}
            for parcel in parcels:
                known |= {record_member(parcel.id), units_member(parcel.id)}
                known |= {file_member(parcel.id, name) for name in parcel.record.files}
            for name in sorted(self._members.keys() - known):
                self._problem(name, "belongs to no run of the archive")
        for sha256 in sorted(gold):
            name = gold_member(sha256)
            with self._noted(name):
                self._prove(name, sha256)
                _check_ids(question.qid for question in self._lines(name, Gold))
        for parcel in parcels:
            name, record = units_member(parcel.id), parcel.record
            with self._noted(name):
                self._prove(name, record.units_sha256)
                rows = _check_ids(row.unit for row in self._lines(name, UnitRow))
                if rows != record.units:
                    raise _Fault(f"holds {rows:,} rows, and its record says {record.units:,}")
            for file, seal in sorted(record.files.items()):
                with self._noted(file_member(parcel.id, file)):
                    self._prove(file_member(parcel.id, file), seal.sha256, seal.size)
        self._refuse()
        return parcels

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
                known = run.regressions
                if list(known) != sorted(set(known)) or not all(map(_ID.fullmatch, known)):
                    place = f"regressions of {run.id[:ID_SHOWN]}"
                    raise _Fault(f"{place}: are not ids, each once and in order")
            return contents.runs
        return ()

    def _parcel(self, held: ArchivedRun) -> Parcel | None:
        """A run whose record is what its id says; None where it is not, and that is noted."""
        name = record_member(held.id)
        with self._noted(name):
            self._prove(name, held.id)
            document = self._content(name)
            record = _decoded(document, RunRecord, RUN_SCHEMA)
            # What no run that Ragauge recorded has, and a store might trip over.
            if not _TIME.fullmatch(record.recorded_at):
                raise _Fault(f'recorded_at: "{record.recorded_at}" is no time to the microsecond')
            if record.gold_sha256 is not None and not _ID.fullmatch(record.gold_sha256):
                raise _Fault(f'gold_sha256: "{record.gold_sha256}" is no hash')
            for file in record.files:
                if not is_file_name(file):
                    raise _Fault(f'files: "{file}" is no plain file name')
            return Parcel(held, record, document)
        return None

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
            raise InputRejected(*self._problems)


def _has(history: History, id: str) -> bool:
    try:
        return history.find(id).id == id
    except UsageError:
        return False


class _Versioned(Struct):
    schema: str


def _decoded(content: bytes, kind: type[Line], schema: str | None = None) -> Line:
    """The record in these bytes, of this schema; raises a fault unless they are how it is written.

    Bytes that are not canonical would become other bytes in the history, and so another id. But a
    record may be as an older version wrote it: a gate's bound of 0 as `0`, which is read as 0.0,
    and no fields that are newer.
    """
    try:
        if schema is not None:
            given = msgspec.json.decode(content, type=_Versioned).schema
            if given != schema:
                raise _Fault(
                    f'has the schema "{given}", and this version of Ragauge reads {schema}'
                )
        found = msgspec.json.decode(content, type=kind)
        as_written = canonical(found) == content
        if not as_written and schema is not None:
            plain = msgspec.json.decode(content)
            as_written = canonical(plain) == content and _within(plain, msgspec.to_builtins(found))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise _Fault(f"is not what it should be: {error}") from None
    if not as_written:
        raise _Fault("is not written as Ragauge writes it")
    return found


def _within(part: Any, known: Any) -> bool:
    """Whether two values are equal, but for keys that only the second has."""
    if isinstance(part, dict) and isinstance(known, dict):
        return known.keys() >= part.keys() and all(
            _within(value, known[key]) for key, value in part.items()
        )
    if isinstance(part, list) and isinstance(known, list | tuple):
        return len(part) == len(known) and all(map(_within, part, known))
    return bool(part == known)


def _check_ids(ids: Iterable[str]) -> int:
    """How many there are; raises a fault where one stands there twice."""
    seen: set[str] = set()
    count = 0
    for count, id in enumerate(ids, 1):
        if id in seen:
            raise _Fault(f'line {count}: "{id}" stands there twice')
        seen.add(id)
    return count
