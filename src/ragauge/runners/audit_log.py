"""Audited answers as entries of the serving log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import structs

from ragauge.citations.joining import cited_id
from ragauge.citations.log_line import entries_of, format_line
from ragauge.contracts.citation import Citation
from ragauge.contracts.serving_log import MOST, LogEntry
from ragauge.errors import InputRejected
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


@contextmanager
def logged(
    log: str | None, to_db: str | None, run: str | None
) -> Iterator[Callable[[list[LogEntry]], None]]:
    """A function that takes log entries, to a file, to a database under a run, both or neither.

    Nothing is there before the end: an error leaves no log.
    """
    from ragauge.store.files import whole
    from ragauge.store.serving_log import write_entries

    kept: list[LogEntry] = []
    if log is None:
        yield kept.extend if to_db else lambda entries: None
        if to_db and run:
            write_entries(to_db, run, _last_of_each(kept))
        return
    with whole(Path(log)) as part, part.open("w", encoding="utf-8") as file:

        def write(entries: list[LogEntry]) -> None:
            file.writelines(f"{format_line(entry)}\n" for entry in entries)
            if to_db:
                kept.extend(entries)

        yield write
        if to_db and run:
            write_entries(to_db, run, _last_of_each(kept))


def where_to_log(to_db: str | None, run: str | None) -> list[str]:
    """What is wrong with the place of the log entries; raises where the place cannot be one."""
    from ragauge.store.places import located

    if to_db is not None and not run:
        return ["--to-db needs the run; name it with --run"]
    if to_db is not None:
        located(to_db)
    return []


def written_at(traces: Sequence[str]) -> datetime:
    """The time of a trace that has none: its file's, so that the same file gives the same log."""
    try:
        seconds = Path(traces[0]).stat().st_mtime
    except OSError:  # standard input
        seconds = time.time()
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InputRejected(
            f"{traces[0]}: has no date that a log can hold ({error}); set the clock, and the "
            "file's time with `touch`"
        ) from error


def _last_of_each(entries: Sequence[LogEntry]) -> list[LogEntry]:
    """The entries of each question's last trace: the table has one place for each segment."""
    last: dict[str, list[LogEntry]] = {}
    for entry in entries:
        if entry.seg == 1:
            last[entry.qid] = []
        last[entry.qid].append(entry)
    return [entry for segments in last.values() for entry in segments]


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
