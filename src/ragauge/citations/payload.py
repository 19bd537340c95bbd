"""Reading a citation payload: complete and typed, or with all its faults by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.citation import Citation, Offsets
from ragauge.contracts.manifest import bare_hash
from ragauge.text.visible import one_line

REQUIRED = (
    "doc_id",
    "section_id",
    "snippet_id",
    "source_url",
    "offsets",
    "tokens",
    "index_hash",
    "embed_model",
    "analyzer",
    "rev",
)
KNOWN = Citation.__struct_fields__
SHOWN = 80
"""Characters of a foreign value that a finding shows."""

_TYPES = {field.name: field.type for field in msgspec.structs.fields(Citation)}
_EXPECTED = {
    "offsets": "{start, end, unit: char or token}, whole numbers",
    "tokens": "a whole number, 0 or more",
    "window": "{pre, post}, whole numbers",
    "page": "a whole number",
    "score_raw": "a finite number",
    "score_norm": "a number from 0 to 1",
    "rerank_score": "a finite number",
    "k_pos": "a whole number, 0 or more",
    "k_final": "a whole number, 0 or more",
}
_END_NAMES: dict[str | None, tuple[str, str]] = {
    None: ("start", "end"),
    "char": ("char_start", "char_end"),
    "token": ("token_start", "token_end"),
}
"""The names of a range's ends; plain `start` and `end` are in the range's `unit`."""
_RANGE = {"start", "end", "unit"}
_REFUSED = (msgspec.ValidationError, UnicodeEncodeError)
"""What converting a foreign value raises; the latter of half a character where none may be."""
_convert = msgspec.convert


class ReadPayload(Struct, frozen=True):
    """A payload as it was understood."""

    citation: Citation | None
    """None if a fault makes it incomplete."""
    findings: list[CitationFinding]
    fields: Mapping[str, Any]
    """The fields that can be read, even if it is incomplete."""


class ReadFields(Struct, frozen=True):
    """The readable fields of a payload, and the faults of its other fields."""

    fields: dict[str, Any]
    faults: list[CitationFinding]


def complete_payload(raw: Any) -> Citation | None:
    """The payload if nothing is wrong with it, else None: fast, without an explanation."""
    written = raw if type(raw) is dict else as_mapping(raw)
    try:
        found: Citation = _convert(written, Citation)
    except _REFUSED:
        return None
    offsets = written["offsets"] if written else None
    if type(offsets) is not dict or not offsets.keys() <= _RANGE:
        return None
    filled = (
        found.doc_id.strip()
        and found.section_id.strip()
        and found.snippet_id.strip()
        and found.source_url.strip()
        and bare_hash(found.index_hash).strip()
        and found.embed_model.strip()
        and found.analyzer.strip()
        and found.rev.strip()
    )
    finite = _finite(found.score_raw) and _finite(found.rerank_score)
    return found if filled and finite and found.offsets.start < found.offsets.end else None


def read_payload(raw: Any) -> ReadPayload:
    """The payload with all its faults; unambiguous values are normalised."""
    quick = complete_payload(raw)
    if quick is not None:
        return ReadPayload(quick, [], msgspec.structs.asdict(quick))
    return complete(read_fields(raw))


def read_fields(raw: Any) -> ReadFields:
    """The fields as they were understood, without null and blank ones."""
    written = as_mapping(raw)
    if written is None:
        expected = "an object with the payload's fields"
        return ReadFields({}, [_fault("bad_type_citation", None, raw, expected)])
    found_fields = {name: written[name] for name in KNOWN if _is_given(name, written.get(name))}
    faults: list[CitationFinding] = []
    id = named_id(written)
    if id is not None and isinstance(found_fields.get("snippet_id", id), str):
        found_fields["snippet_id"] = id
    if isinstance(found_fields.get("tokens"), Mapping):
        # A range of tokens gives the place of the snippet, and so their number.
        ranged, _ = read_offsets({"unit": "token", **found_fields["tokens"]})
        if ranged:
            found_fields["tokens"] = ranged.end - ranged.start
            found_fields.setdefault("offsets", ranged)
    if "offsets" in found_fields:
        offsets, fault = read_offsets(found_fields.pop("offsets"))
        found_fields |= {"offsets": offsets} if offsets else {}
        faults += [fault] if fault else []
    fields: dict[str, Any] = {}
    for name, value in found_fields.items():
        try:
            read = _convert(value, _TYPES[name])
        except _REFUSED:
            read = math.nan
        if isinstance(read, float) and not math.isfinite(read):
            expected = _EXPECTED.get(name, "text")
            faults.append(_fault(f"bad_type_{name}", name, value, expected))
        else:
            fields[name] = read
    return ReadFields(fields, faults)


def complete(read: ReadFields) -> ReadPayload:
    """The payload from its fields, or what it lacks; a field with a fault is not missing."""
    fields = read.fields
    faulty = {fault.field and fault.field.partition(".")[0] for fault in read.faults}
    absent = [name for name in REQUIRED if name not in fields]
    missing = [
        _fault(f"missing_{name}", name, None, _EXPECTED.get(name, "text"))
        for name in absent
        if name not in faulty and None not in faulty
    ]
    whole = None if absent else Citation(**fields)
    return ReadPayload(whole, [*read.faults, *missing], fields)


def as_mapping(raw: Any) -> Mapping[Any, Any] | None:
    """The fields of a payload, typed or not; None if it has none."""
    if type(raw) is dict:
        return raw
    if isinstance(raw, Citation):
        display_value = msgspec.structs.asdict(raw).items()
        return {
            name: msgspec.structs.asdict(value) if isinstance(value, Struct) else value
            for name, value in display_value
            if value is not None
        }
    return raw if isinstance(raw, Mapping) else None


def named_id(raw: Mapping[Any, Any]) -> str | None:
    """The id of a payload, under its own or another common name."""
    for name in ("snippet_id", "id", "chunk_id"):
        id = raw.get(name)
        if isinstance(id, str) and id.strip():
            return id
    return None


def _is_given(name: str, value: Any) -> bool:
    if isinstance(value, str) and _TYPES[name] is str:
        return bool((bare_hash(value) if name == "index_hash" else value).strip())
    return value is not None


def read_offsets(value: Any) -> tuple[Offsets | None, CitationFinding | None]:
    """Offsets given as an object, a pair or a token range, or what is wrong with them.

    >>> read_offsets([2310, 2688])[0], read_offsets({"token_start": 4, "token_end": 9})[0]
    (Offsets(start=2310, end=2688, unit='char'), Offsets(start=4, end=9, unit='token'))
    """
    if isinstance(value, Offsets):
        value = msgspec.structs.asdict(value)
    if isinstance(value, (list, tuple)):
        if len(value) != 2:
            return None, _fault("bad_offsets", "offsets", value, "a pair: start and end")
        value = {"start": value[0], "end": value[1]}
    if not isinstance(value, Mapping):
        return None, _fault("bad_type_offsets", "offsets", value, _EXPECTED["offsets"])
    unit: Any = value.get("unit")
    ends: dict[str | None, tuple[Any, Any]] = {
        way: (value.get(first), value.get(last)) for way, (first, last) in _END_NAMES.items()
    }
    ways = [way for way, pair in ends.items() if pair != (None, None)] or [None]
    if len(ways) > 1 or (ways[0] and unit not in (None, ways[0])):
        return None, _fault("bad_offsets", "offsets", value, "one range, in one unit")
    unit = ways[0] or ("char" if unit is None else unit)
    start, end = ends[ways[0]]
    if unit not in ("char", "token"):
        return None, _fault("bad_type_offsets", "offsets.unit", unit, "char or token")
    for name, at in (("start", start), ("end", end)):
        if at is None:
            return None, _fault("missing_offsets", f"offsets.{name}", None, "a whole number")
        if type(at) is not int:
            return None, _fault("bad_type_offsets", f"offsets.{name}", at, "a whole number")
    if start < 0:
        return None, _fault("bad_offsets", "offsets.start", start, "0 or more")
    if start >= end:
        got = f"start {display_value(start)}, end {display_value(end)}"
        return None, _fault("bad_offsets", "offsets", got, "start before end")
    return Offsets(start, end, unit), None


def _finite(value: float | None) -> bool:
    return value is None or math.isfinite(value)


def _fault(code: str, field: str | None, got: Any, expected: Any) -> CitationFinding:
    return CitationFinding(code=code, field=field, got=display_value(got), expected=expected)


def display_value(value: Any) -> Any:
    """A foreign value as a finding shows it: a plain number, or text on one short line."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < 1 << 53:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return one_line(value, SHOWN)
    try:  # as JSON where it is JSON; a foreign object by its kind, for its own words may fail
        text = msgspec.json.encode(value, order="sorted").decode()
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
        text = f"type {type(value).__name__}"
    return one_line(text, SHOWN)
