"""The retrieval metrics of many queries at once, from flat arrays of grades.

Every number equals that of the plain function of `metrics.retrieval` to the last bit: sums are
taken in rank order (`np.bincount` adds its weights one after the other), and logarithms and powers
come from the same functions. The order of a run, and its repeated documents, are the business of
`metrics.retrieval_order`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.metric import SCALE, Metric, NotApplicable
from ragauge.contracts.options import NoRelevant
from ragauge.contracts.rankings import Rankings
from ragauge.metrics.retrieval import (
    GREATEST_POWER,
    KINDS,
    Parameters,
    attention,
    discount,
    parse,
    zeroed,
)
from ragauge.metrics.sums import Sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragauge.contracts.metric import Array

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]
    Column = tuple[Floats, Mask]
    """A value for each query, and where it applies."""


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


def _linear(grade: Ints) -> Floats:
    return grade.astype(np.float64)


def _exponential(grade: Ints) -> Floats:
    return np.ldexp(1.0, np.minimum(grade, GREATEST_POWER).astype(np.int32)) - 1


def _size(found: Found) -> int:
    """Places of a table that has all these ranks; a power of two, so that few are ever made."""
    return 1 << int(found.rank.max(initial=0)).bit_length()


@cache
def _discounts(size: int) -> Floats:
    return np.array([np.inf, *(discount(rank) for rank in range(1, size))])


@cache
def _attention(persistence: float, size: int) -> Floats:
    return np.array([0.0, *(attention(rank, persistence) for rank in range(1, size))])


def _ndcg(gain: Callable[[Ints], Floats], ideal: str) -> Callable[[Grades, Parameters], Column]:
    """nDCG with this gain, against the best order of all judged or of what was retrieved."""

    def discounted(grades: Grades, found: Found) -> Floats:
        return grades.summed(found.query, gain(found.grade) / _discounts(_size(found))[found.rank])

    def column(grades: Grades, at: Parameters) -> Column:
        best: Found = getattr(grades, ideal)
        reached = discounted(grades, grades.found(1).within(at.k))
        possible = discounted(grades, best.within(at.k))
        values = np.divide(reached, possible, out=np.zeros(grades.queries), where=possible > 0)
        return values, grades.relevant(1) > 0

    return column


def _precision(grades: Grades, at: Parameters) -> Column:
    found = grades.count(grades.found(at.rel).within(at.k).query)
    return found / (at.k or 1), grades.relevant(at.rel) > 0


def _recall(grades: Grades, at: Parameters) -> Column:
    found = grades.count(grades.found(at.rel).within(at.k).query)
    return _over_relevant(grades, at, found)


def _reciprocal_rank(grades: Grades, at: Parameters) -> Column:
    found = grades.found(at.rel).within(at.k)
    first = np.ones(len(found.query), dtype=bool)
    first[1:] = found.query[1:] != found.query[:-1]
    values = np.zeros(grades.queries)
    values[found.query[first]] = 1 / found.rank[first]
    return values, grades.relevant(at.rel) > 0


def _average_precision(grades: Grades, at: Parameters) -> Column:
    found = grades.found(at.rel).within(at.k)
    parts = grades.places(found.query) / found.rank
    return _over_relevant(grades, at, grades.summed(found.query, parts))


def _success(grades: Grades, at: Parameters) -> Column:
    found = grades.count(grades.found(at.rel).within(at.k).query)
    return (found > 0).astype(np.float64), grades.relevant(at.rel) > 0


def _bpref(grades: Grades, at: Parameters) -> Column:
    retrieved, judged = grades.rankings.retrieved, grades.rankings.judged
    wanted = grades.relevant(at.rel)
    others = grades.count(grades.judged_query[(judged >= 0) & (judged < at.rel)])
    met = np.zeros(len(retrieved) + 1, dtype=np.int64)
    np.cumsum((retrieved >= 0) & (retrieved < at.rel), out=met[1:])
    found = grades.found(at.rel)
    start = grades.rankings.retrieved_offsets[found.query]
    before = met[start + found.rank - 1] - met[start]
    most = np.maximum(np.minimum(others, wanted), 1)
    lost = np.minimum(before, wanted[found.query]) / most[found.query]
    return _over_relevant(grades, at, grades.summed(found.query, 1 - lost))


def _r_precision(grades: Grades, at: Parameters) -> Column:
    found = grades.found(at.rel)
    near = found.within(grades.relevant(at.rel)[found.query])
    return _over_relevant(grades, at, grades.count(near.query))


def _rank_biased_precision(grades: Grades, at: Parameters) -> Column:
    found = grades.found(at.rel).within(at.k)
    parts = _attention(at.p, _size(found))[found.rank]
    return grades.summed(found.query, parts), grades.relevant(at.rel) > 0


def _judged(grades: Grades, at: Parameters) -> Column:
    shown = grades.retrieved if at.k is None else np.minimum(grades.retrieved, at.k)
    known = grades.counted_to(grades.rankings.retrieved >= 0, at.k)
    return known / np.maximum(shown, 1), shown > 0


def _unjudged(grades: Grades, at: Parameters) -> Column:
    unknown = grades.counted_to(grades.rankings.retrieved < 0, at.k)
    return unknown / (at.k or 1), np.ones(grades.queries, dtype=bool)


def _set_p(grades: Grades, at: Parameters) -> Column:
    found = grades.count(grades.found(at.rel).query)
    return found / np.maximum(grades.retrieved, 1), grades.relevant(at.rel) > 0


def _set_f(grades: Grades, at: Parameters) -> Column:
    found = grades.count(grades.found(at.rel).query)
    wanted = grades.relevant(at.rel)
    return 2 * found / np.maximum(grades.retrieved + wanted, 1), wanted > 0


def _coverage(grades: Grades, at: Parameters) -> Column:
    present = ~np.asarray(grades.rankings.missing, dtype=bool)
    return present.astype(np.float64), np.ones(grades.queries, dtype=bool)


VALUES: dict[str, Callable[[Grades, Parameters], Column]] = {
    "ndcg": _ndcg(_linear, "best"),
    "ndcg_exp": _ndcg(_exponential, "best"),
    "ndcg_retrieved_ideal": _ndcg(_linear, "best_retrieved"),
    "ndcg_exp_retrieved_ideal": _ndcg(_exponential, "best_retrieved"),
    "p": _precision,
    "recall": _recall,
    "rr": _reciprocal_rank,
    "ap": _average_precision,
    "success": _success,
    "bpref": _bpref,
    "rprec": _r_precision,
    "rbp": _rank_biased_precision,
    "judged": _judged,
    "unjudged": _unjudged,
    "set_p": _set_p,
    "set_r": _recall,
    "set_f": _set_f,
    "coverage": _coverage,
}
"""By the kind of metric, as in `metrics.retrieval.KINDS`."""


def _over_relevant(grades: Grades, at: Parameters, sums: Array) -> Column:
    wanted = grades.relevant(at.rel)
    return sums / np.maximum(wanted, 1), wanted > 0


def retrieval_sums(
    metrics: Iterable[Metric], rankings: Rankings, no_rel: NoRelevant = "exclude"
) -> dict[str, Sums]:
    """The rows of each metric for every query, by metric id.

    The metrics are those of `metrics.retrieval`, by `named` too. A query without a
    relevant document is absent, or zero with `no_rel="zero"`, as in the metrics' own `measure`.
    """
    grades, found = Grades(rankings), {}
    for metric in metrics:
        name, at = parse(metric.id)
        kind = KINDS[name]
        values, applies = VALUES[name](grades, at)
        scored = np.ones(grades.queries, dtype=bool) if zeroed(kind, no_rel) else applies
        sums = np.zeros((grades.queries, 2), dtype=np.int64)
        sums[:, 0] = np.rint(np.where(applies, values, 0.0) * (1 if kind.rate else SCALE))
        sums[:, 1] = scored
        absent = grades.queries - int(np.count_nonzero(scored))
        due = scored if isinstance(kind.absent, NotApplicable) else np.ones_like(scored)
        found[metric.id] = Sums(
            metric,
            sums,
            scored.astype(np.int64),
            due.astype(np.int64),
            {kind.absent: absent} if absent else {},
        )
    return found
