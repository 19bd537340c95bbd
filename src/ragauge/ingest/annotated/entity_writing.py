"""Annotated texts written in any of the forms that files of them have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ragauge.contracts.entities import ONE_LAYER, AnnotatedText, Entity
from ragauge.errors import UsageError
from ragauge.ingest.annotated.brat_writing import brat_files
from ragauge.ingest.annotated.span_writing import span_file
from ragauge.ingest.annotated.token_writing import (
    conll2003_file,
    conllu_file,
    hipe_file,
    iob_file,
)
from ragauge.ingest.fields import quoted

TAG_FORMS = ("iob1", "iob2", "bioes", "bilou")
WRITTEN_FORMS = ("records", "brat", "hipe", *TAG_FORMS, "conll2003", "conllu", "tsv")

Notes = Mapping[str, Sequence[str]]


def written(
    documents: Sequence[AnnotatedText],
    form: str,
    *,
    problems: list[str],
    notes: Notes | None = None,
) -> bytes | dict[str, bytes]:
    """A file's content, or for BRAT that of each file by its name.

    What the form cannot hold, such as nested entities in IOB2, goes into `problems`.
    """
    if form == "brat":
        return brat_files(documents, problems=problems, notes=notes)
    if form == "hipe":
        return hipe_file(documents, problems=problems, notes=notes)
    if form == "conll2003":
        return conll2003_file(documents, problems=problems)
    if form == "conllu":
        return conllu_file(documents, problems=problems)
    if form == "tsv":
        return span_file(documents, problems=problems)
    if form in TAG_FORMS:
        return iob_file(documents, form, problems=problems)
    if form in ("records", "jsonl"):
        return record_lines(documents, notes=notes)
    raise UsageError(f"format {quoted(form)} is none that is written: {', '.join(WRITTEN_FORMS)}")


def record_lines(documents: Sequence[AnnotatedText], *, notes: Notes | None = None) -> bytes:
    """A JSON object a line for each document; this form holds everything."""
    encoder = msgspec.json.Encoder()
    records = (_record(document, (notes or {}).get(document.id, ())) for document in documents)
    return encoder.encode_lines(records)


def _record(document: AnnotatedText, notes: Sequence[str]) -> dict[str, Any]:
    known = {
        "text": document.text,
        "tokens": document.tokens,
        "entities": [_entity(entity) for entity in document.entities],
        "strata": document.strata or None,
        "notes": tuple(notes) or None,
    }
    return {"id": document.id} | {key: value for key, value in known.items() if value is not None}


def _entity(entity: Entity) -> dict[str, Any]:
    known = {
        "text": entity.text,
        "layer": entity.layer if entity.layer != ONE_LAYER else None,
        "fragments": entity.fragments or None,
        "links": entity.links,
        "id": entity.id,
    }
    place = {"start": entity.start, "end": entity.end, "type": entity.type}
    return place | {key: value for key, value in known.items() if value is not None}
