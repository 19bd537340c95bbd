"""Queries scored: in one go, or in pieces by several processes, with the same result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.finding import Findings
from ragauge.contracts.metric import Absent, Metric
from ragauge.ingest.ranked.ranking_rows import RankingRows
from ragauge.ingest.ranked.trec import read_trec
from ragauge.metrics.retrieval import NoRelevant, named
from ragauge.metrics.retrieval_kernel import retrieval_sums
from ragauge.metrics.retrieval_order import Brought
from ragauge.runners.components.retrieval_groups import places_in
from ragauge.runners.components.retrieval_judged import Judged, JudgedRows, judged_rows
from ragauge.runners.components.retrieval_pieces import Piece
from ragauge.runners.components.retrieval_ranked import Ranked, Reading, ranked

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array


class Setup(Struct, frozen=True, kw_only=True):
    """All a process needs to score: plain values, so that it can cross to another one."""

    metrics: tuple[str, ...]
    no_rel: NoRelevant | None
    """None until the judgements are known: a TREC file is counted as trec_eval does."""
    reading: Reading

    @property
    def no_relevant(self) -> NoRelevant:
        return self.no_rel or "exclude"

    def measures(self) -> list[Metric]:
        found = (named(id, self.no_relevant) for id in self.metrics)
        return [metric for metric in found if metric is not None]


class Facts(Struct, frozen=True, kw_only=True):
    """What is known of each query beside its metrics."""

    retrieved: Array
    relevant: Array
    relevant_retrieved: Array
    first_relevant: Array
    """The rank, 0 where there is none."""
    unjudged: Array
    missing: Array
    tied: Array

    @classmethod
    def of(cls, found: Ranked, rel: int) -> Facts:
        rankings = found.rankings
        offsets = rankings.retrieved_offsets
        hits = np.flatnonzero(rankings.retrieved >= rel)
        first = np.append(hits, len(rankings.retrieved))[np.searchsorted(hits, offsets[:-1])]
        return cls(
            retrieved=np.diff(offsets),
            relevant=_counted(rankings.judged >= rel, rankings.judged_offsets),
            relevant_retrieved=_counted(rankings.retrieved >= rel, offsets),
            first_relevant=np.where(first < offsets[1:], first - offsets[:-1] + 1, 0),
            unjudged=_counted(rankings.retrieved < 0, offsets),
            missing=rankings.missing,
            tied=found.tied,
        )

    def merged(self, others: Sequence[Facts], order: Array) -> Facts:
        """These and the others' queries, in an order."""
        every = [self, *others]
        columns = {
            name: np.concatenate([getattr(one, name) for one in every])[order]
            for name in self.__struct_fields__
        }
        return Facts(**columns)


def _counted(marks: Array, offsets: Array) -> Array:
    """How many rows of each query are marked."""
    before = np.zeros(len(marks) + 1, dtype=np.int64)
    np.cumsum(marks, out=before[1:])
    return before[offsets[1:]] - before[offsets[:-1]]


class PieceScores(Struct, frozen=True, kw_only=True):
    """All that is known of some queries; a few numbers each, however much was retrieved."""

    queries: list[str]
    values: dict[str, tuple[Array, Array, Mapping[Absent, int]]]
    """By metric: a number and whether it counts, for each query, and the reasons of the others."""
    facts: Facts
    unknown: list[str]
    rows: int
    judged_rows: int
    scattered_run: bool
    scattered_qrels: bool
    findings: Findings
    """Of the run."""
    qrels_findings: Findings
    problems: list[str]
    qrels_problems: list[str]
    sources: Brought | None = None


def score_rows(
    run: RankingRows, judged: JudgedRows, setup: Setup, problems: Iterable[str] = ()
) -> PieceScores:
    """The scores of every judged query; `problems` are those met when the run was read."""
    found = ranked(run, judged.judged, setup.reading)
    sums = retrieval_sums(setup.measures(), found.rankings, setup.no_relevant)
    return PieceScores(
        queries=judged.judged.queries.to_list(),
        values={
            id: (one.sums[:, 0], one.scored.astype(bool), one.absent) for id, one in sums.items()
        },
        facts=Facts.of(found, setup.reading.rel),
        unknown=found.unknown,
        rows=found.rows,
        judged_rows=judged.rows,
        scattered_run=found.scattered,
        scattered_qrels=judged.scattered,
        findings=found.findings,
        qrels_findings=judged.findings,
        problems=[*problems, *found.problems],
        qrels_problems=judged.problems,
        sources=found.sources,
    )


def take_in(some: Findings, into: Findings) -> None:
    """Add findings to others, which keep the first places."""
    kept = some.kept()
    for finding in kept:
        into.add(finding)
    for code, times in some.counts.items():
        into.count(code, times - sum(finding.code == code for finding in kept))


class PieceScorer:
    """Scores pieces of files; judgements that are held are the same for every piece."""

    def __init__(self, setup: Setup, held: Judged | None) -> None:
        self._setup, self._held = setup, held

    def __call__(self, piece: Piece) -> PieceScores:
        problems: list[str] = []
        run, judged = self.rows(piece, problems)
        return score_rows(run, judged, self._setup, problems)

    def rows(self, piece: Piece, problems: list[str]) -> tuple[RankingRows, JudgedRows]:
        """What the piece has of the run, and of the judgements."""
        part = piece.run
        run = read_trec(part.name, part.read(), "run", problems, part.first_line)
        return run, self._judged(piece, run)

    def _judged(self, piece: Piece, run: RankingRows) -> JudgedRows:
        if piece.qrels is not None:
            part, faults = piece.qrels, list[str]()
            rows = read_trec(part.name, part.read(), "qrels", faults, part.first_line)
            return judged_rows(rows, self._setup.reading.collapse, faults)
        assert self._held is not None, "pieces without judgements come with held ones"
        place = places_in(self._held.queries, run.frame["query"].unique(maintain_order=True))
        return JudgedRows(
            judged=self._held.some(place[place >= 0]),
            findings=Findings(),
            problems=[],
            rows=0,
            scattered=False,
        )
