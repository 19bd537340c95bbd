"""Tables of ids that belong together, from any source.

A row is an id, an id and their relation; or an entity with a column for each knowledge base, whose
ids are all the same. They are read from a source at hand, never from the network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from ragauge.contracts.links import SamePair
from ragauge.contracts.report import Findings
from ragauge.ingest.fields import BadField, Check, Columns, Field, Shape, quoted, squeezed, text
from ragauge.ingest.linked.link_fields import NAMES_OF_BASE, OF_BASE, ids_in
from ragauge.ingest.records import Placed, Records, Row, Source, cells_of
from ragauge.text.kb_ids import KbId, names_kb

SAME = "same"
"""The relation of ids that a table names without one."""
WITHOUT_HEADER = 3
"""Cells a row has at most without a header: id, id and relation."""


def _ids_of(base: str | None) -> Check:
    return lambda value, field: list(ids_in(value, field, base))


def _relation(value: Any, field: str) -> str | None:
    return text(value, field).strip() or None


ONE = Field(
    "id1",
    _ids_of(None),
    "An id, or several.",
    aliases=("id", "id_1", "a", "from", "source", "subject", "one"),
    many=True,
)
OTHER = Field(
    "id2",
    _ids_of(None),
    "An id, or several.",
    aliases=("same", "same_as", "id_2", "b", "to", "target", "object", "other"),
    many=True,
)
RELATION = Field(
    "relation",
    _relation,
    "What they are to each other; the same, where it is empty.",
    aliases=("predicate", "property", "type"),
)
BASES = tuple(
    Field(base, _ids_of(base), f"Its ids in {base}.", aliases=names[1:], many=True)
    for base, names in NAMES_OF_BASE.items()
)
PAIR = Shape(
    name="pair of ids",
    doc="Ids that belong together: two and their relation, or one in each knowledge base.",
    fields=(ONE, OTHER, RELATION, *BASES),
    keeps=True,
)


def read_crosswalk(
    source: Source,
    problems: list[str],
    findings: Findings | None = None,
    columns: Columns | None = None,
) -> list[SamePair]:
    """The pairs of a table, sorted, each once; what is wrong goes into the list."""
    found: dict[tuple[KbId, KbId, str], SamePair] = {}

    def table(name: str, content: bytes, problems: list[str]) -> Placed:
        """Rows under a header, or two or three cells a row without one."""
        _, first = next(cells_of(name, content, []), ("", []))
        headed = bool(columns) or _is_header([squeezed(title) for title in first])
        return (
            records.headed(name, content, problems) if headed else cells_of(name, content, problems)
        )

    records = Records(
        source, PAIR, problems, columns=columns, adapt=_in_fields, table=table, name="crosswalk"
    )
    known = len(problems)
    for row in records.each():
        try:
            for pair in _pairs(row):
                found.setdefault((pair.one, pair.other, pair.relation), pair)
        except BadField as fault:
            problems.append(f"{row.place}: {fault}")
    if findings is not None:
        records.note_unread(findings)
    if not found and len(problems) == known:
        problems.append(f"{records.name}: holds no pair of ids; write id, id and relation")
    return [found[mark] for mark in sorted(found)]


def _in_fields(record: Any) -> Any:
    """A row without a header under our names."""
    if isinstance(record, list | tuple) and len(record) in (2, WITHOUT_HEADER):
        return dict(zip((ONE.name, OTHER.name, RELATION.name), record, strict=False))
    return record


def _is_header(titles: Sequence[str]) -> bool:
    """Whether a first line names columns, and holds no ids.

    Of up to three cells the last may be a relation, and a relation may be called as a column is.

    >>> _is_header(["id1", "id2", "relation"]), _is_header(["q1", "nl-amrm", "same"])
    (True, False)
    """
    ids = titles[:2] if len(titles) <= WITHOUT_HEADER else titles
    if not OF_BASE.keys().isdisjoint(ids):
        return True
    named = not {*ONE.names, *OTHER.names}.isdisjoint(ids)
    named = named or not {*RELATION.names}.isdisjoint(titles)
    return named and not any(map(names_kb, ids))


def _pairs(row: Row) -> Iterator[SamePair]:
    values = row.values
    by_base = [id for name, ids in values.items() if name in NAMES_OF_BASE for id in ids]
    if by_base:
        for one, other in combinations(sorted({*by_base}), 2):
            if one[0] != other[0]:
                yield SamePair(one, other, SAME, row.place)
        return
    ones, others = values.get(ONE.name), values.get(OTHER.name)
    if not ones or not others:
        fed = {field.name: names[0] for field, names in PAIR.reads(tuple(row.record))} | row.written
        if not {ONE.name, OTHER.name} <= fed.keys():
            given = ", ".join(map(quoted, row.record)) or "nothing"
            raise BadField("record", f"needs id1, id2 and relation, and has {given}")
        raise BadField(fed[OTHER.name if ones else ONE.name], "is empty")
    relation = values.get(RELATION.name) or SAME
    for one in ones:
        for other in others:
            yield SamePair(min(one, other), max(one, other), relation, row.place)
