"""A run set beside its judgements: in rank order, each document once, with its grade."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct

from ragauge.contracts.finding import Findings
from ragauge.contracts.rankings import Rankings
from ragauge.ingest.ranked.ranking_rows import RankingRows
from ragauge.metrics.retrieval_order import Brought, offsets_of_kept, rank_order
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

    from ragauge.contracts.metric import Array

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


class Placed(Struct, frozen=True, kw_only=True):
    """A run's rows by judged query and rank."""

    ranking: InOrder
    grades: Array
    """Of each place."""
    keep: Mask | None
    """The places that count; None where all do."""
    tied: Mask

    def kept(self, places: Array) -> Array:
        """The values of the places that count."""
        return places if self.keep is None else places[self.keep]

    @property
    def offsets(self) -> Array:
        """Where each query begins, among the places that count."""
        offsets = self.ranking.taken.offsets
        return offsets if self.keep is None else offsets_of_kept(offsets, self.keep)


def placed(run: RankingRows, judged: Judged, reading: Reading, found: Findings) -> Placed:
    """The run's rows in the order that is measured; what is to be said goes into `found`."""
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
    return Placed(
        ranking=ranking,
        grades=grades if ordered.order is None else grades[ordered.order],
        keep=ranking.firsts() if repeats else None,
        tied=ordered.tied & scored,
    )


def ranked(run: RankingRows, judged: Judged, reading: Reading) -> Ranked:
    """The run's rows with their grades, by judged query and rank."""
    found = Findings()
    rows = placed(run, judged, reading, found)
    ranking, keep, taken = rows.ranking, rows.keep, rows.ranking.taken
    faults: list[str] = []
    if keep is not None:
        note_repeated(ranking, keep, reading.collapse, found)
        faults = repeated_faults(ranking) if reading.duplicates == "error" else []
    return Ranked(
        rankings=Rankings(
            retrieved=rows.kept(rows.grades),
            retrieved_offsets=rows.offsets,
            judged=judged.grade,
            judged_offsets=judged.offsets,
            missing=taken.missing,
        ),
        tied=rows.tied,
        unknown=taken.unknown,
        rows=run.frame.height,
        scattered=taken.scattered,
        findings=found,
        problems=faults,
        sources=brought_by(ranking, keep, rows.grades >= reading.rel),
    )
