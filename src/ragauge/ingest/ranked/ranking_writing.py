"""Judgements and runs written: as TREC files, as ranx's JSON, and as JSON Lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ragauge.errors import InputRejected
from ragauge.ingest.fields import quoted

if TYPE_CHECKING:
    from ragauge.ingest.ranked.ranking_rows import RankingRows

Graded = Mapping[str, Mapping[str, int]]
Scored = Mapping[str, Mapping[str, float] | Sequence[str]]
"""By query, documents with their scores, or in rank order."""


def trec_qrels(qrels: Graded) -> bytes:
    """Judgements as a TREC file, by query and document.

    >>> trec_qrels({"q1": {"d2": 0, "d1": 3}})
    b'q1 0 d1 3\\nq1 0 d2 0\\n'
    """
    return _lines([(query, "0", document, grade) for query, document, grade in _graded(qrels)])


def trec_run(run: Scored, tag: str = "ragauge") -> bytes:
    """A run as a TREC file, each query's documents by rank.

    A list has no scores: its documents get as many points as there are from them to its end.

    >>> trec_run({"q1": {"d1": 0.5, "d2": 2.0}, "q2": ["d7"]}, "mine")
    b'q1 Q0 d2 1 2.0 mine\\nq1 Q0 d1 2 0.5 mine\\nq2 Q0 d7 1 1.0 mine\\n'
    """
    return _lines([(query, "Q0", *rest, tag) for query, *rest in _scored(run)])


def ranx_json(rankings: Graded | Scored) -> bytes:
    """Judgements or a run as ranx keeps them: by query, the number of each document.

    >>> ranx_json({"q1": {"d2": 0, "d1": 3}, "q2": ["d7", "d5"]})
    b'{"q1":{"d1":3,"d2":0},"q2":{"d5":1,"d7":2}}'
    """
    numbers = {
        query: results if isinstance(results, Mapping) else dict(_ranked(results))
        for query, results in rankings.items()
    }
    return msgspec.json.encode(numbers, order="sorted")


def tsv_qrels(qrels: Graded) -> bytes:
    """Judgements as a table, in the columns that BEIR gives them.

    >>> tsv_qrels({"q1": {"d1": 3}})
    b'query-id\\tcorpus-id\\tscore\\nq1\\td1\\t3\\n'
    """
    return _table(("query-id", "corpus-id", "score"), _graded(qrels))


def tsv_run(run: Scored) -> bytes:
    """A run as a table, each query's documents by rank."""
    return _table(("query", "document", "rank", "score"), _scored(run))


def _graded(qrels: Graded) -> list[tuple[str, str, str]]:
    return [
        (query, document, str(grade))
        for query, judged in sorted(qrels.items())
        for document, grade in sorted(judged.items())
    ]


def _scored(run: Scored) -> list[tuple[str, str, str, str]]:
    """Query, document, rank and score of each result."""
    return [
        (query, document, str(rank), repr(float(score)))
        for query, results in sorted(run.items())
        for rank, (document, score) in enumerate(_ranked(results), 1)
    ]


def jsonl_qrels(qrels: Graded) -> bytes:
    """Judgements as JSON Lines, a query each.

    >>> jsonl_qrels({"q1": {"d2": 0, "d1": 3}})
    b'{"query":"q1","judgements":{"d1":3,"d2":0}}\\n'
    """
    records = (
        {"query": query, "judgements": dict(sorted(judged.items()))}
        for query, judged in sorted(qrels.items())
    )
    return msgspec.json.Encoder().encode_lines(records)


def jsonl_run(run: Scored) -> bytes:
    """A run as JSON Lines, a query each with its results in rank order.

    >>> jsonl_run({"q1": {"d1": 0.5, "d2": 2.0}, "q2": ["d7"]}).splitlines()[0]
    b'{"query":"q1","results":[{"id":"d2","score":2.0},{"id":"d1","score":0.5}]}'
    """
    records = (
        {"query": query, "results": _results(results)} for query, results in sorted(run.items())
    )
    return msgspec.json.Encoder().encode_lines(records)


def by_query(rows: RankingRows) -> dict[str, Any]:
    """Rows that were read, as the writers take them; of equal documents the best stays.

    A query of which a result has no score is a list in rank order.
    """
    names = [name for name in ("query", "document", "value", "rank") if name in rows.frame.columns]
    found: dict[str, list[tuple[Any, ...]]] = {}
    for query, *rest in rows.frame.select(names).iter_rows():
        found.setdefault(query, []).append(tuple(rest))
    made: dict[str, Any] = {query: _of_query(some) for query, some in found.items()}
    return made | {query: {} for query in rows.empty if query not in made}


def _of_query(some: list[tuple[Any, ...]]) -> Any:
    if any(value is None for _, value, *_ in some):
        ranked = all(rest and rest[0] is not None for _, _, *rest in some)
        in_order = sorted(some, key=lambda row: row[2]) if ranked else some
        return list(dict.fromkeys(document for document, *_ in in_order))
    best: dict[str, Any] = {}
    for document, value, *_ in some:
        best[document] = max(value, best.get(document, value))
    return best


def _results(results: Mapping[str, float] | Sequence[str]) -> list[Any]:
    if not isinstance(results, Mapping):
        return list(results)
    return [{"id": document, "score": score} for document, score in _ranked(results)]


def _ranked(results: Mapping[str, float] | Sequence[str]) -> list[tuple[str, float]]:
    """By score descending, ties by document descending, as they are evaluated."""
    if isinstance(results, Mapping):
        return sorted(results.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
    return [(document, len(results) - place) for place, document in enumerate(results)]


def _lines(rows: Sequence[tuple[str, ...]]) -> bytes:
    faults = {cell for row in rows for cell in row if not cell or cell.split() != [cell]}
    if faults:
        fact = "is empty or holds a blank, which no TREC file can hold; write JSON Lines"
        raise InputRejected(*(f"{quoted(cell)}: {fact}" for cell in sorted(faults)))
    return "".join(" ".join(row) + "\n" for row in rows).encode()


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> bytes:
    faults = {cell for row in rows for cell in row if not cell or set(cell) & set('\t\n\r"')}
    if faults:
        fact = "is empty or holds a tab, a quote or a line end; write JSON Lines"
        raise InputRejected(*(f"{quoted(cell)}: {fact}" for cell in sorted(faults)))
    return "".join("\t".join(row) + "\n" for row in (header, *rows)).encode()
