"""What a run keeps for its readers: the answers themselves, the documents they cite, a summary."""

from __future__ import annotations

from msgspec import Struct

from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.trace import Trace

ANSWERS, DOCUMENTS, SUMMARY = "answers.jsonl.zst", "documents.jsonl.zst", "summary.json"
"""Files of a run. The first two are packed by key: `zstd -d` reads them, and one key can be read
alone: the answers to a question by its unit id, a frozen document by `document_key`. The summary
is the report with its long lists cut to what a page shows."""


class KeptAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An answer as the system gave it, with what the run found in it."""

    trace: Trace
    where: str | None = None
    """Its file and line."""
    cell: str | None = None
    """Of a sweep: how it ended, one of the letters of CELLS."""
    code: str | None = None
    """Of an audit: the worst that was found, or `ok`."""
    findings: tuple[CitationFinding, ...] = ()


def document_key(doc_id: str, rev: str) -> str:
    """What a document is found by."""
    return f"{doc_id}\n{rev}"
