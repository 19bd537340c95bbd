"""One trace audited: what its validator says, beside the gold question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, structs

from ragauge.citations.deltas import DeltaQuestion, Deltas
from ragauge.citations.offsets import Place, resolve
from ragauge.citations.payload import complete_payload, read_payload
from ragauge.citations.reranking import Ranks, gain, pair_order, rank_agreement, ranks_of
from ragauge.citations.spans import (
    NO_ANCHOR,
    NO_TARGET,
    NOTHING_TO_MATCH,
    anchor_overlap,
    matches,
    target_coverage,
)
from ragauge.citations.validator import CitationValidator, Examination, holds_at, needs_documents
from ragauge.contracts.audit import (
    DEPTHS,
    OK,
    AnswerAudit,
    AuditFacts,
    CitationFinding,
    Kind,
)
from ragauge.contracts.citation import Citation, Offsets
from ragauge.contracts.documents import Documents
from ragauge.contracts.gold import Gold, Span
from ragauge.contracts.manifest import Manifest
from ragauge.contracts.metric import Absent
from ragauge.ingest.traces import Auditable
from ragauge.metrics.facts import EMPTY_ANSWER, answer_given, error_reason
from ragauge.metrics.quality import NO_CITATIONS
from ragauge.text.canonical import composed

FAILED = "error_record"
"""What stands for the code of an error record."""
NO_DOCUMENTS = "no documents were given"
NOT_DEEP_ENOUGH = "a shallower depth was asked for"
RETRIEVED_UNKNOWN = "what was retrieved is unknown"

PAYLOAD_INCOMPLETE = Absent("a payload is unknown, or not whole")
OTHER_UNIT = Absent("offsets are not in code points, and no document tells which they would be")

Found = dict[str, Any]
"""Fields of the facts, and under `why` the reasons for those that are absent."""
Places = Sequence[Citation] | Absent


class Payloads(Struct, frozen=True):
    """What is known of the chunks a trace retrieved."""

    whole: Sequence[Citation]
    complete: bool
    """Every chunk has a whole payload."""


Retrieval = Payloads | Absent


class Audited(Struct, frozen=True):
    """A trace with all that its audit came to."""

    made: Auditable
    examined: Examination
    retrieved: Retrieval
    facts: AuditFacts
    failure: str | None = None
    """Why it is an error record; None where it is none."""

    @property
    def code(self) -> str:
        """The worst code; that of an error record is its own."""
        return FAILED if self.failure else self.examined.audit.code

    @property
    def findings(self) -> tuple[CitationFinding, ...]:
        return self.examined.audit.findings


class Auditor:
    """Audits traces by one validator, and measures them against gold questions."""

    def __init__(
        self,
        validator: CitationValidator,
        manifest: Manifest | None = None,
        documents: Documents | None = None,
    ) -> None:
        self._validator, self._documents = validator, documents
        revs = manifest.doc_revs if manifest else {}
        self._revs = {composed(id): rev for id, rev in revs.items()}
        self._depths = DEPTHS[: DEPTHS.index(validator.policy.depth) + 1]
        self._reading = validator.policy.offsets

    def examine(self, made: Auditable) -> Examination:
        """What the validator says of an answer."""
        return self._validator.examine(made.answer, made.retrieved)

    def delta_inputs(self, made: Auditable, gold: Gold | None) -> DeltaQuestion:
        """What ΔS is taken between: the question, the chunks, the gold's anchor and decoy."""
        texts = [chunk.get("text") for chunk in made.retrieved or () if isinstance(chunk, dict)]
        return DeltaQuestion(
            question=gold.question if gold else made.trace.q or "",
            chunks=[text for text in texts if isinstance(text, str) and text],
            anchor=self._text_of(gold.anchor) if gold else None,
            decoy=self._text_of(gold.decoy) if gold else None,
        )

    def coverage(self, made: Auditable, gold: Gold) -> float | Absent:
        """How much of the question's target section the retrieved chunks cover."""
        target = gold.target_section
        places = self._in_code_points(_known(_places(made.retrieved)))
        if isinstance(places, Absent):
            return places if target else NO_TARGET
        found = target_coverage(places, target, self._rev_of(target))
        return found if isinstance(found, Absent) else found.characters / found.of

    def _text_of(self, span: Span | None) -> str | None:
        if span is None or self._documents is None:
            return None
        rev = span.rev or self._revs.get(composed(span.doc_id), "")
        document = self._documents.find(span.doc_id, rev)
        return document.text[span.start : span.end] if document else None

    def audited(
        self,
        made: Auditable,
        gold: Gold | None,
        deltas: Deltas | None,
        ranks: Ranks | None = None,
    ) -> Audited:
        """The trace's audit and the facts its metrics are measured from.

        `ranks` are those of the same question elsewhere, to compare with.
        """
        examined = self.examine(made)
        failure = failure_of(made, examined.audit.kind)
        if failure:
            examined = Examination(AnswerAudit(code=OK, kind="error"))
        places = _places(made.retrieved)
        parts = [self._result_by_depth(made, examined)]
        if gold and not failure:
            target, anchor = gold.target_section, gold.anchor
            covering = self._in_code_points(_known(places))
            cited = self._in_code_points(
                examined.cited if examined.complete else PAYLOAD_INCOMPLETE
            )
            parts += [
                _coverage_facts(covering, target, self._rev_of(target), "retrieved_target"),
                _coverage_facts(cited, target, self._rev_of(target), "cited_target"),
                _overlap_facts(cited, anchor, self._rev_of(anchor)),
                self._match(gold, examined, retrieval_known=made.retrieved is not None),
            ]
        if not failure:
            parts.append(_reranking_facts(gold, places))
        if deltas is not None:
            why = {f"deltaS_{name}": reason for name, reason in deltas.why.items()}
            parts.append({"deltaS": deltas.values, "why": why})
        if ranks is not None:
            parts.append(_rank_facts(made, ranks))
        facts = AuditFacts(
            kind=examined.audit.kind,
            code=examined.audit.code,
            answerable=gold.answerable if gold else None,
            **_merge(*parts),
        )
        return Audited(made, examined, places, facts, failure)

    def _result_by_depth(self, made: Auditable, examined: Examination) -> Found:
        """Depth by depth, whether nothing was found there; None where nobody could look."""
        if examined.audit.kind in ("refusal", "error"):
            return {}
        held: Found = {depth: holds_at(examined.audit, depth) for depth in self._depths}
        why: dict[str, str] = {}
        if held["marker"] and made.retrieved is None:
            held["marker"], why["marker"] = None, RETRIEVED_UNKNOWN
        # Why there is a payload that nobody could look at.
        unread = None if examined.complete else PAYLOAD_INCOMPLETE.reason
        unread = unread if examined.ids else NO_CITATIONS.reason
        if held.get("payload") and unread:
            held["payload"], why["payload"] = None, unread
        if held.get("text") and (unread or examined.unchecked):
            held["text"], why["text"] = None, unread or examined.unchecked[0]
        if held.get("support") and (unread or examined.unjudged):
            held["support"], why["support"] = None, unread or examined.unjudged[0]
        for depth in DEPTHS[len(self._depths) :]:
            blind = needs_documents(depth) and self._documents is None
            why[depth] = NO_DOCUMENTS if blind else NOT_DEEP_ENOUGH
        looked_at = all(held[depth] is not None for depth in self._depths)
        return {**held, "checked": looked_at or not examined.audit.ok, "why": why}

    def _in_code_points(self, places: Places) -> Places:
        """The payloads with their places counted as gold spans are, where that is known."""
        plain = self._reading.chars_in == "code-points" and self._reading.tokenizer is None
        if isinstance(places, Absent) or plain:
            return places
        counted = [self._counted(payload) for payload in places]
        found = [payload for payload in counted if payload is not None]
        return found if len(found) == len(counted) else OTHER_UNIT

    def _counted(self, payload: Citation) -> Citation | None:
        find = self._documents.find if self._documents else None
        document = find(payload.doc_id, payload.rev) if find else None
        place = resolve(payload.offsets, document.text, self._reading) if document else None
        if not isinstance(place, Place):
            return None
        return structs.replace(payload, offsets=Offsets(place.start, place.end))

    def _match(self, gold: Gold, examined: Examination, *, retrieval_known: bool) -> Found:
        """Whether the answer cites the gold and its audit is ok; of an answer only.

        Whether all it cites was retrieved is unknown where the trace does not say what was.
        """
        if examined.audit.kind not in ("answer", "uncited"):
            return {}
        cited = self._in_code_points(examined.cited)
        placed = () if isinstance(cited, Absent) else cited
        near = matches(placed, gold, ids=examined.ids, rev=self._rev_of(gold.anchor))
        if near is not NOTHING_TO_MATCH and not examined.audit.ok:
            return {"matched": False}
        if isinstance(near, Absent):
            return {"why": {"matched": near.reason}}
        return (
            {"matched": near}
            if retrieval_known or not near
            else {"why": {"matched": RETRIEVED_UNKNOWN}}
        )

    def _rev_of(self, span: Span | None) -> str | None:
        return None if span is None else span.rev or self._revs.get(composed(span.doc_id))


def _known(places: Retrieval) -> Places:
    """The payloads that tell a place; what does not tell one covers nothing."""
    if isinstance(places, Absent):
        return places
    return places.whole if places.whole or places.complete else PAYLOAD_INCOMPLETE


def _coverage_facts(places: Places, target: Span | None, rev: str | None, field: str) -> Found:
    found = places if isinstance(places, Absent) else target_coverage(places, target, rev)
    if isinstance(found, Absent):
        return {"why": {field: found.reason if target else NO_TARGET.reason}}
    return {"target": found.of, field: found.characters}


def _overlap_facts(places: Places, anchor: Span | None, rev: str | None) -> Found:
    found = places if isinstance(places, Absent) else anchor_overlap(places, anchor, rev)
    if isinstance(found, Absent):
        return {"why": {"cited_gold": found.reason if anchor else NO_ANCHOR.reason}}
    return {"cited": found.cited, "gold_span": found.gold, "cited_gold": found.both}


def _reranking_facts(gold: Gold | None, retrieval: Retrieval) -> Found:
    if isinstance(retrieval, Absent) or not retrieval.complete:
        absent = retrieval if isinstance(retrieval, Absent) else PAYLOAD_INCOMPLETE
        return {"why": dict.fromkeys(("concordant", "ndcg_after"), absent.reason)}
    found, why = dict[str, Any](), dict[str, str]()
    order = pair_order(retrieval.whole)
    gained = gain(retrieval.whole, gold.gold_citations if gold else ())
    if isinstance(order, Absent):
        why["concordant"] = order.reason
    else:
        found |= {"concordant": order.concordant, "discordant": order.discordant}
    if isinstance(gained, Absent):
        why["ndcg_after"] = gained.reason
    else:
        found |= {"ndcg_before": gained.before, "ndcg_after": gained.after}
    return {**found, "why": why}


def _rank_facts(made: Auditable, ranks: Ranks) -> Found:
    if made.retrieved is None:
        return {"why": {"ranks": RETRIEVED_UNKNOWN}}
    if not ranks:
        return {"why": {"ranks": "the other traces retrieve nothing for this question"}}
    found, reason = rank_agreement(ranks_of(made.retrieved), ranks)
    return {"ranks": found, "why": {"ranks": reason} if reason else {}}


def _merge(*parts: Found) -> Found:
    """All the fields, and the reasons of all of them."""
    reasons = {name: why for part in parts for name, why in part.get("why", {}).items()}
    return {name: value for part in parts for name, value in part.items()} | {"why": reasons}


def failure_of(made: Auditable, kind: Kind) -> str | None:
    """Why a trace holds neither an answer nor a refusal; `kind` is what its answer is."""
    trace, answer = made.trace, made.answer
    if trace.status == "error" or trace.error or (trace.ok is False and kind != "refusal"):
        return error_reason(trace)
    if kind == "refusal" and answer_given(trace):
        return None
    said = answer.answer.strip() or any(part.text.strip() for part in answer.segments)
    return None if said or answer.error or answer.broken is not None else EMPTY_ANSWER


def _places(retrieved: Sequence[Any] | None) -> Retrieval:
    """The retrieved payloads that are whole, each id once."""
    if retrieved is None:
        return Absent(RETRIEVED_UNKNOWN)
    read = [complete_payload(chunk) or read_payload(chunk).citation for chunk in retrieved]
    by_id: dict[str, Citation] = {}
    for payload in read:
        if payload is not None:
            by_id.setdefault(payload.snippet_id, payload)
    return Payloads(list(by_id.values()), None not in read)
