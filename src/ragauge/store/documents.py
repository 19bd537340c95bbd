"""Frozen documents in a folder: by revision, by the hash of their content, or by their name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock

from ragauge.contracts.documents import FrozenDocument
from ragauge.contracts.manifest import Manifest
from ragauge.errors import UsageError
from ragauge.store.document_files import (
    TextFile,
    hash_of,
    listing,
    read_text,
)
from ragauge.text.canonical import composed
from ragauge.text.recent import Recent
from ragauge.text.visible import one_line, visible

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
        self._found: Recent[tuple[str, str], FrozenDocument] = Recent(KEPT_CHARS)
        self._texts: Recent[str, TextFile] = Recent(KEPT_CHARS)
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
        self._take_for(rev, first[0])
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

    def _take_for(self, rev: str, path: str) -> None:
        why = "its content has another hash" if hash_of(rev) else "nothing proves it"
        fact = (
            f"{self._folder / path}: taken for rev {one_line(rev, REV_SHOWN)}, but {why}; "
            f"freeze revisions under {self._folder}/<rev>/ or by hash"
        )
        with self._lock:
            self._unproven.add(fact)
