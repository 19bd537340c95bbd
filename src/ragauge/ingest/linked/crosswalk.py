"""Tables of ids that belong together: CSV, TSV, JSON Lines, a JSON array, or records at hand.

A row is an id, an id and their relation; or an entity with a column for each knowledge base, whose
ids are all the same. They are read from a file, never from the network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from ragauge.contracts.links import SamePair
from ragauge.ingest.fields import BadField, expected, quoted, text
from ragauge.ingest.lines import read_whole
from ragauge.ingest.linked.link_fields import OF_BASE, ids_by_base, ids_in
from ragauge.ingest.placed_records import Records, records_of, rows_of
from ragauge.text.kb_ids import KbId, belongs

Source = str | Path | Sequence[Mapping[str, Any]]
ONES = ("id", "id1", "id_1", "a", "from", "source", "subject", "one")
OTHERS = ("same", "same_as", "id2", "id_2", "b", "to", "target", "object", "other")
RELATIONS = ("relation", "predicate", "property", "type")
WITHOUT_HEADER = 3
"""Cells a row has at most without a header: id, id and relation."""
SAME = "same"
"""The relation of ids that a table names without one."""


def read_crosswalk(source: Source, problems: list[str]) -> list[SamePair]:
    """The pairs of a table, sorted, each once; what is wrong goes into the list."""
    found: dict[tuple[KbId, KbId, str], SamePair] = {}
    known = len(problems)
    if isinstance(source, str | Path):
        records = records_of(str(source), read_whole(str(source)), problems, _table)
    else:
        records = ((f"record {number}", record) for number, record in enumerate(source, 1))
    for place, record in records:
        try:
            for pair in _pairs(record, place):
                found.setdefault((pair.one, pair.other, pair.relation), pair)
        except BadField as fault:
            problems.append(f"{place}: {fault}")
    if not found and len(problems) == known:
        name = str(source) if isinstance(source, str | Path) else "records"
        problems.append(f"{name}: holds no pair of ids; write id, id and relation")
    return [found[mark] for mark in sorted(found)]


def _table(name: str, content: bytes, problems: list[str]) -> Records:
    """Rows under a header, or two or three cells a row without one."""
    rows = rows_of(name, content, problems)
    place, first = next(rows, ("", []))
    titles = [_title(cell) for cell in first]
    headed = _is_header(titles)
    if first and not headed:
        yield place, first
    for place, cells in rows:
        if headed and len(cells) != len(titles):
            problems.append(f"{place}: cells: {len(cells)}, but the header has {len(titles)}")
        else:
            yield place, dict(zip(titles, cells, strict=True)) if headed else cells


def _title(cell: str) -> str:
    """The name of a column: as we write it where we know it, else as it is."""
    written = cell.strip()
    known = (*ONES, *OTHERS, *RELATIONS, *OF_BASE)
    return written.lower() if written.lower() in known else written


def _is_header(titles: Sequence[str]) -> bool:
    """Whether a first line names columns, and holds no ids.

    Of up to three cells the last may be a relation, and a relation may be called as a column is.

    >>> _is_header(["id1", "id2", "relation"]), _is_header(["Q1", "NL-AmRM", "same"])
    (True, False)
    """
    ids = titles[:2] if len(titles) <= WITHOUT_HEADER else titles
    if ids_by_base(ids):
        return True
    named = not {*ONES, *OTHERS}.isdisjoint(ids) or not {*RELATIONS}.isdisjoint(titles)
    return named and not any(map(belongs, ids))


def _pairs(record: Any, where: str) -> Iterator[SamePair]:
    if isinstance(record, list | tuple):
        if len(record) not in (2, 3):
            raise BadField("cells", f"{len(record)}, but there are id, id and relation")
        relation = text(record[2], "relation").strip() if len(record) == 3 else ""
        yield from _every(_ids(record[0], "id"), _ids(record[1], "id"), relation or SAME, where)
    elif isinstance(record, Mapping):
        yield from _of_fields({str(name): value for name, value in record.items()}, where)
    else:
        raise BadField("record", expected("an object", record))


def _of_fields(record: Mapping[str, Any], where: str) -> Iterator[SamePair]:
    by_base = [id for name, kb in ids_by_base(record) for id in ids_in(record[name], name, kb)]
    if by_base:
        for one, other in combinations(sorted({*by_base}), 2):
            if one[0] != other[0]:
                yield SamePair(one, other, SAME, where)
        return
    here = next((name for name in ONES if name in record), None)
    there = next((name for name in OTHERS if name in record), None)
    if here is None or there is None:
        given = ", ".join(quoted(name) for name in record)
        raise BadField("record", f"needs id1, id2 and relation, and has {given or 'nothing'}")
    named = next((record[name] for name in RELATIONS if record.get(name)), SAME)
    relation = text(named, "relation").strip()
    yield from _every(_ids(record[here], here), _ids(record[there], there), relation, where)


def _ids(value: Any, field: str) -> list[KbId]:
    found = list(ids_in(value, field, None))
    if not found:
        raise BadField(field, "is empty")
    return found


def _every(
    ones: Sequence[KbId], others: Sequence[KbId], relation: str, where: str
) -> Iterator[SamePair]:
    for one in ones:
        for other in others:
            yield SamePair(min(one, other), max(one, other), relation, where)
