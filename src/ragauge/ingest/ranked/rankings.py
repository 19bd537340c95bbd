"""Judgements and runs, from whatever holds them: the form is recognised by the content."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from msgspec import structs

from ragauge.errors import UsageError
from ragauge.ingest.fields import BadField, expected, mapping, number, quoted, text, texts, whole
from ragauge.ingest.lines import read_whole
from ragauge.ingest.placed_records import headed_rows, json_whole, records_of
from ragauge.ingest.ranked.ranking_rows import (
    GRADES_WITHIN,
    VALUE,
    RankingRows,
    Role,
    RowsRead,
    grade_within,
    id_of,
    number_of,
    rank_of,
    with_source_lists,
)
from ragauge.ingest.ranked.trec import columnar, first_line, read_trec
from ragauge.ingest.strict_json import BadJson, decode

if TYPE_CHECKING:
    import polars as pl

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
    numbered = (
        (int(place.replace(": item ", ":").rpartition(":")[2]), place, record)
        for place, record in placed
    )
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
    found: dict[str, Any] = {}
    for _, rankings in json_whole(name, content, problems):
        if type(rankings) is dict:
            found = rankings
        else:
            problems.append(f"{name}: {expected('an object of queries', rankings)}")
    return rows_of_mapping(name, found, role, problems)


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
        # A plain id is a document that in judgements is a relevant one.
        plain = {"grade": GOLD_GRADE} if read.role == "qrels" else {}
        named = [
            (
                f"{many}[{place}]",
                dict(entry) if isinstance(entry, Mapping) else {"id": entry, **plain},
                place + 1,
            )
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

    def header(place: str, columns: list[str], problems: list[str]) -> bool:
        faults = _header_faults(tuple(columns), role) if columns else []
        problems += [f"{place}: {fault}" for fault in faults]
        return not faults

    def column(title: str) -> str:
        return titles_of([title], role)[0]

    for place, cells in headed_rows(name, content, problems, column=column, header=header):
        try:
            query, document = id_of(cells["query"], "query"), id_of(cells["document"], "document")
            written = cells.get("value", "").strip()
            value = number_of(written, role) if written or role == "qrels" else None
        except BadField as fault:
            problems.append(f"{place}: {fault}")
            continue
        rank, source = rank_of(cells.get("rank", "").strip()), cells.get("source", "").strip()
        line = int(place.rpartition(":")[2])
        read.add(query, document, value, line, rank, [source] if source else None)
    return read.rows(name)


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
        value = pl.Int64 if role == "qrels" else pl.Float64
        schema = {"query": pl.String, "document": pl.String, "value": value}
        return RankingRows(name=name, frame=pl.DataFrame(schema=schema))
    kept = [title for title in ("query", "document", "value", "rank", "source") if title in titles]
    plain = pl.DataFrame({title: frame.to_series(titles.index(title)) for title in kept})
    if "value" not in kept:
        plain = plain.with_columns(pl.lit(None, dtype=pl.Float64).alias("value"))
    marks = _faults(plain, role)
    for title in marks.columns:
        column = "value" if title in ("grade", "score") else title
        for row in marks[title].arg_true().to_list():
            given = plain[column][row]
            shown = "" if given is None else f"{given!r} "
            problems.append(f"{name}: row {row + 1}: {title}: {shown}{_FACTS[title]}")
    good = ~marks.select(pl.any_horizontal(pl.all())).to_series()
    strata = _strata(frame, titles) if "strata" in titles else {}
    return RankingRows(
        name=name,
        frame=_cast(plain.filter(good), role),
        line=good.arg_true().to_numpy() + 1,
        place="{name}: row {line}",
        strata=strata,
    )


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


def _strata(frame: pl.DataFrame, titles: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """By query, the strata of its last row that has some."""
    columns = (frame.to_series(titles.index(title)).to_list() for title in ("query", "strata"))
    return {
        str(query): {key: str(value) for key, value in strata.items() if value is not None}
        for query, strata in zip(*columns, strict=True)
        if isinstance(strata, dict)
    }
