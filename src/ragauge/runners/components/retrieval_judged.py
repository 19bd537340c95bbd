"""Rows by query, and judgements made ready: each document once, and quick to look up."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from ragauge.contracts.rankings import UNJUDGED
from ragauge.contracts.report import PLACES_KEPT, Finding, Findings
from ragauge.ingest.fields import quoted
from ragauge.ingest.ranked.ranking_rows import RankingRows
from ragauge.metrics.retrieval_order import first_of_each, offsets_of_kept

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


class Judged(Struct, frozen=True, kw_only=True):
    """Graded documents by query; no query has a document twice."""

    queries: pl.Series
    offsets: Array
    document: pl.Series
    grade: Array

    def some(self, places: Array) -> Judged:
        """The judgements of these queries."""
        sizes = np.diff(self.offsets)[places]
        rows = rows_of_blocks(self.offsets[places], sizes)
        return Judged(
            queries=self.queries.gather(places),
            offsets=offsets_of(sizes),
            document=self.document.gather(rows),
            grade=self.grade[rows],
        )

    def grades_of(self, offsets: Array, document: pl.Series) -> tuple[Array, bool]:
        """The grade of each retrieved document of these queries, UNJUDGED without one; and
        whether a document may stand there twice.

        Marks find it, and the ids are compared where they do: numbers alone decide nothing.
        """
        bits = places_for(self.offsets, offsets)
        if not room_for_hash(len(self.queries), bits):
            return self._joined(offsets, document), True
        marks = Marks.of(offsets, document, bits)
        keys = marks.keys
        if not distinct(keys):
            return self._joined(offsets, document), True
        grades = np.full(len(document), UNJUDGED, dtype=np.int64)
        if not len(keys):
            return grades, False
        wanted = numbered(self.offsets, self.document, bits) >> np.uint64(bits)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        mine = np.flatnonzero(keys[at] == wanted)
        theirs = marks.rows(at[mine], offsets[queries_of(self.offsets)[mine]])
        same = (document.gather(theirs) == self.document.gather(mine)).to_numpy()
        grades[theirs[same]] = self.grade[mine[same]]
        return grades, False

    def _joined(self, offsets: Array, document: pl.Series) -> Array:
        """The same without marks, for when two documents share one."""
        import polars as pl

        mine = {"query": queries_of(self.offsets), "document": self.document, "grade": self.grade}
        asked = pl.DataFrame({"query": queries_of(offsets), "document": document})
        met = asked.join(
            pl.DataFrame(mine), on=["query", "document"], how="left", maintain_order="left"
        )
        return met["grade"].fill_null(UNJUDGED).to_numpy()


class JudgedRows(Struct, frozen=True, kw_only=True):
    """Judgements as they were read: ready, with what there is to say of them."""

    judged: Judged
    findings: Findings
    problems: list[str]
    rows: int
    scattered: bool
    """A query stands in several places."""


def judged_rows(
    rows: RankingRows, collapse: str | None = None, problems: Iterable[str] = ()
) -> JudgedRows:
    """The judgements of a file's rows; a document judged twice with two grades is a problem.

    `problems` are those met when the file was read.
    """
    import polars as pl

    groups = grouped(rows.frame["query"])
    frame = rows.frame if groups.order is None else rows.frame[groups.order]
    found = Findings()
    faults = list(problems)
    document, grade, offsets = frame["document"], frame["value"].to_numpy(), groups.offsets
    at = np.arange(len(grade)) if groups.order is None else groups.order
    fact = "counts as 0, and its document as unjudged"
    note_each(
        found,
        "negative_grade",
        np.flatnonzero(grade < 0),
        lambda place: (rows.where(int(at[place])), f"grade {int(grade[place])} {fact}"),
    )
    apart = distinct(Marks.of(offsets, document).keys)
    keep = None if apart else first_of_each(offsets, document)
    if keep is not None:
        _note_repeated(rows, offsets, keep, at, found, faults)
        document, grade = document.filter(keep), grade[keep]
        offsets = offsets_of_kept(offsets, keep)
    queries = groups.queries
    known = set(queries.to_list()) if rows.empty else set()
    empty = [query for query in dict.fromkeys(rows.empty) if query not in known]
    if empty:  # queries that were given without a document come last
        queries = queries.append(pl.Series("query", empty))
        offsets = np.append(offsets, np.full(len(empty), offsets[-1]))
    judged = Judged(queries=queries, offsets=offsets, document=document, grade=grade)
    return JudgedRows(
        judged=_collapsed(judged, rows.name, collapse, found) if collapse else judged,
        findings=found,
        problems=faults,
        rows=rows.frame.height,
        scattered=groups.order is not None,
    )


def note_each(
    found: Findings, code: str, places: Array, said: Callable[[int], tuple[str, str]]
) -> None:
    """Add a finding for each place, by what is said of it; of those beyond, only their number."""
    for place in places[:PLACES_KEPT].tolist():
        found.add(Finding(code, *said(place)))
    found.count(code, max(0, len(places) - PLACES_KEPT))


def _note_repeated(
    rows: RankingRows, offsets: Array, keep: Array, at: Array, found: Findings, problems: list[str]
) -> None:
    """Say of every repeated judgement whether it agrees with the first."""
    frame = rows.frame
    query = queries_of(offsets)
    repeated = np.flatnonzero(~keep)
    names = {(int(query[place]), frame["document"][int(at[place])]) for place in repeated}
    first: dict[tuple[int, str], int] = {}
    suspects = np.flatnonzero(np.isin(query, [place for place, _ in names]))
    for place in suspects:
        row = int(at[place])
        key = int(query[place]), frame["document"][row]
        if key not in names:
            continue
        earlier = first.setdefault(key, row)
        if earlier == row:
            continue
        was, now = frame["value"][earlier], frame["value"][row]
        told = f"{quoted(key[1])} was judged already for {quoted(frame['query'][row])}"
        if was == now:
            message = f"{told} at {rows.where(earlier)}, with the same grade"
            found.add(Finding("duplicate_judgement", rows.where(row), message))
        else:
            fact = f"{told} at {rows.where(earlier)}, with grade {was}, not {now}; keep one"
            problems.append(f"{rows.where(row)}: grade: {fact}")


def _collapsed(judged: Judged, name: str, separator: str, found: Findings) -> Judged:
    """With documents for chunks, each with the best grade of its chunks."""
    import polars as pl

    document = without_chunk(judged.document, separator)
    query = queries_of(judged.offsets)
    if first_of_each(judged.offsets, document) is None:
        return structs.replace(judged, document=document)
    best = (
        pl.DataFrame({"query": query, "document": document, "grade": judged.grade})
        .group_by("query", "document", maintain_order=True)
        .agg(pl.col("grade").max())
    )
    times = len(document) - best.height
    message = f"{times:,} judged chunks share a document with another; the best grade stays"
    found.add(Finding("judgements_collapsed", name, message), times)
    sizes = np.bincount(best["query"].to_numpy(), minlength=len(judged.queries))
    return Judged(
        queries=judged.queries,
        offsets=offsets_of(sizes),
        document=best["document"],
        grade=best["grade"].to_numpy(),
    )
