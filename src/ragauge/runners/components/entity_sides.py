"""One side of an evaluation of entities, from whatever it is given as."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ragauge.contracts.entities import ONE_LAYER, AnnotatedText, EntityColumns, Fragment
from ragauge.contracts.report import Finding
from ragauge.errors import UsageError
from ragauge.ingest.annotated.entity_files import entities_of, read_entities
from ragauge.ingest.annotated.entity_reading import Reading, ReadingOptions
from ragauge.ingest.annotated.entity_records import ENTITIES, LINKS
from ragauge.ingest.fields import Columns
from ragauge.ingest.records import refuse_columns
from ragauge.metrics.entity_kernel import columns_of, first_of_duplicates, int_column, rows_at
from ragauge.metrics.entity_matching import distinct

if TYPE_CHECKING:
    import polars as pl

    from ragauge.contracts.metric import Array

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
"""Bad rows of a frame that are reported one by one."""
_UNCOMMON = {"tokens", "notes", "doc_id", "entity_linking"}
"""Fields of a record that only the reader of files understands."""
_UNCOMMON_OF_ENTITIES = {"fragments", *LINKS}


class Marked(Struct, frozen=True, kw_only=True):
    """Documents with the entities that one side marked in them, in the order given."""

    columns: EntityColumns
    texts: Sequence[str | None]
    tokens: Sequence[Sequence[Fragment] | None]
    strata: Sequence[Mapping[str, Any]]
    where: Callable[[int], str]
    """The place of a document, for whoever must fix it."""
    surface: Callable[[int], str | None]
    """The surface that was given with an entity, by its row."""
    layers: Sequence[str]
    """Those that were annotated, with or without entities."""
    findings: Sequence[Finding] = ()
    in_tokens: frozenset[str] = frozenset()
    """Documents whose start and end counted tokens."""
    unplaced: frozenset[str] = frozenset()
    """Documents whose start and end count tokens that this side does not have."""
    unnamed: bool = False
    """The documents have no ids of their own: they are numbered in their order."""

    @property
    def ids(self) -> Sequence[str]:
        return self.columns.documents

    def parts(self, row: int) -> tuple[Fragment, ...]:
        """The places of an entity: several where it is discontinuous."""
        columns = self.columns
        return columns.fragments.get(row) or ((int(columns.start[row]), int(columns.end[row])),)

    def moved(self, places: Mapping[int, tuple[Fragment, ...]]) -> Marked:
        """The same with these rows elsewhere, and without those that have no place there."""
        columns = self.columns
        start, end = columns.start.copy(), columns.end.copy()
        for row, parts in places.items():
            if parts:
                start[row], end[row] = parts[0][0], parts[-1][1]
        discontinuous = {row: parts for row, parts in places.items() if len(parts) > 1}
        fragments = {**columns.fragments, **discontinuous}
        moved = replace(self, columns=replace(columns, start=start, end=end, fragments=fragments))
        lost = [row for row, parts in places.items() if not parts]
        return moved.rows(np.delete(np.arange(len(start)), lost)) if lost else moved

    def rows(self, kept: Array) -> Marked:
        """The same with these entities alone, by their rows here."""
        rows = kept.tolist()
        return replace(
            self, columns=rows_at(self.columns, kept), surface=lambda row: self.surface(rows[row])
        )


def marked(
    source: Source,
    name: str,
    options: ReadingOptions,
    input_format: str | None,
    documents: Sequence[str] | None,
    problems: list[str],
    columns: Columns | None = None,
) -> Marked:
    """The documents and entities of one side; what is wrong goes into the list.

    `name` is whose side it is, where there is no file to name. `documents` are those of frames,
    which have no row for one without entities.
    """
    if hasattr(source, "get_column"):
        refuse_columns(name, "a frame of entities", columns)
        source = _frame_columns(source, name, documents, problems)
    if isinstance(source, EntityColumns):
        return _of_columns(source, name, problems, in_tokens=options.offsets == "tokens")
    if isinstance(source, str | Path):
        return of_file(
            read_entities(
                source, options, problems=problems, input_format=input_format, columns=columns
            )
        )
    if not isinstance(source, Sequence):
        kind = type(source).__name__
        raise UsageError(f"{name}: is a {kind}; give a file, records, columns or a frame")
    if source and all(isinstance(one, AnnotatedText) for one in source):
        return _of_texts([one for one in source if isinstance(one, AnnotatedText)], problems)
    if not columns and not options.reanchor and options.offsets != "tokens":
        found = plain_records(source, name)
        if found is not None:
            return found
    records: Any = source
    return of_file(entities_of(records, options, problems=problems, name=name, columns=columns))


def of_file(file: Reading) -> Marked:
    """What was read by a reader of files, as columns."""
    return replace(
        _of_documents(file.documents, file.layers, file.findings),
        in_tokens=frozenset(file.in_tokens),
        unplaced=frozenset(file.unplaced),
        unnamed=file.unnamed,
    )


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


def _of_columns(
    columns: EntityColumns, name: str, problems: list[str], *, in_tokens: bool
) -> Marked:
    """Columns as they are given: places are checked, nothing else is known of the documents."""
    wrong = np.flatnonzero((columns.start < 0) | (columns.start >= columns.end))
    for row in wrong[:MOST_TOLD].tolist():
        place = f"{columns.start[row]} to {columns.end[row]}"
        problems.append(f"{name} row {row + 1}: goes from {place}; a span has 0 <= start < end")
    problems += [f"{name}: another row of that kind"] * (len(wrong) - MOST_TOLD)
    given = rows_at(columns, np.delete(np.arange(len(columns.doc)), wrong))
    twice = len(given.documents) - len(set(given.documents))
    if twice:
        problems.append(f"{name}: {twice} documents have the id of another; keep one each")
    kept = first_of_duplicates(given)
    size = len(given.documents)
    return Marked(
        columns=rows_at(given, kept),
        texts=[None] * size,
        tokens=[None] * size,
        strata=[{}] * size,
        where=lambda place: f"{name} {given.documents[place]}",
        surface=lambda row: None,
        layers=given.layers,
        findings=repeated_entities(given, kept, lambda row: f"{name} row {row + 1}"),
        unplaced=frozenset(given.documents if in_tokens else ()),
    )


def repeated_entities(
    columns: EntityColumns, kept: Array, where: Callable[[int], str]
) -> list[Finding]:
    """A finding for each entity that is not kept, because an earlier one is the same."""
    findings = []
    for row in np.setdiff1d(np.arange(len(columns.doc)), kept, assume_unique=True).tolist():
        place = f"{columns.start[row]}–{columns.end[row]}"
        fact = f"{columns.types[columns.type[row]]} is marked twice at {place}; it counts once"
        findings.append(Finding("repeated_entity", where(row), fact))
    return findings


def _frame_columns(
    source: Any, name: str, documents: Sequence[str] | None, problems: list[str]
) -> EntityColumns:
    """The columns of a polars frame: doc, start, end, type and perhaps layer, a row an entity."""
    import polars as pl

    def codes(texts: pl.Series, known: Sequence[str]) -> Any:
        return texts.cast(pl.Enum(known)).to_physical().cast(pl.Int64).to_numpy()

    frame: pl.DataFrame = source
    document = next((name for name in DOCUMENTS if name in frame.columns), "doc")
    frame = frame.rename({document: "doc"} if document != "doc" else {})
    absent = [name for name in FRAME_COLUMNS if name not in frame.columns]
    if absent:
        raise UsageError(f"{name}: the frame has no column {', '.join(absent)}")
    layer = pl.col("layer") if "layer" in frame.columns else pl.lit(ONE_LAYER)
    try:
        frame = frame.select(
            pl.col("doc", "type").cast(pl.String),
            pl.col("start", "end").cast(pl.Int64),
            layer.cast(pl.String).fill_null(ONE_LAYER).alias("layer"),
        )
    except pl.exceptions.PolarsError as error:
        raise UsageError(f"{name}: the frame cannot be read: {error}") from None
    bad = frame.select(pl.any_horizontal(pl.col(*FRAME_COLUMNS).is_null())).to_series()
    for row in bad.arg_true()[:MOST_TOLD]:
        problems.append(f"{name} row {row + 1}: has an empty cell; fill it or leave it out")
    frame = frame.filter(~bad)
    ids = sorted({*frame["doc"].unique(), *(documents or ())})
    return EntityColumns(
        documents=ids,
        doc=codes(frame["doc"], ids),
        start=frame["start"].to_numpy(),
        end=frame["end"].to_numpy(),
        type=codes(frame["type"], types := sorted(frame["type"].unique())),
        types=types,
        layer=codes(frame["layer"], layers := sorted(frame["layer"].unique()) or [ONE_LAYER]),
        layers=layers,
    )


class _NotPlain(Exception):
    """Something in the records needs the reader that checks and reports field by field."""


def plain_records(records: Sequence[Any], name: str) -> Marked | None:
    """The records as columns; None where any has something to report or to work out.

    This is the quick way for records with nothing wrong in them: they are looked at a column at a
    time. What is found here is what `entities_of` finds.
    """
    try:
        return _plain(records, name)
    except (_NotPlain, KeyError, TypeError, AttributeError, OverflowError):
        return None


def _plain(records: Sequence[Any], name: str) -> Marked:
    _only(dict, records)
    fields = set().union(*records)
    field = _one_of(ENTITIES, fields)
    if fields & _UNCOMMON:
        raise _NotPlain
    ids, lists = _each(records, "id"), _each(records, field)
    _only(str, ids)
    _only(list, lists)
    if len(set(ids)) < len(ids) or not all(map(str.strip, ids)):
        raise _NotPlain
    nothing = [None] * len(ids)
    texts = [record.get("text") for record in records] if "text" in fields else nothing
    strata = [record.get("strata") or {} for record in records] if "strata" in fields else []
    _only(dict, strata)
    entities = list(chain.from_iterable(lists))
    _only(dict, entities)
    columns = _record_columns(ids, list(map(len, lists)), entities)
    _check_places(columns, texts, entities)
    kept = first_of_duplicates(columns)

    def place(row: int) -> str:
        doc = columns.doc[row]
        return f"{name} {doc + 1}: {field}[{row - np.searchsorted(columns.doc, doc)}]"

    return Marked(
        columns=columns if len(kept) == len(entities) else rows_at(columns, kept),
        texts=texts,
        tokens=nothing,
        strata=strata or [{}] * len(ids),
        where=lambda place: f"{name} {place + 1}",
        surface=lambda row: entities[kept[row]].get("text"),
        layers=columns.layers,
        findings=repeated_entities(columns, kept, place),
    )


def _record_columns(
    ids: Sequence[str], sizes: Sequence[int], entities: Sequence[Any]
) -> EntityColumns:
    keys = set().union(*entities)
    if keys & _UNCOMMON_OF_ENTITIES:
        raise _NotPlain
    types = _each(entities, _one_of(("type", "label"), keys)) if entities else []
    layers = [one.get("layer", ONE_LAYER) for one in entities] if "layer" in keys else []
    starts, ends = _each(entities, "start"), _each(entities, "end")
    for kind, values in ((int, starts), (int, ends), (str, types), (str, layers)):
        _only(kind, values)
    known, layered = sorted(set(types)), sorted(set(layers)) or [ONE_LAYER]
    if any(type != type.strip() or not type for type in known):
        raise _NotPlain

    def numbered(texts: Sequence[str], known: Sequence[str]) -> Array:
        place = {text: number for number, text in enumerate(known)}
        return int_column(list(map(place.__getitem__, texts)))

    return EntityColumns(
        documents=ids,
        doc=np.repeat(np.arange(len(ids)), sizes),
        start=int_column(starts),
        end=int_column(ends),
        type=numbered(types, known),
        types=known,
        layer=numbered(layers, layered) if layers else np.zeros(len(entities), dtype=np.int64),
        layers=layered,
    )


def _check_places(
    columns: EntityColumns, texts: Sequence[str | None], entities: Sequence[Any]
) -> None:
    """Raise _NotPlain where an entity is outside its text, or its surface is not found there."""
    if (columns.start < 0).any() or (columns.start >= columns.end).any():
        raise _NotPlain
    surfaces = {one.get("text") for one in entities}
    if not {*map(type, texts), *map(type, surfaces)} <= {str, type(None)} or "" in surfaces:
        raise _NotPlain
    if texts.count(None) == len(texts):
        return
    longest = np.iinfo(np.int64).max
    sizes = int_column([longest if text is None else len(text) for text in texts])
    if (columns.end > sizes[columns.doc]).any():
        raise _NotPlain
    for doc, one in zip(columns.doc.tolist(), entities, strict=True):
        surface, text = one.get("text"), texts[doc]
        if surface is None or text is None:
            continue
        if text[one["start"] : one["end"]] != surface:
            raise _NotPlain


def _each(records: Sequence[Any], field: str) -> list[Any]:
    """The field of each record; raises KeyError where one has none."""
    return list(map(itemgetter(field), records))


def _only(kind: type, values: Sequence[Any]) -> None:
    if not {*map(type, values)} <= {kind}:
        raise _NotPlain


def _one_of(names: Sequence[str], fields: set[str]) -> str:
    """The one name of several that is in use."""
    there = [name for name in names if name in fields]
    if len(there) != 1:
        raise _NotPlain
    return there[0]
