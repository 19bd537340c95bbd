"""The index: chunks, their vectors and word counts, and a manifest that says how it was made."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ragauge.citations.drift import differences
from ragauge.citations.payload import display_value
from ragauge.contracts.embedder import Embedder
from ragauge.contracts.manifest import Manifest
from ragauge.demo.chunks import CHUNKER, Chunk, Document, read_documents, rev_of
from ragauge.demo.lexicon import Lexicon, context, whole_name
from ragauge.demo.passages import Passage
from ragauge.demo.words import ANALYZER, kin, kins, stems, surface_words
from ragauge.errors import InputRejected, RagaugeError
from ragauge.ingest.manifest import read_manifest
from ragauge.store.files import write_manifest, write_whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

INDEX_TYPE = "bm25+dense"
METRIC = "cosine"
MANIFEST, CHUNKS, VECTORS = "manifest.json", "chunks.jsonl", "vectors.npy"
ANEW = "build the index anew"
K1, B = 1.2, 0.75


class Index:
    """Documents made ready for the search. Made by `Index.of` or `Index.load`."""

    def __init__(
        self,
        manifest: Manifest,
        documents: Sequence[Document],
        vectors: NDArray[np.float32],
        embedder: Embedder,
    ) -> None:
        self.manifest, self.documents = manifest, tuple(documents)
        self.vectors, self.embedder = vectors, embedder
        self.chunks: tuple[Chunk, ...] = _chunks(documents)

    @classmethod
    def of(cls, folder: Path, embedder: Embedder, source: str = "documents") -> Index:
        """The index of a folder of Markdown documents."""
        documents = read_documents(folder)
        if not _chunks(documents):
            raise InputRejected(f"{folder}: its Markdown files hold no text")
        vectors = embedder.embed([context(chunk) for chunk in _chunks(documents)])
        return cls(_manifest(documents, embedder, source), documents, vectors, embedder)

    @classmethod
    def load(
        cls, saved: Path, folder: Path, embedder: Embedder, source: str = "documents"
    ) -> Index:
        """A saved index, once it is certain that building it anew would give the same."""
        documents = read_documents(folder)
        manifest = _manifest(documents, embedder, source)
        if not (saved / MANIFEST).is_file():
            raise InputRejected(f"{saved / MANIFEST}: not there; build the index and save it first")
        try:
            was = read_manifest(str(saved / MANIFEST))
        except RagaugeError as error:
            raise InputRejected(*error.problems, ANEW, more=error.more) from error
        _refuse_other(saved, was, manifest)
        files: dict[str, bytes] = {}
        for file in (saved / CHUNKS, saved / VECTORS):
            try:
                files[file.name] = file.read_bytes()
            except OSError as error:
                raise InputRejected(f"{file}: cannot be read: {error.strerror}; {ANEW}") from error
            if hashlib.sha256(files[file.name]).hexdigest() != was.files.get(file.name):
                raise InputRejected(f"{file}: not the file its manifest was written for; {ANEW}")
        if files[CHUNKS] != _chunk_lines(documents):
            raise InputRejected(f"{saved / CHUNKS}: not the chunks of these documents; {ANEW}")
        shape = (len(_chunks(documents)), embedder.dimension)
        vectors = _vectors(saved, files[VECTORS], shape)
        return cls(manifest, documents, vectors, embedder)

    def save(self, folder: Path) -> None:
        """Write the index as three files, the manifest last: without it there is no index."""
        import numpy as np

        folder.mkdir(parents=True, exist_ok=True)
        buffer = io.BytesIO()
        np.save(buffer, self.vectors, allow_pickle=False)
        files = {CHUNKS: _chunk_lines(self.documents), VECTORS: buffer.getvalue()}
        for name, content in files.items():
            write_whole(folder / name, content)
        sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        write_manifest(folder / MANIFEST, msgspec.structs.replace(self.manifest, files=sums))

    def verify(self) -> int:
        """How many chunks there are, each proved to stand in its document where it says."""
        for document in self.documents:
            if document.rev != rev_of(document.text.encode()):
                raise InputRejected(f"{document.file}: not revision {document.rev}")
            for chunk in document.chunks:
                if document.text[chunk.start : chunk.end] != chunk.text:
                    raise InputRejected(f"{chunk.id}: its text is not at its offsets")
        return len(self.chunks)

    def read(self) -> None:
        """Make now what would be made when it is first asked for."""
        _ = self.lexicon, self.passages, self._bm25

    @cached_property
    def lexicon(self) -> Lexicon:
        return Lexicon(self.chunks)

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """The chunks, read; in the order of `chunks`."""
        lexicon = self.lexicon
        words = {
            document.id: frozenset(kins(f"{document.title}\n{document.text}"))
            for document in self.documents
        }
        whole = {frozenset(whole_name(document.title)): document.id for document in self.documents}
        for chunk in self.chunks:  # where a document does not say its place, another may
            said = kins(chunk.text)
            for name in lexicon.named([kin(word) for word in surface_words(chunk.text)]):
                words[whole[name]] |= frozenset(said)
        named = {
            document.id: lexicon.named([kin(word) for word in surface_words(document.text)])
            for document in self.documents
        }
        return tuple(
            Passage(chunk, words[chunk.doc_id], named[chunk.doc_id], lexicon)
            for chunk in self.chunks
        )

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The place of each chunk in `chunks`, by its id."""
        return {chunk.id: number for number, chunk in enumerate(self.chunks)}

    @cached_property
    def _bm25(self) -> Any:
        import bm25s  # type: ignore[import-untyped,unused-ignore]

        bm25 = bm25s.BM25(method="lucene", k1=K1, b=B)
        bm25.index([stems(context(chunk)) for chunk in self.chunks], show_progress=False)
        return bm25

    def lexical_scores(self, question: str) -> NDArray[np.float32]:
        """The BM25 score of each chunk; a word that no document has counts for nothing."""
        import numpy as np

        known = [word for word in stems(question) if word in self._bm25.vocab_dict]
        if not known:
            return np.zeros(len(self.chunks), dtype=np.float32)
        scores: NDArray[np.float32] = self._bm25.get_scores(known)
        return scores

    def semantic_scores(self, question: str) -> NDArray[np.float32]:
        """The cosine of the question with each chunk."""
        scores: NDArray[np.float32] = self.vectors @ self.embedder.embed([question])[0]
        return scores


def _chunks(documents: Sequence[Document]) -> tuple[Chunk, ...]:
    return tuple(chunk for document in documents for chunk in document.chunks)


def _manifest(documents: Sequence[Document], embedder: Embedder, source: str) -> Manifest:
    return Manifest(
        index_type=INDEX_TYPE,
        metric=METRIC,
        embedding=embedder.id,
        chunker=CHUNKER,
        text_preproc=ANALYZER,
        doc_revs={document.id: document.rev for document in documents},
        chunks=len(_chunks(documents)),
        source=source,
    ).hashed()


def _chunk_lines(documents: Sequence[Document]) -> bytes:
    encode = msgspec.json.Encoder(order="sorted").encode
    return b"".join(encode(chunk) + b"\n" for chunk in _chunks(documents))


def _refuse_other(saved: Path, was: Manifest, now: Manifest) -> None:
    """Refuse a manifest that differs in any field, naming each."""
    found = differences(was, now)
    problems = [
        f"{saved / MANIFEST}: {one.field} was {display_value(one.was)}, is {display_value(one.now)}"
        for one in found
        if one.field not in ("doc_revs", "hash")
    ]
    for kind in ("changed", "gone", "new"):
        ids = [one.doc_id for one in found if one.doc_id and one.code == f"document_{kind}"]
        if ids:
            problems.append(f"{saved}: documents {kind} since it was built: {', '.join(ids)}")
    if not problems and was.hashed().hash != was.hash:
        problems = [f'{saved / MANIFEST}: hash "{was.hash}" does not belong to its fields']
    if not problems and found:
        problems = [f"{saved / MANIFEST}: does not tell all that its index was made from"]
    if problems:
        raise InputRejected(*problems, ANEW)


def _vectors(saved: Path, content: bytes, shape: tuple[int, int]) -> NDArray[np.float32]:
    import numpy as np

    try:
        vectors: NDArray[np.float32] = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InputRejected(f"{saved / VECTORS}: cannot be read: {error}; {ANEW}") from error
    if vectors.shape != shape or vectors.dtype != np.float32:
        raise InputRejected(f"{saved / VECTORS}: not {shape[0]} vectors of {shape[1]}; {ANEW}")
    return vectors
