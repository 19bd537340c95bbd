"""Spans in the OpenTelemetry protocol: JSON in its four spellings, and protobuf.

camelCase or snake_case keys; ids in hex or base64; times as numbers or texts; and MLflow's
spelling, whose attributes are an object of texts in JSON.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from ragauge.errors import InputRejected
from ragauge.ingest.envelopes.attributes import decoded_text, span_of
from ragauge.ingest.envelopes.payloads import decoded
from ragauge.ingest.envelopes.spans import Span

_FAILED = (2, "2", "STATUS_CODE_ERROR", "ERROR", "Error")


def spans_in(document: Mapping[str, Any]) -> Iterator[Span]:
    """The spans of a TracesData object, or of one that holds it under `data`."""
    for resource in _list(document, "resourceSpans", "resource_spans", "batches"):
        shared = attributes_of(_get(resource.get("resource") or {}, "attributes"))
        for scope in _list(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
            for span in _list(scope, "spans"):
                yield span_from(span, shared)


def span_from(span: Mapping[str, Any], shared: Mapping[str, Any] | None = None) -> Span:
    """One span of the protocol; `shared` are the attributes of its resource."""
    attributes = attributes_of(span.get("attributes"))
    status = span.get("status") or {}
    failed = isinstance(status, Mapping) and status.get("code") in _FAILED
    parent = hex_id(_get(span, "parentSpanId", "parent_span_id"))
    return span_of(
        attributes,
        trace=hex_id(_get(span, "traceId", "trace_id")) or "",
        id=hex_id(_get(span, "spanId", "span_id")) or "",
        parent=parent if parent and parent.strip("0") else None,
        name=str(span.get("name") or ""),
        start_ms=_ms(_get(span, "startTimeUnixNano", "start_time_unix_nano")),
        end_ms=_ms(_get(span, "endTimeUnixNano", "end_time_unix_nano")),
        error=str(status.get("message") or "the span has the status ERROR") if failed else None,
        events=[
            (str(one.get("name") or ""), attributes_of(one.get("attributes")))
            for one in span.get("events") or ()
            if isinstance(one, Mapping)
        ],
    )


def attributes_of(given: Any) -> dict[str, Any]:
    """Attributes as an object: from the protocol's list of keys and values, or as they are."""
    if isinstance(given, Mapping):
        return {key: decoded_text(value) for key, value in given.items()}
    found = {}
    for one in given or ():
        found[one.get("key")] = _value(one.get("value"))
    return found


def _value(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    for name, held in value.items():
        match name:
            case "stringValue" | "string_value" | "boolValue" | "bool_value":
                return held
            case "intValue" | "int_value":
                return int(held)
            case "doubleValue" | "double_value":
                return float(held)
            case "arrayValue" | "array_value":
                return [_value(one) for one in (held or {}).get("values") or ()]
            case "kvlistValue" | "kvlist_value":
                return attributes_of((held or {}).get("values"))
    return None


def hex_id(value: Any) -> str | None:
    """An id in hex, however it was written.

    >>> hex_id("AAAAAAAAAAE="), hex_id("0x1f"), hex_id("00000000000000a1")
    ('0000000000000001', '1f', '00000000000000a1')
    """
    if not isinstance(value, str) or not value:
        return None
    if value.startswith("0x"):
        return value[2:]
    if len(value) in (12, 24) and value.endswith("="):
        return base64.b64decode(value).hex()
    return value.lower()


def _ms(nanos: Any) -> float | None:
    try:
        return int(nanos) / 1e6 if nanos else None
    except (TypeError, ValueError):
        return None


def _get(value: Mapping[str, Any], *names: str) -> Any:
    return next((value[name] for name in names if name in value), None)


def _list(value: Mapping[str, Any], *names: str) -> list[Mapping[str, Any]]:
    held = decoded(_get(value, *names))
    return [one for one in held or () if isinstance(one, Mapping)]


def is_protobuf(head: bytes) -> bool:
    """Whether a file that begins so holds ResourceSpans, each with a resource or scopes first."""
    if head[:1] != b"\n" or (head.isascii() and b"\0" not in head):
        return False
    try:
        size, at = _varint(head, 1)
        inner, within = _varint(head, at + 1)
    except IndexError:
        return False
    return head[at : at + 1] in (b"\n", b"\x12") and within + inner <= at + size


# Field numbers of opentelemetry/proto/trace/v1/trace.proto and common/v1/common.proto.
def spans_in_protobuf(content: bytes, name: str) -> Iterator[Span]:
    """The spans of a TracesData message; raises InputRejected where it cannot be decoded."""
    try:
        for number, resource in _fields(content):
            if number != 1:
                continue
            for inner, scope in _fields(resource):
                if inner == 2:
                    for place, span in _fields(scope):
                        if place == 2:
                            yield span_from(_span(span))
    except (IndexError, struct.error, UnicodeDecodeError, TypeError, ValueError):
        fact = "is not OpenTelemetry traces in protobuf, or was cut off"
        raise InputRejected(
            f"{name}: {fact}; write them with the collector's file exporter"
        ) from None


def _fields(content: bytes) -> Iterator[tuple[int, Any]]:
    """Numbers and values of a message: bytes, whole numbers, or doubles."""
    at = 0
    while at < len(content):
        key, at = _varint(content, at)
        match key & 7:
            case 0:
                value, at = _varint(content, at)
                yield key >> 3, value
            case 1:
                yield key >> 3, content[at : at + 8]
                at += 8
            case 2:
                size, at = _varint(content, at)
                if at + size > len(content):
                    raise IndexError("cut off")
                yield key >> 3, content[at : at + size]
                at += size
            case 5:
                yield key >> 3, content[at : at + 4]
                at += 4
            case _:
                raise ValueError("no such wire type")


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _span(content: bytes) -> dict[str, Any]:
    span: dict[str, Any] = {"attributes": [], "events": []}
    for number, value in _fields(content):
        match number:
            case 1 | 2 | 4:
                name = {1: "traceId", 2: "spanId", 4: "parentSpanId"}[number]
                span[name] = value.hex()
            case 5:
                span["name"] = value.decode()
            case 7 | 8:
                name = "startTimeUnixNano" if number == 7 else "endTimeUnixNano"
                span[name] = struct.unpack("<Q", value)[0]
            case 9:
                span["attributes"].append(_key_value(value))
            case 11:
                fields = list(_fields(value))
                span["events"].append(
                    {
                        "name": next((v.decode() for n, v in fields if n == 2), ""),
                        "attributes": [_key_value(v) for n, v in fields if n == 3],
                    }
                )
            case 15:
                status = dict(_fields(value))
                span["status"] = {
                    "code": status.get(3, 0),
                    "message": status.get(2, b"").decode(),
                }
    return span


def _key_value(content: bytes) -> dict[str, Any]:
    fields = dict(_fields(content))
    return {"key": fields.get(1, b"").decode(), "value": _any(fields.get(2, b""))}


def _any(content: bytes) -> Any:
    for number, value in _fields(content):
        match number:
            case 1:
                return value.decode()
            case 2:
                return bool(value)
            case 3:
                return value - (1 << 64) if value >> 63 else value
            case 4:
                return struct.unpack("<d", value)[0]
            case 5:
                return [_any(one) for n, one in _fields(value) if n == 1]
            case 6:
                pairs = (_key_value(one) for n, one in _fields(value) if n == 1)
                return {pair["key"]: pair["value"] for pair in pairs}
    return None
