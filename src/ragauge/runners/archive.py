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

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from ragauge.contracts.archive import (
    CONTENTS,
    ArchivedRun,
    Contents,
    Imported,
    file_member,
    gold_member,
    record_member,
    units_member,
)
from ragauge.contracts.history import History, NewRun, Run, canonical
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import InputRejected, RagaugeError, UsageError
from ragauge.runners.archive_reading import Archive, Parcel, opened
from ragauge.store.files import pieces_of, whole
from ragauge.text.visible import writable

MANY_UNITS = 100_000
"""From here on the size of the rows, not known before they are written, gets 64 bits."""

_DATE = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_PLAIN_FILE = 0o100644 << 16


def export_runs(history: History, runs: Sequence[Run], path: Path) -> list[Run]:
    """Write the runs as one archive, whole or not at all; they come back the oldest first.

    Raises InputRejected where a run is not what its record seals: a broken run must not travel.
    """
    ordered = sorted({run.id: run for run in runs}.values(), key=_age)
    with whole(path) as part, ZipFile(part, "w", ZIP_STORED) as file:
        writing = _Writing(file, history)
        writing.put(CONTENTS, [canonical(Contents(runs=tuple(map(_held, ordered))))])
        for sha256 in sorted({run.record.gold_sha256 for run in ordered if run.record.gold_sha256}):
            writing.put_gold(sha256)
        for run in ordered:
            writing.put_run(run)
        if writing.problems:
            raise InputRejected(*writing.problems)
    return ordered


def import_runs(history: History, path: Path) -> Imported:
    """Record the archive's runs that are not there yet; none where any part of it is wrong."""
    with proven(path) as archive:
        return archive.recorded_in(history)


@contextmanager
def proven(path: Path) -> Iterator[Proven]:
    """The archive at a path, every hash in it checked; raises InputRejected where one is wrong."""
    with opened(path) as archive:
        yield Proven(path, archive, archive.checked())


class Proven:
    """An archive that is whole, to be recorded."""

    def __init__(self, path: Path, archive: Archive, parcels: Sequence[Parcel]) -> None:
        self._path, self._archive, self._parcels = path, archive, parcels

    def recorded_in(self, history: History) -> Imported:
        """Record the runs that are not there yet."""
        absent = [parcel for parcel in self._parcels if not _has(history, parcel.id)]
        _record(history, self._archive, absent)
        new = {parcel.id for parcel in absent}
        present = [parcel for parcel in self._parcels if parcel.id not in new]
        for parcel in present:
            _mark(history, parcel)
        tags, found = _tagged(history, self._parcels)
        return Imported(
            file=writable(str(self._path)),
            imported=tuple(parcel.id for parcel in absent),
            present=tuple(parcel.id for parcel in present),
            tags=tags,
            findings=tuple(found.kept()),
            finding_counts=found.counts,
            coverage={"runs": len(self._parcels), "imported": len(absent)},
        )


class _Writing:
    """An archive being written; what is not as it was sealed becomes a problem."""

    def __init__(self, file: ZipFile, history: History) -> None:
        self._file, self._history = file, history
        self.problems: list[str] = []

    def put(self, name: str, pieces: Iterable[bytes], *, size: int = 0, large: bool = False) -> str:
        """Write a member, and give its hash; the size is needed where it may be past 2 GiB."""
        member = ZipInfo(name, _DATE)
        member.create_system, member.external_attr, member.file_size = _UNIX, _PLAIN_FILE, size
        digest = hashlib.sha256()
        with self._file.open(member, "w", force_zip64=large) as out:
            for piece in pieces:
                digest.update(piece)
                out.write(piece)
        return digest.hexdigest()

    def put_gold(self, sha256: str) -> None:
        questions = self._history.gold(sha256)
        content = b"\n".join(canonical(question) for question in questions)
        if self.put(gold_member(sha256), [content], size=len(content)) != sha256:
            self._broken(f"gold set {sha256}")

    def put_run(self, run: Run) -> None:
        record = run.record
        if self.put(record_member(run.id), [self._history.document(run.id)]) != run.id:
            self._broken(f"run {run.shown}: its record")
        rows = (canonical(row) + b"\n" for row in self._history.units(run.id))
        large = record.units > MANY_UNITS
        if self.put(units_member(run.id), rows, large=large) != record.units_sha256:
            self._broken(f"run {run.shown}: its rows")
        for name, seal in sorted(record.files.items()):
            with self._history.file(run, name) as path:
                found = self.put(file_member(run.id, name), pieces_of(path), size=seal.size)
            if found != seal.sha256:
                self._broken(f"run {run.shown}: {name}")

    def _broken(self, what: str) -> None:
        self.problems.append(
            f"{what}: not what was recorded, so nothing was exported; "
            "`ragauge runs verify` says which runs are whole"
        )


def _held(run: Run) -> ArchivedRun:
    return ArchivedRun(
        id=run.id, tags=tuple(sorted(run.tags)), regressions=tuple(sorted(run.regressions))
    )


def _age(run: Run) -> tuple[str, str]:
    return run.record.recorded_at, run.id


def _has(history: History, id: str) -> bool:
    try:
        return history.find(id).id == id
    except UsageError:
        return False


def _record(history: History, archive: Archive, parcels: Sequence[Parcel]) -> None:
    """Record each run; where one cannot be, those before it are kept, and it is said so."""
    for done, parcel in enumerate(parcels):
        try:
            with tempfile.TemporaryDirectory() as folder:
                history.record(
                    NewRun(
                        record=parcel.record,
                        units=list(archive.units(parcel)),
                        gold=list(archive.gold(parcel)),
                        files=archive.unpacked(parcel, Path(folder)),
                        regressions=parcel.regressions,
                        document=parcel.document,
                    )
                )
        except RagaugeError as error:
            kept = f"{done} of {len(parcels)} runs were imported before; import again to go on"
            raise type(error)(*error.problems, *([kept] if done else [])) from error


def _mark(history: History, parcel: Parcel) -> None:
    """What is known elsewhere to have regressed is not green here either."""
    for baseline in parcel.regressions:
        history.regressed(parcel.id, baseline)


def _tagged(history: History, parcels: Sequence[Parcel]) -> tuple[dict[str, str], Findings]:
    """The tags that name their run here now, and those that name another."""
    tags: dict[str, str] = {}
    findings = Findings()
    for parcel in parcels:
        for tag in parcel.tags:
            try:
                history.tag(parcel.id, tag)
                tags[tag] = parcel.id
            except UsageError as error:
                findings.add(Finding("tag_not_set", parcel.id, str(error)))
    return tags, findings
