"""Files of annotated texts: which form one has is told from what it holds, not from its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ragauge.contracts.entities import ONE_LAYER, AnnotatedText
from ragauge.contracts.report import Finding
from ragauge.errors import UsageError
from ragauge.ingest.annotated.brat import read_brat
from ragauge.ingest.annotated.conllu import COLUMNS as CONLLU_COLUMNS
from ragauge.ingest.annotated.conllu import WORD, read_conllu
from ragauge.ingest.annotated.entity_reading import (
    SCHEMES,
    Offsets,
    Reading,
    ReadingOptions,
    Scheme,
)
from ragauge.ingest.annotated.entity_records import read_records
from ragauge.ingest.annotated.hipe import is_header, read_hipe
from ragauge.ingest.annotated.iob import (
    DOCUMENT_START,
    LIKE_TAG,
    cells_of,
    is_comment,
    no_column,
    read_iob,
)
from ragauge.ingest.annotated.span_tables import (
    NELEVAL_COLUMNS,
    header_of,
    is_span,
    read_neleval,
    read_spans,
)
from ragauge.ingest.fields import Columns, quoted
from ragauge.ingest.lines import read_whole
from ragauge.ingest.records import Row, refuse_columns


class EntityFile(Struct, frozen=True, kw_only=True):
    """What a file, or a folder, holds of annotated texts."""

    form: str
    """One of FORMS; empty where it could not be told."""
    documents: list[AnnotatedText]
    layers: tuple[str, ...] = (ONE_LAYER,)
    """The layers that were annotated, entities or not."""
    findings: list[Finding] = []
    """misplaced_span, unicode_form, offsets_recounted, repeated_entity, broken_tags, …"""
    notes: dict[str, tuple[str, ...]] = {}
    """By document, what its file holds besides text and entities, verbatim, for writing."""
    reanchored: int = 0
    """Entities that were moved to where their surface stands."""
    in_tokens: frozenset[str] = frozenset()
    """Documents whose start and end counted tokens."""
    unplaced: frozenset[str] = frozenset()
    """Documents whose start and end count tokens that the file does not have."""
    unnamed: bool = False
    """The file gives its documents no ids: they are numbered in their order."""


def read_entities(
    source: str | Path,
    *,
    problems: list[str],
    input_format: str | None = None,
    scheme: Scheme | None = None,
    column: int | None = None,
    layers: Sequence[str] | None = None,
    offsets: Offsets | None = None,
    reanchor: bool = False,
    links: str | None = None,
    split_links: bool = False,
    columns: Columns | None = None,
) -> EntityFile:
    """The annotated texts of a file or folder; all that is wrong goes into `problems`.

    `column` and `scheme` are of token files, `layers` of files with layers, `offsets` of records
    and tables, `links` and `split_links` of HIPE tables: see ReadingOptions. Raises UsageError for
    a format that does not exist, and what reading a file raises that cannot be opened at all.
    """
    asked = None
    if input_format is not None:
        asked = ALIASES.get(input_format.lower(), input_format.lower())
        if asked not in FORMS:
            raise UsageError(f"format {quoted(input_format)} is none of {', '.join(FORMS)}")
    if scheme not in (None, *SCHEMES):
        raise UsageError(f"scheme {quoted(str(scheme))} is none of {', '.join(SCHEMES)}")
    options = ReadingOptions(
        scheme=scheme or SCHEMES[0],
        column=column,
        layers=None if layers is None else tuple(layers),
        offsets=offsets,
        reanchor=reanchor,
        links=links,
        split_links=split_links,
    )
    reading = Reading(problems, options)
    known = len(problems)
    form, annotated = _read(Path(source), asked, reading, columns)
    if not reading.documents and len(problems) == known:
        problems.append(f"{source}: holds no document")
    return _file(form, reading, annotated)


def entities_of(
    records: Iterable[Mapping[str, Any]],
    *,
    problems: list[str],
    name: str = "record",
    offsets: Offsets | None = None,
    reanchor: bool = False,
    columns: Columns | None = None,
) -> EntityFile:
    """The annotated texts of records at hand, shaped as in a JSON file; `name` says whose."""
    reading = Reading(problems, ReadingOptions(offsets=offsets, reanchor=reanchor))
    rows = (Row(f"{name} {at}", dict(one)) for at, one in enumerate(records, 1))
    read_records(rows, reading, columns=columns)
    return _file("records", reading, None)


def _read(
    source: Path, asked: str | None, reading: Reading, columns: Columns | None
) -> tuple[str, Layers]:
    """Read a source; its form comes back, and the layers it annotates where the form has them."""
    if source.is_dir() and asked not in (None, "brat"):
        raise UsageError(f"{source}: is a folder, and only brat has folders; name a file")
    if source.is_dir() or asked == "brat":
        refuse_columns(source, "brat", columns)
        read_brat(source, reading)
        return "brat", None
    name, content = str(source), read_whole(str(source))
    form = asked or form_of(name, content, reading.options.column, reading.problems)
    if form == "records":
        read_records(content, reading, name, columns)
        return form, None
    if form:
        refuse_columns(source, form, columns)
    if form == "brat":
        read_brat(source, reading)
    elif form == "hipe":
        return form, read_hipe(name, content, reading)
    elif form in READERS:
        READERS[form](name, content, reading)
    elif form:
        form = read_iob(name, content, reading, asked)
    return form or "", None


def _file(form: str, reading: Reading, annotated: Layers) -> EntityFile:
    met = {entity.layer for document in reading.documents for entity in document.entities}
    return EntityFile(
        form=form,
        documents=reading.documents,
        layers=tuple(sorted(met)) or (ONE_LAYER,) if annotated is None else annotated,
        findings=reading.findings,
        notes=reading.notes,
        reanchored=reading.reanchored,
        in_tokens=frozenset(reading.in_tokens),
        unplaced=frozenset(reading.unplaced),
        unnamed=reading.unnamed,
    )


Layers = tuple[str, ...] | None
READERS: dict[str, Callable[[str, bytes, Reading], None]] = {
    "conllu": read_conllu,
    "spans": read_spans,
    "neleval": read_neleval,
}
"""What reads each form that is one file and needs no further telling."""
ALIASES = {
    "jsonl": "records",
    "json": "records",
    "iobes": "bioes",
    "biolu": "bilou",
    "tsv": "spans",
}


FORMS: dict[str, str] = {
    "records": "JSON Lines or a JSON array: id, text, entities",
    "brat": "a folder of .ann and .txt, or an .ann",
    "iob1": "a token and its tag a line",
    "iob2": "a token and its tag a line",
    "bioes": "a token and its tag a line",
    "bilou": "a token and its tag a line",
    "conll2003": "four columns, -DOCSTART-",
    "conllu": "ten columns, NER= in the last",
    "hipe": "a header TOKEN NE-COARSE-LIT …",
    "spans": "document, start, end, type, parted by tabs",
    "neleval": "document, start, end (inclusive), id, score, type, parted by tabs",
}
"""The forms, each with how it is known."""
_LOOKED_AT = 200
"""Lines that are looked at; comments may stand before the first token."""
_JSON = re.compile(r'\s*(?:\{\s*["}]|\[\s*[{\]])')
_ANNOTATION = re.compile(r"T\d+\t\S+ \d+ \d+(?:;\d+ \d+)*\t.*|[ARE#]\d+\t\S+ \S+.*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def form_of(name: str, content: bytes, column: int | None, problems: list[str]) -> str | None:
    """The form of a file; None, and a problem that says what was looked at, where none fits."""
    head = content[: 1 << 16].decode(errors="replace")
    if _JSON.match(head):
        return "records"
    lines = re.split(r"\r\n|\r|\n", head)[:_LOOKED_AT]
    filled = [line for line in lines if line.strip()]
    if not filled:
        problems.append(f"{name}: is empty")
        return None
    if any(is_header(line) for line in filled):
        return "hipe"
    if _ANNOTATION.fullmatch(filled[0]):
        return "brat"
    first = next((line for line in filled if not is_comment(line)), filled[0])
    found = _form_of_cells(first, column)
    if found == "spans" and all(
        len(cells) >= NELEVAL_COLUMNS and _NUMBER.fullmatch(cells[4])
        for cells in (line.split("\t") for line in filled)
    ):
        fact = "looks like neleval, whose ends are inclusive; say whether it is neleval or spans"
        problems.append(f"{name}: {fact}, as the input format")
        return None
    if found is None and (outside := no_column(column, len(cells_of(first)))):
        problems.append(f"{name}: {outside}")
    elif found is None:
        known = "; ".join(f"{form} ({how})" for form, how in FORMS.items())
        fact = f"no known format: the first line is {quoted(first)}"
        problems.append(f"{name}: {fact}; name the input format, or write one of: {known}")
    return found


def _form_of_cells(line: str, column: int | None) -> str | None:
    """The form whose line this may be, by the number and the look of its cells."""
    cells = cells_of(line)
    if "\t" in line:
        if len(cells) == CONLLU_COLUMNS and WORD.fullmatch(cells[0]):
            return "conllu"
        if header_of(cells) or is_span(cells):
            return "spans"
    if cells[0] == DOCUMENT_START:
        return "iob"
    place = len(cells) - 1 if column is None else column - 1
    tagged = 0 < place < len(cells) and LIKE_TAG.fullmatch(cells[place])
    return "iob" if tagged else None
