"""Faults of what an answer cites: the wrong chunk, nobody's, none, or one too many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragauge.demo.call import Answer, Call
from ragauge.demo.faults import luck


def miscited(answer: Answer, call: Call) -> Answer:
    """The answer citing one wrong chunk: a neighbour of the right one, or one not retrieved."""
    cited: Sequence[str] = answer.get("citations") or ()
    known, retrieved = call.index.numbers, {one.chunk.id for one in call.shown}
    right = {id.partition("#")[0] for id in cited}
    beside = [id for id in known if id not in cited and id.partition("#")[0] in right]
    strange = [id for id in known if id not in cited and id not in retrieved]
    drawn = luck("citation", "wrong_citations", call.ask)
    wrong = (beside or strange) if drawn < 0.5 else (strange or beside)
    return {**answer, "citations": [wrong[int(2 * drawn % 1 * len(wrong))]] if wrong else []}


def invented(answer: Answer, call: Call) -> Answer:
    """The answer citing ids that look right and are nobody's."""
    number = 2 + int(8 * luck("id", "invented_citations", call.ask))
    cited: Sequence[str] = answer.get("citations") or ()
    return {**answer, "citations": [_nobodys(id, number, call.index.numbers) for id in cited]}


def _nobodys(id: str, number: int, known: Mapping[str, int]) -> str:
    """
    >>> _nobodys("louvre#history", 2, {"louvre#history": 0, "louvre#history-2": 1})
    'louvre#history-3'
    """
    while f"{id}-{number}" in known:
        number += 1
    return f"{id}-{number}"


def uncited(answer: Answer, call: Call) -> Answer:
    """The answer without citations."""
    return {**answer, "citations": []}


def of_another_section(
    cited: Sequence[str], retrieved: Sequence[dict[str, Any]]
) -> dict[str, Any] | None:
    """The best payload of a section that none of the cited chunks stands in, if there is one."""
    sections = {_section(one) for one in retrieved if one["snippet_id"] in cited}
    others = (one for one in retrieved if _section(one) not in sections)
    return next(others, None) if sections else None


def _section(payload: Mapping[str, Any]) -> tuple[str, str]:
    return payload["doc_id"], payload["section_id"]
