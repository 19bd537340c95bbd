"""Strata in a table of their own, for formats that hold none: an id, and what to slice by."""

from __future__ import annotations

from typing import Any

from ragauge.ingest.fields import BadField, mapping, quoted
from ragauge.ingest.judgements import Records, records_of
from ragauge.ingest.lines import read_whole
from ragauge.ingest.tables import rows_of

IDS = ("id", "query", "qid", "doc", "doc_id", "document", "query_id", "query-id")


def read_strata(name: str, problems: list[str]) -> dict[str, dict[str, Any]]:
    """By unit id its strata, from CSV, TSV, JSON Lines or a JSON array; faults go into the list."""
    found: dict[str, dict[str, Any]] = {}
    for place, record in records_of(name, read_whole(name), problems, _table):
        try:
            fields = mapping(record, "record")
        except BadField as fault:
            problems.append(f"{place}: {fault}")
            continue
        id_field = next((one for one in IDS if fields.get(one) not in (None, "")), None)
        if id_field is None:
            problems.append(f"{place}: id: missing; the first column names the unit: id, country")
            continue
        id = str(fields[id_field])
        if id in found:
            problems.append(f"{place}: {id_field}: {quoted(id)} stands there already; keep one")
        found[id] = {key: value for key, value in fields.items() if key != id_field}
    return found


def _table(name: str, content: bytes, problems: list[str]) -> Records:
    rows = rows_of(name, content, problems)
    place, header = next(rows, (name, []))
    columns = [column.strip() for column in header]
    if not {*columns} & {*IDS}:
        problems.append(f"{place}: no column is called {IDS[0]}; the first line names the columns")
        return
    for place, cells in rows:
        if len(cells) == len(columns):
            yield place, {key: cell.strip() for key, cell in zip(columns, cells, strict=True)}
        else:
            problems.append(f"{place}: cells: {len(cells)}, but the header has {len(columns)}")
