"""Judgements and runs, from whatever holds them: the form is recognised by the content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from msgspec import structs

from ragauge.errors import UsageError
from ragauge.ingest.fields import (
    BadField,
    Columns,
    Field,
    Shape,
    anything,
    expected,
    mapping,
    quoted,
    text,
    texts,
)
from ragauge.ingest.lines import BadJson, decode, read_whole
from ragauge.ingest.ranked.ranking_rows import (
    GRADES_WITHIN,
    VALUE,
    RankingRows,
    Role,
    RowsRead,
    id_of,
    kinds,
    number_of,
    rank_of,
    with_source_lists,
)
from ragauge.ingest.ranked.trec import columnar, first_line, read_trec
from ragauge.ingest.records import Form, Records, Source, frame_in, frame_rows, refuse_columns

if TYPE_CHECKING:
    import polars as pl

QUERY = ("query", "query-id", "query_id", "queryid", "qid", "q_id", "topic")
DOCUMENT = (
    *("document", "corpus-id", "corpus_id", "document_id", "doc_id", "docid", "docno", "doc"),
    *("passage_id", "pid", "chunk_id", "snippet_id"),
)
VALUES: dict[Role, tuple[str, ...]] = {
    "qrels": ("grade", "score", "relevance", "rel"),
    "run": ("score",),
}
MANY: dict[Role, tuple[str, ...]] = {
    "qrels": ("judgements", "qrels", "gold_citations", "gold_ids", "gold_relevant"),
    "run": ("results", "retrieved_ids", "retrieved", "docs"),
}
"""Where a record has the documents of its query; gold sets and traces of ours have theirs."""
GOLD_GRADE = 1
"""Of a document that is only named as relevant."""
ITEM = "{name}: item {line}"


def _sources(given: Any, field: str) -> list[str] | None:
    """Who brought a document: one name, or several."""
    given = list(given) if isinstance(given, tuple) else given
    names = texts(given, field) if isinstance(given, list) else [text(given, field)]
    return [name for name in names if name] or None


def _shape(role: Role) -> Shape:
    what = "judgement" if role == "qrels" else "result"
    return Shape(
        name=what,
        doc=f"A {what}, or a query with all its {what}s.",
        fields=(
            Field(
                "query",
                id_of,
                "The query.",
                aliases=QUERY[1:],
                missing="missing; name the query",
            ),
            Field(
                MANY[role][0],
                anything,
                f"All {what}s of the query: by document, or a list.",
                aliases=MANY[role][1:],
                many=True,
            ),
            Field("document", id_of, "A document.", aliases=(*DOCUMENT[1:], "id")),
            Field(
                VALUE[role],
                anything,
                "How relevant it is: 0, 1, 2 or 3." if role == "qrels" else "Its score.",
                aliases=VALUES[role][1:],
            ),
            Field("rank", anything, "Its rank."),
            Field("source", anything, "Who brought it: one name, or several.", many=True),
            Field("strata", mapping, "Anything to slice by, such as language."),
        ),
    )


SHAPES: dict[Role, Shape] = {"qrels": _shape("qrels"), "run": _shape("run")}


def _rows(records: Records, role: Role, problems: list[str]) -> RankingRows:
    """The rows of records, a query or a document in each."""
    read, name, place = RowsRead(role), records.name, "{name}:{line}"
    many = MANY[role][0]
    for row in records.each():
        query, where = row["query"], row.place
        place, line = place_and_line(name, where)
        if row["strata"] is not None:
            told = row["strata"].items()
            read.strata[query] = {key: str(value) for key, value in told if value is not None}
        try:
            if row[many] is not None:
                field = row.written[many]
                add_documents(read, query, row[many], line, where, problems, field)
            elif row["document"] is not None:
                value, rank = row[VALUE[role]], row["rank"]
                if records.tabular:
                    value = value and number_of(value.strip(), role, cell=True)
                    rank = rank and rank_of(rank.strip())
                entry = {"id": row["document"], VALUE[role]: value, "source": row["source"]}
                _add_document(read, query, entry, line, rank if type(rank) is int else None)
            else:
                raise BadField(many, f"missing; a record has {many}, or a document of its own")
        except BadField as fault:
            problems.append(f"{where}: {fault}")
    return read.rows(name, place)


def place_and_line(name: str, where: str) -> tuple[str, int]:
    """How places of a source are written, and the line or the item of one of them.

    >>> place_and_line("run.json", "run.json: item 3")
    ('{name}: item {line}', 3)
    """
    at = where.removeprefix(name)
    line = int(at[at.rindex(" " if " " in at else ":") + 1 :])
    return "{name}" + at.removesuffix(str(line)) + "{line}", line


def rows_of_mapping(
    name: str, rankings: Mapping[Any, Any], role: Role, problems: list[str]
) -> RankingRows:
    """The rows of `{query: {document: number}}`; a run may have a list of documents a query."""
    read = RowsRead(role)
    for line, (query, documents) in enumerate(rankings.items(), 1):
        where = f"{name}: {quoted(str(query))}"
        try:
            add_documents(
                read, id_of(query, "query"), documents, line, where, problems, MANY[role][0]
            )
        except BadField as fault:
            problems.append(f"{where}: {fault}")
    return read.rows(name, ITEM)


def add_documents(
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
    named = next((entry[name] for name in (*DOCUMENT, "id") if name in entry), None)
    document, source = id_of(named, "document"), entry.get("source")
    value = number_of(entry.get(VALUE[read.role]), read.role)
    brought = None if source is None else _sources(source, "source")
    read.add(query, document, value, line, rank, brought)


def titles_of(header: list[str], role: Role) -> tuple[str, ...]:
    """Our name of each column, or the one it has."""
    known = dict.fromkeys(QUERY, "query") | dict.fromkeys(DOCUMENT, "document")
    known |= dict.fromkeys(VALUES[role], "value")
    cells = (cell.strip().lower() for cell in header)
    return tuple(known.get(cell, cell) for cell in cells)


def is_header(line: bytes, role: Role) -> bool:
    """Whether a first line names the columns of such a table."""
    text = line.decode(errors="replace").removesuffix("\r")
    separator = max("\t,;", key=text.count)
    return {"query", "document"} <= {*titles_of(text.split(separator), role)}


InputFormat = Literal["trec", "beir", "ranx", "tsv", "json", "jsonl"]
INPUT_FORMATS: tuple[InputFormat, ...] = get_args(InputFormat)


def read_rankings(
    given: Source,
    role: Role,
    problems: list[str],
    form: str | None = None,
    columns: Columns | None = None,
) -> RankingRows:
    """The rows of any source, also of `{query: {document: number}}`; faults go into the list."""
    framed = frame_in(given)
    if framed and not columns:
        import polars as pl

        frame = framed[1]
        name = str(given) if isinstance(given, str | Path) else role
        if not isinstance(frame, pl.DataFrame):
            frame = pl.DataFrame(list(frame_rows(frame)))
        rows = rows_of_frame(name, frame, role)
        if rows is not None:
            return rows
    if isinstance(given, str | Path) and not framed:
        return read_content(str(given), read_whole(str(given)), role, problems, form, columns)
    if isinstance(given, Mapping):
        return rows_of_mapping(role, given, role, problems)
    adapt = partial(_of_frame, role) if framed else None
    records = Records(given, SHAPES[role], problems, name=role, columns=columns, adapt=adapt)
    return _rows(records, role, problems)


def _of_frame(role: Role, record: Any) -> dict[str, Any]:
    """A row with whole grades, which a column may hold as floats, and every NaN to be seen."""
    cells = dict(record)
    for title, cell in record.items():
        if type(cell) is float and cell != cell:
            cells[title] = str(cell)
        elif type(cell) is float and role == "qrels" and cell.is_integer():
            cells[title] = int(cell)
    return cells


def read_content(
    name: str,
    content: bytes,
    role: Role,
    problems: list[str],
    form: str | None = None,
    columns: Columns | None = None,
) -> RankingRows:
    """The rows of a file's text, in the form that is named or that it shows."""
    known = len(problems)
    shown = form_of(content, role, form, columns)
    if shown in ("trec", "ranx"):
        refuse_columns(name, "TREC" if shown == "trec" else "ranx", columns)
    rows = _rows_of(name, content, shown, role, problems, columns)
    if not rows.frame.height and len(problems) == known:
        what = "no judgement" if role == "qrels" else "no result"
        problems.append(f"{name}: holds {what}; write TREC lines, a table or JSON Lines")
    return structs.replace(rows, form=shown)


def _rows_of(
    name: str,
    content: bytes,
    form: InputFormat,
    role: Role,
    problems: list[str],
    columns: Columns | None,
) -> RankingRows:
    if form == "trec":
        return read_trec(name, content, role, problems)
    if form == "ranx":
        found: Any = {}
        try:
            found = decode(content)
            if type(found) is not dict:
                problems.append(f"{name}: {expected('an object of queries', found)}")
        except BadJson as fault:
            problems.append(f"{name}: {fault}")
        return rows_of_mapping(name, found if type(found) is dict else {}, role, problems)
    if form in ("beir", "tsv") and not columns:
        first = first_line(content)
        titles = titles_of(first.decode(errors="replace").split("\t"), role)
        needed = {"query", "document", "value"}
        if b'"' not in content and needed <= {*titles} and len({*titles}) == len(titles):
            frame = columnar(content[len(first) + 1 :], titles, role, exact=True)
            if frame is not None:
                return RankingRows(name=name, frame=with_source_lists(frame), first_line=2)
    known: Form | None = "jsonl" if form == "jsonl" else "tsv" if form in ("beir", "tsv") else None
    records = Records(content, SHAPES[role], problems, name=name, columns=columns, form=known)
    return _rows(records, role, problems)


def form_of(
    content: bytes, role: Role, form: str | None = None, columns: Columns | None = None
) -> InputFormat:
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
        return "json" if columns else _form_of_object(start)
    # A header whose columns are mapped may name none of ours; a line of TREC is of words.
    first = first_line(content)
    is_table = is_header(first, role) or (columns and b" " not in first)
    return "tsv" if is_table else "trec"


def _form_of_object(start: bytes) -> InputFormat:
    """JSON Lines where the first object names its query, else ranx's one object."""
    line, _, rest = start.partition(b"\n")
    try:
        first = decode(line)
    except BadJson:
        return "jsonl" if rest.lstrip().startswith(b"{") else "ranx"
    names_query = any(isinstance(first.get(name), str | int) for name in QUERY)
    return "jsonl" if names_query or rest.strip() else "ranx"


def rows_of_frame(name: str, frame: pl.DataFrame, role: Role) -> RankingRows | None:
    """The rows of a frame in which nothing is odd, None where a careful reader has to look."""
    import polars as pl

    titles = titles_of(frame.columns, role)
    kept = [title for title in ("query", "document", "value", "rank", "source") if title in titles]
    needed = {"query", "document", "value"} if role == "qrels" else {"query", "document"}
    if not needed <= {*kept} or len({*titles}) < len(titles) or "strata" in titles:
        return None
    plain = pl.DataFrame({title: frame.to_series(titles.index(title)) for title in kept})
    if "value" not in kept:
        plain = plain.with_columns(pl.lit(None, dtype=pl.Float64).alias("value"))
    wanted = {title: kind for title, kind in kinds(role).items() if title in plain.columns}
    try:
        cast = plain.with_columns(pl.col(title).cast(kind) for title, kind in wanted.items())
    except pl.exceptions.PolarsError:
        return None
    value, number = cast["value"], plain["value"].cast(pl.Float64, strict=False)
    names = (cast[title].str.strip_chars() != "" for title in ("query", "document"))
    fine = all(bool(one.fill_null(False).all()) for one in names)
    if role == "qrels":
        within = value.is_between(-GRADES_WITHIN, GRADES_WITHIN, closed="none").fill_null(False)
        fine = fine and bool((within & (number == value)).all())
    else:
        fine = fine and bool(value.is_finite().all())
    if not fine:
        return None
    return RankingRows(
        name=name, frame=with_source_lists(cast), first_line=1, place="{name}: row {line}"
    )
