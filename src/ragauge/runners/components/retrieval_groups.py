"""Rows of many queries, brought together by query, and their documents told apart quickly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    import polars as pl

    from ragauge.contracts.metric import Array

_LEAST_HASH = 24
"""Bits of a document's hash that make a look at its id rare."""
_WIDENED = 4
"""How many times its size a table of unlike queries may take."""


class Groups(Struct, frozen=True, kw_only=True):
    """Queries in the order they were met first, and the rows of each."""

    queries: pl.Series
    offsets: Array
    """(queries + 1,)"""
    order: Array | None
    """The row that stands at each place; None where every query stands in one place."""


def grouped(query: pl.Series) -> Groups:
    """The rows of each query together; those of a query keep their order."""
    import polars as pl

    starts = np.flatnonzero((query != query.shift(1)).fill_null(True).to_numpy())
    heads, sizes = query.gather(starts), np.diff(np.append(starts, len(query)))
    if heads.n_unique() == len(heads):
        return Groups(queries=heads, offsets=np.append(starts, len(query)), order=None)
    distinct = heads.unique(maintain_order=True)
    place = places_in(distinct, heads)
    of_row = np.repeat(place, sizes)
    return Groups(
        queries=pl.Series("query", distinct),
        offsets=offsets_of(np.bincount(of_row)),
        order=np.argsort(of_row, kind="stable"),
    )


def places_in(known: pl.Series, wanted: pl.Series) -> Array:
    """Where each of the wanted queries stands among the known; -1 where it does not."""
    import polars as pl

    if len(known) == len(wanted) and (known == wanted).all():
        return np.arange(len(known))
    index = pl.DataFrame({"query": known, "place": np.arange(len(known))})
    asked = pl.DataFrame({"query": wanted})
    met = asked.join(index, on="query", how="left", maintain_order="left")
    return met["place"].fill_null(-1).to_numpy()


def offsets_of(sizes: Array) -> Array:
    """Where each query's rows begin, and where the last one's end."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def rows_of_blocks(starts: Array, sizes: Array) -> Array:
    """The rows of blocks, one block after the other.

    >>> rows_of_blocks(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(sizes)
    return np.repeat(starts - (ends - sizes), sizes) + np.arange(int(sizes.sum()))


def queries_of(offsets: Array) -> Array:
    """(rows,): the query of each row."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


class Marks(Struct, frozen=True):
    """Rows by a number each: its query, some bits of its document's hash, its place in the query.

    Without the place, equal documents of a query have equal numbers, and others rarely: what
    numbers find is looked at again. Queries come first, so that sorting is sorting each query.
    """

    sorted: Array
    place_bits: int

    @classmethod
    def of(cls, offsets: Array, document: pl.Series, place_bits: int | None = None) -> Marks:
        bits = places_for(offsets) if place_bits is None else place_bits
        return cls(_sorted(numbered(offsets, document, bits), offsets), bits)

    @property
    def keys(self) -> Array:
        """The numbers without the places, ascending."""
        return self.sorted >> np.uint64(self.place_bits)

    def rows(self, at: Array, starts: Array) -> Array:
        """The rows of the numbers at these places, whose queries begin at these rows."""
        low = (1 << self.place_bits) - 1
        ends: Array = (self.sorted[at] & np.uint64(low)).astype(np.int64)
        rows: Array = starts + ((ends - starts) & low)
        return rows


def places_for(*offsets: Array) -> int:
    """The bits that the place of any row in its query takes."""
    return max(int(np.diff(one).max(initial=1)).bit_length() for one in offsets)


def room_for_hash(queries: int, place_bits: int) -> bool:
    """Whether enough bits are left to tell documents apart."""
    return queries.bit_length() + place_bits <= 64 - _LEAST_HASH


def numbered(offsets: Array, document: pl.Series, place_bits: int) -> Array:
    """The number of each row, in the order of the rows.

    Its place is kept as the last bits of the row's own number: with the beginning of its query
    they tell the row.
    """
    queries = len(offsets) - 1
    low = np.uint64((1 << place_bits) - 1)
    query_bits = queries.bit_length()
    numbers = document.hash().to_numpy() >> np.uint64(query_bits)
    numbers &= ~low
    numbers |= np.repeat(
        np.arange(queries, dtype=np.uint64) << np.uint64(64 - query_bits), np.diff(offsets)
    )
    numbers |= np.arange(len(numbers), dtype=np.uint64) & low
    return numbers


def _sorted(numbers: Array, offsets: Array) -> Array:
    """Sorted query by query, side by side where queries are about as long as each other."""
    sizes = np.diff(offsets)
    widest = int(sizes.max(initial=0))
    if widest * len(sizes) == len(numbers):
        return np.sort(numbers.reshape(len(sizes), widest), axis=1).ravel()
    if widest * len(sizes) > _WIDENED * len(numbers):
        return np.sort(numbers)
    filled = np.arange(widest) < sizes[:, None]
    table = np.full(filled.shape, np.iinfo(np.uint64).max, dtype=np.uint64)
    table[filled] = numbers
    table.sort(axis=1)
    return table[filled]


def distinct(keys: Array) -> bool:
    """Whether no two keys are equal: then no document is repeated in its query."""
    return not (keys[1:] == keys[:-1]).any()


def without_chunk(document: pl.Series, separator: str | None) -> pl.Series:
    """The document of each chunk: what stands before the last separator."""
    if not separator:
        return document
    import polars as pl

    last = f"(?s)^(.+){re.escape(separator)}.*$"
    column = pl.col("document").str.replace(last, "${1}")
    return pl.DataFrame({"document": document}).select(column).to_series()
