"""The rankings of a run as history keeps them: what was retrieved for a query, and its grades."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ragauge.contracts.finding import Findings
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.trace import Trace
from ragauge.ingest.ranked.ranking_rows import RankingRows
from ragauge.runners.components.retrieval_groups import queries_of
from ragauge.runners.components.retrieval_judged import Judged
from ragauge.runners.components.retrieval_ranked import Placed, Reading, placed

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

RESULTS_KEPT = 100
"""Results of a query that are kept, and relevant documents beside them."""


def kept_rankings(
    run: RankingRows, judged: Judged, reading: Reading
) -> Iterator[tuple[str, KeptAnswer]]:
    """Each judged query that the run has, with its first results in the order that is measured.

    A result has its id, rank, score and grade, so far as they are told; under `extra.relevant`
    stand the grades of the query's relevant documents, those that were not found among them.
    """
    found = placed(run, judged, reading, Findings())  # all there is to say was said when scored
    first, offsets = _first_results(found)
    ids, scores, grades = _columns(found, first)
    document, grade = judged.document, judged.grade
    for place, query in enumerate(judged.queries.to_list()):
        if found.ranking.taken.missing[place]:
            continue
        start, stop = offsets[place : place + 2].tolist()
        results = zip(ids[start:stop], scores[start:stop], grades[start:stop], strict=True)
        of_query = slice(*judged.offsets[place : place + 2].tolist())
        relevant = dict(zip(document[of_query].to_list(), grade[of_query].tolist(), strict=True))
        trace = Trace(
            qid=query,
            retrieved_ids=tuple(ids[start:stop]),
            retrieved=tuple(_result(rank, *one) for rank, one in enumerate(results, 1)),
            extra={"relevant": _best(relevant, reading.rel)},
        )
        yield query, KeptAnswer(trace=trace)


def _first_results(found: Placed) -> tuple[Array, Array]:
    """The places of the first results of each query, and where each query begins among them."""
    offsets = found.offsets
    rank = np.arange(offsets[-1]) - offsets[queries_of(offsets)]
    places = np.arange(len(found.grades)) if found.keep is None else np.flatnonzero(found.keep)
    sizes = np.minimum(np.diff(offsets), RESULTS_KEPT)
    return places[rank < RESULTS_KEPT], np.concatenate([[0], np.cumsum(sizes)])


def _columns(found: Placed, places: Array) -> tuple[list[str], list[float | None], list[int]]:
    ranking = found.ranking
    ids = ranking.column(ranking.document).gather(places).to_list()
    scores = ranking.column(ranking.taken.frame["value"]).gather(places).to_list()
    return ids, scores, found.grades[places].tolist()


def _result(rank: int, id: str, score: float | None, grade: int) -> dict[str, Any]:
    told: dict[str, Any] = {"id": id, "rank": rank}
    if score is not None:
        told["score"] = score
    return told | {"grade": grade} if grade >= 0 else told


def _best(grades: dict[str, int], rel: int) -> dict[str, int]:
    """The relevant documents by grade, then by id, as many as are kept."""
    relevant = sorted((-grade, id) for id, grade in grades.items() if grade >= rel)
    return {id: -grade for grade, id in relevant[:RESULTS_KEPT]}
