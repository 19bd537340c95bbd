"""Judgements and runs as tables with a header: BEIR's, and plain TSV or CSV."""

from __future__ import annotations

from ragauge.ingest.fields import BadField
from ragauge.ingest.ranked.ranking_rows import (
    VALUE,
    RankingRows,
    Role,
    RowsRead,
    id_of,
    number_of,
    rank_of,
    with_source_lists,
)
from ragauge.ingest.ranked.trec import columnar, first_line
from ragauge.ingest.tables import rows_of

ALIASES = {
    "query": ("query", "query-id", "query_id", "queryid", "qid", "q_id", "topic"),
    "document": (
        *("document", "corpus-id", "corpus_id", "document_id", "doc_id", "docid", "docno", "doc"),
        *("passage_id", "pid", "chunk_id"),
    ),
    "rank": ("rank",),
    "source": ("source",),
}
_VALUES: dict[Role, tuple[str, ...]] = {
    "qrels": ("grade", "score", "relevance", "rel"),
    "run": ("score",),
}


def titles_of(header: list[str], role: Role) -> tuple[str, ...]:
    """Our name of each column, or the one it has."""
    known = {alias: name for name, aliases in ALIASES.items() for alias in aliases}
    known |= dict.fromkeys(_VALUES[role], "value")
    cells = (cell.strip().lower() for cell in header)
    return tuple(known.get(cell, cell) for cell in cells)


def is_header(line: bytes, role: Role) -> bool:
    """Whether a first line names the columns of such a table."""
    text = line.decode(errors="replace").removesuffix("\r")
    separator = max("\t,;", key=text.count)
    return {"query", "document"} <= {*titles_of(text.split(separator), role)}


def read_ranking_table(name: str, content: bytes, role: Role, problems: list[str]) -> RankingRows:
    """The rows of a table whose first line names its columns."""
    first = first_line(content)
    titles = titles_of(first.decode(errors="replace").split("\t"), role)
    needed = {"query", "document", "value"}
    if b'"' not in content and needed <= {*titles} and len({*titles}) == len(titles):
        frame = columnar(content[len(first) + 1 :], titles, role, exact=True)
        if frame is not None:
            return RankingRows(name=name, frame=with_source_lists(frame), first_line=2)
    return _cell_by_cell(name, content, role, problems)


def _cell_by_cell(name: str, content: bytes, role: Role, problems: list[str]) -> RankingRows:
    read = RowsRead(role)
    rows = rows_of(name, content, problems)
    place, header = next(rows, ("", []))
    titles = titles_of(header, role)
    faults = _header_faults(titles, role) if place else []
    problems += [f"{place}: {fault}" for fault in faults]
    for place, cells in rows if not faults else ():
        try:
            if len(cells) != len(titles):
                raise BadField("cells", f"{len(cells)}, but the header has {len(titles)}")
            _add(dict(zip(titles, cells, strict=True)), place, read)
        except BadField as fault:
            problems.append(f"{place}: {fault}")
    return read.rows(name)


def _add(cells: dict[str, str], place: str, read: RowsRead) -> None:
    query, document = id_of(cells["query"], "query"), id_of(cells["document"], "document")
    written = cells.get("value", "").strip()
    value = number_of(written, read.role) if written or read.role == "qrels" else None
    line = int(place.rpartition(":")[2])
    rank = rank_of(cells.get("rank", "").strip())
    source = cells.get("source", "").strip()
    read.add(query, document, value, line, rank, [source] if source else None)


def _header_faults(titles: tuple[str, ...], role: Role) -> list[str]:
    needed = ("query", "document") + (("value",) if role == "qrels" else ())
    own = {"value": VALUE[role]}
    names = [title for title in needed if title not in titles]
    faults = [
        f"header: no column is called {own.get(title, title)}; the first line names the columns"
        for title in names
    ]
    for title in sorted({*titles}):
        if titles.count(title) > 1 and title in (*needed, "value", "rank", "source"):
            faults.append(f"header: two columns are called {own.get(title, title)}; keep one")
    return faults
