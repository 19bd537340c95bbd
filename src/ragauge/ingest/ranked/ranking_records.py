"""Judgements and runs as records: JSON, JSON Lines, ranx's JSON, and what a program holds."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragauge.ingest.fields import BadField, expected, mapping, number, quoted, text, texts, whole
from ragauge.ingest.judgements import records_of
from ragauge.ingest.ranked.ranking_rows import (
    VALUE,
    RankingRows,
    Role,
    RowsRead,
    grade_within,
    id_of,
)
from ragauge.ingest.strict_json import BadJson, decode

QUERY = ("query", "query_id", "qid")
DOCUMENT = ("document", "document_id", "doc_id", "docid", "chunk_id", "snippet_id", "id")
MANY: dict[Role, tuple[str, ...]] = {
    "qrels": ("judgements", "qrels", "gold_citations", "gold_ids"),
    "run": ("results", "retrieved_ids", "retrieved", "docs"),
}
"""Where a record has the documents of its query; gold sets and traces of ours have theirs."""
GOLD_GRADE = 1
"""Of a document that is only named as relevant."""
ITEM = "{name}: item {line}"


def read_ranking_records(name: str, content: bytes, role: Role, problems: list[str]) -> RankingRows:
    """The rows of a JSON array or of JSON Lines, a query or a document in each record."""
    array = content.lstrip()[:1] == b"["
    placed = records_of(name, content, problems, lambda name, content, problems: iter(()))
    numbered = ((_number(place), place, record) for place, record in placed)
    return _rows(name, numbered, role, problems, ITEM if array else "{name}:{line}")


def rows_of_records(
    name: str, records: Iterable[Any], role: Role, problems: list[str]
) -> RankingRows:
    """The rows of records that a program holds, shaped as those of a file."""
    numbered = (
        (number, f"{name}: item {number}", dict(record) if isinstance(record, Mapping) else record)
        for number, record in enumerate(records, 1)
    )
    return _rows(name, numbered, role, problems, ITEM)


def read_ranx(name: str, content: bytes, role: Role, problems: list[str]) -> RankingRows:
    """The rows of ranx's JSON: by query, the number of each document."""
    try:
        rankings = decode(content)
        if type(rankings) is not dict:
            raise BadJson(expected("an object of queries", rankings))
    except BadJson as fault:
        problems.append(f"{name}: {fault}")
        rankings = {}
    return rows_of_mapping(name, rankings, role, problems)


def rows_of_mapping(
    name: str, rankings: Mapping[Any, Any], role: Role, problems: list[str]
) -> RankingRows:
    """The rows of `{query: {document: number}}`; a run may have a list of documents a query."""
    read = RowsRead(role)
    for line, (query, documents) in enumerate(rankings.items(), 1):
        where = f"{name}: {quoted(str(query))}"
        try:
            _add_documents(
                read, id_of(query, "query"), documents, line, where, problems, MANY[role][0]
            )
        except BadField as fault:
            problems.append(f"{where}: {fault}")
    return read.rows(name, ITEM)


def _rows(
    name: str,
    numbered: Iterator[tuple[int, str, Any]],
    role: Role,
    problems: list[str],
    place: str,
) -> RankingRows:
    read = RowsRead(role)
    for line, where, record in numbered:
        try:
            _add_record(read, mapping(record, "record"), line, where, problems)
        except BadField as fault:
            problems.append(f"{where}: {fault}")
    return read.rows(name, place)


def _number(place: str) -> int:
    """The line or the item that a place names."""
    return int(place.replace(": item ", ":").rpartition(":")[2])


def _add_record(
    read: RowsRead, record: dict[str, Any], line: int, where: str, problems: list[str]
) -> None:
    """A query with its documents, or one document of a query."""
    query = id_of(_first_of(record, QUERY), "query")
    if record.get("strata") is not None:
        strata = mapping(record["strata"], "strata")
        read.strata[query] = {key: str(value) for key, value in strata.items()}
    many = next((name for name in MANY[read.role] if record.get(name) is not None), None)
    if many is not None:
        _add_documents(read, query, record[many], line, where, problems, many)
    elif any(name in record for name in DOCUMENT):
        rank = record.get("rank")
        _add_document(read, query, record, line, rank if type(rank) is int else None)
    else:
        first = MANY[read.role][0]
        raise BadField(first, f"missing; a record has {first}, or a document of its own")


def _add_documents(
    read: RowsRead,
    query: str,
    documents: Any,
    line: int,
    where: str,
    problems: list[str],
    many: str,
) -> None:
    """The documents of one query, each with its own fault; the place in a list is the rank."""
    named: list[tuple[str, Any, int | None]]
    if isinstance(documents, Mapping):
        named = [
            (f"{many}.{document}", {"id": document, VALUE[read.role]: value}, None)
            for document, value in documents.items()
        ]
    elif isinstance(documents, Sequence) and not isinstance(documents, str | bytes):
        if (earlier := read.listed.setdefault(query, where)) != where:
            raise BadField(many, f"{quoted(query)} has a list at {earlier} already; keep one")
        named = [
            (f"{many}[{place}]", _entry(entry, read.role), place + 1)
            for place, entry in enumerate(documents)
        ]
    else:
        raise BadField(many, expected("an object or a list", documents))
    if not named:
        read.empty.append(query)
    for field, entry, rank in named:
        try:
            _add_document(read, query, entry, line, rank)
        except BadField as fault:
            problems.append(f"{where}: {field}: {fault}")


def _entry(entry: Any, role: Role) -> Any:
    """One of a list's documents: a record, or a plain id, which in judgements is a relevant one."""
    if isinstance(entry, Mapping):
        return dict(entry)
    return {"id": entry, "grade": GOLD_GRADE} if role == "qrels" else {"id": entry}


def _add_document(
    read: RowsRead, query: str, entry: Mapping[str, Any], line: int, rank: int | None
) -> None:
    document = id_of(_first_of(entry, DOCUMENT), "document")
    read.add(query, document, _value(entry, read.role), line, rank, _sources(entry.get("source")))


def _sources(given: Any) -> list[str] | None:
    """Who brought a document: one name, or several."""
    if given is None:
        return None
    given = list(given) if isinstance(given, tuple) else given
    names = texts(given, "source") if isinstance(given, list) else [text(given, "source")]
    return [name for name in names if name] or None


def _value(entry: Mapping[str, Any], role: Role) -> float | None:
    given = entry.get(VALUE[role])
    if isinstance(given, numbers.Number) and not isinstance(given, int | float):
        given = given.item() if hasattr(given, "item") else given  # numpy's, from a program
    if role == "qrels":
        return grade_within(whole(given, "grade"))
    return None if given is None else float(number(given, "score"))


def _first_of(record: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((record[name] for name in names if name in record), None)
