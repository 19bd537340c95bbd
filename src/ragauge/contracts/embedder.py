"""An embedder: texts become vectors, always the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Named, pinned and deterministic: its id goes into every record made with it."""

    @property
    def id(self) -> str:
        """Name and version, such as `ngram:v1:1024`; another id means other vectors."""

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, each of length one; a text without content gives a row of zeros."""
