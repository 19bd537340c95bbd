"""Retrieval by the likeness of embeddings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.contracts.embedder import Embedder
from ragauge.models.baselines.bm25 import best
from ragauge.models.embedders import embedder as embedder_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class EmbeddingRetrieval:
    """Ranks documents by the cosine of their vectors with the query's; ties break by id.

    The embedder is any of Ragauge's by name (`ngram`, or `minilm` with the extra), or one of
    your own.

    >>> retrieval = EmbeddingRetrieval({"a": "The library", "b": "A museum"})
    >>> [one["id"] for one in retrieval.retrieve("libraries", 1)]
    ['a']
    """

    def __init__(
        self, documents: Mapping[str, str] | None = None, embedder: Embedder | str = "ngram"
    ) -> None:
        self._embedder = embedder_named(embedder) if isinstance(embedder, str) else embedder
        self._ids: tuple[str, ...] = ()
        self._vectors: NDArray[np.float32] | None = None
        if documents:
            self.index(documents)

    def index(self, documents: Mapping[str, str]) -> None:
        """Make documents ready, in place of those before."""
        self._ids = tuple(sorted(documents))
        self._vectors = self._embedder.embed([documents[id] for id in self._ids])

    def retrieve(self, query: str, k: int) -> Sequence[dict[str, Any]]:
        if self._vectors is None:
            return []
        scores = (self._vectors @ self._embedder.embed([query])[0]).tolist()
        return best(self._ids, scores, k, self._embedder.id.partition(":")[0])
