"""Measured answers as history keeps them: with the contexts their sentences are held against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.trace import Trace


def kept_rows(rows: Iterable[AnswerRow]) -> Iterator[tuple[str, KeptAnswer]]:
    """Each row under its id; what is right stands under `extra.references`."""
    for row in rows:
        yield row.id, KeptAnswer(trace=_trace(row), where=row.where or None)


def _trace(row: AnswerRow) -> Trace:
    contexts = row.contexts
    return Trace(
        qid=row.id,
        q=row.question,
        answer=row.answer,
        status="error" if row.answer is None else "ok",
        citations=row.cited,
        retrieved_ids=None if contexts is None else tuple(one.id for one in contexts),
        retrieved=(
            None
            if contexts is None
            else tuple({"id": one.id, "text": one.text} for one in contexts)
        ),
        extra={"references": row.references} if row.references else {},
    )
