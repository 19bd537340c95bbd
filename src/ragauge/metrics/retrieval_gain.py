"""Discounted gain: graded relevance, worth less the further down it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragauge.contracts.rankings import Ranking
from ragauge.metrics.retrieval_grades import Parameters, discounted, exponential, linear

Gain = Callable[[int | None], float]


def ndcg(ranking: Ranking, at: Parameters) -> float | None:
    """Gain of the first k results, discounted by rank, over that of the best order of all judged.

    The gain is the grade and the discount log2(rank + 1), as in trec_eval and BEIR. Without a
    cut-off all results count.

    >>> grades = Ranking(retrieved=(1, 3, 2), judged=(3, 2, 1))
    >>> round(ndcg(grades, Parameters(k=3)), 4)
    0.8175
    """
    return _normalised(ranking, at, linear)


def ndcg_exp(ranking: Ranking, at: Parameters) -> float | None:
    """Like nDCG with a gain of 2^grade - 1, which rewards the highest grades.

    >>> grades = Ranking(retrieved=(1, 3, 2), judged=(3, 2, 1))
    >>> round(ndcg_exp(grades, Parameters(k=3)), 4)
    0.7364
    """
    return _normalised(ranking, at, exponential)


def ndcg_retrieved_ideal(ranking: Ranking, at: Parameters) -> float | None:
    """Like nDCG, but against the best order of what was retrieved: it does not see what is missing.

    Not comparable with published figures; one relevant result in the first place makes it 1.

    >>> found_one_of_ten = Ranking(retrieved=(1,), judged=(1,) * 10)
    >>> ndcg_retrieved_ideal(found_one_of_ten, Parameters(k=10))
    1.0
    >>> round(ndcg(found_one_of_ten, Parameters(k=10)), 4)
    0.2201
    """
    return _against_retrieved(ranking, at, linear)


def ndcg_exp_retrieved_ideal(ranking: Ranking, at: Parameters) -> float | None:
    """Like `ndcg_exp`, but against the best order of what was retrieved.

    >>> ndcg_exp_retrieved_ideal(Ranking(retrieved=(3, 1), judged=(3, 3)), Parameters(k=10))
    1.0
    """
    return _against_retrieved(ranking, at, exponential)


def _normalised(ranking: Ranking, at: Parameters, gain: Gain) -> float | None:
    best = _best(ranking.judged, at, gain)
    return discounted([gain(grade) for grade in ranking.retrieved[: at.k]]) / best if best else None


def _against_retrieved(ranking: Ranking, at: Parameters, gain: Gain) -> float | None:
    if not any(grade > 0 for grade in ranking.judged):
        return None
    best = _best(ranking.retrieved, at, gain)
    return discounted([gain(grade) for grade in ranking.retrieved[: at.k]]) / best if best else 0.0


def _best(grades: Sequence[int | None], at: Parameters, gain: Gain) -> float:
    """The discounted gain of the best order of these documents."""
    return discounted(sorted(map(gain, grades), reverse=True)[: at.k])
