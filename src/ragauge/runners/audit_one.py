"""One reply audited: the smoke test of a chain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import structs

from ragauge.audit.answer import parse_answer
from ragauge.audit.deltas import deltas_of
from ragauge.audit.validator import CitationValidator
from ragauge.contracts.audit import AnswerAudit
from ragauge.contracts.trace import Trace
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.auditable import Auditable, read_auditable
from ragauge.ingest.fields import BadField
from ragauge.ingest.manifest import read_manifest
from ragauge.ingest.strict_json import BadJson, decode
from ragauge.models.embedders import embedder
from ragauge.models.tokenizers import tokenizer_of
from ragauge.runners.audit import AuditOptions
from ragauge.runners.auditing import Auditor
from ragauge.store.documents import FolderDocuments

TRACE_KEYS = frozenset({"retrieved", "chunks", "retrieved_ids", "answer_json", "qid", "q_id"})
"""A reply that has one of them is a whole trace."""


def audit_one(reply: str, retrieved: bytes | None, **options: Any) -> dict[str, Any]:
    """`{ok, …}` of a reply that holds, or `{error, field, tip}` with the worst of what does not.

    The reply is a model's text, or a whole trace. `retrieved` is a JSON list of payloads.
    """
    chosen = AuditOptions(**options)
    if chosen.depth == "text" and chosen.docs is None:
        raise UsageError("--depth text compares with documents; give them with --docs DIR")
    made = _made(reply, retrieved)
    manifest = read_manifest(chosen.manifest) if chosen.manifest else None
    documents = FolderDocuments(Path(chosen.docs), manifest) if chosen.docs is not None else None
    policy = chosen.policy(None)
    if chosen.tokenizer is not None:
        reading = structs.replace(policy.offsets, tokenizer=tokenizer_of(chosen.tokenizer))
        policy = structs.replace(policy, offsets=reading)
    auditor = Auditor(CitationValidator(manifest, policy, documents), manifest, documents)
    audited = auditor.audited(made, None, None)
    if audited.failure:
        return {"error": "empty_answer", "field": "answer", "tip": audited.failure}
    found = audited.examined.audit
    return _fine(auditor, made, found, chosen.embedder) if found.ok else _error(found)


def _made(reply: str, retrieved: bytes | None) -> Auditable:
    known = _payloads(retrieved) if retrieved is not None else None
    try:
        record = decode(reply.strip().encode())
    except (BadJson, UnicodeEncodeError):
        record = None
    if isinstance(record, dict) and TRACE_KEYS & record.keys():
        try:
            made = read_auditable({"qid": "reply", **record})
        except BadField as fault:
            raise InputRejected(f"the trace: {fault}") from None
        return made if known is None else structs.replace(made, retrieved=known)
    return Auditable(Trace(qid="reply"), parse_answer(reply), known)


def _payloads(content: bytes) -> list[Any]:
    try:
        found = decode(content.strip())
    except BadJson as fault:
        raise InputRejected(f"--retrieved: {fault}") from None
    if not isinstance(found, list):
        raise InputRejected("--retrieved: expected a list of payloads; write [{…}, …]")
    return found


def _fine(
    auditor: Auditor, made: Auditable, found: AnswerAudit, name: str | None
) -> dict[str, Any]:
    """What is known of a reply that holds; ΔS where an embedder and the texts are at hand."""
    told: dict[str, Any] = {"ok": True, "kind": found.kind, "deltaS": None, "lambda": None}
    told["reported_deltaS"] = made.answer.reported_deltaS
    told["reported_lambda"] = made.answer.reported_lambda
    if name is None:
        told["why"] = {"deltaS": "no embedder was asked for"}
    else:
        used = embedder(name)
        deltas = deltas_of([auditor.asked(made, None)], used)[0]
        told |= {"deltaS": deltas.values.get("context"), "embedder": used.id, "why": deltas.why}
    told["why"]["lambda"] = "one reply has none; `ragauge trace-eval` asks again"
    return told


def _error(found: AnswerAudit) -> dict[str, Any]:
    worst = found.findings[0]
    return {
        "error": found.code,
        "field": worst.field,
        "tip": worst.tip,
        "got": worst.got,
        "expected": worst.expected,
        "findings": found.findings,
    }
