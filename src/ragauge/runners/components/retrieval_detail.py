"""What a report on retrieval shows beside its numbers: queries, the worst, sources, findings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragauge.contracts.evaluation import QueryRow, SourceShare
from ragauge.contracts.finding import PLACES_KEPT, Finding, Findings
from ragauge.contracts.score import ROWS_KEPT
from ragauge.ingest.fields import quoted
from ragauge.metrics.retrieval import NoRelevant
from ragauge.metrics.sources import Brought, documents_of, share_of, unique_relevant
from ragauge.metrics.sums import QuestionSums
from ragauge.runners.components.retrieval_gather import RunScores
from ragauge.runners.numbers import values_of

WORST_KEPT = 20
LATE = 5
"""A first relevant document beyond this rank stands too low."""


def query_rows(scores: RunScores, ids: Sequence[str]) -> tuple[QueryRow, ...]:
    """The first queries by id, with the value of each of these metrics."""
    kept = slice(ROWS_KEPT)
    facts = scores.facts
    columns = [_first_values(scores.sums[id]) for id in ids]
    counts = (
        facts.retrieved[kept].tolist(),
        facts.relevant[kept].tolist(),
        facts.relevant_retrieved[kept].tolist(),
        facts.first_relevant[kept].tolist(),
    )
    values = zip(*columns, strict=True) if columns else ((),) * len(scores.queries[kept])
    return tuple(
        QueryRow(
            query=query,
            retrieved=retrieved,
            relevant=relevant,
            relevant_retrieved=hits,
            first_relevant=first or None,
            values=dict(zip(ids, row, strict=True)),
        )
        for query, retrieved, relevant, hits, first, row in zip(
            scores.queries[kept], *counts, values, strict=True
        )
    )


def _first_values(sums: QuestionSums) -> list[float | None]:
    values = values_of(_first(sums)).tolist()
    return [None if value != value else value for value in values]


def _first(sums: QuestionSums) -> QuestionSums:
    """The rows of the queries that a report shows."""
    kept = slice(ROWS_KEPT)
    return QuestionSums(
        sums.metric, sums.sums[kept], sums.scored[kept], sums.units[kept], sums.absent
    )


def worst_queries(scores: RunScores, id: str) -> tuple[str, ...]:
    """The queries with relevant documents and the lowest values, ties by id."""
    values = values_of(scores.sums[id])
    there = np.flatnonzero((scores.facts.relevant > 0) & ~np.isnan(values))
    ranked = there[np.argsort(values[there], kind="stable")]
    return tuple(scores.queries[at] for at in ranked[:WORST_KEPT])


def query_faults(scores: RunScores, judged: str) -> list[tuple[str, str]]:
    """The first queries by id with what went wrong there, in the catalogue's words.

    `judged` is the metric that tells how much of the first ten results was judged.
    """
    kept = slice(ROWS_KEPT)
    facts = scores.facts
    found, relevant = facts.relevant_retrieved[kept], facts.relevant[kept]
    missing, first = facts.missing[kept], facts.first_relevant[kept]
    told = {
        "missing": missing,
        "nothing_found": ~missing & (relevant > 0) & (found == 0),
        "found_late": first > LATE,
        "incomplete": (found > 0) & (found < relevant),
        "unjudged": values_of(_first(scores.sums[judged])) < 1 / 2,
    }
    return [
        (scores.queries[at], fault)
        for fault, mask in told.items()
        for at in np.flatnonzero(mask).tolist()
    ]


def source_shares(brought: Brought | None) -> dict[str, SourceShare]:
    """What each source contributes; empty where the run does not tell sources."""
    if brought is None:
        return {}
    alone = unique_relevant(brought)
    return {name: _share(brought, place, alone[place]) for place, name in enumerate(brought.names)}


def _share(brought: Brought, source: int, alone: int) -> SourceShare:
    documents = len(documents_of(brought, source))
    relevant = len(documents_of(brought, source, relevant=True))
    return SourceShare(
        share=share_of(brought, source) or 0.0,
        top1=share_of(brought, source, 1),
        top5=share_of(brought, source, 5),
        relevant=relevant,
        unique_relevant=alone,
        precision=relevant / documents if documents else None,
    )


def note_queries(scores: RunScores, findings: Findings, no_rel: NoRelevant) -> None:
    """Say what is odd about queries: missing ones, nothing relevant, ties, unjudged results."""
    facts = scores.facts
    counted = "it counts 0, as in trec_eval" if no_rel == "zero" else "it is left out of the means"
    told = {
        "missing_query": (facts.missing, "the run does not have it; it counts 0"),
        "no_relevant": (facts.relevant == 0, f"no relevant document was judged for it; {counted}"),
        "tied_scores": (facts.tied, "has documents of equal score; the greater id comes first"),
    }
    for code, (mask, fact) in told.items():
        places = np.flatnonzero(mask)
        for at in places[:PLACES_KEPT]:
            message = f"{quoted(scores.queries[at])}: {fact}"
            findings.add(Finding(code, scores.name, message))
        findings.count(code, max(0, len(places) - PLACES_KEPT))
    unjudged, of = int(facts.unjudged.sum()), int(facts.retrieved.sum())
    if unjudged:
        message = f"{unjudged:,} of {of:,} results were not judged; they count as not relevant"
        findings.add(Finding("unjudged", scores.name, message))
    if unjudged and unjudged == of:
        hint = "where the run has chunks of documents, --collapse '#' takes what stands before #"
        message = f"none of the {of:,} results was judged: are the ids of one kind? {hint}"
        findings.add(Finding("no_document_in_common", scores.name, message))
