"""An embedder whose vectors are kept on disk: a text is sent to its model once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ragauge.contracts.embedder import Embedder
from ragauge.models.endpoint_embedder import EndpointEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class KeptReplies(Protocol):
    """What keeps vectors: the store's replies do."""

    def get_all(self, keys: Iterable[str]) -> dict[str, bytes]: ...

    def put_all(self, replies: Mapping[str, bytes]) -> None: ...


class StoredEmbedder:
    """Another embedder's vectors under its id; those that are known are read, not made.

    Of an endpoint the length of its vectors is kept too: once all texts are known, nothing is
    asked for.
    """

    def __init__(self, embedder: Embedder, kept: KeptReplies) -> None:
        self._embedder, self._kept = embedder, kept
        self._endpoint = embedder if isinstance(embedder, EndpointEmbedder) else None
        self._name = embedder.id if self._endpoint is None else self._endpoint.place
        if self._endpoint is not None:
            key = self._length_key
            length = kept.get_all([key]).get(key, b"")
            if length.isdigit():
                self._endpoint.expect(int(length))

    @property
    def id(self) -> str:
        return self._embedder.id

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, as the other embedder gives it."""
        import numpy as np

        keys = [self._key(text) for text in texts]
        vectors = {
            key: np.frombuffer(content, "<f4")
            for key, content in self._kept.get_all(sorted(set(keys))).items()
            if len(content) == 4 * self.dimension
        }
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        if new:
            made = self._embedder.embed(list(new.values())).astype("<f4")
            vectors |= dict(zip(new, made, strict=True))
            self._kept.put_all({key: vectors[key].tobytes() for key in new} | self._length())
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, key in zip(rows, keys, strict=True):
            row[:] = vectors[key]
        return rows

    def _length(self) -> dict[str, bytes]:
        return {} if self._endpoint is None else {self._length_key: b"%d" % self.dimension}

    @property
    def _length_key(self) -> str:
        return _hashed(f"dimension\0{self._name}")

    def _key(self, text: str) -> str:
        return _hashed(f"embedding\0{self._name}\0{text}")


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
