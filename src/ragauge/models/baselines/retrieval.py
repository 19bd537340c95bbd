"""Retrieval by shared words, by the likeness of embeddings, and rankings fused into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.contracts.component_models import Retrieves
from ragauge.contracts.embedder import Embedder
from ragauge.models.embedders import embedder as embedder_named
from ragauge.text.canonical import canonical

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1, B = 1.2, 0.75
NAME = "bm25"


class BM25Retrieval:
    """Ranks documents by BM25 over their words as they are written, case aside.

    Documents that share no word with the query are not retrieved; ties break by id.

    >>> found = BM25Retrieval({"a": "The Night Watch", "b": "the pearl"}).retrieve("night", 5)
    >>> [one["id"] for one in found]
    ['a']
    """

    def __init__(self, documents: Mapping[str, str] | None = None) -> None:
        self._ids: tuple[str, ...] = ()
        self._bm25: Any = None
        if documents:
            self.index(documents)

    def index(self, documents: Mapping[str, str]) -> None:
        """Make documents ready, in place of those before."""
        import bm25s  # type: ignore[import-untyped,unused-ignore]

        self._ids = tuple(sorted(documents))
        self._bm25 = bm25s.BM25(method="lucene", k1=K1, b=B)
        words = [canonical(documents[id]).split() for id in self._ids]
        self._bm25.index(words, show_progress=False)

    def retrieve(self, query: str, k: int) -> Sequence[dict[str, Any]]:
        words = canonical(query).split()
        known = [word for word in words if self._bm25 and word in self._bm25.vocab_dict]
        if not known:
            return []
        scores = self._bm25.get_scores(known).tolist()
        return best(self._ids, scores, k, NAME)


def best(ids: Sequence[str], scores: Sequence[float], k: int, source: str) -> list[dict[str, Any]]:
    """The k documents with the highest scores above zero, ties by id."""
    order = sorted(range(len(ids)), key=lambda place: (-scores[place], ids[place]))[:k]
    return [
        {"id": ids[place], "score": round(scores[place], 6), "source": source}
        for place in order
        if scores[place] > 0
    ]


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


RRF = 60
"""What reciprocal rank fusion puts to a rank, so that the first few do not decide alone."""


class FusedRetrieval:
    """Rankings joined by reciprocal rank fusion; a document's sources are all that found it.

    The order is the ranking: what the fusion adds up says nothing of its own. Ties break by id;
    sources stand in the order of the parts.
    """

    def __init__(self, *parts: Retrieves) -> None:
        self._parts = parts

    def index(self, documents: Mapping[str, str]) -> None:
        """Make documents ready in every part."""
        for part in self._parts:
            part.index(documents)  # type: ignore[attr-defined]

    def retrieve(self, query: str, k: int) -> Sequence[dict[str, Any]]:
        scores: dict[str, float] = {}
        sources: dict[str, dict[str, None]] = {}
        for part in self._parts:
            for rank, one in enumerate(part.retrieve(query, k), 1):
                scores[one["id"]] = scores.get(one["id"], 0.0) + 1 / (RRF + rank)
                names = [one["source"]] if isinstance(one["source"], str) else one["source"]
                sources.setdefault(one["id"], {}).update(dict.fromkeys(names))
        order = sorted(scores, key=lambda one: (-scores[one], one))[:k]
        return [{"id": id, "source": [*sources[id]]} for id in order]
