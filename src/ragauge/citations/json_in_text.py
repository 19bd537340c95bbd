"""JSON objects in a text: those that can be read, and those that are begun and cannot."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.text.json_hooks import JsonFault, finite, no_constant, without_duplicates

_QUOTE = "\"'“”‘’"
_BEGUN = re.compile(rf"\{{(?=\s*[{_QUOTE}][^{_QUOTE}\n]{{1,64}}[{_QUOTE}]\s*[:：])")
"""A bracket with a key behind it; any other is a bracket of prose."""
_STRING = r'"(?:[^"\\]++|\\.)*+"?'
_BRACKETS = re.compile(rf"{_STRING}|[\[{{\]}}]", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[\]}}])", re.DOTALL)
_NOTHING_LEFT = re.compile(r"[\\\w.+-]{0,6}\s*(?:```\s*)?\Z")
"""The end of the text, or the beginning of a number, a word or an escape that ends with it."""
_HALF = re.compile("[\ud800-\udfff]")
_CUT_OFF = "; the text is cut off"
_QUOTES = "; write keys and texts in double quotes"
_ODD_QUOTES = tuple("'“”‘’")

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class ReadObject(Struct, frozen=True):
    """A JSON object, or an array, and where it stands."""

    start: int
    end: int
    value: Any


class BrokenObject(Struct, frozen=True):
    """What begins like a JSON object and cannot be read, up to where it closes, if it does."""

    start: int
    end: int
    fault_at: int
    fact: str
    remedy: str = ""

    @property
    def cut_off(self) -> bool:
        return self.remedy == _CUT_OFF

    def why(self, text: str) -> str:
        """The fault and its place in words."""
        return f"{self.fact} at {place_in(text, self.fault_at)}{self.remedy}"


def complete_object(text: str) -> dict[str, Any] | None:
    """The object that a text is, where nothing is wrong with it: the quick way.

    Each key is written with a colon, so a duplicate shows as a colon that the object, written
    again, does not have; an escaped colon could make up for it.
    """
    try:
        value = _decode(text)
    except (ValueError, RecursionError):
        return None
    if type(value) is not dict or "\\u003" in text:
        return None
    return value if text.count(":") == _encode(value).count(b":") else None


def objects_in(text: str) -> Iterator[ReadObject | BrokenObject]:
    """The outermost objects of a text, in order. What stands in a broken one is not looked at.

    Each character is read a few times, whatever the text: the next search begins where the last
    object ends.
    """
    begun = _BEGUN.search(text)
    while begun:
        found = read_at(text, begun.start())
        yield found
        begun = _BEGUN.search(text, found.end)


def read_at(text: str, start: int) -> ReadObject | BrokenObject:
    """The object or array that begins at a place.

    Two slips leave no doubt about what is meant, and are read: a line break or another control
    character that is not escaped, and a comma before a closing bracket.
    """
    end = _end_of(text, start)
    written = text[start:end]
    value = _value_of(written)
    if isinstance(value, BrokenObject):
        value = _value_of(_TRAILING_COMMA.sub(lambda match: match[1] or " ", written))
    if isinstance(value, BrokenObject):
        moved = {"start": start, "end": end, "fault_at": start + value.fault_at}
        return msgspec.structs.replace(value, **moved)
    return ReadObject(start, end, value)


def place_in(text: str, at: int) -> str:
    """A place in words, both numbers from 1.

    >>> place_in("Sure:\\n{x", 6)
    'line 2, column 1'
    """
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def _value_of(written: str) -> Any:
    """The value that is written, or what is broken about it, as if it began a text."""
    try:
        value = _LENIENT.decode(written)
        if _HALF.search(json.dumps(value, ensure_ascii=False)):
            raise JsonFault("half a character (a lone surrogate)")
        return value
    except json.JSONDecodeError as error:
        fact = f"not JSON: {error.msg[:1].lower()}{error.msg[1:].removesuffix(' at')}"
        return BrokenObject(0, len(written), error.pos, fact, _remedy(error, written))
    except JsonFault as fault:
        fact = fault.fact
    except RecursionError:
        fact = "brackets nested too deeply"
    except ValueError:  # Python converts at most some thousand digits
        fact = "a number out of range"
    return BrokenObject(0, len(written), 0, f"{fact}, in the JSON that begins")


def _remedy(error: json.JSONDecodeError, written: str) -> str:
    if error.msg.startswith("Unterminated") or _NOTHING_LEFT.match(written, error.pos):
        return _CUT_OFF
    return _QUOTES if written.startswith(_ODD_QUOTES, error.pos) else ""


def _end_of(text: str, start: int) -> int:
    """Past the bracket that closes the one at `start`, or the end of the text."""
    depth = 0
    for match in _BRACKETS.finditer(text, start):
        if match[0] in "[{":
            depth += 1
        elif match[0] in "]}":
            depth -= 1
            if depth == 0:
                return match.end()
    return len(text)


_LENIENT = json.JSONDecoder(
    strict=False,
    object_pairs_hook=without_duplicates,
    parse_constant=no_constant,
    parse_float=finite,
)
