"""The words of a log line: how a value is written, so that it is read back as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time
from typing import Any

from ragauge.contracts.serving_log import LISTS, REQUIRED
from ragauge.text.visible import one_line

SHOWN = 40
"""Characters of a foreign word that a message shows."""
QUOTED = r'"(?:[^"\\]++|\\.)*+"'

_MEMBER = re.compile(rf'\s*+({QUOTED}|[^\s",\[\]]++)\s*+([,\]])')
_BARE = re.compile(r"""[^\s"'\[\],=\\]++""")
_BEYOND_ASCII = re.compile(r"[^ -~]")
_COUNT = re.compile(r"[0-9]++")
_SEGMENT = re.compile(r"(?:s|seg|segment)[-_#]?(?=[0-9])", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


STATES = {"→": "convergent", "←": "divergent", "<>": "recursive", "×": "chaotic"}
"""How other logs write λ; quoted, each is the text it is."""
_NOTHING = frozenset({"null", "none"})
_NOTHING_KNOWN = _NOTHING | {"-", "na", "n/a"}


class Unreadable(Exception):
    """A part of a line that cannot be read: where it stands, from 0, and why."""

    def __init__(self, place: int, words: str) -> None:
        super().__init__(f"column {place + 1}: {words}")
        self.place = place


def written(value: Any) -> str:
    """A value of an entry as its line has it, on one physical line whatever it is.

    >>> written(None), written("faiss"), written(("a", "b, c")), written(0.5)
    ('null', 'faiss', '[a,"b, c"]', '0.5')
    """
    if value is None:
        return "null"
    if isinstance(value, tuple):
        return f"[{','.join(map(written, value))}]"
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return _text(value) if isinstance(value, str) else repr(value)


def _text(text: str) -> str:
    """The text bare where that can be read back, else as JSON, with nothing unseen in it."""
    special = text in STATES or text.lower() in _NOTHING_KNOWN
    if _BARE.fullmatch(text) and text.isprintable() and not special:
        return text
    return _BEYOND_ASCII.sub(_seen, json.dumps(text, ensure_ascii=False))


def _seen(match: re.Match[str]) -> str:
    return match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1]


def read(field: str, value: str | None, place: int) -> Any:
    """The value of a field as it stands in a line at a place; raises Unreadable."""
    if value is None:
        raise Unreadable(place, "no closing quote or bracket, with a blank after it; close it")
    required = field in REQUIRED
    if not value and required:
        raise Unreadable(place, 'no value; write one, or "" for the empty text')
    if not required and (not value or value.lower() in _NOTHING_KNOWN):
        return None
    if value.startswith("[") is not (field in LISTS):
        shape = (
            "a list; write one, such as [1,2]"
            if field in LISTS
            else "one value; quote a text that begins with ["
        )
        raise Unreadable(place, f"{one_line(value, SHOWN)} is not {shape}")
    if field in LISTS:
        return tuple(_read_word(field, word, at) for at, word in _members(value, place))
    return _read_word(field, value, place)


def _members(value: str, place: int) -> Iterator[tuple[int, str]]:
    """The words of a list, each with its place in the line."""
    position = 1
    if not value[1:-1].strip():
        return
    while position < len(value):
        member = _MEMBER.match(value, position)
        if member is None:
            words = 'a list is words or quoted texts with commas between, such as [a,"b c"]'
            raise Unreadable(place + position, f"cannot be read; {words}")
        yield place + member.start(1), member[1]
        position = member.end()


def _read_word(field: str, word: str, place: int) -> Any:
    if word.startswith("'"):
        raise Unreadable(place, f"{one_line(word, SHOWN)} is in single quotes; use double ones")
    if word.startswith('"'):
        try:
            text = json.loads(word, strict=False)
        except ValueError as error:
            raise Unreadable(place, f"is no JSON text: {error}; escape \\ as \\\\") from None
    elif word.lower() in (_NOTHING if field in (*REQUIRED, "citations") else _NOTHING_KNOWN):
        return None
    else:
        text = STATES.get(word, word) if field == "lambda_state" else word
    reader, expected = _READERS.get(field, (str, ""))
    try:
        return reader(text)
    except ValueError:
        raise Unreadable(place, f'"{one_line(text, SHOWN)}" is not {expected}') from None


def _segment(text: str) -> int:
    """The number of a segment; some programs write s1."""
    return _count(_SEGMENT.sub("", text, count=1))


def _count(text: str) -> int:
    if not _COUNT.fullmatch(text):
        raise ValueError
    return int(text)


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise ValueError
    return float(text)


def _moment(text: str) -> datetime:
    """The time; a date alone is its first moment, and a time without a zone is in UTC."""
    try:
        return datetime.combine(date.fromisoformat(text), time(), UTC)
    except ValueError:
        moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


_COUNTS = (_count, "a whole number; write one, or null where there is none")
_NUMBERS = (_number, "a number; write one, or null where there is none")
_READERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "ts": (_moment, "a time; write it in UTC, such as 2025-08-28T09:30:00Z"),
    "seg": (_segment, "a whole number; segments count from 1"),
    "deltaS": _NUMBERS,
    "k": _COUNTS,
    "scores": _NUMBERS,
    "kpos": _COUNTS,
    "kfinal": _COUNTS,
}
"""What is not text, by field: how it is read, and what to write where that fails."""
