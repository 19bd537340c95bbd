"""Replies become traces: what a system said, beside what we know of the run."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from ragauge.contracts.run import PlannedRun
from ragauge.contracts.system import Ask, CallFailed
from ragauge.contracts.trace import Trace
from ragauge.ingest.fields import BadField, expected
from ragauge.ingest.lines import MAX_LINE, BadJson, decode
from ragauge.ingest.traces import read_trace, trace_faults, with_ids_as_text
from ragauge.metrics.facts import EMPTY_ANSWER
from ragauge.text.visible import one_line

MAX_REPLY = MAX_LINE - (1 << 20)
"""Bytes of a reply that are read: with what we add, a longer one would be too long for a line."""

TOO_LARGE = f"the reply is longer than {MAX_REPLY >> 20} MiB"
_FAULTS_SHOWN = 400
_ERROR_SHOWN = 200

OURS = {
    *("attempt", "error", "jitter", "latency_ms", "paraphrase", "q", "q_id", "qid", "question"),
    *("question_sent", "repeat", "run_id", "schema_version", "seed", "status", "temperature"),
}
"""What a trace says of its run is never taken from the reply: it could pass for another run."""


def trace_of(run: PlannedRun, ask: Ask, reply: Any, *, latency_ms: float, attempt: int) -> Trace:
    """The trace of a run that was answered; raises CallFailed with every field that is wrong.

    An answer that is empty makes an error record, and keeps what else the reply holds.

    >>> from ragauge.contracts.run import Variation
    >>> run = PlannedRun("q1", Variation(seed=3), "Why?")
    >>> trace = trace_of(run, Ask(q="Why?", seed=3), {"answer": "So.", "qid": "q9"},
    ...                  latency_ms=1.0, attempt=1)
    >>> trace.qid, trace.run_id, trace.answer, trace.status
    ('q1', 'q1#seed=3;t=0;j=none;p=0', 'So.', 'ok')
    """
    if type(reply) is str:
        reply = {"answer": reply}
    if type(reply) is not dict:
        raise CallFailed("bad_reply", expected("an object with an answer", reply))
    record = {key: value for key, value in reply.items() if key not in OURS}
    record = with_ids_as_text({**record, "qid": run.qid})
    try:
        trace = read_trace(record)
    except BadField:
        faults = one_line("; ".join(trace_faults(record)), _FAULTS_SHOWN)
        raise CallFailed("bad_reply", faults) from None
    known = _of_run(run, ask, latency_ms, attempt) | {"cited": _cited(record) or trace.cited}
    claim = trace.answer_json.claim if trace.answer_json else None
    if not (claim or trace.answer or "").strip():
        error = reply.get("error")
        if type(error) is dict:
            error = error.get("message")
        why = EMPTY_ANSWER
        if type(error) is str and error.strip():
            why = f"{EMPTY_ANSWER}; the reply says: {one_line(error, _ERROR_SHOWN)}"
        known |= {"status": "error", "error": why}
    return structs.replace(trace, **known)


def _cited(record: dict[str, Any]) -> tuple[dict[str, Any], ...] | None:
    """The citations as the system gave them, where one is an object: a trace keeps their ids."""
    structured = record.get("answer_json")
    fields = structured if type(structured) is dict else {}
    listed = fields.get("citations") or record.get("citations")
    if type(listed) is not list or all(type(one) is not dict for one in listed):
        return None
    return tuple(one if type(one) is dict else {"snippet_id": one} for one in listed)


def failed_trace(
    run: PlannedRun, ask: Ask, error: str, *, latency_ms: float, attempt: int
) -> Trace:
    """The error record of a run that brought no answer."""
    return Trace(status="error", error=error, **_of_run(run, ask, latency_ms, attempt))


def decoded(content: bytes, *, again: bool) -> Any:
    """The value of a reply's JSON text; raises CallFailed, where asking again may help or not."""
    if len(content) > MAX_REPLY:
        raise CallFailed("too_large", TOO_LARGE)
    if not content or content.isspace():
        raise CallFailed("bad_reply", "the reply is empty", again=again)
    try:
        return decode(content)
    except BadJson as fault:
        raise CallFailed("bad_reply", str(fault), again=again) from None


def _of_run(run: PlannedRun, ask: Ask, latency_ms: float, attempt: int) -> dict[str, Any]:
    return {
        "qid": run.qid,
        "run_id": run.run_id,
        "seed": ask.seed,
        "temperature": ask.temperature,
        "jitter": ask.jitter,
        "paraphrase": run.variation.paraphrase,
        "repeat": run.variation.repeat or None,
        "question_sent": ask.q,
        "latency_ms": round(latency_ms, 3),
        "attempt": attempt,
        "schema_version": 1,
    }
