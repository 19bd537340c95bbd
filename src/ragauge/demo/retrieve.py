"""From a question to the few chunks that may answer it, in an order that never wavers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ragauge.contracts.citation import Citation, Offsets
from ragauge.demo.chunks import Chunk
from ragauge.demo.evidence import Weighed
from ragauge.demo.index import Index
from ragauge.demo.passages import Passage
from ragauge.demo.words import ANALYZER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST_SHARED = 8
"""Where the two pools share fewer chunks, both are taken whole."""
PLACES = 6
"""Digits a score keeps, so that ties are ties on every machine."""
ROOM = 0.01
"""What of a score is free above the best one for chunks that are put before it."""
TITLE, NAMES, WORDS, TOGETHER = 0.2, 0.3, 0.3, 0.2
"""What the parts of the rerank score weigh."""


class Search(Struct, frozen=True, kw_only=True):
    """How chunks are looked for: all that retrieval depends on besides the question.

    The names are those of the knobs.
    """

    top_k: int
    knee: bool
    rerank: bool
    pool: int
    embedder: str
    weak: bool = False
    """Found by the first sentences of chunks alone, as some faults have it; no knob."""


class Candidate(Struct, frozen=True, kw_only=True):
    """A chunk with its scores, and its places before and after the reranking, from 1."""

    chunk: Chunk
    score_raw: float
    score_norm: float
    rerank_score: float | None = None
    k_pos: int = 0
    k_final: int = 0


def pooled(text: str, index: Index, search: Search) -> list[Candidate]:
    """The chunks that both searches bring, in the order of their scores taken together."""
    lexical, semantic = index.lexical_scores(text), index.semantic_scores(text)
    pools = [_pool(scores, index.chunks, search.pool) for scores in (lexical, semantic)]
    shared = pools[0] & pools[1]
    chosen = shared if len(shared) >= FEWEST_SHARED else pools[0] | pools[1]
    top = max(float(lexical.max()), 1e-9)
    fused = [
        Candidate(
            chunk=index.chunks[number],
            score_raw=round(float(lexical[number]), PLACES),
            score_norm=_share(float(lexical[number]) / top / 2 + float(semantic[number]) / 2),
        )
        for number in chosen
    ]
    return placed(fused, "k_pos")


def ranked(
    pool: Sequence[Candidate], weighed: Weighed, index: Index, search: Search
) -> list[Candidate]:
    """The few chunks that are shown; each side of a comparison brings its own."""
    if not search.rerank:
        return placed(cut(pool, search), "k_final")
    sides = weighed.sides if weighed.question.form == "compare" else (weighed,)
    share = msgspec.structs.replace(search, top_k=-(-search.top_k // len(sides)))
    kept: dict[str, Candidate] = {}
    for side in sides:
        for one in cut(placed([_reranked(o, side, index) for o in pool], "k_final"), share):
            if one.chunk.id not in kept or one.score_norm > kept[one.chunk.id].score_norm:
                kept[one.chunk.id] = one
    return placed(list(kept.values()), "k_final")[: search.top_k]


def _pool(scores: NDArray[np.float32], chunks: Sequence[Chunk], size: int) -> set[int]:
    """The numbers of the best chunks; one that scores nothing is not among them."""
    found = [number for number in range(len(chunks)) if scores[number] > 0]
    found.sort(key=lambda number: (-round(float(scores[number]), PLACES), chunks[number].id))
    return set(found[:size])


def placed(found: Sequence[Candidate], field: str) -> list[Candidate]:
    """The chunks by the order law, each with its place."""
    ordered = sorted(
        found,
        key=lambda one: (-one.score_norm, one.chunk.section_id, one.chunk.id, one.chunk.start),
    )
    return [msgspec.structs.replace(one, **{field: place}) for place, one in enumerate(ordered, 1)]


def in_front(
    chunks: Sequence[Chunk], found: Sequence[Candidate], search: Search
) -> Sequence[Candidate]:
    """The chunks before those that were found, which move back by as many places.

    They are scored above them, so that the order law holds. Where the best has no room left
    below 1, the scores of all that were found are lowered a little.
    """
    if not chunks:
        return found
    best = max((one.score_norm for one in found), default=0.0)
    lowered = min(1.0, (1 - ROOM) / best) if best else 1.0
    step = (1 - best * lowered) / (len(chunks) + 1)
    scores = [round(1 - place * step, PLACES) for place in range(1, len(chunks) + 1)]
    raw = max((one.score_raw for one in found), default=0.0)
    first = [
        Candidate(
            chunk=chunk,
            score_raw=raw,
            score_norm=score,
            rerank_score=score if search.rerank else None,
            k_pos=place,
        )
        for place, (chunk, score) in enumerate(zip(chunks, scores, strict=True), 1)
    ]
    back = [
        msgspec.structs.replace(
            one,
            score_norm=one.score_norm * lowered,
            rerank_score=None if one.rerank_score is None else one.rerank_score * lowered,
            k_pos=one.k_pos + len(chunks),
        )
        for one in found
    ]
    return numbered([*first, *back])


def numbered(shown: Sequence[Candidate]) -> list[Candidate]:
    """The chunks with their last places as they stand."""
    return [msgspec.structs.replace(one, k_final=place) for place, one in enumerate(shown, 1)]


def _reranked(one: Candidate, weighed: Weighed, index: Index) -> Candidate:
    score = rerank_score(weighed, index.passages[index.numbers[one.chunk.id]])
    return msgspec.structs.replace(one, rerank_score=score, score_norm=score)


def rerank_score(weighed: Weighed, passage: Passage) -> float:
    """How well a chunk fits the question, from 0 to 1, with nothing hidden in it.

    The shares are weighed by the rarity of the words: 0.2 × the share of the question's names in
    the title, 0.3 × their share in chunk and title, 0.3 × the share of its words in them, 0.2 ×
    the best share that one sentence covers. The last two count only as far as the names are there.
    A question without names is about its words.
    """
    question, names = weighed.question, weighed.names
    words = (*question.words, *question.numbers) or names
    near = passage.words | (passage.document & {*question.settings})
    about = weighed.share(names, near) if names else 1.0
    title = weighed.share(names or words, passage.title)
    together = max((weighed.coverage(passage, one) for one in passage.sentences), default=0.0)
    within = WORDS * weighed.share(words, passage.words) + TOGETHER * together
    return _share(TITLE * title + about * (NAMES + within))


def _share(score: float) -> float:
    return round(min(1.0, max(0.0, score)), PLACES)


def cut(found: Sequence[Candidate], search: Search) -> list[Candidate]:
    """The first `top_k` chunks, or fewer where the scores fall off: at the largest relative drop.

    >>> from ragauge.demo.chunks import Chunk
    >>> chunk = Chunk("d#s", "d", "s", "D", 0, 1, "x")
    >>> scored = [Candidate(chunk=chunk, score_raw=0, score_norm=s) for s in (0.9, 0.8, 0.3, 0.2)]
    >>> search = Search(top_k=3, knee=True, rerank=True, pool=40, embedder="ngram")
    >>> len(cut(scored, search)), len(cut(scored, msgspec.structs.replace(search, knee=False)))
    (2, 3)
    """
    kept = list(found[: search.top_k])
    if not search.knee or len(found) < 2:
        return kept
    scores = [one.score_norm for one in found[: search.top_k + 1]]
    drops = [(was - then) / was if was else 0.0 for was, then in pairwise(scores)]
    return kept[: drops.index(max(drops)) + 1]


def payload(one: Candidate, index: Index) -> Citation:
    """The chunk as a pointer that can be checked."""
    chunk, manifest = one.chunk, index.manifest
    return Citation(
        doc_id=chunk.doc_id,
        section_id=chunk.section_id,
        snippet_id=chunk.id,
        source_url=f"{manifest.source}:///{chunk.doc_id}.md#{chunk.section_id}",
        offsets=Offsets(chunk.start, chunk.end),
        tokens=len(chunk.text.split()),
        index_hash=manifest.hash,
        embed_model=index.embedder.id,
        analyzer=ANALYZER,
        rev=manifest.doc_revs[chunk.doc_id],
        score_raw=one.score_raw,
        score_norm=one.score_norm,
        rerank_score=one.rerank_score,
        k_pos=one.k_pos,
        k_final=one.k_final,
    )
