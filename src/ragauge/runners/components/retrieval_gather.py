"""Scores of pieces put together: every query once, sorted by id."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.metric import Absent, Metric, NotApplicable
from ragauge.ingest.fields import quoted
from ragauge.metrics.retrieval_order import Brought
from ragauge.metrics.sums import Sums
from ragauge.runners.components.retrieval_pieces import OtherOrder
from ragauge.runners.components.retrieval_scoring import Facts, PieceScores, Setup, take_in

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

UNGROUPED = "its queries stand in several places; they were sorted, which takes more memory"


class Scattered(Exception):
    """A query stands in two pieces: only the whole file tells its number."""


class RunScores(Struct, frozen=True, kw_only=True):
    """A run against its judgements, query by query, sorted by id."""

    name: str
    queries: list[str]
    sums: dict[str, Sums]
    facts: Facts
    unknown: list[str]
    rows: int
    judged_rows: int
    findings: Findings
    """Of the run."""
    qrels_findings: Findings
    problems: list[str]
    qrels_problems: list[str]
    sources: Brought | None


class Gathering:
    """Pieces as they come; raises where they cannot be told apart by query."""

    def __init__(self, name: str, qrels: str) -> None:
        self._name, self._qrels = name, qrels
        self._pieces: list[PieceScores] = []
        self._judged: set[str] = set()
        self._ranked: set[str] = set()
        self._missing: set[str] = set()
        self._unknown: set[str] = set()

    def add(self, piece: PieceScores) -> None:
        missing = [piece.queries[at] for at in np.flatnonzero(piece.facts.missing)]
        present = set(piece.queries).difference(missing)
        if not self._judged.isdisjoint(piece.queries):
            raise Scattered
        if not (self._ranked.isdisjoint(present) and self._ranked.isdisjoint(piece.unknown)):
            raise Scattered
        self._judged.update(piece.queries)
        self._ranked.update(present, piece.unknown)
        self._missing.update(missing)
        self._unknown.update(piece.unknown)
        if not self._unknown.isdisjoint(self._judged):
            raise OtherOrder
        self._pieces.append(piece)

    def unseen(self, queries: Sequence[str]) -> list[int]:
        """The places of queries that no piece had."""
        return [place for place, query in enumerate(queries) if query not in self._judged]

    def finished(self, setup: Setup) -> RunScores:
        """All of them, sorted by query."""
        parts = self._pieces
        queries = [query for part in parts for query in part.queries]
        order = np.array(sorted(range(len(queries)), key=queries.__getitem__), dtype=np.int64)
        all_there = np.ones(len(order), dtype=np.int64)
        findings, of_qrels = Findings(), Findings()
        for part in parts:
            take_in(part.findings, findings)
            take_in(part.qrels_findings, of_qrels)
        if any(part.scattered_run for part in parts):
            findings.add(Finding("ungrouped", self._name, UNGROUPED))
        if any(part.scattered_qrels for part in parts):
            of_qrels.add(Finding("ungrouped", self._qrels, UNGROUPED))
        for query in (query for part in parts for query in part.unknown):
            message = f"{quoted(query)}: nobody judged this query; it is in no number"
            findings.add(Finding("unknown_query", self._name, message))
        return RunScores(
            name=self._name,
            queries=[queries[at] for at in order],
            sums={metric.id: self._sums(metric, order, all_there) for metric in setup.measures()},
            facts=parts[0].facts.merged([part.facts for part in parts[1:]], order),
            unknown=[query for part in parts for query in part.unknown],
            rows=sum(part.rows for part in parts),
            judged_rows=sum(part.judged_rows for part in parts),
            findings=findings,
            qrels_findings=of_qrels,
            problems=_by_line(problem for part in parts for problem in part.problems),
            qrels_problems=_by_line(fault for part in parts for fault in part.qrels_problems),
            sources=parts[0].sources,
        )

    def _sums(self, metric: Metric, order: Array, all_there: Array) -> Sums:
        """The rows of a metric; the pieces give them up, or a million queries would stand twice."""
        parts = [piece.values.pop(metric.id) for piece in self._pieces]
        scored = np.concatenate([scored for _, scored, _ in parts])[order].astype(np.int64)
        sums = np.empty((len(order), 2), dtype=np.int64)
        sums[:, 0] = np.concatenate([value for value, _, _ in parts])[order]
        sums[:, 1] = scored
        absent: Counter[Absent] = Counter()
        for _, _, reasons in parts:
            absent.update(reasons)
        counted = all_there if scored.all() else scored
        outside = bool(absent) and all(isinstance(why, NotApplicable) for why in absent)
        return Sums(metric, sums, counted, counted if outside else all_there, absent)


def _by_line(problems: Iterable[str]) -> list[str]:
    """As the file has them, in however many pieces it was read."""

    def line(problem: str) -> int:
        place = re.match(r".*?:(\d+): ", problem)
        return int(place[1]) if place else 0

    return sorted(problems, key=line)
