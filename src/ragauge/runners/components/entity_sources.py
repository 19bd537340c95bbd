"""One side of an evaluation of entities, from whatever it is given as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ragauge.contracts.entities import ONE_LAYER, AnnotatedText, EntityColumns
from ragauge.contracts.finding import Finding
from ragauge.errors import UsageError
from ragauge.ingest.annotated.entity_files import EntityFile, entities_of, read_entities
from ragauge.metrics.entity_kernel import columns_of, first_of_each, rows_at
from ragauge.metrics.entity_matching import distinct
from ragauge.runners.components.entity_marked import Marked, repeated_entities
from ragauge.runners.components.entity_records import plain_records

if TYPE_CHECKING:
    import polars as pl

    Source = (
        str
        | Path
        | Sequence[Mapping[str, Any]]
        | Sequence[AnnotatedText]
        | EntityColumns
        | pl.DataFrame
    )

FRAME_COLUMNS = ("doc", "start", "end", "type")
DOCUMENTS = ("doc", "doc_id", "document")
"""What a frame may call the document."""
MOST_TOLD = 100
"""Bad rows of a frame that are told one by one."""


class HowToRead(Struct, frozen=True, kw_only=True):
    """What the reader of one side is told."""

    name: str
    """Whose side it is, where there is no file to name."""
    files: Mapping[str, Any]
    """What a reader of files may be told."""
    documents: Sequence[str] | None
    """The documents of frames, which have no row for one without entities."""


def marked(source: Source, how: HowToRead, problems: list[str]) -> Marked:
    """The documents and entities of one side; what is wrong goes into the list."""
    if isinstance(source, EntityColumns):
        return _of_columns(source, how, problems)
    if isinstance(source, str | Path):
        return of_file(read_entities(source, problems=problems, **how.files))
    if hasattr(source, "get_column"):
        return _of_frame(source, how, problems)
    if not isinstance(source, Sequence):
        kind = type(source).__name__
        raise UsageError(f"{how.name}: is a {kind}; give a file, records, columns or a frame")
    if source and all(isinstance(one, AnnotatedText) for one in source):
        return _of_texts([one for one in source if isinstance(one, AnnotatedText)], problems)
    plain = not how.files["reanchor"] and how.files["offsets"] != "tokens"
    found = plain_records(source, how.name) if plain else None
    if found is not None:
        return found
    told = {key: how.files[key] for key in ("offsets", "reanchor")}
    return of_file(entities_of(source, problems=problems, name=how.name, **told))  # type: ignore[arg-type]


def of_file(file: EntityFile) -> Marked:
    """What was read by a reader of files, as columns."""
    found = _of_documents(file.documents, file.layers, file.findings)
    return replace(found, in_tokens=file.in_tokens, unplaced=file.unplaced, unnamed=file.unnamed)


def _of_documents(
    documents: Sequence[AnnotatedText], layers: Sequence[str], findings: Sequence[Finding] = ()
) -> Marked:
    given = [entity for document in documents for entity in document.entities]
    return Marked(
        columns=columns_of([one.entities for one in documents], [one.id for one in documents]),
        texts=[one.text for one in documents],
        tokens=[one.tokens for one in documents],
        strata=[one.strata for one in documents],
        where=lambda place: documents[place].where,
        surface=lambda row: given[row].text,
        layers=layers,
        findings=findings,
    )


def _of_texts(documents: Sequence[AnnotatedText], problems: list[str]) -> Marked:
    kept: dict[str, AnnotatedText] = {}
    for one in documents:
        if kept.setdefault(one.id, one) is not one:
            there = kept[one.id].where
            problems.append(f'{one.where}: id: "{one.id}" stands at {there} already; keep one')
    met = {entity.layer for one in kept.values() for entity in one.entities}
    once = [replace(one, entities=tuple(distinct(one.entities))) for one in kept.values()]
    fact = "entities are marked twice; they count once"
    findings = [
        Finding("repeated_entity", one.where, f"{len(one.entities) - len(less.entities)} {fact}")
        for one, less in zip(kept.values(), once, strict=True)
        if len(less.entities) < len(one.entities)
    ]
    return _of_documents(once, sorted(met) or [ONE_LAYER], findings)


def _of_columns(columns: EntityColumns, how: HowToRead, problems: list[str]) -> Marked:
    """Columns as they are given: places are checked, nothing else is known of the documents."""
    wrong = np.flatnonzero((columns.start < 0) | (columns.start >= columns.end))
    for row in wrong[:MOST_TOLD].tolist():
        place = f"{columns.start[row]} to {columns.end[row]}"
        problems.append(f"{how.name} row {row + 1}: goes from {place}; a span has 0 <= start < end")
    problems += [f"{how.name}: another row of that kind"] * (len(wrong) - MOST_TOLD)
    columns = rows_at(columns, np.delete(np.arange(len(columns.doc)), wrong))
    twice = len(columns.documents) - len(set(columns.documents))
    if twice:
        problems.append(f"{how.name}: {twice} documents have the id of another; keep one each")
    kept, given = first_of_each(columns), columns
    columns = rows_at(columns, kept)
    size = len(columns.documents)
    return Marked(
        columns=columns,
        texts=[None] * size,
        tokens=[None] * size,
        strata=[{}] * size,
        where=lambda place: f"{how.name} {columns.documents[place]}",
        surface=lambda row: None,
        layers=columns.layers,
        findings=repeated_entities(given, kept, lambda row: f"{how.name} row {row + 1}"),
        unplaced=frozenset(columns.documents if how.files["offsets"] == "tokens" else ()),
    )


def _of_frame(source: Any, how: HowToRead, problems: list[str]) -> Marked:
    """A polars frame: doc, start, end, type and perhaps layer, a row an entity."""
    import polars as pl

    frame: pl.DataFrame = source
    document = next((name for name in DOCUMENTS if name in frame.columns), "doc")
    frame = frame.rename({document: "doc"} if document != "doc" else {})
    absent = [name for name in FRAME_COLUMNS if name not in frame.columns]
    if absent:
        raise UsageError(f"{how.name}: the frame has no column {', '.join(absent)}")
    layer = pl.col("layer") if "layer" in frame.columns else pl.lit(ONE_LAYER)
    try:
        told = frame.select(
            pl.col("doc", "type").cast(pl.String),
            pl.col("start", "end").cast(pl.Int64),
            layer.cast(pl.String).fill_null(ONE_LAYER).alias("layer"),
        )
    except pl.exceptions.PolarsError as error:
        raise UsageError(f"{how.name}: the frame cannot be read: {error}") from None
    bad = told.select(pl.any_horizontal(pl.col(*FRAME_COLUMNS).is_null())).to_series()
    for row in bad.arg_true()[:MOST_TOLD]:
        problems.append(f"{how.name} row {row + 1}: has an empty cell; fill it or leave it out")
    told = told.filter(~bad)
    ids = sorted({*told["doc"].unique(), *(how.documents or ())})
    columns = EntityColumns(
        documents=ids,
        doc=_codes(told["doc"], ids),
        start=told["start"].to_numpy(),
        end=told["end"].to_numpy(),
        type=_codes(told["type"], types := sorted(told["type"].unique())),
        types=types,
        layer=_codes(told["layer"], layers := sorted(told["layer"].unique()) or [ONE_LAYER]),
        layers=layers,
    )
    return _of_columns(columns, how, problems)


def _codes(texts: pl.Series, known: Sequence[str]) -> Any:
    import polars as pl

    return texts.cast(pl.Enum(known)).to_physical().cast(pl.Int64).to_numpy()
