"""Judgements and runs as plain mappings, in the arrays the retrieval kernel reads."""

from itertools import chain

import numpy as np
import polars as pl

from ragauge.contracts.rankings import UNJUDGED, Ranking, Rankings
from ragauge.metrics.retrieval import from_name
from ragauge.metrics.retrieval_kernel import retrieval_sums
from ragauge.metrics.retrieval_order import rank_order


def rankings_of(qrels, run):
    """The grades of every judged query's results, sorted by score."""
    documents, scores, grades, lengths, judged, judged_lengths = [], [], [], [], [], []
    for query, judgements in qrels.items():
        results = run.get(query, {})
        documents += results
        scores += results.values()
        grades += [judgements.get(document, UNJUDGED) for document in results]
        lengths.append(len(results))
        judged += judgements.values()
        judged_lengths.append(len(judgements))
    offsets = np.cumsum([0, *lengths])
    names = pl.Series(documents, dtype=pl.String)
    order = rank_order(offsets, np.array(scores, dtype=np.float64), names).order
    retrieved = np.array(grades, dtype=np.int32)
    return Rankings(
        retrieved=retrieved if order is None else retrieved[order],
        retrieved_offsets=offsets,
        judged=np.array(judged, dtype=np.int32),
        judged_offsets=np.cumsum([0, *judged_lengths]),
        missing=np.array([query not in run for query in qrels]),
    )


def measured(names, qrels, run, no_rel="zero"):
    """By name, the value of each judged query; None where the metric does not apply."""
    sums = retrieval_sums(map(from_name, names), rankings_of(qrels, run), no_rel)
    return {name: _by_query(qrels, sums[from_name(name).id]) for name in names}


def _by_query(qrels, sums):
    rows = zip(qrels, sums.sums, sums.scored, strict=True)
    return {query: float(sums.metric.finish(row)) if told else None for query, row, told in rows}


def in_order(*rankings):
    """Plain rankings as the kernel's arrays."""
    retrieved = [[UNJUDGED if g is None else g for g in each.retrieved] for each in rankings]
    return Rankings(
        retrieved=np.array([*chain(*retrieved)], dtype=np.int32),
        retrieved_offsets=np.cumsum([0, *map(len, retrieved)]),
        judged=np.array([*chain(*(each.judged for each in rankings))], dtype=np.int32),
        judged_offsets=np.cumsum([0, *(len(each.judged) for each in rankings)]),
        missing=np.array([each.missing for each in rankings], dtype=bool),
    )


def plain_rankings(qrels, run):
    """One `Ranking` a query, sorted the plain way: score, then document, both descending."""
    for query, judgements in qrels.items():
        results = run.get(query, {})
        best_first = sorted(results, key=lambda one: (results[one], one.encode()), reverse=True)
        yield Ranking(
            retrieved=tuple(judgements.get(document) for document in best_first),
            judged=tuple(judgements.values()),
            missing=query not in run,
        )
