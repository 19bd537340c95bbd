"""A run set beside its judgements: in rank order, each document once, with its grade."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct

from ragauge.contracts.finding import Findings
from ragauge.contracts.rankings import Rankings
from ragauge.ingest.ranked.ranking_rows import RankingRows
from ragauge.metrics.retrieval_order import offsets_of_kept, rank_order
from ragauge.metrics.sources import Brought
from ragauge.runners.components.retrieval_groups import without_chunk
from ragauge.runners.components.retrieval_judged import Judged
from ragauge.runners.components.retrieval_repeats import (
    InOrder,
    brought_by,
    note_repeated,
    repeated_faults,
)
from ragauge.runners.components.retrieval_taken import (
    note_disagreeing,
    ranks_of,
    scores_of,
    taken_rows,
    without_self,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

Duplicates = Literal["collapse", "error"]


class Reading(Struct, frozen=True, kw_only=True):
    """How a run is taken."""

    duplicates: Duplicates = "collapse"
    collapse: str | None = None
    """What stands between a document and its chunk."""
    drop_self: bool = False
    rel: int = 1
    """The lowest grade that is relevant."""


class Ranked(Struct, frozen=True, kw_only=True):
    """What a run has for judged queries."""

    rankings: Rankings
    tied: Mask
    """(queries,): two documents have the same score."""
    unknown: list[str]
    """Queries nobody judged, in the order of the run."""
    rows: int
    scattered: bool
    findings: Findings
    problems: list[str]
    sources: Brought | None


def ranked(run: RankingRows, judged: Judged, reading: Reading) -> Ranked:
    """The run's rows with their grades, by judged query and rank."""
    found = Findings()
    taken = taken_rows(run, judged)
    if reading.drop_self:
        taken = without_self(taken, found)
    document = without_chunk(taken.frame["document"], reading.collapse)
    score, scored = scores_of(taken)
    rank = ranks_of(taken)
    ordered = rank_order(taken.offsets, score, document, rank)
    if rank is not None and ordered.disagreeing.any():
        note_disagreeing(taken, rank, ordered.disagreeing & scored, found)
    grades, repeats = judged.grades_of(taken.offsets, document)
    ranking = InOrder(taken=taken, document=document, score=score, order=ordered.order)
    keep = ranking.firsts() if repeats else None
    faults: list[str] = []
    if keep is not None:
        note_repeated(ranking, keep, reading.collapse, found)
        faults = repeated_faults(ranking) if reading.duplicates == "error" else []
    grades = grades if ordered.order is None else grades[ordered.order]
    return Ranked(
        rankings=Rankings(
            retrieved=grades if keep is None else grades[keep],
            retrieved_offsets=(
                taken.offsets if keep is None else offsets_of_kept(taken.offsets, keep)
            ),
            judged=judged.grade,
            judged_offsets=judged.offsets,
            missing=taken.missing,
        ),
        tied=ordered.tied & scored,
        unknown=taken.unknown,
        rows=run.frame.height,
        scattered=taken.scattered,
        findings=found,
        problems=faults,
        sources=brought_by(ranking, keep, grades >= reading.rel),
    )
