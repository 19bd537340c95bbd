"""Frozen documents in a folder: by revision, by the hash of their content, or by their name."""

from __future__ import annotations

import hashlib
import os
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from threading import Lock

from msgspec import Struct

from ragauge.contracts.documents import FrozenDocument
from ragauge.contracts.manifest import Manifest, bare_hash
from ragauge.errors import UsageError
from ragauge.text.canonical import composed
from ragauge.text.sized_lru import SizedLRU
from ragauge.text.visible import one_line, visible

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

        def preference(path: str) -> tuple[int, str]:
            ending = path[len(without_extension(path)) :].lower()
            known = ending in FIRST_EXTENSIONS
            return (FIRST_EXTENSIONS.index(ending) if known else len(FIRST_EXTENSIONS), path)

        for path in sorted(paths, key=preference):
            name = composed(path)
            self._named.setdefault(name, []).insert(0, path)
            if without_extension(name) != name:
                self._named.setdefault(without_extension(name), []).append(path)
        self._hashed = sorted((hash, path) for path in paths for hash in _hashes(path))
        owners = {bare_hash(rev).lower(): id for id, rev in revs.items()}
        known = frozenset(map(composed, revs.values()))
        files = (_file(path, owners, known) for path in paths)
        self.ordered = sorted(files, key=lambda file: (file.id, file.path))
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
        # Not Path.resolve, which raises where links lead to each other.
        outside = {
            file
            for file in (*(Path(at, name) for name in folders), *seen)
            if file.is_symlink() and not Path(os.path.realpath(file)).is_relative_to(root)
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


def _hashes(path: str) -> list[str]:
    """The hashes that a file's name may be; it stands in the folder or in one of two letters."""
    shard, _, name = without_extension(path).lower().rpartition("/")
    if shard and not _SHARD.fullmatch(shard):
        return []
    may_be = {name, shard + name} if name.startswith(shard) else {shard + name}
    return sorted(hash for hash in may_be if _HASH.fullmatch(hash))


def _file(path: str, owners: Mapping[str, str], revs: Set[str]) -> DocumentFile:
    """What document a file is, by the owners of hashes and the revisions that a manifest names."""
    bare = without_extension(composed(path))
    hash = next((hash for hash in _hashes(path) if len(hash) in WHOLE_HASHES), None)
    if hash:
        beginnings = (hash[:size] for size in range(len(hash), SHORTEST - 1, -1))
        owner = next((owners[begun] for begun in beginnings if begun in owners), hash)
        return DocumentFile(path, owner, hash, hash)
    first, _, rest = bare.partition("/")
    looks_like_a_rev = bool(_HASH.fullmatch(first)) and not first.isalpha()
    if rest and (first in revs or looks_like_a_rev):
        return DocumentFile(path, rest, first, None)
    return DocumentFile(path, bare, None, None)


KEPT_CHARS = 1 << 25
"""Characters of documents that are held in memory, as found and as read."""
REV = 12
"""Digits of a hash that are shown, and that name a revision where nothing else does."""
REV_SHOWN = 60


class FolderDocuments:
    """The documents of a folder, whose files are listed once, when it is opened.

    A document of a revision is looked for in this order:

    1. `<rev>/<doc_id>`: the folder says which revision it is;
    2. a file whose name is a hash that begins with the revision, in the folder or in folders of
       two letters, `ab/cdef…` or `ab/abcdef…`: it is read only if its content has that hash, by
       sha256 or as a git blob;
    3. `<doc_id>`: proven where its content has a hash that begins with the revision. If not, it
       is taken for that revision unless the manifest names another.

    A name may have one extension more than the id; of several `.md` comes first, then `.txt`,
    `.html` and the others by name. Names that begin with a dot are no documents. An accent may
    be its own character in the id or in the name, as some systems write it.
    """

    def __init__(self, folder: Path, manifest: Manifest | None = None) -> None:
        if not folder.is_dir():
            raise UsageError(
                f"{folder}: there is no such folder; give the one with the frozen documents"
            )
        self._folder = folder
        revs = manifest.doc_revs if manifest else {}
        self._revs = {composed(doc_id): rev for doc_id, rev in sorted(revs.items())}
        self._files = listing(folder, self._revs)
        self._found: SizedLRU[tuple[str, str], FrozenDocument] = SizedLRU(KEPT_CHARS)
        self._texts: SizedLRU[str, TextFile] = SizedLRU(KEPT_CHARS)
        self._refused: dict[str, str] = {}
        self._problems = set(self._files.problems)
        self._unproven: set[str] = set()
        self._lock = Lock()

    @property
    def problems(self) -> list[str]:
        """What was met so far that kept a document from being read, each with its place.

        Each sentence tells of one file alone, so that whoever shares the work out comes to the
        same sentences together.
        """
        with self._lock:
            said = [*self._problems]
        return sorted(map(visible, said))

    @property
    def unproven(self) -> list[str]:
        """What was so far taken for a revision without proof: a sentence for each file and rev."""
        with self._lock:
            said = [*self._unproven]
        return sorted(map(visible, said))

    def find(self, doc_id: str, rev: str) -> FrozenDocument | None:
        """The document as that revision had it; None where it is not there."""
        found = self._found.get((doc_id, rev))
        if found is None:
            found = (
                self._by_revision(doc_id, rev)
                or self._by_hash(doc_id, rev)
                or self._by_name(doc_id, rev)
            )
            if found:
                self._found.keep((doc_id, rev), found, chars=len(found.text))
        return found

    def others(self, doc_id: str) -> Iterator[FrozenDocument]:
        """Every other document, ordered by id; other revisions of the same one are left out.

        A file whose name is a hash has it for its id, unless the manifest tells whose revision
        it is.
        """
        own = self._files.of_document(doc_id)
        for file in self._files.ordered:
            if file.path in own:
                continue
            found = self._read(file.path, if_room=True)
            if found is None:
                why = self._refused[file.path]
                place = self._folder / file.path
                self._say(f"{place}: not searched for words that stand elsewhere, as it {why}")
            elif file.hash is None or self._is_true(file.path, file.hash, found):
                yield FrozenDocument(file.id, file.rev or found.sha256[:REV], found.text, True)

    def _by_revision(self, doc_id: str, rev: str) -> FrozenDocument | None:
        first = self._first_read(self._files.named(f"{rev}/{doc_id}"))
        return FrozenDocument(doc_id, rev, first[1].text, proven=True) if first else None

    def _by_hash(self, doc_id: str, rev: str) -> FrozenDocument | None:
        beginning = hash_of(rev)
        if beginning is None:
            return None
        found: dict[str, TextFile] = {}
        for hash, path in self._files.hashed(beginning):
            first = self._first_read([path])
            if first and self._is_true(path, hash, first[1]):
                found[first[1].sha256] = first[1]
        if len(found) > 1:
            self._say(
                f"{self._folder}: rev {beginning} is the beginning of {len(found)} hashes; "
                "write more of it"
            )
            return None
        return next((FrozenDocument(doc_id, rev, read.text, True) for read in found.values()), None)

    def _by_name(self, doc_id: str, rev: str) -> FrozenDocument | None:
        paths, beginning = self._files.named(doc_id), hash_of(rev)
        if beginning:
            for path in paths:
                read = self._read(path)
                if read and read.has_hash(beginning):
                    return FrozenDocument(doc_id, rev, read.text, proven=True)
        first = self._first_read(paths) if self._revs.get(composed(doc_id), rev) == rev else None
        if first is None:
            return None
        why = "its content has another hash" if beginning else "nothing proves it"
        fact = (
            f"{self._folder / first[0]}: taken for rev {one_line(rev, REV_SHOWN)}, but {why}; "
            f"freeze revisions under {self._folder}/<rev>/ or by hash"
        )
        with self._lock:
            self._unproven.add(fact)
        return FrozenDocument(doc_id, rev, first[1].text, proven=False)

    def _first_read(self, paths: Sequence[str]) -> tuple[str, TextFile] | None:
        """The first of the files that can be read; where none can, that is said of the first."""
        for path in paths:
            read = self._read(path)
            if read:
                return path, read
        if paths:
            self._say(f"{self._folder / paths[0]}: {self._refused[paths[0]]}")
        return None

    def _read(self, path: str, *, if_room: bool = False) -> TextFile | None:
        kept = self._texts.get(path)
        if kept or path in self._refused:
            return kept
        read = read_text(self._folder / path)
        if isinstance(read, str):
            self._refused[path] = read
            return None
        self._texts.keep(path, read, chars=len(read.text), if_room=if_room)
        return read

    def _is_true(self, path: str, hash: str, read: TextFile) -> bool:
        if read.has_hash(hash):
            return True
        self._say(
            f"{self._folder / path}: its name is {hash[:REV]}…, but its content "
            f"has sha256 {read.sha256[:REV]}…; restore the file, nothing is read from it"
        )
        return False

    def _say(self, problem: str) -> None:
        with self._lock:
            self._problems.add(problem)
