"""The files of a folder of documents: what each may be called, and what is in it."""

from __future__ import annotations

import hashlib
import os
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path

from msgspec import Struct

from ragauge.contracts.manifest import bare_hash
from ragauge.text.canonical import composed

MOST_BYTES = 1 << 28
"""A larger file is no document that anyone cites from."""
WHOLE_HASHES = (40, 64)
SHORTEST = 6
"""Digits of a hash that a revision must have to be taken for one."""
FIRST_EXTENSIONS = (".md", ".txt", ".html")

_HASH = re.compile(rf"[0-9a-f]{{{SHORTEST},64}}")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}\Z")
_SHARD = re.compile(r"[0-9a-f]{2}")


class TextFile(Struct, frozen=True):
    """A file's text, and the hashes that a revision of it may be called by."""

    text: str
    sha256: str
    blob: str
    """As git names the content."""

    def has_hash(self, beginning: str) -> bool:
        return self.sha256.startswith(beginning) or self.blob.startswith(beginning)


class DocumentFile(Struct, frozen=True):
    """A file below the folder, and what document it is."""

    path: str
    """Below the folder, with forward slashes."""
    id: str
    rev: str | None
    """The revision that its folder or its own name tells."""
    hash: str | None
    """What its content must hash to, where the name is a whole hash."""


class Listing:
    """The files of a folder as they were when it was read; nothing outside of it has a name.

    Names are compared in NFC; paths stay as the file system has them.
    """

    def __init__(self, paths: Sequence[str], revs: Mapping[str, str], problems: list[str]) -> None:
        self.problems = problems
        self._named: dict[str, list[str]] = {}
        for path in sorted(paths, key=_preference):
            name = composed(path)
            self._named.setdefault(name, []).insert(0, path)
            if without_extension(name) != name:
                self._named.setdefault(without_extension(name), []).append(path)
        self._hashed = sorted((hash, path) for path in paths for hash in _hashes(path))
        owners = {bare_hash(rev).lower(): id for id, rev in revs.items()}
        known = _Known(owners, frozenset(map(composed, revs.values())))
        self.ordered = sorted(
            (_file(path, known) for path in paths), key=lambda file: (file.id, file.path)
        )
        self._of_id: dict[str, set[str]] = {}
        self._below: dict[str, set[str]] = {}
        for file in self.ordered:
            self._of_id.setdefault(file.id, set()).add(file.path)
            name = composed(file.path)
            for each in {file.id, name, without_extension(name)}:
                if below := each.partition("/")[2]:
                    self._below.setdefault(below, set()).add(file.path)

    def named(self, name: str) -> Sequence[str]:
        """The files of that name, or with one extension more, the likeliest first."""
        return self._named.get(composed(name), ())

    def of_document(self, doc_id: str) -> Set[str]:
        """The files that are this document, of whatever revision.

        Where no file has that name, it is one of those below a folder for each revision.
        """
        named, name = self.named(doc_id), composed(doc_id)
        others = () if named else self._below.get(name, ())
        return {*named, *self._of_id.get(name, ()), *others}

    def hashed(self, beginning: str) -> Iterator[tuple[str, str]]:
        """The files whose names are hashes that begin so: each with its hash."""
        at = bisect_left(self._hashed, (beginning, ""))
        while at < len(self._hashed) and self._hashed[at][0].startswith(beginning):
            yield self._hashed[at]
            at += 1


class _Known(Struct, frozen=True):
    """What a manifest tells of revisions."""

    owners: dict[str, str]
    revs: frozenset[str]


def listing(folder: Path, revs: Mapping[str, str]) -> Listing:
    """The files of a folder and those below it; links to folders are not followed.

    A link out of the folder is a problem: what it leads to may be anything.
    """
    paths: list[str] = []
    problems: list[str] = []

    def unreadable(error: OSError) -> None:
        problems.append(f"{error.filename}: cannot be read: {error.strerror or error}")

    root = Path(os.path.realpath(folder))
    for at, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        seen = [Path(at, name) for name in files if not name.startswith(".")]
        outside = {
            file
            for file in (*(Path(at, name) for name in folders), *seen)
            if _leads_out(file, root)
        }
        problems += [
            f"{link}: is a link out of the folder, and not followed; "
            "put what it leads to in its place"
            for link in outside
        ]
        paths += [file.relative_to(folder).as_posix() for file in seen if file not in outside]
    return Listing(paths, revs, sorted(problems))


def read_text(file: Path) -> TextFile | str:
    """The file's text, or why it has none; line ends and a byte order mark stay as they are."""
    try:
        if not file.is_file():
            return "is no regular file"
        if file.stat().st_size > MOST_BYTES:
            return f"is larger than {MOST_BYTES >> 20} MiB; keep each document in its own file"
        content = file.read_bytes()
        text = content.decode("utf-8")
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    except UnicodeDecodeError as error:
        return f"is not UTF-8 (byte {error.start}); convert the file, or keep its text beside it"
    blob = hashlib.sha1(b"blob %d\0" % len(content), usedforsecurity=False)
    blob.update(content)
    return TextFile(text, hashlib.sha256(content).hexdigest(), blob.hexdigest())


def hash_of(rev: str) -> str | None:
    """The beginning of a hash that a revision may be; None where it cannot be one."""
    bare = bare_hash(rev).lower()
    return bare if _HASH.fullmatch(bare) else None


def without_extension(path: str) -> str:
    """
    >>> without_extension("a.b/report-1.5.md"), without_extension("a.b/report-1.5")
    ('a.b/report-1.5', 'a.b/report-1.5')
    """
    return _EXTENSION.sub("", path)


def _leads_out(path: Path, root: Path) -> bool:
    # Not Path.resolve, which raises where links lead to each other.
    return path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(root)


def _preference(path: str) -> tuple[int, str]:
    ending = path[len(without_extension(path)) :].lower()
    known = ending in FIRST_EXTENSIONS
    return (FIRST_EXTENSIONS.index(ending) if known else len(FIRST_EXTENSIONS), path)


def _hashes(path: str) -> list[str]:
    """The hashes that a file's name may be; it stands in the folder or in one of two letters."""
    shard, _, name = without_extension(path).lower().rpartition("/")
    if shard and not _SHARD.fullmatch(shard):
        return []
    may_be = {name, shard + name} if name.startswith(shard) else {shard + name}
    return sorted(hash for hash in may_be if _HASH.fullmatch(hash))


def _file(path: str, known: _Known) -> DocumentFile:
    bare = without_extension(composed(path))
    hash = next((hash for hash in _hashes(path) if len(hash) in WHOLE_HASHES), None)
    if hash:
        beginnings = (hash[:size] for size in range(len(hash), SHORTEST - 1, -1))
        owner = next((known.owners[begun] for begun in beginnings if begun in known.owners), hash)
        return DocumentFile(path, owner, hash, hash)
    first, _, rest = bare.partition("/")
    if rest and (first in known.revs or _like_a_rev(first)):
        return DocumentFile(path, rest, first, None)
    return DocumentFile(path, bare, None, None)


def _like_a_rev(name: str) -> bool:
    return bool(_HASH.fullmatch(name)) and not name.isalpha()
