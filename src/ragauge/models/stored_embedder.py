"""An embedder whose vectors are kept on disk: a text is sent to its model once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ragauge.contracts.embedder import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class KeptReplies(Protocol):
    """What keeps vectors: the store's replies do."""

    def get_all(self, keys: Iterable[str]) -> dict[str, bytes]: ...

    def put_all(self, replies: Mapping[str, bytes]) -> None: ...


class StoredEmbedder:
    """Another embedder's vectors under its id; those that are known are read, not made."""

    def __init__(self, embedder: Embedder, kept: KeptReplies) -> None:
        self._embedder, self._kept = embedder, kept

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
            self._kept.put_all({key: vectors[key].tobytes() for key in new})
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, key in zip(rows, keys, strict=True):
            row[:] = vectors[key]
        return rows

    def _key(self, text: str) -> str:
        named = f"embedding\0{self.id}\0{text}"
        return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()
