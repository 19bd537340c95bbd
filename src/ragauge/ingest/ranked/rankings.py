"""Judgements and runs, from whatever holds them: the form is told by the content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from msgspec import structs

from ragauge.errors import UsageError
from ragauge.ingest.fields import BadField
from ragauge.ingest.lines import read_whole
from ragauge.ingest.ranked.ranking_records import (
    QUERY,
    read_ranking_records,
    read_ranx,
    rows_of_mapping,
    rows_of_records,
)
from ragauge.ingest.ranked.ranking_rows import (
    GRADES_WITHIN,
    VALUE,
    RankingRows,
    Role,
    RowsRead,
    id_of,
    number_of,
    rank_of,
    with_source_lists,
)
from ragauge.ingest.ranked.trec import columnar, first_line, read_trec
from ragauge.ingest.strict_json import BadJson, decode
from ragauge.ingest.tables import rows_of

if TYPE_CHECKING:
    import polars as pl


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


if TYPE_CHECKING:
    import polars as pl

    Given = str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]] | pl.DataFrame

InputFormat = Literal["trec", "beir", "ranx", "tsv", "json", "jsonl"]
INPUT_FORMATS: tuple[InputFormat, ...] = get_args(InputFormat)


def read_rankings(
    given: Given, role: Role, problems: list[str], form: str | None = None
) -> RankingRows:
    """The rows of a file, a mapping, records or a frame; what is wrong goes into `problems`."""
    if isinstance(given, str | Path):
        return read_content(str(given), read_whole(str(given)), role, problems, form)
    if isinstance(given, Mapping):
        return rows_of_mapping(role, given, role, problems)
    import polars as pl

    if isinstance(given, pl.DataFrame):
        return rows_of_frame(role, given, role, problems)
    return rows_of_records(role, given, role, problems)


def read_content(
    name: str, content: bytes, role: Role, problems: list[str], form: str | None = None
) -> RankingRows:
    """The rows of a file's text, in the form that is named or that it shows."""
    known = len(problems)
    shown = form_of(content, role, form)
    rows = structs.replace(_READERS[shown](name, content, role, problems), form=shown)
    if not rows.frame.height and len(problems) == known:
        what = "no judgement" if role == "qrels" else "no result"
        problems.append(f"{name}: holds {what}; write TREC lines, a table or JSON Lines")
    return rows


def form_of(content: bytes, role: Role, form: str | None = None) -> InputFormat:
    """The form a file is in: the one that is named, else what its beginning shows."""
    if form is not None:
        named = next((known for known in INPUT_FORMATS if known == form), None)
        if named is None:
            there = ", ".join(INPUT_FORMATS)
            raise UsageError(f'there is no input format "{form}"; there are {there}')
        return named
    start = content.lstrip()
    if start.startswith(b"["):
        return "json"
    if start.startswith(b"{"):
        return _form_of_object(start)
    return "tsv" if is_header(first_line(content), role) else "trec"


def _form_of_object(start: bytes) -> InputFormat:
    """JSON Lines where the first object names its query, else ranx's one object."""
    line, _, rest = start.partition(b"\n")
    try:
        first = decode(line)
    except BadJson:
        return "jsonl" if rest.lstrip().startswith(b"{") else "ranx"
    names_query = any(isinstance(first.get(name), str | int) for name in QUERY)
    return "jsonl" if names_query or rest.strip() else "ranx"


_READERS: dict[InputFormat, Callable[[str, bytes, Role, list[str]], RankingRows]] = {
    "trec": read_trec,
    "beir": read_ranking_table,
    "tsv": read_ranking_table,
    "ranx": read_ranx,
    "json": read_ranking_records,
    "jsonl": read_ranking_records,
}


def rows_of_frame(name: str, frame: pl.DataFrame, role: Role, problems: list[str]) -> RankingRows:
    """The rows of a frame with query, document and grade, or query, document and score."""
    import polars as pl

    titles = titles_of(frame.columns, role)
    needed = ("query", "document", "value") if role == "qrels" else ("query", "document")
    missing = [title for title in needed if titles.count(title) != 1]
    if missing:
        own = [VALUE[role] if title == "value" else title for title in missing]
        there = ", ".join(frame.columns) or "none"
        problems += [
            f"{name}: columns: exactly one is called {title}, not so here; there are {there}"
            for title in own
        ]
        return RankingRows(name=name, frame=_empty(role))
    kept = [title for title in ("query", "document", "value", "rank", "source") if title in titles]
    plain = pl.DataFrame({title: frame.to_series(titles.index(title)) for title in kept})
    if "value" not in kept:
        plain = plain.with_columns(pl.lit(None, dtype=pl.Float64).alias("value"))
    marks = _faults(plain, role)
    _tell(name, plain, marks, problems)
    good = ~marks.select(pl.any_horizontal(pl.all())).to_series()
    strata = _strata(frame, titles) if "strata" in titles else {}
    return RankingRows(
        name=name,
        frame=_cast(plain.filter(good), role),
        line=good.arg_true().to_numpy() + 1,
        place="{name}: row {line}",
        strata=strata,
    )


def _empty(role: Role) -> pl.DataFrame:
    import polars as pl

    value = pl.Int64 if role == "qrels" else pl.Float64
    return pl.DataFrame(schema={"query": pl.String, "document": pl.String, "value": value})


def _cast(plain: pl.DataFrame, role: Role) -> pl.DataFrame:
    import polars as pl

    kinds: dict[str, Any] = {
        "query": pl.String,
        "document": pl.String,
        "value": pl.Int64 if role == "qrels" else pl.Float64,
        "rank": pl.Int64,
    }
    plain = plain.with_columns(
        pl.col(title).cast(kind, strict=False)
        for title, kind in kinds.items()
        if title in plain.columns
    )
    return with_source_lists(plain)


def _faults(plain: pl.DataFrame, role: Role) -> pl.DataFrame:
    """By field, whether a row cannot be used for it."""
    import polars as pl

    value = pl.col("value").cast(pl.Float64, strict=False)
    bad = {
        title: pl.col(title).cast(pl.String, strict=False).fill_null("").str.strip_chars() == ""
        for title in ("query", "document")
    }
    if role == "qrels":
        within = value.is_between(-GRADES_WITHIN, GRADES_WITHIN, closed="none")
        bad["grade"] = ~(within & (value == value.round())).fill_null(False)
    else:
        bad["score"] = pl.col("value").is_not_null() & ~value.is_finite().fill_null(False)
    return plain.select(mark.alias(title) for title, mark in bad.items())


_FACTS = {
    "query": "is empty; every row names its query",
    "document": "is empty; every row names its document",
    "grade": "is not a whole number within bounds; write 0, 1, 2 or 3",
    "score": "is not a finite number",
}


def _tell(name: str, plain: pl.DataFrame, marks: pl.DataFrame, problems: list[str]) -> None:
    for title in marks.columns:
        column = "value" if title in ("grade", "score") else title
        for row in marks[title].arg_true().to_list():
            given = plain[column][row]
            shown = "" if given is None else f"{given!r} "
            problems.append(f"{name}: row {row + 1}: {title}: {shown}{_FACTS[title]}")


def _strata(frame: pl.DataFrame, titles: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """By query, the strata of its last row that has some."""
    columns = (frame.to_series(titles.index(title)).to_list() for title in ("query", "strata"))
    return {
        str(query): {key: str(value) for key, value in strata.items() if value is not None}
        for query, strata in zip(*columns, strict=True)
        if isinstance(strata, dict)
    }
