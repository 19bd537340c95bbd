"""Retrieval by the words that a query and a document share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragauge.text.canonical import canonical

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
