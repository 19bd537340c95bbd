"""Gold sets: one JSON object a line, or one JSON array."""

from __future__ import annotations

from difflib import get_close_matches
from functools import partial
from itertools import chain
from typing import Any

import msgspec

from ragauge.contracts.gold import Chunk, Gold, GoldMetadata, GoldSet, Span
from ragauge.errors import InputRejected, refuse
from ragauge.ingest.fields import (
    BadField,
    BadRecord,
    boolean,
    expected,
    kind,
    mapping,
    mappings,
    quoted,
    text,
    texts,
    whole,
)
from ragauge.ingest.lines import MAX_LINE, OVERLONG, nothing_in, read_whole
from ragauge.ingest.placed_records import Records, gathered, json_lines, records_of
from ragauge.text.citations import id_of

LEAST_WEIGHT, MOST_WEIGHT = 1e-6, 1e9

ALIASES = {
    "question": ("q", "user_input"),
    "gold_answer": ("reference", "ground_truth", "expected_output"),
    "gold_citations": ("gold_ids", "reference_context_ids"),
}


REQUIRED = {
    "qid": "missing; give each question an id of its own",
    "question": "missing; write what was asked",
    "answerable": "missing; write true or false",
}


def read_gold(name: str) -> GoldSet:
    """The questions of a gold set, in its order; raises InputRejected with all that is wrong."""
    return gold_in(name, read_whole(name, long_lines=True))


def gold_in(name: str, content: bytes) -> GoldSet:
    """The questions of a file that was read already."""
    problems: list[str] = []
    questions = GoldSet(())
    seen: dict[str, str] = {}
    for number, (place, record) in enumerate(_records(name, content, problems)):
        if number == 0 and is_metadata(record):
            questions.metadata = metadata_of(record, place, problems)
            continue
        try:
            question = gold_of(record)
        except BadRecord as fault:
            problems += [f"{place}: {field}" for field in fault.fields]
            continue
        if question.qid in seen:
            problems.append(
                f"{place}: qid: {quoted(question.qid)} stands already at {seen[question.qid]}"
            )
            continue
        seen[question.qid] = place
        questions.append(question)
    refuse(problems)
    if not questions:
        fact = nothing_in(name) or "holds no question"
        raise InputRejected(f"{name}: {fact}; write one JSON object a line")
    return questions


def is_metadata(record: Any) -> bool:
    """Whether a record says something of the set: it has no field of a question, and a known key.

    >>> is_metadata({"refusal": "exact"}), is_metadata({"qid": "q1", "name": "x"})
    (True, False)
    """
    if type(record) is not dict or not record.keys().isdisjoint(_KNOWN):
        return False
    return any(get_close_matches(key, METADATA, n=1, cutoff=CLOSE) for key in record)


def metadata_of(record: dict[str, Any], place: str, problems: list[str]) -> GoldMetadata | None:
    """What the set says of itself; None, and problems, where it cannot be read."""
    known = len(problems)
    for key in record:
        if key not in METADATA:
            near = get_close_matches(key, METADATA, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(METADATA)}"
            problems.append(f"{place}: {key}: a gold set's metadata has no such key; {hint}")
    try:
        made = msgspec.convert(record, GoldMetadata)
    except msgspec.ValidationError as error:
        problems.append(f"{place}: {error}")
    return made if len(problems) == known else None


METADATA = GoldMetadata.__struct_fields__
CLOSE = 0.8
"""How much alike a misspelt key of the metadata is to the one that was meant."""


def gold_of(record: Any) -> Gold:
    """A gold question from its decoded fields; raises BadRecord with every one that is wrong."""
    if type(record) is not dict:
        raise BadRecord([BadField("record", expected("an object", record))])
    # Fields by our names, and the aliases they had. Nulls and empty reference wordings are
    # dropped: an unanswerable question often has them.
    written: dict[str, str] = {}
    fields = {k: value for k, value in record.items() if value is not None or k not in _KNOWN}
    for name, aliases in ALIASES.items():
        for alias in aliases:
            if alias in fields and name not in fields:
                fields[name] = fields.pop(alias)
                written[name] = alias
    for name in ("gold_claim", "gold_answer"):
        if fields.get(name) == "":
            del fields[name]
    faults = [BadField(name, fact) for name, fact in REQUIRED.items() if name not in fields]
    parts = [
        (name, partial(check, fields.pop(name), written.get(name, name)))
        for name, check in _CHECKS.items()
        if name in fields
    ]
    return Gold(**gathered(parts, faults), extra=fields)


def read_chunks(name: str) -> list[Chunk]:
    """The places of the chunks in a file of chunks, or of traces with retrieved chunks.

    A chunk has an id, a doc_id, and a start and an end in characters, in `offsets` or by itself.
    Raises InputRejected with all that is wrong.
    """
    problems: list[str] = []
    chunks: list[Chunk] = []
    for place, record in _records(name, read_whole(name, long_lines=True), problems):
        try:
            bare = mapping(record, "line")
            lists = [key for key in ("retrieved", "chunks") if bare.get(key) is not None]
            some = mappings(bare[lists[0]], lists[0]) if lists else (bare,)
            chunks += map(_chunk, some)
        except BadField as fault:
            problems.append(f"{place}: {fault}")
    if not chunks and not problems:
        problems.append(f"{name}: no chunks; write one JSON object a line")
    refuse(problems)
    return chunks


def _chunk(record: dict[str, Any]) -> Chunk:
    id = id_of(record)
    if id is None:
        raise BadField("snippet_id", "missing; a chunk has a snippet_id or an id")
    place = mapping(record.get("offsets", record), "offsets")
    if place.get("unit", "char") != "char":
        raise BadField("offsets.unit", "gold spans are in characters; give chunks in characters")
    start, end = whole(place.get("start"), "start"), whole(place.get("end"), "end")
    rev = record.get("rev")
    return Chunk(id, text(record.get("doc_id"), "doc_id"), start, end, rev and text(rev, "rev"))


def _records(name: str, content: bytes, problems: list[str]) -> Records:
    """Each decoded record with its place; what is no array is read as an object a line."""
    if content.lstrip()[:1] == b"[" and max(map(len, content.split(b"\n"))) > MAX_LINE:
        problems.append(f"{name}: {OVERLONG}; write one question a line")
        return iter(())
    return records_of(name, content, problems, json_lines)


def _filled(value: Any, field: str) -> str:
    if not text(value, field).strip():
        raise BadField(field, "is empty")
    return str(value)


def _phrases(value: Any, field: str) -> tuple[str, ...]:
    if type(value) is str:
        raise BadField(field, f"expected a list of texts, got text; write [{quoted(value)}]")
    return _each_filled(value, field)


def _each_filled(value: Any, field: str) -> tuple[str, ...]:
    found = texts(value, field)
    for place, member in enumerate(found):
        if not member.strip():
            raise BadField(f"{field}[{place}]", "is empty")
    return found


def _span(value: Any, field: str) -> Span:
    part = mapping(value, field)
    for name in ("doc_id", "section_id", "start", "end"):
        if name not in part:
            raise BadField(f"{field}.{name}", "missing")
    span = Span(
        text(part["doc_id"], f"{field}.doc_id"),
        text(part["section_id"], f"{field}.section_id"),
        whole(part["start"], f"{field}.start"),
        whole(part["end"], f"{field}.end"),
        None if part.get("rev") is None else text(part["rev"], f"{field}.rev"),
    )
    if span.start < 0:
        raise BadField(f"{field}.start", f"{span.start} is below zero")
    if span.start >= span.end:
        raise BadField(field, f"start {span.start} is not before end {span.end}")
    return span


def _strata(value: Any, field: str) -> dict[str, Any]:
    for name, member in mapping(value, field).items():
        if type(member) in (list, dict):
            raise BadField(
                f"{field}.{name}", f"expected text, a number or a boolean, got {kind(member)}"
            )
    return dict(value)


def _weight(value: Any, field: str) -> float | None:
    # Beyond these bounds a sum of weights overflows, or one question no longer counts at all.
    if type(value) not in (int, float) or not LEAST_WEIGHT <= value <= MOST_WEIGHT:
        wanted = f"expected a number from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}"
        raise BadField(field, f"{wanted}, got {value!r:.40}; divide all weights by one number")
    return None if value == 1 else float(value)


_CHECKS = {
    "qid": _filled,
    "question": _filled,
    "answerable": boolean,
    "gold_claim_substr": _phrases,
    "gold_claim": _filled,
    "gold_answer": _filled,
    "gold_citations": _each_filled,
    "constraints": _each_filled,
    "paraphrases": _each_filled,
    "target_section": _span,
    "anchor": _span,
    "decoy": _span,
    "strata": _strata,
    "weight": _weight,
}
_KNOWN = {*_CHECKS, *chain.from_iterable(ALIASES.values())}
