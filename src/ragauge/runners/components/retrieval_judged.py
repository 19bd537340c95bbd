"""Judgements made ready: by query, each document once, and quick to look up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.finding import PLACES_KEPT, Finding, Findings
from ragauge.contracts.rankings import UNJUDGED
from ragauge.ingest.fields import quoted
from ragauge.ingest.ranked.ranking_rows import RankingRows
from ragauge.metrics.retrieval_order import first_of_each, offsets_of_kept
from ragauge.runners.components.retrieval_groups import (
    Marks,
    distinct,
    grouped,
    numbered,
    offsets_of,
    places_for,
    queries_of,
    room_for_hash,
    rows_of_blocks,
    without_chunk,
)

if TYPE_CHECKING:
    import polars as pl

    from ragauge.contracts.metric import Array


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
    groups = grouped(rows.frame["query"])
    frame = rows.frame if groups.order is None else rows.frame[groups.order]
    found = Findings()
    faults = list(problems)
    document, grade, offsets = frame["document"], frame["value"].to_numpy(), groups.offsets
    at = np.arange(len(grade)) if groups.order is None else groups.order
    _note_negative(rows, grade, at, found)
    apart = distinct(Marks.of(offsets, document).keys)
    keep = None if apart else first_of_each(offsets, document)
    if keep is not None:
        _note_repeated(rows, offsets, keep, at, found, faults)
        document, grade = document.filter(keep), grade[keep]
        offsets = offsets_of_kept(offsets, keep)
    judged = Judged(queries=groups.queries, offsets=offsets, document=document, grade=grade)
    judged = _with_empty(judged, rows.empty)
    return JudgedRows(
        judged=_collapsed(judged, rows.name, collapse, found),
        findings=found,
        problems=faults,
        rows=rows.frame.height,
        scattered=groups.order is not None,
    )


def _note_negative(rows: RankingRows, grade: Array, at: Array, found: Findings) -> None:
    negative = np.flatnonzero(grade < 0)
    for place in negative[:PLACES_KEPT]:
        message = f"grade {int(grade[place])} counts as 0, and its document as unjudged"
        found.add(Finding("negative_grade", rows.where(int(at[place])), message))
    found.count("negative_grade", max(0, len(negative) - PLACES_KEPT))


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


def _with_empty(judged: Judged, empty: tuple[str, ...]) -> Judged:
    """With the queries that were given without a document, at the end."""
    import polars as pl

    known = set(judged.queries.to_list()) if empty else set()
    new = [query for query in dict.fromkeys(empty) if query not in known]
    if not new:
        return judged
    return Judged(
        queries=judged.queries.append(pl.Series("query", new)),
        offsets=np.append(judged.offsets, np.full(len(new), judged.offsets[-1])),
        document=judged.document,
        grade=judged.grade,
    )


def _collapsed(judged: Judged, name: str, separator: str | None, found: Findings) -> Judged:
    """With documents for chunks, each with the best grade of its chunks."""
    import polars as pl

    if not separator:
        return judged
    document = without_chunk(judged.document, separator)
    query = queries_of(judged.offsets)
    if first_of_each(judged.offsets, document) is None:
        return Judged(
            queries=judged.queries, offsets=judged.offsets, document=document, grade=judged.grade
        )
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
