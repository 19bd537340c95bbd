"""The traces of a run as the diagnosis observes them: read, audited and taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ragauge.citations.validator import CitationValidator, Policy
from ragauge.contracts.answers import Context
from ragauge.contracts.gold import Gold
from ragauge.contracts.manifest import Manifest
from ragauge.contracts.trace import Trace
from ragauge.diagnosis.observed import Observed
from ragauge.ingest.auditable import Auditable, read_auditable
from ragauge.ingest.trace_lines import decoded, trace_in
from ragauge.metrics.facts import Key, Reader, Reading
from ragauge.metrics.run_facts import run_facts, variation_of
from ragauge.runners.auditing import Audited, Auditor, Payloads
from ragauge.runners.diagnosis.claims import LexicalClaims
from ragauge.store.documents import FolderDocuments
from ragauge.text.canonical import composed


class Observing(Struct, frozen=True, kw_only=True):
    """What traces are held against, besides the gold set."""

    reading: Reading = Reading()
    manifest: Manifest | None = None
    documents: str | None = None
    claims: bool = True


class Observer:
    """Reads traces beside their questions."""

    def __init__(self, how: Observing) -> None:
        self._how = how
        self._reader = Reader(how.reading)
        documents = FolderDocuments(Path(how.documents), how.manifest) if how.documents else None
        policy = Policy(
            depth="text" if documents else "payload",
            cite_first=False,
            refusal=how.reading.refusal,
            refusal_tokens=how.reading.refusal_tokens,
        )
        validator = CitationValidator(how.manifest, policy, documents)
        self._auditor = Auditor(validator, how.manifest, documents)
        self._claims = LexicalClaims()

    def observed(self, gold: Gold, lines: Sequence[tuple[int, bytes]]) -> list[Observed]:
        """A question's traces, in the order of its lines."""
        key = self._reader.key(gold)
        return [
            self._one(key, trace_in(line), read_auditable(decoded(line)), f"{gold.qid}:{number}")
            for number, line in lines
        ]

    def _one(self, key: Key, trace: Trace, made: Auditable, place: str) -> Observed:
        gold = key.gold
        facts = self._reader.facts(key, trace)
        audited = self._auditor.audited(made, gold, None)
        variation = variation_of(trace)
        run = run_facts(self._reader, key, trace, variation)
        contexts = contexts_of(trace)
        some = facts.gold_found
        return Observed(
            id=trace.run_id or place,
            gold=gold,
            facts=facts,
            variation=variation,
            sent=trace.question_sent or trace.q,
            retrieved=None if trace.retrieved_ids is None else tuple(trace.retrieved_ids),
            found_some=some,
            found_all=None if some is None else bool(facts.gold_depth),
            payloads=_payloads(audited),
            codes=frozenset(finding.code for finding in audited.findings),
            audited=trace.retrieved is not None,
            held_to_index=self._how.manifest is not None,
            held_to_text=self._how.documents is not None,
            echoed=run.echoed if run else None,
            claims=self._claims_of(trace, gold, facts.claim, contexts) if facts.answered else None,
            contexts=contexts,
            rewritten=_rewritten(trace, gold),
            passed_check=trace.ok,
        )

    def _claims_of(
        self, trace: Trace, gold: Gold, claim: str, contexts: tuple[Context, ...] | None
    ) -> Any:
        if not self._how.claims or contexts is None:
            return None
        reference = gold.gold_claim or gold.gold_answer
        return self._claims.of(gold.qid, gold.question, claim, reference, contexts)


def contexts_of(trace: Trace) -> tuple[Context, ...] | None:
    """The texts that were retrieved; None where the trace does not hold them all."""
    if trace.retrieved is None:
        return None
    texts = [(one.get("snippet_id") or one.get("id"), one.get("text")) for one in trace.retrieved]
    if not all(isinstance(text, str) for _, text in texts):
        return None
    return tuple(Context(str(id or place), str(text)) for place, (id, text) in enumerate(texts, 1))


def _payloads(audited: Audited) -> tuple[Any, ...]:
    found = audited.retrieved
    return tuple(found.whole) if isinstance(found, Payloads) else ()


def _rewritten(trace: Trace, gold: Gold) -> bool | None:
    """Whether the pipeline searched for another text than was asked, where the trace tells."""
    extra = trace.extra or {}
    searched = extra.get("query_rewritten") or extra.get("search_query")
    if not isinstance(searched, str):
        return None
    return (
        composed(searched).casefold() != composed(trace.question_sent or gold.question).casefold()
    )
