"""The values of every kind of retrieval metric for many queries, column by column."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ragauge.metrics.retrieval_flat import Found, Grades
from ragauge.metrics.retrieval_grades import GREATEST_POWER, Parameters, attention, discount

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array
    from ragauge.metrics.retrieval_flat import Floats, Ints, Mask

    Column = tuple[Floats, Mask]
    """A value for each query, and where it applies."""


def _ndcg(grades: Grades, at: Parameters) -> Column:
    return _normalised(grades, grades.best, at, _linear), grades.relevant(1) > 0


def _ndcg_exp(grades: Grades, at: Parameters) -> Column:
    return _normalised(grades, grades.best, at, _exponential), grades.relevant(1) > 0


def _ndcg_retrieved_ideal(grades: Grades, at: Parameters) -> Column:
    return _normalised(grades, grades.best_retrieved, at, _linear), grades.relevant(1) > 0


def _ndcg_exp_retrieved_ideal(grades: Grades, at: Parameters) -> Column:
    return _normalised(grades, grades.best_retrieved, at, _exponential), grades.relevant(1) > 0


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
    "ndcg": _ndcg,
    "ndcg_exp": _ndcg_exp,
    "ndcg_retrieved_ideal": _ndcg_retrieved_ideal,
    "ndcg_exp_retrieved_ideal": _ndcg_exp_retrieved_ideal,
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


def _normalised(
    grades: Grades, best: Found, at: Parameters, gain: Callable[[Ints], Floats]
) -> Floats:
    reached = _discounted(grades, grades.found(1).within(at.k), gain)
    possible = _discounted(grades, best.within(at.k), gain)
    return np.divide(reached, possible, out=np.zeros(grades.queries), where=possible > 0)


def _discounted(grades: Grades, found: Found, gain: Callable[[Ints], Floats]) -> Floats:
    return grades.summed(found.query, gain(found.grade) / _discounts(_size(found))[found.rank])


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
