"""Queries with their words, and strata of units in a table of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ragauge.ingest.fields import BadField, expected, mapping, quoted, text
from ragauge.ingest.lines import read_whole
from ragauge.ingest.placed_records import Records, headed_rows, records_of, rows_of

IDS = ("qid", "query_id", "query-id", "_id", "id")
WORDS = ("question", "q", "user_input", "text", "query")

QuerySource = str | Path | Mapping[str, str] | Sequence[Mapping[str, Any]]


class Query(Struct, frozen=True, kw_only=True):
    """A query as a retriever is asked it."""

    id: str
    words: str
    strata: dict[str, Any] = {}


def read_queries(source: QuerySource, problems: list[str]) -> dict[str, Query]:
    """By id the queries of a file, of records, or of words by id; faults go into the list."""
    found: dict[str, Query] = {}
    if isinstance(source, str | Path):
        records = records_of(str(source), read_whole(str(source)), problems, _table)
    elif isinstance(source, Mapping):
        records = ((f"queries: {id}", {"id": id, "text": words}) for id, words in source.items())
    else:
        records = ((f"queries: item {number}", one) for number, one in enumerate(source, 1))
    for place, record in records:
        try:
            query = _query(record)
        except BadField as fault:
            problems.append(f"{place}: {fault}")
            continue
        if query.id in found:
            problems.append(f"{place}: id: {quoted(query.id)} stands there already; keep one")
        found.setdefault(query.id, query)
    return found


def _table(name: str, content: bytes, problems: list[str]) -> Records:
    """Two cells a row, id and words, with a header or without."""
    for number, (place, cells) in enumerate(rows_of(name, content, problems)):
        titles = [cell.strip().lower() for cell in cells]
        if number == 0 and titles[0] in IDS:
            continue
        if len(cells) == 2:
            yield place, {"id": cells[0].strip(), "text": cells[1]}
        else:
            problems.append(f"{place}: cells: {len(cells)}, but there are an id and a query")


def _query(record: Any) -> Query:
    if not isinstance(record, Mapping):
        raise BadField("record", expected("an object", record))
    id = next((record[name] for name in IDS if record.get(name) is not None), None)
    if id is None:
        raise BadField("id", "missing; the judgements name the query by it")
    words = next((record[name] for name in WORDS if record.get(name) is not None), None)
    if words is None or not text(words, "text").strip():
        raise BadField("text", "missing; write what is asked")
    strata = mapping(record.get("strata") or {}, "strata")
    return Query(id=str(id) if type(id) is int else text(id, "id"), words=words, strata=strata)


UNIT_IDS = ("id", "query", "qid", "doc", "doc_id", "document", "query_id", "query-id")


def read_strata(name: str, problems: list[str]) -> dict[str, dict[str, Any]]:
    """By unit id its strata, from CSV, TSV, JSON Lines or a JSON array; faults go into the list."""
    found: dict[str, dict[str, Any]] = {}
    for place, record in records_of(name, read_whole(name), problems, _strata_table):
        try:
            fields = mapping(record, "record")
        except BadField as fault:
            problems.append(f"{place}: {fault}")
            continue
        id_field = next((one for one in UNIT_IDS if fields.get(one) not in (None, "")), None)
        if id_field is None:
            problems.append(f"{place}: id: missing; the first column names the unit: id, country")
            continue
        id = str(fields[id_field])
        if id in found:
            problems.append(f"{place}: {id_field}: {quoted(id)} stands there already; keep one")
        found[id] = {key: value for key, value in fields.items() if key != id_field}
    return found


def _strata_table(name: str, content: bytes, problems: list[str]) -> Records:
    def header(place: str, columns: list[str], problems: list[str]) -> bool:
        if {*columns} & {*UNIT_IDS}:
            return True
        fact = f"no column is called {UNIT_IDS[0]}; the first line names the columns"
        problems.append(f"{place}: {fact}")
        return False

    for place, cells in headed_rows(name, content, problems, header=header):
        yield place, {key: cell.strip() for key, cell in cells.items()}
