"""Judgements and runs written: as TREC files, as ranx's JSON, as tables, and as JSON Lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ragauge.errors import InputRejected
from ragauge.ingest.fields import quoted

if TYPE_CHECKING:
    from ragauge.ingest.ranked.ranking_rows import RankingRows, Role

Rankings = Mapping[str, Mapping[str, float] | Sequence[str]]
"""By query, documents with their grades or scores; of a run perhaps a list in rank order."""
WRITTEN_RANKINGS = ("trec", "ranx", "jsonl", "beir", "tsv")
"""The forms that are written; BEIR's of a run is ranx's JSON."""
_HEADER = {
    "qrels": ("query-id", "corpus-id", "score"),
    "run": ("query", "document", "rank", "score"),
}


def written_rankings(rankings: Rankings, role: Role, form: str) -> bytes:
    r"""The content of a file, by query and document, or each query's documents by rank.

    A list has no scores: its documents get as many points as there are from them to its end.

    >>> written_rankings({"q1": {"d2": 0, "d1": 3}}, "qrels", "trec")
    b'q1 0 d1 3\nq1 0 d2 0\n'
    >>> written_rankings({"q1": {"d1": 0.5, "d2": 2.0}, "q2": ["d7"]}, "run", "trec")
    b'q1 Q0 d2 1 2.0 ragauge\nq1 Q0 d1 2 0.5 ragauge\nq2 Q0 d7 1 1.0 ragauge\n'
    >>> written_rankings({"q1": {"d2": 0, "d1": 3}, "q2": ["d7", "d5"]}, "run", "ranx")
    b'{"q1":{"d1":3,"d2":0},"q2":{"d5":1,"d7":2}}'
    >>> written_rankings({"q1": {"d1": 3}}, "qrels", "tsv")
    b'query-id\tcorpus-id\tscore\nq1\td1\t3\n'
    >>> written_rankings({"q1": {"d2": 0, "d1": 3}}, "qrels", "jsonl")
    b'{"query":"q1","judgements":{"d1":3,"d2":0}}\n'
    >>> written_rankings({"q1": {"d1": 0.5, "d2": 2.0}}, "run", "jsonl")
    b'{"query":"q1","results":[{"id":"d2","score":2.0},{"id":"d1","score":0.5}]}\n'
    """
    if form == "ranx" or (form, role) == ("beir", "run"):
        numbers = {query: dict(_ranked(results)) for query, results in rankings.items()}
        return msgspec.json.encode(numbers, order="sorted")
    if form == "jsonl":
        records: list[dict[str, Any]] = []
        for query, results in sorted(rankings.items()):
            if not isinstance(results, Mapping):
                records.append({"query": query, "results": list(results)})
            elif role == "qrels":
                records.append({"query": query, "judgements": dict(sorted(results.items()))})
            else:
                ranked = [{"id": id, "score": score} for id, score in _ranked(results)]
                records.append({"query": query, "results": ranked})
        return msgspec.json.Encoder().encode_lines(records)
    rows: list[tuple[str, ...]] = []
    for query, results in sorted(rankings.items()):
        if role == "qrels":
            rows += [(query, id, str(grade)) for id, grade in sorted(_ranked(results))]
        else:
            ranks = enumerate(_ranked(results), 1)
            rows += [(query, id, str(rank), repr(float(score))) for rank, (id, score) in ranks]
    if form == "trec":
        faults = {cell for row in rows for cell in row if not cell or cell.split() != [cell]}
        _refuse(faults, "is empty or holds a blank, which no TREC file can hold")
        second, end = ("0", ()) if role == "qrels" else ("Q0", ("ragauge",))
        return "".join(" ".join((row[0], second, *row[1:], *end)) + "\n" for row in rows).encode()
    faults = {cell for row in rows for cell in row if not cell or set(cell) & set('\t\n\r"')}
    _refuse(faults, "is empty or holds a tab, a quote or a line end")
    return "".join("\t".join(row) + "\n" for row in (_HEADER[role], *rows)).encode()


def _refuse(cells: set[str], fact: str) -> None:
    if cells:
        raise InputRejected(
            *(f"{quoted(cell)}: {fact}; write JSON Lines" for cell in sorted(cells))
        )


def _ranked(results: Mapping[str, float] | Sequence[str]) -> list[tuple[str, float]]:
    """By score descending, ties by document descending, as they are evaluated."""
    if isinstance(results, Mapping):
        return sorted(results.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
    return [(document, len(results) - place) for place, document in enumerate(results)]


def by_query(rows: RankingRows) -> dict[str, Any]:
    """Rows that were read, as they are written; of equal documents the best stays.

    A query of which a result has no score is a list in rank order.
    """
    names = [name for name in ("query", "document", "value", "rank") if name in rows.frame.columns]
    found: dict[str, list[tuple[Any, ...]]] = {}
    for query, *rest in rows.frame.select(names).iter_rows():
        found.setdefault(query, []).append(tuple(rest))
    made: dict[str, Any] = {query: {} for query in (*found, *rows.empty)}
    for query, some in found.items():
        if any(value is None for _, value, *_ in some):
            ranked = all(rest and rest[0] is not None for _, _, *rest in some)
            in_order = sorted(some, key=lambda row: row[2]) if ranked else some
            made[query] = list(dict.fromkeys(document for document, *_ in in_order))
            continue
        best: dict[str, Any] = {}
        for document, value, *_ in some:
            best[document] = max(value, best.get(document, value))
        made[query] = best
    return made
