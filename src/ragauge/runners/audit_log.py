"""Audited answers as entries of the serving log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from msgspec import structs

from ragauge.citations.joining import cited_id
from ragauge.citations.log_line import entries_of
from ragauge.contracts.citation import Citation
from ragauge.contracts.serving_log import MOST, LogEntry
from ragauge.runners.auditing import Audited


def log_entries(qid: str, one: Audited, now: datetime) -> list[LogEntry]:
    """One entry a segment, with the trace's own time, or `now` where it has none.

    A run of a sweep is known by its run id: there are many of one question.
    """
    by_id = {payload.snippet_id: _held(payload) for payload in one.examined.cited}
    retrieved = one.made.retrieved_ids
    segments: list[list[Any]] = [[by_id.get(id, id) for id in ids] for ids in _segment_ids(one)]
    return entries_of(
        one.made.trace.run_id or qid,
        segments,
        ts=_moment(one.made.trace.ts) or now,
        k=None if retrieved is None else len(retrieved),
        deltaS=one.facts.deltaS.get("context"),
    )


def _segment_ids(one: Audited) -> list[list[str]]:
    """What each segment cites; after them, what only the answer's own list does."""
    segments = one.made.answer.segments
    if not segments:
        return [[*one.examined.ids]]
    cited = [[id for c in part.citations if (id := cited_id(c)) is not None] for part in segments]
    loose = {*one.examined.ids}.difference(*cited)
    return [*cited, [id for id in one.examined.ids if id in loose]] if loose else cited


def _held(payload: Citation) -> Citation:
    """The payload without places that no log can hold."""
    far = [name for name in ("k_pos", "k_final") if (getattr(payload, name) or 0) > MOST]
    return structs.replace(payload, **dict.fromkeys(far)) if far else payload


def _moment(ts: float | str | None) -> datetime | None:
    """The trace's own time, where it has one that can be read."""
    try:
        if isinstance(ts, str):
            moment = datetime.fromisoformat(ts)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        return None if ts is None else datetime.fromtimestamp(ts, UTC)
    except (ValueError, OverflowError, OSError):
        return None
