"""Precision, recall and their kin: relevance that is yes or no, at a grade one chooses."""

from __future__ import annotations

from ragauge.contracts.rankings import Ranking
from ragauge.metrics.retrieval_grades import (
    Parameters,
    attention,
    is_judged,
    ranks_found,
    relevant,
    summed,
)


def precision(ranking: Ranking, at: Parameters) -> float | None:
    """Relevant documents among the first k results, over k.

    Fewer than k results are not fewer in the denominator; `set_p` divides by what was retrieved.

    >>> precision(Ranking(retrieved=(1,), judged=(1,)), Parameters(k=5))
    0.2
    """
    return len(ranks_found(ranking, at)) / (at.k or 1) if relevant(ranking, at) else None


def recall(ranking: Ranking, at: Parameters) -> float | None:
    """Relevant documents among the first k results, over all relevant ones.

    >>> recall(Ranking(retrieved=(1, None, 2), judged=(1, 2, 1, 0)), Parameters(k=2))
    0.3333333333333333
    """
    wanted = relevant(ranking, at)
    return len(ranks_found(ranking, at)) / wanted if wanted else None


def reciprocal_rank(ranking: Ranking, at: Parameters) -> float | None:
    """One over the rank of the first relevant result, 0 where there is none within the cut-off.

    Its mean over queries is MRR.

    >>> reciprocal_rank(Ranking(retrieved=(0, None, 1), judged=(0, 1)), Parameters())
    0.3333333333333333
    """
    if not relevant(ranking, at):
        return None
    return next((1 / rank for rank in ranks_found(ranking, at)), 0.0)


def average_precision(ranking: Ranking, at: Parameters) -> float | None:
    """Mean, over all relevant documents, of the precision at the rank where each was found.

    One that was not retrieved, or beyond the cut-off, counts as 0. The mean over queries is MAP.

    >>> average_precision(Ranking(retrieved=(1, 0, 1), judged=(1, 0, 1)), Parameters())
    0.8333333333333333
    """
    wanted = relevant(ranking, at)
    if not wanted:
        return None
    found = enumerate(ranks_found(ranking, at), start=1)
    return summed(place / rank for place, rank in found) / wanted


def success(ranking: Ranking, at: Parameters) -> float | None:
    """Queries with a relevant document among the first k results, over queries: a hit rate.

    >>> success(Ranking(retrieved=(0, 1), judged=(0, 1)), Parameters(k=1))
    0.0
    """
    return float(bool(ranks_found(ranking, at))) if relevant(ranking, at) else None


def bpref(ranking: Ranking, at: Parameters) -> float | None:
    """How far the relevant documents come before those judged not relevant (binary preference).

    Unjudged results are passed over, so that it bears incomplete judgements. As in trec_eval, at
    most as many documents that are not relevant count as there are relevant ones.

    >>> bpref(Ranking(retrieved=(None, 1, 0, 1), judged=(1, 1, 0, 0)), Parameters())
    0.75
    """
    wanted = relevant(ranking, at)
    if not wanted:
        return None
    others = min(sum(0 <= grade < at.rel for grade in ranking.judged), wanted)
    before, parts = 0, []
    for grade in ranking.retrieved:
        if grade is not None and grade >= at.rel:
            parts.append(1 - min(before, wanted) / others if before else 1.0)
        elif is_judged(grade):
            before += 1
    return summed(parts) / wanted


def r_precision(ranking: Ranking, at: Parameters) -> float | None:
    """Relevant documents among the first R results, over R, where R documents are relevant.

    >>> r_precision(Ranking(retrieved=(1, 0, 1), judged=(1, 0, 1)), Parameters())
    0.5
    """
    wanted = relevant(ranking, at)
    if not wanted:
        return None
    return sum(rank <= wanted for rank in ranks_found(ranking, at)) / wanted


def rank_biased_precision(ranking: Ranking, at: Parameters) -> float | None:
    """Share of what a reader looks at that is relevant, when each goes on with probability p.

    Relevance is yes or no; p is 0.8 unless the name says otherwise, and a patient reader has
    0.95. Moffat and Zobel, 2008.

    >>> grades = Ranking(retrieved=(1, 0, 1), judged=(1, 0, 1))
    >>> round(rank_biased_precision(grades, Parameters()), 4)
    0.328
    """
    if not relevant(ranking, at):
        return None
    return summed(attention(rank, at.p) for rank in ranks_found(ranking, at))


def judged(ranking: Ranking, at: Parameters) -> float | None:
    """Share of the first k results that were judged: how far the other numbers can be trusted.

    Over the results there are, where these are fewer than k. A negative grade is not judged.

    >>> judged(Ranking(retrieved=(1, None, -1, 0), judged=(1, -1, 0)), Parameters(k=10))
    0.5
    """
    shown = ranking.retrieved[: at.k]
    return sum(map(is_judged, shown)) / len(shown) if shown else None


def unjudged(ranking: Ranking, at: Parameters) -> float | None:
    """Unjudged documents among the first k results, over k, as trec_eval's `unj`.

    >>> unjudged(Ranking(retrieved=(1, None, -1, 0), judged=(1, -1, 0)), Parameters(k=10))
    0.2
    """
    shown = ranking.retrieved[: at.k]
    return sum(not is_judged(grade) for grade in shown) / (at.k or 1)


def set_p(ranking: Ranking, at: Parameters) -> float | None:
    """Relevant documents among all results, over the results; 0 where nothing was retrieved.

    >>> set_p(Ranking(retrieved=(1,), judged=(1, 1)), Parameters())
    1.0
    """
    if not relevant(ranking, at):
        return None
    return len(ranks_found(ranking, at)) / max(len(ranking.retrieved), 1)


def set_r(ranking: Ranking, at: Parameters) -> float | None:
    """Relevant documents among all results, over all relevant ones.

    >>> set_r(Ranking(retrieved=(1,), judged=(1, 1)), Parameters())
    0.5
    """
    return recall(ranking, at)


def set_f(ranking: Ranking, at: Parameters) -> float | None:
    """Harmonic mean of `set_p` and `set_r`.

    >>> set_f(Ranking(retrieved=(1, None), judged=(1, 1)), Parameters())
    0.5
    """
    wanted = relevant(ranking, at)
    if not wanted:
        return None
    return 2 * len(ranks_found(ranking, at)) / (len(ranking.retrieved) + wanted)


def coverage(ranking: Ranking, at: Parameters) -> float | None:
    """Judged queries that the run has, over all: one it does not have is zero everywhere else.

    >>> coverage(Ranking(retrieved=(), judged=(1,), missing=True), Parameters())
    0.0
    """
    return float(not ranking.missing)
