"""The reply to a call: the answer, and its citations as pointers that can be checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.system import Ask
from ragauge.demo import faults
from ragauge.demo.answer import REFUSAL
from ragauge.demo.faults import Faults
from ragauge.demo.index import Index
from ragauge.demo.knobs import Knobs
from ragauge.demo.retrieve import Candidate, payload

Payloads = list[dict[str, Any]]
COPIED = ("section_id", "source_url", "offsets", "tokens")
"""What a model's citation repeats of the chunk, besides its id."""


class Call(Struct, frozen=True):
    """A call after its retrieval."""

    ask: Ask
    knobs: Knobs
    faults: Faults
    index: Index
    shown: Sequence[Candidate]
    retrieve_ms: float


def reply_of(call: Call, given: Mapping[str, Any], generate_ms: float) -> dict[str, Any]:
    """What is sent back for what a generator gave, gone wrong where a fault strikes."""
    retrieved = _retrieved(call)
    answer = _spoilt({key: part for key, part in given.items() if key != "segments"}, call)
    segments = _segments(given.get("segments", ()), answer, retrieved, call.index)
    return {
        "answer_json": answer,
        **({"segments": segments} if segments else {}),
        "retrieved_ids": [one.chunk.id for one in call.shown],
        "retrieved": retrieved,
        "stage_ms": {"retrieve": call.retrieve_ms, "generate": generate_ms},
    }


def _retrieved(call: Call) -> Payloads:
    """The payload of each chunk that was shown, with its text to compare."""
    made = [
        msgspec.to_builtins(payload(one, call.index)) | {"text": one.chunk.text}
        for one in call.shown
    ]
    if call.faults.strikes("stale_payloads", call.ask):
        made = faults.stale(made)
    if call.faults.strikes("drifted_offsets", call.ask):
        made = faults.drifted(made, call.ask)
    return made


def _spoilt(answer: dict[str, Any], call: Call) -> dict[str, Any]:
    """The answer, gone wrong where a fault strikes it."""
    ask, struck = call.ask, call.faults
    retrieved, known = [one.chunk.id for one in call.shown], list(call.index.numbers)
    refused = answer.get("claim") == REFUSAL
    if refused and struck.strikes("chatty_refusals", ask):
        answer = faults.in_prose(answer, ask)
    if not refused and struck.strikes("wrong_citations", ask):
        answer = faults.miscited(answer, retrieved, known, ask)
    if not refused and struck.strikes("invented_citations", ask):
        answer = faults.invented(answer, known, ask)
    return faults.unechoed(answer) if struck.strikes("dropped_constraints", ask) else answer


def _segments(
    parts: Sequence[Mapping[str, str]],
    answer: Mapping[str, Any],
    retrieved: Payloads,
    index: Index,
) -> list[dict[str, Any]]:
    """The parts of the answer, each with the citation it rests on; [] where they are not known.

    An answer with another number of citations than parts rests on the first as a whole.
    """
    cited: Sequence[str] = answer.get("citations") or ()
    if not parts or not cited:
        return []
    if len(cited) != len(parts):
        parts = [{**parts[0], "text": answer["claim"]}]
    by_id = {one["snippet_id"]: one for one in retrieved}
    return [
        {"text": part["text"], "citations": [_citation(id, part, by_id, index)]}
        for id, part in zip(cited, parts, strict=False)
    ]


def _citation(
    id: str, part: Mapping[str, str], retrieved: Mapping[str, Any], index: Index
) -> dict[str, Any]:
    """The citation as a model writes it, copied from the chunk of that id.

    Of an id that no chunk has, the rest is that of the chunk which the part was taken from.
    """
    chunk = retrieved.get(id) or _not_shown(id, index) or retrieved[part["snippet_id"]]
    return {"snippet_id": id, **{name: chunk[name] for name in COPIED}, "quote": part["quote"]}


def _not_shown(id: str, index: Index) -> dict[str, Any] | None:
    """The payload of a chunk of the index that was not retrieved."""
    if id not in index.numbers:
        return None
    chunk = index.chunks[index.numbers[id]]
    made: dict[str, Any] = msgspec.to_builtins(
        payload(Candidate(chunk=chunk, score_raw=0.0, score_norm=0.0), index)
    )
    return made
