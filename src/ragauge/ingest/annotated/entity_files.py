"""Files of annotated texts: which form one has is told from what it holds, not from its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ragauge.contracts.entities import ONE_LAYER, AnnotatedText
from ragauge.contracts.finding import Finding
from ragauge.errors import UsageError
from ragauge.ingest.annotated.brat import read_brat
from ragauge.ingest.annotated.conllu import read_conllu
from ragauge.ingest.annotated.entity_forms import FORMS, form_of
from ragauge.ingest.annotated.entity_reading import (
    SCHEMES,
    Offsets,
    Reading,
    ReadingOptions,
    Scheme,
)
from ragauge.ingest.annotated.entity_records import add_records, read_records
from ragauge.ingest.annotated.hipe import read_hipe
from ragauge.ingest.annotated.iob import read_iob
from ragauge.ingest.annotated.span_tables import read_neleval, read_spans
from ragauge.ingest.fields import quoted
from ragauge.ingest.lines import read_whole


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
) -> EntityFile:
    """The annotated texts of a file or folder; all that is wrong goes into `problems`.

    `column` and `scheme` are of token files, `layers` of files with layers, `offsets` of records
    and tables, `links` and `split_links` of HIPE tables: see ReadingOptions. Raises UsageError for
    a format that does not exist, and what reading a file raises that cannot be opened at all.
    """
    options = ReadingOptions(
        scheme=_scheme(scheme),
        column=column,
        layers=None if layers is None else tuple(layers),
        offsets=offsets,
        reanchor=reanchor,
        links=links,
        split_links=split_links,
    )
    reading = Reading(problems, options)
    known = len(problems)
    form, annotated = _read(Path(source), _asked(input_format), reading)
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
) -> EntityFile:
    """The annotated texts of records at hand, shaped as in a JSON file; `name` says whose."""
    reading = Reading(problems, ReadingOptions(offsets=offsets, reanchor=reanchor))
    placed = ((f"{name} {place}", dict(record)) for place, record in enumerate(records, 1))
    add_records(placed, reading)
    return _file("records", reading, None)


def _scheme(scheme: str | None) -> Scheme:
    for known in SCHEMES:
        if scheme in (None, known):
            return known
    raise UsageError(f"scheme {quoted(str(scheme))} is none of {', '.join(SCHEMES)}")


def _asked(input_format: str | None) -> str | None:
    if input_format is None:
        return None
    asked = ALIASES.get(input_format.lower(), input_format.lower())
    if asked not in FORMS:
        raise UsageError(f"format {quoted(input_format)} is none of {', '.join(FORMS)}")
    return asked


def _read(source: Path, asked: str | None, reading: Reading) -> tuple[str, Layers]:
    """Read a source; its form comes back, and the layers it annotates where the form has them."""
    if source.is_dir() and asked not in (None, "brat"):
        raise UsageError(f"{source}: is a folder, and only brat has folders; name a file")
    if source.is_dir() or asked == "brat":
        read_brat(source, reading)
        return "brat", None
    name, content = str(source), read_whole(str(source))
    form = asked or form_of(name, content, reading.options.column, reading.problems)
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
    "records": read_records,
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
