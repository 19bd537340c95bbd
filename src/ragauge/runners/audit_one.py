"""One reply audited: the smoke test of a chain."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from ragauge.citations.answer import parse_answer
from ragauge.citations.deltas import deltas_of
from ragauge.citations.joining import cited_id
from ragauge.citations.support import CLAIM
from ragauge.citations.validator import Examination, needs_documents
from ragauge.contracts.audit import Depth, ParsedAnswer
from ragauge.contracts.opt import takes
from ragauge.contracts.options import AuditOptions
from ragauge.contracts.trace import Trace
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import BadField, expected
from ragauge.ingest.lines import BadJson, decode
from ragauge.ingest.manifest import read_manifest
from ragauge.ingest.traces import Auditable, read_auditable, with_inline
from ragauge.models.embedders import embedder
from ragauge.runners.audit import setup_of, without_documents
from ragauge.runners.audit_blocks import BlockAuditor
from ragauge.runners.auditing import FAILED, RETRIEVED_UNKNOWN, Auditor, failure_of

TRACE_KEYS = frozenset({"retrieved", "chunks", "retrieved_ids", "answer_json", "qid", "q_id"})
"""A reply that has one of them is a whole trace."""
NO_ANSWER_TIP = "There is nothing to audit: look at what the system answered, and why."


@takes(AuditOptions, "audit")
def audit_one(reply: str, retrieved: bytes | None, *, options: AuditOptions) -> dict[str, Any]:
    """`{ok, …}` of a reply that holds, or `{error, field, tip}` with the worst of what does not.

    The reply is a model's text, a list of citations, or a whole trace. `retrieved` is a JSON list
    of payloads.
    """
    if without_documents(options):
        raise UsageError(without_documents(options))
    manifest = read_manifest(options.manifest) if options.manifest else None
    auditor = BlockAuditor(setup_of(options, [], manifest)).auditor(None)
    known = _payloads(retrieved) if retrieved is not None else None
    try:
        record = decode(reply.strip().encode())
    except (BadJson, UnicodeEncodeError):
        record = None
    failure = None
    if isinstance(record, list) and all(cited_id(one) is not None for one in record):
        made = Auditable(Trace(qid="reply"), ParsedAnswer(citations=record), known)
        examined = auditor.examine(made)
    else:
        made = _made(reply, record, known, inline=options.inline)
        examined = auditor.examine(made)
        failure = failure_of(made, examined.audit.kind)
    if failure:
        return {
            "ok": False,
            "error": FAILED,
            "field": "answer",
            "tip": NO_ANSWER_TIP,
            "got": failure,
            "findings": (),
        }
    if not examined.audit.ok:
        worst = examined.audit.findings[0]
        return {
            "ok": False,
            "error": examined.audit.code,
            "field": worst.field,
            "tip": worst.tip,
            "got": worst.got,
            "expected": worst.expected,
            "findings": examined.audit.findings,
        }
    return _unchecked(made, examined, options.deepest) or _fine(auditor, made, examined, options)


def _made(reply: str, record: Any, known: list[Any] | None, *, inline: bool) -> Auditable:
    if isinstance(record, dict) and TRACE_KEYS & record.keys():
        try:
            made = read_auditable({"qid": "reply", **record}, inline=inline)
        except BadField as fault:
            raise InputRejected(f"the trace: {fault}") from None
        return made if known is None else structs.replace(made, retrieved=known)
    made = Auditable(Trace(qid="reply"), parse_answer(reply), known)
    return with_inline(made) if inline else made


def _payloads(content: bytes) -> list[Any]:
    """A JSON list of payloads or ids, or one a line."""
    try:
        if content.strip().startswith(b"["):
            found = decode(content.strip())
        else:
            found = [decode(line) for line in content.split(b"\n") if line.strip()]
    except BadJson as fault:
        raise InputRejected(f"--retrieved: {fault}") from None
    problems = [
        f"--retrieved: item {number}: {expected('a payload or an id', one)}"
        for number, one in enumerate(found, 1)
        if not isinstance(one, (dict, str))
    ]
    if problems:
        raise InputRejected(*problems)
    return list(found)


def _unchecked(made: Auditable, examined: Examination, depth: Depth) -> dict[str, Any] | None:
    """Why the depth that was asked for could not be looked at; None where it was."""
    if examined.audit.kind == "refusal":
        return None
    if depth == "marker" and made.retrieved is None:
        fact, field, tip = (
            RETRIEVED_UNKNOWN,
            "retrieved",
            "Give what was retrieved with --retrieved FILE.",
        )
    elif depth == "support" and examined.unjudged:
        fact, field, tip = (
            examined.unjudged[0],
            CLAIM,
            "Give the reply with its text, and payloads whose spans can be read.",
        )
    elif needs_documents(depth) and examined.unchecked:
        fact, field, tip = (
            examined.unchecked[0],
            "text",
            "Log the snippet's text, or ask for quotes.",
        )
    else:
        return None
    return {"ok": False, "error": "not_checked", "field": field, "tip": tip, "got": fact}


def _fine(
    auditor: Auditor, made: Auditable, examined: Examination, chosen: AuditOptions
) -> dict[str, Any]:
    """What is known of a reply that holds; ΔS where an embedder and the texts are at hand."""
    kind = examined.audit.kind
    result: dict[str, Any] = {"ok": True, "kind": kind, "deltaS": None, "lambda": None}
    result["depth"] = chosen.deepest
    result["reported_deltaS"] = made.answer.reported_deltaS
    result["reported_lambda"] = made.answer.reported_lambda
    if chosen.embedder is None:
        why = {"deltaS": "no embedder was asked for"}
    else:
        used = embedder(chosen.embedder)
        deltas = deltas_of([auditor.delta_inputs(made, None)], used)[0]
        result |= {"deltaS": deltas.values.get("context"), "embedder": used.id}
        why = {} if "context" in deltas.values else {"deltaS": deltas.why["context"]}
    why["lambda"] = "one reply has none; `ragauge trace-eval` asks again"
    if kind == "answer" and made.retrieved is None:
        why["marker"] = RETRIEVED_UNKNOWN
    if examined.unchecked:
        why["text"] = examined.unchecked[0]
    return {**result, "why": why}
