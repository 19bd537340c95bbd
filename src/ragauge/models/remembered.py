"""An embedder that remembers: a text that comes back is not embedded again."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragauge.contracts.embedder import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

MOST = 16_384
"""Vectors that are kept: 64 MiB of a thousand dimensions."""


class RememberedEmbedder:
    """Another embedder's vectors under its id, those asked for last kept in memory.

    Texts are known by the hash of their content, so that long ones take no room. It is for one
    thread at a time.
    """

    def __init__(self, embedder: Embedder, most: int = MOST) -> None:
        if most < 1:
            raise ValueError(f"at least one vector must be kept, not {most}")
        self._embedder, self._most = embedder, most
        self._kept: OrderedDict[bytes, Vector] = OrderedDict()

    @property
    def id(self) -> str:
        return self._embedder.id

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, as the other embedder gives it; each new text is asked for once."""
        import numpy as np

        keys = [_key(text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._kept}
        made = dict(zip(new, self._embedder.embed(list(new.values())), strict=True)) if new else {}
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, key in zip(rows, keys, strict=True):
            row[:] = made[key] if key in made else self._kept[key]
        self._keep(keys, made)
        return rows

    def _keep(self, keys: Sequence[bytes], made: dict[bytes, Vector]) -> None:
        for key in keys:
            if key in self._kept:
                self._kept.move_to_end(key)
            else:
                self._kept[key] = made[key].copy()  # a view would keep the whole matrix
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
