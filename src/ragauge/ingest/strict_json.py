"""JSON read strictly: what typed decoding lets through is found, at no cost to clean lines."""

from __future__ import annotations

import json
from typing import Any

import msgspec

MAX_NESTING = 64
_SUSPECT_BRACKETS = MAX_NESTING
_decode = msgspec.json.Decoder().decode


class BadJson(Exception):
    """A text is not the JSON we accept; the message is the fact, without a place."""


def decode(line: bytes) -> Any:
    """The value of one JSON text: no duplicate keys, no NaN, no lone surrogates, no deep nesting.

    Duplicates show as more colons than the decoded value accounts for: so a clean line is
    decoded once, and only a suspect one is decoded again by the slow, explaining reader.
    """
    try:
        value = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadJson(_fault(line)) from None
    if line.count(b"[") <= _SUSPECT_BRACKETS:
        colons = line.count(b":")
        if colons == _keys_of_flat(value) or colons == _colons_of_flat(value):
            return value
        if (colons, True) == _colons_within(value):
            return value
    fault = _fault_of_shape(line)
    if fault:
        raise BadJson(fault)
    return value


def _keys_of_flat(value: Any) -> int:
    """The keys of an object whose members are at most flat objects or lists of them."""
    if type(value) is not dict:
        return -1
    keys = len(value)
    for member in value.values():
        if type(member) is dict:
            keys += len(member)
        elif type(member) is list and member and type(member[0]) is dict:
            keys += sum([len(item) for item in member if type(item) is dict])
    return keys


def _colons_of_flat(value: Any) -> int:
    """The colons of the same kind of object: its keys, and those inside its texts."""
    if type(value) is not dict:
        return -1
    colons = len(value)
    for member in value.values():
        if type(member) is str:
            colons += member.count(":")
        elif type(member) is dict:
            colons += len(member) + _colons_of_texts(member)
        elif type(member) is list:
            for item in member:
                if type(item) is dict:
                    colons += len(item) + _colons_of_texts(item)
                elif type(item) is str:
                    colons += item.count(":")
    return colons


def _colons_of_texts(members: dict[str, Any]) -> int:
    return sum([text.count(":") for text in members.values() if type(text) is str])


def _colons_within(value: Any, depth: int = 1) -> tuple[int, bool]:
    """Colons a value needs when written as JSON, and whether its nesting stays in bounds."""
    if type(value) is str:
        return value.count(":"), True
    if type(value) is dict:
        parts = [(1 + key.count(":"), True) for key in value]
        parts += [_colons_within(member, depth + 1) for member in value.values()]
    elif type(value) is list:
        parts = [_colons_within(item, depth + 1) for item in value]
    else:
        return 0, True
    return sum([n for n, _ in parts]), depth <= MAX_NESTING and all([ok for _, ok in parts])


def _fault(line: bytes) -> str:
    """Why a text could not be decoded, in words."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8 at byte {error.start + 1} (0x{line[error.start]:02x})"
    shape = _fault_of_shape(line)
    if shape:
        return shape
    try:
        value = json.loads(text, parse_float=_finite)
    except json.JSONDecodeError as error:
        return f"not JSON: {_lower(error.msg)} at column {error.pos + 1}"
    except _Fault as fault:
        return str(fault)
    return _lone_surrogate(value) or "not JSON"


def _fault_of_shape(line: bytes) -> str | None:
    """Deep nesting, duplicate keys or NaN, whichever is met."""
    if _nesting(line) > MAX_NESTING:
        return f"nested deeper than {MAX_NESTING} levels"
    try:
        json.loads(line, object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
    except _Fault as fault:
        return str(fault)
    except ValueError:
        return None
    return None


def _nesting(line: bytes) -> int:
    """How deep brackets go, those inside strings aside."""
    depth = deepest = 0
    in_string = escaped = False
    for byte in line:
        if in_string:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                in_string = False
        elif byte == 0x22:
            in_string = True
        elif byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest


class _Fault(Exception):
    pass


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _Fault(f"key {json.dumps(twice)} appears {keys.count(twice)} times in one object")
    return members


def _no_constant(name: str) -> Any:
    raise _Fault(f"{name} is not a JSON number; write null where there is no value")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise _Fault(f"number {text[:40]} is out of range")
    return number


def _lone_surrogate(value: Any) -> str | None:
    text = json.dumps(value, ensure_ascii=False)
    for character in text:
        if 0xD800 <= ord(character) <= 0xDFFF:
            return f"lone surrogate \\u{ord(character):04x} in a string"
    return None


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
