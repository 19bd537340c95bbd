"""Grades of many queries in flat arrays: what is relevant, and where it was found.

`np.bincount` adds its weights one after the other, so that a query's parts, which stand in rank
order, are summed as the plain functions sum them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.rankings import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragauge.contracts.metric import Array

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]


class Found(Struct, frozen=True):
    """Documents of a kind, by query and rank."""

    query: Ints
    rank: Ints
    """From 1."""
    grade: Ints

    def within(self, limit: Array | int | None) -> Found:
        """Those down to a rank, the same for all or one for each of them."""
        if limit is None:
            return self
        near = self.rank <= limit
        return Found(self.query[near], self.rank[near], self.grade[near])


class Grades:
    """Grades of many queries, and what several metrics ask of them, found out once."""

    def __init__(self, rankings: Rankings) -> None:
        self.rankings = rankings
        self.queries = len(rankings.missing)
        self.retrieved = np.diff(rankings.retrieved_offsets)
        self._found: dict[int, Found] = {}
        self._relevant: dict[int, Ints] = {}

    @cached_property
    def query(self) -> Ints:
        """(rows,): the query of each result."""
        return np.repeat(np.arange(self.queries), self.retrieved)

    @cached_property
    def judged_query(self) -> Ints:
        return np.repeat(np.arange(self.queries), np.diff(self.rankings.judged_offsets))

    def found(self, rel: int) -> Found:
        """The relevant results, by query and rank."""
        if rel not in self._found:
            rows = np.flatnonzero(self.rankings.retrieved >= rel)
            query = self.query[rows]
            rank = rows - self.rankings.retrieved_offsets[query] + 1
            grade = self.rankings.retrieved[rows].astype(np.int64)
            self._found[rel] = Found(query, rank, grade)
        return self._found[rel]

    def relevant(self, rel: int) -> Ints:
        """(queries,): how many documents are relevant, retrieved or not."""
        if rel not in self._relevant:
            self._relevant[rel] = self.count(self.judged_query[self.rankings.judged >= rel])
        return self._relevant[rel]

    @cached_property
    def best(self) -> Found:
        """All judged documents with a gain, in the best order."""
        gainful = np.flatnonzero(self.rankings.judged > 0)
        return self.sorted(self.judged_query[gainful], self.rankings.judged[gainful])

    @cached_property
    def best_retrieved(self) -> Found:
        """The same of the retrieved ones."""
        found = self.found(1)
        return self.sorted(found.query, found.grade)

    def sorted(self, query: Ints, grade: Array) -> Found:
        """Documents, given by query, in the order of their grades, the highest first."""
        top = int(grade.max(initial=0))
        if top * self.queries > 4 * len(grade):
            first = query * (top + 1)
            return Found(query, self.places(query), first - np.sort(first - grade))
        many = np.bincount(query * top + (top - grade), minlength=self.queries * top)
        by_grade = np.repeat(np.tile(np.arange(top, 0, -1), self.queries), many)
        return Found(query, self.places(query), by_grade)

    def places(self, query: Ints) -> Ints:
        """1, 2, 3, ... within each query, where rows stand by query."""
        many = self.count(query)
        return np.arange(1, len(query) + 1) - (np.cumsum(many) - many)[query]

    def count(self, query: Ints) -> Ints:
        return np.bincount(query, minlength=self.queries)

    def summed(self, query: Ints, parts: Floats) -> Floats:
        return np.bincount(query, weights=parts, minlength=self.queries).astype(np.float64)

    def counted_to(self, rows: Mask, k: int | None) -> Ints:
        """(queries,): how many of the first k results are marked."""
        starts, ends = self.rankings.retrieved_offsets[:-1], self.rankings.retrieved_offsets[1:]
        before = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(rows, out=before[1:])
        return before[ends if k is None else np.minimum(starts + k, ends)] - before[starts]
