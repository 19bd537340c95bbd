"""Queries with their words, and strata of units in a table of their own."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ragauge.ingest.fields import (
    BadField,
    Columns,
    Field,
    Shape,
    an_id,
    expected,
    filled,
    mapping,
    squeezed,
)
from ragauge.ingest.records import Placed, Records, Source, cells_of


class Query(Struct, frozen=True, kw_only=True):
    """A query as a retriever is asked it."""

    id: str
    words: str
    strata: dict[str, Any] = {}


QUERY = Shape(
    name="query",
    doc="A query, as a retriever is asked it.",
    fields=(
        Field(
            "id",
            an_id,
            "Its id.",
            aliases=("qid", "query_id", "query-id", "_id"),
            missing="missing; the judgements name the query by it",
        ),
        Field(
            "text",
            filled,
            "What is asked.",
            aliases=("question", "q", "user_input", "query"),
            missing="missing; write what is asked",
        ),
        Field("strata", mapping, "Anything to slice by, such as language."),
    ),
    keyed="text",
)


class _Queries(Records):
    """Queries; a table of an id and words needs no header."""

    def headed(self, name: str, content: bytes, problems: list[str]) -> Placed:
        _, titles = next(cells_of(name, content, []), (name, []))
        if {squeezed(title) for title in titles} & {*map(squeezed, QUERY.fields[0].names)}:
            yield from super().headed(name, content, problems)
            return
        for place, cells in cells_of(name, content, problems):
            if len(cells) == 2:
                yield place, {"id": cells[0].strip(), "text": cells[1]}
            else:
                problems.append(f"{place}: cells: {len(cells)}, but there are an id and a query")


def read_queries(
    source: Source, problems: list[str], columns: Columns | None = None
) -> dict[str, Query]:
    """By id the queries of a source, or of words by id; faults go into the list."""
    records = _Queries(source, QUERY, problems, name="queries", columns=columns)
    return {
        row["id"]: Query(id=row["id"], words=row["text"], strata=row["strata"] or {})
        for row in records.once("id")
    }


def _unit(value: Any, field: str) -> str:
    if type(value) is str or isinstance(value, int | float):
        return str(value)
    raise BadField(field, expected("an id", value))


UNIT = Shape(
    name="unit",
    doc="What is measured, by its id, with its strata in all other fields.",
    fields=(
        Field(
            "id",
            _unit,
            "The unit.",
            aliases=("query", "qid", "doc", "doc_id", "document", "query_id", "query-id"),
            missing="missing; the first column names the unit: id, country",
        ),
    ),
    keeps=True,
)


def read_strata(
    source: Source, problems: list[str], columns: Columns | None = None
) -> dict[str, dict[str, Any]]:
    """By unit id its strata, from any source; faults go into the list."""
    records = Records(source, UNIT, problems, name="strata", columns=columns)
    return {
        row["id"]: {
            key: (value or "").strip() if records.tabular else value
            for key, value in row.record.items()
            if key != row.written["id"]
        }
        for row in records.once("id")
    }
