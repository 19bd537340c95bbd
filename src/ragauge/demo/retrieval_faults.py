"""Faults of what is shown to the answerer: how it is looked for, what is lost, what gets in."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ragauge.contracts.system import Ask
from ragauge.demo.chunks import Chunk
from ragauge.demo.faults import Faults, luck
from ragauge.demo.index import Index
from ragauge.demo.retrieve import Candidate, Search, placed

FEWEST_NOISE = 2
"""Chunks that `noise_injected` puts in: these, or one more."""


def weakened(search: Search, faults: Faults, ask: Ask) -> Search:
    """The search as the faults of the set-up leave it.

    With `narrow_recall` half of `top_k` are fetched, and all of these are shown; so a greater
    `top_k` widens the pool. The scores of a weak search are not cut at a knee: where they fall
    tells nothing.
    """
    narrow, unranked = (faults.strikes(one, ask) for one in ("narrow_recall", "no_rerank"))
    if not narrow and not unranked:
        return search
    return msgspec.structs.replace(
        search,
        weak=True,
        knee=False,
        pool=min(search.pool, -(-search.top_k // 2)) if narrow else search.pool,
        rerank=search.rerank and not unranked,
    )


def halved(pool: Sequence[Candidate], ask: Ask) -> list[Candidate]:
    """Half of the pool, another half for every seed."""
    shuffled = sorted(
        pool, key=lambda one: (luck(one.chunk.id, "unstable_retrieval", ask), one.chunk.id)
    )
    kept = {one.chunk.id for one in shuffled[: -(-len(shuffled) // 2)]}
    return placed([one for one in pool if one.chunk.id in kept], "k_pos")


def without(pool: Sequence[Candidate], evidence: Sequence[Candidate]) -> list[Candidate]:
    """The pool without the chunks that would have been shown."""
    lost = {one.chunk.id for one in evidence}
    return placed([one for one in pool if one.chunk.id not in lost], "k_pos")


def noise(found: Sequence[Candidate], index: Index, ask: Ask) -> list[Chunk]:
    """Two or three chunks without a word of the question, of documents that were not found.

    Fewer, or none, where the documents have no more of them.
    """
    near = {one.chunk.doc_id for one in found}
    scores = index.lexical_scores(ask.q)
    strange = [
        chunk
        for chunk, score in zip(index.chunks, scores, strict=True)
        if score == 0 and chunk.doc_id not in near
    ]
    strange.sort(key=lambda chunk: (luck(chunk.id, "noise_injected", ask), chunk.id))
    return strange[: FEWEST_NOISE + int(2 * luck("how many", "noise_injected", ask))]
