"""What was retrieved for an answer, in the order of its ranks, whatever its payloads look like."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ragauge.citations.joining import cited_id
from ragauge.citations.payload import read_fields, told
from ragauge.contracts.citation import Offsets
from ragauge.contracts.trace import Trace
from ragauge.dashboard.pages.cited_text import web_address
from ragauge.ingest.answered.written_lists import TEXTS
from ragauge.text.canonical import composed

MOST_CHUNKS = 200
"""Of an answer; a page with more is read by nobody."""
LONGEST_TEXT = 20_000
"""Characters of a chunk that are shown, and that an answer is held against."""
NORMAL = "score_norm"
"""The score that goes from 0 to 1."""
SCORES = ("score_raw", NORMAL, "rerank_score")
_SHOWN_APART = {*SCORES, *TEXTS, "k_pos", "k_final", "source_url", "offsets", "snippet_id"}
_MOST_FIELDS = 24


class Score(Struct, frozen=True):
    """A score of a chunk."""

    name: str
    written: str
    value: float | None
    """None where it is no number."""
    share: float | None
    """Of the highest score of that name, of a normal one of 1; None where there is none."""


class Chunk(Struct, frozen=True, kw_only=True):
    """A retrieved chunk, as far as its trace tells it."""

    place: int
    """From 1, as the trace lists it: what the marker [1] names."""
    id: str | None
    text: str | None
    is_cut: bool
    """Its text goes on beyond what is shown."""
    doc_id: str | None
    rev: str | None
    offsets: Offsets | None
    """None where they are absent, or no place."""
    k_pos: int | None
    k_final: int | None
    scores: tuple[Score, ...]
    source: str
    web: str | None
    """The source where a browser may be sent there."""
    fields: tuple[tuple[str, str], ...]
    """What else the payload says."""
    gold: bool = False

    @property
    def rank(self) -> int:
        """The final one, else the one it was retrieved at, else its place in the list."""
        told = self.k_pos if self.k_final is None else self.k_final
        return self.place if told is None else told

    @property
    def before(self) -> int | None:
        """Its rank before reranking; None where the trace does not tell of both."""
        return None if self.k_final is None else self.k_pos

    @property
    def moved(self) -> int | None:
        """How many places up reranking took it; None where the trace does not tell."""
        return None if self.before is None else self.before - self.rank


def retrieved_by(trace: Trace) -> list[Any]:
    """What a trace says was retrieved, best first: payloads, and ids for the rest."""
    payloads: list[Any] = [*(trace.retrieved or ())]
    known = {cited_id(one) for one in payloads}
    return [*payloads, *(id for id in trace.retrieved_ids or () if id not in known)]


def chunks_of(trace: Trace, gold_ids: Collection[str]) -> list[Chunk]:
    """The chunks, by their final rank, else by the one before reranking, else as listed."""
    wanted = frozenset(map(composed, gold_ids))
    raw = retrieved_by(trace)[:MOST_CHUNKS]
    names = _score_names(raw)
    tops = {name: _top(raw, name) for name in names}
    chunks = [_chunk(one, place, names, tops, wanted) for place, one in enumerate(raw, 1)]
    return sorted(chunks, key=lambda one: (_last(one.k_final), _last(one.k_pos), one.place))


def _chunk(
    raw: Any,
    place: int,
    names: Sequence[str],
    tops: Mapping[str, float],
    wanted: Collection[str],
) -> Chunk:
    written: Mapping[str, Any] = raw if isinstance(raw, dict) else {}
    fields, id = read_fields(written).fields, cited_id(raw)
    scores = [(name, written[name]) for name in names if written.get(name) is not None]
    source, text = written.get("source_url"), _text(written)
    return Chunk(
        place=place,
        id=id,
        text=None if text is None else text[:LONGEST_TEXT],
        is_cut=len(text or "") > LONGEST_TEXT,
        doc_id=fields.get("doc_id"),
        rev=fields.get("rev"),
        offsets=fields.get("offsets"),
        k_pos=fields.get("k_pos"),
        k_final=fields.get("k_final"),
        scores=tuple(_score(name, value, tops[name]) for name, value in scores),
        source="" if source is None else str(told(source)),
        web=web_address(source),
        fields=_others(written, names),
        gold=id is not None and composed(id) in wanted,
    )


def _text(written: Mapping[str, Any]) -> str | None:
    texts = (written[name] for name in TEXTS if isinstance(written.get(name), str))
    return next((text for text in texts if text.strip()), None)


def _score_names(raw: Sequence[Any]) -> list[str]:
    """The scores there are: those that every payload may have, then what else is called so."""
    keys = dict.fromkeys(key for one in raw if isinstance(one, dict) for key in one)
    others = sorted(key for key in keys if "score" in key.lower() and key not in SCORES)
    return [*(name for name in SCORES if name in keys), *others][:_MOST_FIELDS]


def _top(raw: Sequence[Any], name: str) -> float:
    if name == NORMAL:
        return 1.0
    given = [one[name] for one in raw if isinstance(one, dict) and name in one]
    return max((float(value) for value in given if _is_number(value)), default=0.0)


def _score(name: str, value: Any, top: float) -> Score:
    if not _is_number(value):
        return Score(name, str(told(value)), None, None)
    share = value / top if top > 0 and value >= 0 else None
    return Score(name, f"{value:.6g}", value, share)


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and abs(value) < 1e300


def _others(written: Mapping[str, Any], names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    kept = [key for key in written if key not in _SHOWN_APART and key not in names]
    told_fields = ((key, told(written[key])) for key in kept[:_MOST_FIELDS])
    return tuple((key, str(value)) for key, value in told_fields if value is not None)


def _last(place: int | None) -> float:
    return math.inf if place is None else place
