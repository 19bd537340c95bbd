"""The log line: one physical line for each question and segment, written and read back."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Any

import msgspec

from ragauge.contracts.citation import Citation
from ragauge.contracts.manifest import bare_hash
from ragauge.contracts.serving_log import LISTS, REQUIRED, LogEntry, faults_of
from ragauge.errors import InputRejected
from ragauge.text.citations import id_of
from ragauge.text.visible import one_line

SHOWN = 40
"""Characters of a foreign word that a message shows."""
QUOTED = r'"(?:[^"\\]++|\\.)*+"'

_MEMBER = re.compile(rf'\s*+({QUOTED}|[^\s",\[\]]++)\s*+([,\]])')
_BARE = re.compile(r"""[^\s"'\[\],=\\]++""")
_BEYOND_ASCII = re.compile(r"[^ -~]")
_COUNT = re.compile(r"[0-9]++")
_SEGMENT = re.compile(r"(?:s|seg|segment)[-_#]?(?=[0-9])", re.IGNORECASE)
"""What some programs write before the number of a segment."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


STATES = {"→": "convergent", "←": "divergent", "<>": "recursive", "×": "chaotic"}
"""How other logs write λ; quoted, each is the text it is."""
_NOTHING = frozenset({"null", "none"})
_NOTHING_KNOWN = _NOTHING | {"-", "na", "n/a"}


class UnreadablePart(Exception):
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
    if not isinstance(value, str):
        return repr(value)
    # Text is bare where that can be read back, else JSON with nothing unseen in it.
    special = value in STATES or value.lower() in _NOTHING_KNOWN
    if _BARE.fullmatch(value) and value.isprintable() and not special:
        return value
    return _BEYOND_ASCII.sub(
        lambda match: match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1],
        json.dumps(value, ensure_ascii=False),
    )


def read(field: str, value: str | None, place: int) -> Any:
    """The value of a field as it stands in a line at a place; raises Unreadable."""
    if value is None:
        raise UnreadablePart(place, "no closing quote or bracket, with a blank after it; close it")
    required = field in REQUIRED
    if not value and required:
        raise UnreadablePart(place, 'no value; write one, or "" for the empty text')
    if not required and (not value or value.lower() in _NOTHING_KNOWN):
        return None
    if value.startswith("[") is not (field in LISTS):
        shape = (
            "a list; write one, such as [1,2]"
            if field in LISTS
            else "one value; quote a text that begins with ["
        )
        raise UnreadablePart(place, f"{one_line(value, SHOWN)} is not {shape}")
    if field not in LISTS:
        return _read_word(field, value, place)
    members: list[Any] = []
    position = 1 if value[1:-1].strip() else len(value)
    while position < len(value):
        member = _MEMBER.match(value, position)
        if member is None:
            words = 'a list is words or quoted texts with commas between, such as [a,"b c"]'
            raise UnreadablePart(place + position, f"cannot be read; {words}")
        members.append(_read_word(field, member[1], place + member.start(1)))
        position = member.end()
    return tuple(members)


def _read_word(field: str, word: str, place: int) -> Any:
    if word.startswith("'"):
        raise UnreadablePart(place, f"{one_line(word, SHOWN)} is in single quotes; use double ones")
    if word.startswith('"'):
        try:
            text = json.loads(word, strict=False)
        except ValueError as error:
            raise UnreadablePart(place, f"is no JSON text: {error}; escape \\ as \\\\") from None
    elif word.lower() in (_NOTHING if field in (*REQUIRED, "citations") else _NOTHING_KNOWN):
        return None
    else:
        text = STATES.get(word, word) if field == "lambda_state" else word
    reader, expected = _READERS.get(field, (str, ""))
    try:
        return reader(text)
    except ValueError:
        raise UnreadablePart(place, f'"{one_line(text, SHOWN)}" is not {expected}') from None


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
    "seg": (
        lambda text: _count(_SEGMENT.sub("", text, count=1)),
        "a whole number; segments count from 1",
    ),
    "deltaS": _NUMBERS,
    "k": _COUNTS,
    "scores": _NUMBERS,
    "kpos": _COUNTS,
    "kfinal": _COUNTS,
}
"""What is not text, by field: how it is read, and what to write where that fails."""


Payload = Citation | Mapping[str, Any] | str
"""What is known of a citation: all of it, some of it, or only its id."""

FIELDS = {
    "ts": "ts",
    "qid": "qid",
    "seg": "seg",
    "deltaS": "deltaS",
    "lambda": "lambda_state",
    "k": "k",
    "store": "store",
    "index_hash": "index_hash",
    "embed": "embed_model",
    "analyzer": "analyzer",
    "citations": "citations",
    "scores": "scores",
    "kpos": "kpos",
    "kfinal": "kfinal",
    "section_id": "section_id",
    "rev": "rev",
}
"""The keys of a line in their order, and the field of an entry each stands for."""

ALIASES = {
    **dict.fromkeys(("ΔS", "delta_s", "delta_S", "deltas"), "deltaS"),
    **dict.fromkeys(("λ", "lambda_state", "lambda_observe"), "lambda"),
    **{"embed_model": "embed", "k_pos": "kpos", "k_final": "kfinal"},
}
"""Keys as other programs write them."""
_KEYS = {field: key for key, field in FIELDS.items()}
_AGREED = ("embed_model", "analyzer", "section_id", "rev")
_TYPES = {field.name: field.type for field in msgspec.structs.fields(Citation)}

_LISTED = rf'\[(?:[^"\[\]]++|{QUOTED})*+\]'
_VALUE = re.compile(rf'(?:{QUOTED}|{_LISTED}|[^\s"\[]\S*+|)(?!\S)')
_WORD = re.compile(r"\S++")
_KEY = re.compile(r"([^\s=]++)=")
_NEXT = re.compile(rf"\s(?:{'|'.join((*FIELDS, *ALIASES))})=")


def format_line(entry: LogEntry) -> str:
    """The entry on one physical line; its run is not in it.

    >>> from datetime import UTC
    >>> entry = LogEntry(ts=datetime(2025, 8, 28, tzinfo=UTC), qid="q 7", seg=1, deltaS=0.5)
    >>> format_line(entry).partition(" k=")[0]
    'ts=2025-08-28T00:00:00Z qid="q 7" seg=1 deltaS=0.5 lambda=null'
    """
    return " ".join(f"{key}={written(getattr(entry, field))}" for key, field in FIELDS.items())


def parse_line(text: str) -> LogEntry:
    """The entry of a log line; raises InputRejected with all that is wrong, by column."""
    first, *more = text.strip().splitlines() or [""]
    if more:
        place = text.index(first) + len(first)
        raise InputRejected(
            f"column {place + 1}: the line ends here, and more follows; give one line at a time"
        )
    problems: list[UnreadablePart] = []
    places: dict[str, int] = {}
    fields: dict[str, Any] = {}
    for place, name, value in _parts(text, problems):
        key = ALIASES.get(name, name)
        try:
            if key not in FIELDS:
                names = ", ".join(FIELDS)
                raise UnreadablePart(
                    place, f"{one_line(key, SHOWN)} is no key; the keys are {names}"
                )
            if key in places:
                before = places[key] + 1
                raise UnreadablePart(place, f"{key} stands in column {before} already; keep one")
            places[key] = place
            fields[FIELDS[key]] = read(FIELDS[key], value, place + len(name) + 1)
        except UnreadablePart as problem:
            problems.append(problem)
    for name in LISTS:  # citations come first: a list that is not known has None for each
        if name in fields and fields[name] is None:
            fields[name] = (None,) * len(fields.get("citations") or ())
    if missing := [key for key in FIELDS if key not in places]:
        words = f"{', '.join(missing)}: missing; write null for what is not known"
        problems.append(UnreadablePart(len(text.rstrip()), words))
    for field, words in faults_of(fields):
        problems.append(UnreadablePart(places[_KEYS[field]], f"{_KEYS[field]}: {words}"))
    if problems:
        problems.sort(key=lambda problem: problem.place)
        raise InputRejected(*map(str, problems))
    return LogEntry(**fields)


def entry(
    qid: str,
    seg: int,
    payloads: Sequence[Payload],
    *,
    ts: datetime,
    k: int | None,
    store: str | None = None,
    deltaS: float | None = None,  # noqa: N803 (the line's own word)
    lambda_state: str | None = None,
) -> LogEntry:
    """The entry of one segment; what its payloads do not all tell alike is None.

    Its scores are of one kind: that which more payloads have, `score_norm` before `score_raw`.
    """
    hashes = [_told(payload, "index_hash") for payload in payloads]
    stores = [prefix for hash in hashes if hash and (prefix := hash.rpartition(":")[0])]
    kinds = [
        tuple(_told(payload, name) for payload in payloads) for name in ("score_norm", "score_raw")
    ]
    return LogEntry(
        ts=ts,
        qid=qid,
        seg=seg,
        deltaS=deltaS,
        lambda_state=lambda_state,
        k=k,
        store=store or _agreed(stores),
        index_hash=_agreed([hash and bare_hash(hash) for hash in hashes]),
        citations=tuple(
            one.snippet_id if isinstance(one, Citation) else id_of(one) or "" for one in payloads
        ),
        scores=max(kinds, key=lambda scores: sum(score is not None for score in scores)),
        kpos=tuple(_told(payload, "k_pos") for payload in payloads),
        kfinal=tuple(_told(payload, "k_final") for payload in payloads),
        **{name: _agreed([_told(payload, name) for payload in payloads]) for name in _AGREED},
    )


def entries_of(
    qid: str,
    segments: Sequence[Sequence[Payload]],
    *,
    ts: datetime,
    k: int | None,
    store: str | None = None,
    deltaS: float | None = None,  # noqa: N803
    lambda_state: str | None = None,
) -> list[LogEntry]:
    """The entries of an answer, one for each segment's payloads; an answer without is one."""
    return [
        entry(qid, seg, cited, ts=ts, k=k, store=store, deltaS=deltaS, lambda_state=lambda_state)
        for seg, cited in enumerate(segments, 1)
    ]


def _parts(text: str, problems: list[UnreadablePart]) -> Iterator[tuple[int, str, str | None]]:
    """Each key with its place and its value as it stands; None where the value has no end."""
    place = 0
    while word := _WORD.search(text, place):
        key = _KEY.match(text, word.start())
        if key is None:
            words = f"{one_line(word[0], SHOWN)} has no key; quote texts that have blanks"
            problems.append(UnreadablePart(word.start(), words))
            place = word.end()
            continue
        value = _VALUE.match(text, key.end())
        if value is None:
            after = _NEXT.search(text, key.end())
            place = after.start() if after else len(text)
        else:
            place = value.end()
        yield key.start(), key[1], value and value[0]


def _told(payload: Payload, name: str) -> Any:
    """What a payload tells of a field; None where it is absent, blank or not of its kind."""
    if isinstance(payload, str):
        return None
    value = getattr(payload, name) if isinstance(payload, Citation) else payload.get(name)
    try:
        told = msgspec.convert(value, _TYPES[name])
    except msgspec.ValidationError:
        return None
    blank = isinstance(told, str) and not told.strip()
    endless = isinstance(told, float) and not math.isfinite(told)
    return None if blank or endless else told


def _agreed(values: Sequence[str | None]) -> str | None:
    """The one value there is; None where there is none, or more than one."""
    found = set(values)
    return found.pop() if len(found) == 1 else None
