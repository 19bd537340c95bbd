"""JSON texts, strictly read: what other readers take silently is a fault with a reason."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from ragauge.text import json_hooks
from ragauge.text.json_hooks import JsonFault

MAX_NESTING = 64
_FLAT_ARRAYS = MAX_NESTING - 3
"""Arrays a line may hold and still not be too deep, where all its keys stand at the top."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_OUTSIDE_TEXTS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{\]}]', re.DOTALL)
_CUT_OFF = "; the text is cut off"
_REMEDIES = {"Extra data": "; write one object a line"}


class BadJson(Exception):
    """A text is not the JSON we accept; the message is the fact, without a place."""


def decode(line: bytes) -> Any:
    """The value of one JSON text: no duplicate keys, no NaN, no lone surrogates, no deep nesting.

    Each key is written with a colon, so a duplicate shows as a colon the decoded value does not
    account for: a clean line is decoded once, and only a suspect one again, by the slow reader
    that explains.
    """
    try:
        value = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadJson(_fault(line) or "not JSON") from None
    # A colon written as an escape would make up for a duplicate key's.
    if b"\\" not in line or b"\\u003" not in line or b"\\u003a" not in line.lower():
        colons = line.count(b":")
        arrays = line.count(b"[")
        if arrays <= _FLAT_ARRAYS and colons == _colons_of_flat(value):
            return value
        shallow = arrays + line.count(b"{") <= MAX_NESTING or _nesting_within_bounds(value)
        if shallow and colons == _encode(value).count(b":"):
            return value
    fault = _fault(line)
    if fault:
        raise BadJson(fault)
    return value


def _colons_of_flat(value: Any) -> int:
    """The colons of a record as most are: texts, flat objects, lists of flat objects.

    Colons in the texts of its parts are not looked for: a record that has some is counted in full.
    """
    if type(value) is not dict:
        return -1
    colons = len(value)
    for member in value.values():
        kind = type(member)
        if kind is str:
            if ":" in member:
                colons += member.count(":")
        elif kind is list:
            if member and type(member[0]) is dict:
                colons += sum([len(part) for part in member if type(part) is dict])
        elif kind is dict:
            colons += len(member)
    return colons


def _nesting_within_bounds(value: Any) -> bool:
    """Whether objects and arrays stand at most MAX_NESTING deep in each other."""
    level = [value]
    for _ in range(MAX_NESTING + 1):
        inner: list[Any] = []
        for part in level:
            if type(part) is dict:
                inner.append(part.values())
            elif type(part) is list:
                inner.append(part)
        if not inner:
            return True
        level = [member for part in inner for member in part]
    return False


def _fault(line: bytes) -> str | None:
    """What is wrong with a text, in words; None where nothing is."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        byte = f"byte {error.start + 1} (0x{line[error.start]:02x})"
        return f"not UTF-8 at {byte}; save the file as UTF-8"
    if text.startswith("\ufeff"):
        return "begins with a byte order mark, which only a file may; remove it"
    if _nesting(text) > MAX_NESTING:
        return f"nested deeper than {MAX_NESTING} levels"
    try:
        value = json.loads(
            text,
            object_pairs_hook=json_hooks.without_duplicates,
            parse_constant=json_hooks.no_constant,
            parse_float=json_hooks.finite,
            parse_int=json_hooks.whole,
        )
    except json.JSONDecodeError as error:
        return _syntax_fault(error, text)
    except JsonFault as fault:
        return str(fault)
    return _lone_surrogate(value)


def _syntax_fault(error: json.JSONDecodeError, text: str) -> str:
    line = f"line {error.lineno}, " if error.lineno > 1 else ""
    fact = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
    cut_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
    remedy = _CUT_OFF if cut_off else _REMEDIES.get(error.msg, "")
    return f"not JSON: {fact} at {line}column {error.colno}{remedy}"


def _nesting(text: str) -> int:
    """How deep brackets go, those inside strings aside."""
    depth = deepest = 0
    for match in _OUTSIDE_TEXTS.finditer(text):
        if match[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif match[0] in "]}":
            depth -= 1
    return deepest


def _lone_surrogate(value: Any) -> str | None:
    text = json.dumps(value, ensure_ascii=False)
    lone = re.search("[\ud800-\udfff]", text)
    if not lone:
        return None
    return f"lone surrogate \\u{ord(lone[0]):04x} in a string: half a character; remove it"
