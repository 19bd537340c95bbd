"""A search that is bad on purpose: the first search of a pipeline whose reranker has to mend it."""

from __future__ import annotations

from ragauge.demo.index import Index
from ragauge.demo.retrieve import PLACES, Candidate, Search, placed
from ragauge.models.ngram import NgramEmbedder

DIMENSION = 64
"""So few that n-grams which have nothing in common often share a place."""


class WeakSearch:
    """Compares a question with the first sentence of each chunk, and with nothing else of it.

    Whole chunks with their titles would be found too well, whatever is done to them after that.
    What is asked of the chunk's end is missed in every wording, so that it does not look like
    `paraphrase_sensitivity`.
    """

    def __init__(self, index: Index) -> None:
        self._chunks, self._embedder = index.chunks, NgramEmbedder(DIMENSION)
        firsts = [passage.sentences[0].text for passage in index.passages]
        self._vectors = self._embedder.embed(firsts)

    def pooled(self, text: str, search: Search) -> list[Candidate]:
        """As many chunks as the pool is for, best first, with their cosines for scores."""
        scores = self._vectors @ self._embedder.embed([text])[0]
        cosines = [round(min(1.0, float(score)), PLACES) for score in scores]
        found = [
            Candidate(chunk=chunk, score_raw=cosine, score_norm=cosine)
            for chunk, cosine in zip(self._chunks, cosines, strict=True)
            if cosine > 0
        ]
        return placed(found, "k_pos")[: search.pool]
