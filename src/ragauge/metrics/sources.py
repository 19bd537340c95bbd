"""What each of several retrievers contributes to the rankings they make together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragauge.contracts.metric import Array

    Mask = NDArray[np.bool_]


class Brought(Struct, frozen=True, kw_only=True):
    """Rows of a run with their sources: a row for every source that brought a document."""

    names: Sequence[str]
    source: Array
    """(rows,): places in `names`."""
    pair: Array
    """(rows,): a number for each document of a query, the same in every row that has it."""
    rank: Array
    """(rows,): the rank of the document, from 1."""
    best: Mask
    """(rows,): whether this row put the document at its rank; where several did, each of them."""
    relevant: Mask

    def within(self, depth: int) -> Brought:
        """Only what is shown down to a rank."""
        near = self.rank <= depth
        return Brought(
            names=self.names,
            source=self.source[near],
            pair=self.pair[near],
            rank=self.rank[near],
            best=self.best[near],
            relevant=self.relevant[near],
        )


def share_of(brought: Brought, source: int, k: int | None = None) -> float | None:
    """Share of the results shown in the first k ranks that this source put there.

    Divided by the results there are, which may be fewer than k a query; None where there are
    none. Sources that put the same result there are all credited with it: which row came first
    says nothing, and the shares can sum to more than 1.
    """
    near = brought if k is None else brought.within(k)
    there = len(np.unique(near.pair))
    mine = len(np.unique(near.pair[near.best & (near.source == source)]))
    return mine / there if there else None


def documents_of(brought: Brought, source: int, *, relevant: bool = False) -> Array:
    """The documents a source brought, each once, sorted; only relevant ones where asked."""
    mine = brought.source == source
    return np.unique(brought.pair[mine & brought.relevant if relevant else mine])


def unique_relevant(brought: Brought) -> list[int]:
    """For each source, the relevant documents that no other source brought."""
    hits = [documents_of(brought, source, relevant=True) for source in range(len(brought.names))]
    every, sources = np.unique(np.concatenate([*hits, []]), return_counts=True)
    alone = every[sources == 1]
    return [int(np.isin(mine, alone).sum()) for mine in hits]


def overlaps(brought: Brought) -> dict[str, int]:
    """By pair of sources, the documents that both brought for one query."""
    documents = {name: documents_of(brought, place) for place, name in enumerate(brought.names)}
    return {
        f"{one}+{other}": len(np.intersect1d(documents[one], documents[other], True))
        for one, other in combinations(sorted(documents), 2)
    }
