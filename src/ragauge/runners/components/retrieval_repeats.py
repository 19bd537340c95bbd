"""Documents that a query was given more than once: told, and credited to their sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.finding import PLACES_KEPT, Finding, Findings
from ragauge.ingest.fields import quoted
from ragauge.metrics.retrieval_order import Brought, first_of_each, offsets_of_kept
from ragauge.runners.components.retrieval_groups import places_in, queries_of
from ragauge.runners.components.retrieval_taken import Taken

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from ragauge.contracts.metric import Array

    Mask = NDArray[np.bool_]

NO_SOURCE = "(none)"


class InOrder(Struct, frozen=True, kw_only=True):
    """Rows by rank."""

    taken: Taken
    document: pl.Series
    """As rows were taken, chunks as their documents."""
    score: Array
    """What rows are ordered by, as they were taken."""
    order: Array | None
    """The row at each place; None where every row stands right already."""

    def column(self, column: pl.Series) -> pl.Series:
        return column if self.order is None else column.gather(self.order)

    def firsts(self) -> Mask | None:
        """Which places hold a document for the first time; None where none is repeated."""
        return first_of_each(self.taken.offsets, self.column(self.document))

    def where(self, place: int) -> str:
        return self.taken.where(place if self.order is None else int(self.order[place]))


def repeated_faults(ranking: InOrder) -> list[str]:
    """A problem for every document that a query was given again.

    That two sources bring one document is no fault, nor are two of its chunks.
    """
    import polars as pl

    frame = ranking.taken.frame
    named = ranking.column(frame["document"])
    place, source = _sources(ranking)
    query = queries_of(ranking.taken.offsets)[place]
    given = pl.DataFrame({"query": query, "document": named.gather(place), "source": source})
    first = given.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()
    return [
        f"{ranking.where(place)}: document: {quoted(named[place])} was given for its query "
        "already; keep one"
        for place in np.unique(place[~first]).tolist()
    ]


def note_repeated(ranking: InOrder, keep: Mask, collapse: str | None, found: Findings) -> None:
    """Say of every document or chunk beyond the first that it was left out."""
    named = ranking.column(ranking.taken.frame["document"])
    own = first_of_each(ranking.taken.offsets, named) if collapse else keep
    again = np.zeros(len(keep), dtype=bool) if own is None else ~own
    kinds = {
        "duplicate_document": (again, "stands there again for its query; the best rank stays"),
        "chunk_collapsed": (~keep & ~again, "is a chunk of a document with a better rank"),
    }
    for code, (mask, fact) in kinds.items():
        places = np.flatnonzero(mask).tolist()
        for place in places[:PLACES_KEPT]:
            found.add(Finding(code, ranking.where(place), f"{quoted(named[place])} {fact}"))
        found.count(code, max(0, len(places) - PLACES_KEPT))


def brought_by(ranking: InOrder, keep: Mask | None, relevant: Mask) -> Brought | None:
    """What each source brought, by rank; None where the run does not tell sources."""
    import polars as pl

    offsets = ranking.taken.offsets
    if "source" not in ranking.taken.frame.columns:
        return None
    place, source = _sources(ranking)
    names = sorted(set(source.to_list()))
    shown = np.ones(len(relevant), dtype=bool) if keep is None else keep
    query = queries_of(offsets)
    pairs = pl.DataFrame({"query": query, "document": ranking.column(ranking.document)})
    first = pairs.filter(shown).with_row_index("pair")
    met = pairs.join(first, on=["query", "document"], how="left", maintain_order="left")
    pair = met["pair"].to_numpy().astype(np.int64)
    rank_of_pair = np.arange(first.height) - offsets_of_kept(offsets, shown)[query[shown]] + 1
    score = ranking.score if ranking.order is None else ranking.score[ranking.order]
    best = score == score[shown][pair]
    return Brought(
        names=names,
        source=places_in(pl.Series(names, dtype=pl.String), source),
        pair=pair[place],
        rank=rank_of_pair[pair][place],
        best=best[place],
        relevant=relevant[place],
    )


def _sources(ranking: InOrder) -> tuple[Array, pl.Series]:
    """A row for every source of every result: the result's place, and the source's name."""
    import polars as pl

    frame = ranking.taken.frame
    if "source" not in frame.columns:
        return np.arange(frame.height), pl.Series([NO_SOURCE]).new_from_index(0, frame.height)
    listed = pl.DataFrame({"source": ranking.column(frame["source"])}).with_row_index("place")
    # What an empty list explodes to is not the same in every version; null is.
    some = pl.when(pl.col("source").list.len() > 0).then(pl.col("source"))
    each = listed.with_columns(some.alias("source")).explode("source").unique(maintain_order=True)
    named = each["source"].replace("", None).fill_null(NO_SOURCE)
    return each["place"].to_numpy().astype(np.int64), named
