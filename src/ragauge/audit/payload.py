"""A citation payload read: whole and typed, or every fault of it by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.citation import Citation, Offsets
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
_WAYS: dict[str | None, tuple[str, str]] = {
    None: ("start", "end"),
    "char": ("char_start", "char_end"),
    "token": ("token_start", "token_end"),
}
"""The ways a range is written; `start` and `end` alone are counted in the range's `unit`."""
_convert = msgspec.convert


class ReadPayload(Struct, frozen=True):
    """A payload as it was understood; None where a fault keeps it from being one."""

    citation: Citation | None
    findings: list[CitationFinding]


def whole_payload(raw: Any) -> Citation | None:
    """The payload where nothing is wrong with it: the quick way, which explains nothing."""
    try:
        found: Citation = _convert(raw, Citation)
    except msgspec.ValidationError:
        return None
    filled = (
        found.doc_id.strip()
        and found.section_id.strip()
        and found.snippet_id.strip()
        and found.source_url.strip()
        and found.index_hash.strip()
        and found.embed_model.strip()
        and found.analyzer.strip()
        and found.rev.strip()
    )
    finite = _finite(found.score_raw) and _finite(found.rerank_score)
    return found if filled and finite and found.offsets.start < found.offsets.end else None


def read_payload(raw: Any) -> ReadPayload:
    """The payload with every fault of it; what can be read in one way only is normalised."""
    quick = whole_payload(raw)
    if quick is not None:
        return ReadPayload(quick, [])
    if not isinstance(raw, Mapping):
        wanted = "an object with the payload's fields"
        return ReadPayload(None, [_fault("bad_type_citation", None, raw, wanted)])
    fields, findings = _normalised(raw)
    findings += [_missing(name) for name in REQUIRED if name not in fields]
    kept: dict[str, Any] = {}
    for name, value in fields.items():
        fault = _type_fault(name, value)
        if fault:
            findings.append(fault)
        elif value is not None:
            kept[name] = value
    readable = all(kept.get(name) is not None for name in REQUIRED)
    return ReadPayload(_convert(kept, Citation) if readable else None, findings)


def _normalised(raw: Mapping[Any, Any]) -> tuple[dict[str, Any], list[CitationFinding]]:
    """The fields a payload has, null and blank ones left out, offsets as an object.

    A field that is there but cannot be used is None: it is not missing, its fault is told.
    """
    fields = {name: raw[name] for name in KNOWN if _given(name, raw.get(name))}
    findings: list[CitationFinding] = []
    if isinstance(fields.get("tokens"), Mapping):
        # A range of tokens is where the snippet stands, and so how many they are.
        ranged, fault = read_offsets({"unit": "token", **fields["tokens"]})
        if ranged:
            fields["tokens"] = ranged.end - ranged.start
            fields.setdefault("offsets", ranged)
    if "offsets" in fields:
        offsets, fault = read_offsets(fields["offsets"])
        fields["offsets"] = offsets
        findings += [fault] if fault else []
    return fields, findings


def _given(name: str, value: Any) -> bool:
    blank = isinstance(value, str) and not value.strip() and _TYPES[name] is str
    return value is not None and not blank


def read_offsets(value: Any) -> tuple[Offsets | None, CitationFinding | None]:
    """Offsets given as an object, a pair or a token range, or what is wrong with them.

    >>> read_offsets([2310, 2688])[0], read_offsets({"token_start": 4, "token_end": 9})[0]
    (Offsets(start=2310, end=2688, unit='char'), Offsets(start=4, end=9, unit='token'))
    """
    if isinstance(value, Offsets):
        return _ordered(value)
    if isinstance(value, (list, tuple)):
        if len(value) != 2:
            return None, _fault("bad_offsets", "offsets", value, "a pair: start and end")
        value = {"start": value[0], "end": value[1]}
    if not isinstance(value, Mapping):
        return None, _fault("bad_type_offsets", "offsets", value, _EXPECTED["offsets"])
    ways = {unit: ends for unit, names in _WAYS.items() if (ends := _ends(value, names))}
    if not ways:
        lost = "end" if "start" in value else "start"
        return None, _fault("missing_offsets", f"offsets.{lost}", None, "a whole number")
    if len(ways) > 1:
        return None, _fault("bad_offsets", "offsets", value, "one range, in one unit")
    unit, ends = ways.popitem()
    return _from_range(ends, unit or value.get("unit") or "char")


def _from_range(ends: tuple[Any, Any], unit: Any) -> tuple[Offsets | None, CitationFinding | None]:
    if unit not in ("char", "token"):
        return None, _fault("bad_type_offsets", "offsets.unit", unit, "char or token")
    for name, end in zip(("start", "end"), ends, strict=True):
        if type(end) is not int:
            return None, _fault("bad_type_offsets", f"offsets.{name}", end, "a whole number")
    if ends[0] < 0:
        return None, _fault("bad_offsets", "offsets.start", ends[0], "0 or more")
    return _ordered(Offsets(*ends, unit))


def _ordered(offsets: Offsets) -> tuple[Offsets | None, CitationFinding | None]:
    if offsets.start < offsets.end:
        return offsets, None
    got = f"start {offsets.start}, end {offsets.end}"
    return None, _fault("bad_offsets", "offsets", got, "start before end")


def _ends(value: Mapping[Any, Any], names: tuple[str, str]) -> tuple[Any, Any] | None:
    start, end = (value.get(name) for name in names)
    return None if start is None or end is None else (start, end)


def _type_fault(name: str, value: Any) -> CitationFinding | None:
    if value is None:
        return None
    try:
        read = _convert(value, _TYPES[name])
    except msgspec.ValidationError:
        return _fault(f"bad_type_{name}", name, value, _EXPECTED.get(name, "text"))
    if isinstance(read, float) and not _finite(read):
        return _fault(f"bad_type_{name}", name, value, _EXPECTED[name])
    return None


def _finite(value: float | None) -> bool:
    return value is None or math.isfinite(value)


def _missing(name: str) -> CitationFinding:
    return CitationFinding(code=f"missing_{name}", field=name, expected=_EXPECTED.get(name, "text"))


def _fault(code: str, field: str | None, got: Any, expected: Any) -> CitationFinding:
    return CitationFinding(code=code, field=field, got=told(got), expected=expected)


def told(value: Any) -> Any:
    """A foreign value as a finding shows it: a plain number, or text on one short line."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < 1 << 53:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    text = value if isinstance(value, str) else _written(value)
    return one_line(text, SHOWN)


def _written(value: Any) -> str:
    """As JSON where it is JSON; a foreign object by its kind, for its own words may fail."""
    try:
        return msgspec.json.encode(value, order="sorted").decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return f"a {type(value).__name__}"
