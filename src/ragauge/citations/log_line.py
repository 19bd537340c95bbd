"""The log line: one physical line for each question and segment, written and read back."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from ragauge.citations.log_words import QUOTED, SHOWN, Unreadable, read, written
from ragauge.contracts.citation import Citation
from ragauge.contracts.manifest import bare_hash
from ragauge.contracts.serving_log import LISTS, LogEntry, faults_of
from ragauge.errors import InputRejected
from ragauge.text.citations import id_of
from ragauge.text.visible import one_line

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
    _refuse_lines(text)
    problems: list[Unreadable] = []
    places: dict[str, int] = {}
    fields: dict[str, Any] = {}
    for place, name, value in _parts(text, problems):
        key = ALIASES.get(name, name)
        try:
            _refuse_key(key, place, places)
            places[key] = place
            fields[FIELDS[key]] = read(FIELDS[key], value, place + len(name) + 1)
        except Unreadable as problem:
            problems.append(problem)
    for name in LISTS:  # citations come first: a list that is not known has None for each
        if name in fields and fields[name] is None:
            fields[name] = (None,) * len(fields.get("citations") or ())
    if missing := [key for key in FIELDS if key not in places]:
        words = f"{', '.join(missing)}: missing; write null for what is not known"
        problems.append(Unreadable(len(text.rstrip()), words))
    for field, words in faults_of(fields):
        problems.append(Unreadable(places[_KEYS[field]], f"{_KEYS[field]}: {words}"))
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
    return LogEntry(
        ts=ts,
        qid=qid,
        seg=seg,
        deltaS=deltaS,
        lambda_state=lambda_state,
        k=k,
        store=store or _agreed(stores),
        index_hash=_agreed([hash and bare_hash(hash) for hash in hashes]),
        citations=tuple(_id(payload) for payload in payloads),
        scores=_scores(payloads),
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


def _refuse_lines(text: str) -> None:
    first, *more = text.strip().splitlines() or [""]
    if more:
        place = text.index(first) + len(first)
        raise InputRejected(
            f"column {place + 1}: the line ends here, and more follows; give one line at a time"
        )


def _parts(text: str, problems: list[Unreadable]) -> Iterator[tuple[int, str, str | None]]:
    """Each key with its place and its value as it stands; None where the value has no end."""
    place = 0
    while word := _WORD.search(text, place):
        key = _KEY.match(text, word.start())
        if key is None:
            words = f"{one_line(word[0], SHOWN)} has no key; quote texts that have blanks"
            problems.append(Unreadable(word.start(), words))
            place = word.end()
            continue
        value = _VALUE.match(text, key.end())
        if value is None:
            after = _NEXT.search(text, key.end())
            place = after.start() if after else len(text)
        else:
            place = value.end()
        yield key.start(), key[1], value and value[0]


def _refuse_key(key: str, place: int, places: Mapping[str, int]) -> None:
    if key not in FIELDS:
        names = ", ".join(FIELDS)
        raise Unreadable(place, f"{one_line(key, SHOWN)} is no key; the keys are {names}")
    if key in places:
        raise Unreadable(place, f"{key} stands in column {places[key] + 1} already; keep one")


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


def _id(payload: Payload) -> str:
    """The id that is cited, empty where there is none."""
    return payload.snippet_id if isinstance(payload, Citation) else id_of(payload) or ""


def _scores(payloads: Sequence[Payload]) -> tuple[float | None, ...]:
    kinds = [
        tuple(_told(payload, name) for payload in payloads) for name in ("score_norm", "score_raw")
    ]
    return max(kinds, key=lambda scores: sum(score is not None for score in scores))


def _agreed(values: Sequence[str | None]) -> str | None:
    """The one value there is; None where there is none, or more than one."""
    found = set(values)
    return found.pop() if len(found) == 1 else None
