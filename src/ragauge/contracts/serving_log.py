"""An entry of a serving log: one answered question, or one segment of its answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from numbers import Integral, Real
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, force_setattr

from ragauge.errors import InputRejected

MOST = 2**31 - 1
"""The largest count a table's column holds."""
LISTS = ("citations", "scores", "kpos", "kfinal")
REQUIRED = ("ts", "qid", "seg")


class LogEntry(Struct, frozen=True, kw_only=True):
    """What a serving system notes of a segment: where its citations come from, and their ranks.

    Whatever is not known is None. An entry that could not be written is refused when it is made.
    """

    ts: datetime
    """When the question was answered; kept in UTC."""
    qid: str
    seg: int
    """Which segment of the answer, from 1; an answer without segments is one."""
    deltaS: float | None = None
    lambda_state: str | None = None
    k: int | None = None
    """How many chunks were retrieved."""
    store: str | None = None
    index_hash: str | None = None
    """Without the name of its store."""
    embed_model: str | None = None
    analyzer: str | None = None
    citations: tuple[str, ...] = ()
    """The ids of what is cited; the three lists below have a place for each."""
    scores: tuple[float | None, ...] = ()
    kpos: tuple[int | None, ...] = ()
    """The places before reranking."""
    kfinal: tuple[int | None, ...] = ()
    """The places after it."""
    section_id: str | None = None
    rev: str | None = None
    run: str | None = None
    """Whatever the serving system calls its run: the table has it, a log line does not."""

    def __post_init__(self) -> None:
        given = asdict(self)
        faults = faults_of(given)
        if faults:
            place = f"log entry {self.qid!r:.80}, segment {self.seg!r}"
            raise InputRejected(*(f"{place}: {field}: {words}" for field, words in faults))
        for name, value in given.items():
            force_setattr(self, name, _plain(name, value))


def faults_of(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is wrong with fields of an entry, as field and words; fields not given are not missed.

    >>> faults_of({"qid": "q1", "citations": ["c1", "c2"], "scores": [0.5]})
    [('scores', 'has 1 and citations 2; write one for each citation, null where there is none')]
    """
    faults = [(name, words) for name, value in given.items() for words in _faults(name, value)]
    sizes = {name: len(given[name]) for name in LISTS if _is_list(given.get(name))}
    cited = sizes.pop("citations", None)
    faults += [
        (name, f"has {size} and citations {cited}; {_EACH}")
        for name, size in sizes.items()
        if cited is not None and size != cited
    ]
    return faults


_EACH = "write one for each citation, null where there is none"
_ABSENT = "write null where there is none"


def _faults(name: str, value: Any) -> list[str]:
    look = _KINDS[name].look
    if name not in LISTS:
        absent = value is None and name not in REQUIRED
        words = None if absent else look(value)
        return [words] if words else []
    if not _is_list(value):
        return [f"is {type(value).__name__}, not a list; {_EACH}"]
    found = [
        (place, look(member))
        for place, member in enumerate(value)
        if member is not None or name == "citations"
    ]
    return [f"[{place}] {words}" for place, words in found if words]


def _moment(value: Any) -> str | None:
    if not isinstance(value, datetime):
        return f"{value!r:.40} is no time; write it in UTC, such as 2025-08-28T09:30:00Z"
    if value.utcoffset() is None:
        return f"{value.isoformat()} has no zone; write it in UTC, with Z at the end"
    try:
        value.astimezone(UTC)
    except OverflowError:
        return f"{value.isoformat()} is outside the years 1 to 9999 in UTC; look at its clock"
    return None


def _text(value: Any) -> str | None:
    if not isinstance(value, str):
        return f"{value!r:.40} is no text; write it as text"
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"{value!r:.40} has half a character, a lone surrogate; decode it as UTF-8"
    return None


def _number(value: Any) -> str | None:
    if not isinstance(value, Real) or isinstance(value, bool):
        return f"{value!r:.40} is no number; {_ABSENT}"
    try:
        finite = math.isfinite(float(value))
    except OverflowError:
        finite = False
    return None if finite else f"is not finite; {_ABSENT}"


def _count(value: Any) -> str | None:
    if not isinstance(value, Integral) or isinstance(value, bool):
        return f"{value!r:.40} is no whole number; {_ABSENT}"
    if not 0 <= int(value) <= MOST:
        return f"is outside 0 to {MOST:,}; look where it is counted"
    return None


def _segment(value: Any) -> str | None:
    wrong = _count(value) or not value
    return f"is no whole number from 1 to {MOST:,}; segments count from 1" if wrong else None


class _Kind(Struct, frozen=True):
    look: Callable[[Any], str | None]
    """What is wrong with a value, None where nothing is."""
    make: Callable[[Any], Any]
    """The value as entries hold it: UTC, and Python's own numbers."""


_TEXT = _Kind(_text, str)
_NUMBER = _Kind(_number, float)
_COUNT = _Kind(_count, int)
_KINDS = {
    **dict.fromkeys(LogEntry.__struct_fields__, _TEXT),
    "ts": _Kind(_moment, lambda moment: moment.astimezone(UTC)),
    "seg": _Kind(_segment, int),
    "deltaS": _NUMBER,
    "k": _COUNT,
    "scores": _NUMBER,
    "kpos": _COUNT,
    "kfinal": _COUNT,
}


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _plain(name: str, value: Any) -> Any:
    make = _KINDS[name].make
    if name in LISTS:
        return tuple(None if member is None else make(member) for member in value)
    return None if value is None else make(value)
