"""The embedder of an evaluation: its vectors kept, its failures records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragauge.contracts.embedder import Embedder
from ragauge.models.embedders import embedder
from ragauge.models.endpoint_embedder import EmbeddingFailed
from ragauge.models.remembered import RememberedEmbedder
from ragauge.models.stored_embedder import KeptReplies, StoredEmbedder
from ragauge.runners.answers.options import DEFAULT_EMBEDDER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class HeardEmbedder:
    """Another embedder; what it fails at is kept, and once it is down it is not asked again."""

    def __init__(self, embedder: Embedder, unheard_id: str) -> None:
        self._embedder, self._unheard_id = embedder, unheard_id
        self._heard = False
        self._down: EmbeddingFailed | None = None
        self.failures: list[str] = []

    @property
    def id(self) -> str:
        """The embedder's own; where it never gave a vector, what is known of it without one."""
        return self._unheard_id if self.failures and not self._heard else self._embedder.id

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text; raises EmbeddingFailed."""
        if self._down is not None:
            raise self._down
        try:
            vectors = self._embedder.embed(texts)
        except EmbeddingFailed as failed:
            self._down = failed if failed.down else None
            self.failures.append(str(failed))
            raise
        self._heard = True
        return vectors


def heard_embedder(name: str | None, vectors: KeptReplies | None) -> HeardEmbedder:
    """The embedder of that name; what it costs to ask it for is kept where there is a place."""
    written = name or DEFAULT_EMBEDDER
    chosen = embedder(written)
    if vectors is not None and written != DEFAULT_EMBEDDER:  # n-grams are counted faster than read
        chosen = StoredEmbedder(chosen, vectors)
    return HeardEmbedder(RememberedEmbedder(chosen), f"endpoint:{written.partition('#')[2]}")
