"""The reply to a call: the answer, and its citations as pointers that can be checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ragauge.demo import answer_faults, citation_faults, payload_faults
from ragauge.demo.answer import REFUSAL
from ragauge.demo.call import Answer, Call
from ragauge.demo.index import Index
from ragauge.demo.retrieve import Candidate, payload

Payloads = list[dict[str, Any]]
COPIED = ("section_id", "source_url", "offsets", "tokens")
"""What a model's citation repeats of the chunk, besides its id."""


class _Fault(Struct, frozen=True):
    """A fault of answers: what it strikes, and what it makes of it."""

    name: str
    strikes: Literal["answer", "refusal", "either"]
    spoilt: Callable[[Answer, Call], Answer]


_FAULTS = (
    _Fault("lax_refusal", "refusal", answer_faults.answered_anyway),
    _Fault("noise_injected", "answer", answer_faults.misled),
    _Fault("hot_sampling", "answer", answer_faults.gone_astray),
    _Fault("over_refusal", "answer", answer_faults.refused),
    _Fault("ungrounded_generation", "answer", answer_faults.ungrounded),
    _Fault("padded_answers", "answer", answer_faults.padded),
    _Fault("wrong_citations", "answer", citation_faults.miscited),
    _Fault("invented_citations", "answer", citation_faults.invented),
    _Fault("uncited", "answer", citation_faults.uncited),
    _Fault("chatty_refusals", "refusal", answer_faults.in_prose),
    _Fault("dropped_constraints", "either", answer_faults.unechoed),
)
"""In the order they strike, each what the ones before have left."""


def reply_of(call: Call, given: Mapping[str, Any], generate_ms: float) -> dict[str, Any]:
    """What is sent back for what a generator gave, gone wrong where a fault strikes."""
    retrieved = _retrieved(call)
    answer = _spoilt(dict(given), call)
    segments = _segments(answer.pop("segments", ()), answer, retrieved, call.index)
    if call.faults.strikes("mixed_sections", call.ask):
        answer, segments = _mixed(answer, segments, retrieved, call.index)
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
        made = payload_faults.stale(made)
    if call.faults.strikes("drifted_offsets", call.ask):
        made = payload_faults.drifted(made, call.ask)
    return made


def _spoilt(answer: Answer, call: Call) -> Answer:
    """The answer, gone wrong where a fault strikes it."""
    for fault in _FAULTS:
        kind = "refusal" if answer.get("claim") == REFUSAL else "answer"
        if fault.strikes in (kind, "either") and call.faults.strikes(fault.name, call.ask):
            answer = fault.spoilt(answer, call)
    return answer


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


def _mixed(
    answer: Answer, segments: list[dict[str, Any]], retrieved: Payloads, index: Index
) -> tuple[Answer, list[dict[str, Any]]]:
    """The answer and its parts, the first of which cites a chunk of another section as well.

    As they were where no chunk of another section was shown.
    """
    listed: list[str] = answer.get("citations") or []
    first = segments[0]["citations"] if segments else []
    cited = [one["snippet_id"] for one in first] or listed
    other = citation_faults.of_another_section(cited, retrieved)
    if other is None:
        return answer, segments
    id = other["snippet_id"]
    quote = index.passages[index.numbers[id]].sentences[0].text
    citation = _citation(id, {"snippet_id": id, "quote": quote}, {id: other}, index)
    mixed = [{**part, "citations": [*first, citation]} for part in segments[:1]] + segments[1:]
    return {**answer, "citations": list(dict.fromkeys([*listed, id]))}, mixed


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
