"""The validator: checks the citations of one answer in microseconds, whatever its form.

from ragauge import CitationValidator
validator = CitationValidator(manifest)
audit = validator(answer, retrieved)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct, structs

from ragauge.citations.answer import parse_answer
from ragauge.citations.checking import KEPT_CHARS, Checking, Checks, Part, parts_of
from ragauge.citations.codes import depth_of, tip_of, worst_first
from ragauge.citations.offsets import OffsetReading
from ragauge.citations.payload import complete_payload, display_value
from ragauge.citations.rules import LiveIndex, Pairs, out_of_order
from ragauge.citations.support import CLAIM
from ragauge.contracts.audit import (
    DEPTHS,
    OK,
    AnswerAudit,
    CitationFinding,
    Depth,
    Kind,
    ParsedAnswer,
)
from ragauge.contracts.citation import Citation, Offsets, Unit
from ragauge.contracts.documents import Documents
from ragauge.contracts.gold import DEFAULT_STRENGTH, DEFAULT_TOKENS, Strength
from ragauge.contracts.manifest import Manifest
from ragauge.errors import UsageError
from ragauge.refusals.predicate import is_refusal, refusal_tokens
from ragauge.text.sized_lru import SizedLRU
from ragauge.text.visible import one_line

BROKEN_SHOWN = 200
_PLAIN = {"answer", "citations"}
"""The keys of a decoded reply in which nothing is left to be read."""


class Policy(Struct, frozen=True, kw_only=True):
    """What is demanded of citations."""

    depth: Depth = "payload"
    allow_cross_section: Pairs | None = frozenset()
    """Pairs of sections that one segment may cite together; None allows any."""
    unit: Unit | None = None
    """The one unit of a run's offsets; None lets each answer choose."""
    cite_first: bool = True
    """Whether to refuse a raw reply whose citations come only after the answer."""
    refusal_tokens: tuple[str, ...] = DEFAULT_TOKENS
    refusal: Strength = DEFAULT_STRENGTH
    """What counts as a refusal: any, or only the exact token."""
    offsets: OffsetReading = OffsetReading()


class Examination(Struct, frozen=True):
    """An audit with the payloads it rests on, for whoever measures more."""

    audit: AnswerAudit
    cited: tuple[Citation, ...] = ()
    ids: tuple[str, ...] = ()
    """Every cited id, including those with an incomplete payload."""
    complete: bool = True
    """Whether the payload of every citation is among the cited ones."""
    compared: int = 0
    """Citations whose text was compared with the frozen document."""
    unchecked: tuple[str, ...] = ()
    """Why the text of a citation could not be read."""
    unjudged: tuple[str, ...] = ()
    """Why the support by cited spans could not be checked."""


_VALID = {kind: AnswerAudit(code=OK, kind=kind) for kind in ("answer", "refusal")}


class CitationValidator:
    """Checks the citations of answers. Made once, then called from any thread; never raises.

    The manifest says what the live index is. Without it, index hash, analyzer and revision are
    only known to be there, not to be right.
    """

    def __init__(
        self,
        manifest: Manifest | None = None,
        policy: Policy | None = None,
        documents: Documents | None = None,
    ) -> None:
        self.policy = policy or Policy()
        if manifest is not None and not isinstance(manifest, Manifest):
            got = type(manifest).__name__
            raise UsageError(f"expected a Manifest, got {got}; `read_manifest(path)` reads one")
        if needs_documents(self.policy.depth) and documents is None:
            fact = f"depth {self.policy.depth} compares with documents; give the frozen ones"
            raise UsageError(fact)
        self._depth = DEPTHS.index(self.policy.depth)
        self._tokens = refusal_tokens(self.policy.refusal_tokens)
        self._live = LiveIndex.of(manifest)
        self._checks = Checks(self.policy, self._depth, self._live, documents, SizedLRU(KEPT_CHARS))

    def __call__(self, answer: Any, retrieved: Sequence[Any] | None = None) -> AnswerAudit:
        """The audit of an answer's citations.

        The answer is a reply's raw text, the object it was decoded to, or its list of citations;
        `retrieved` are the payloads of what was retrieved, best first, or their ids.
        """
        return self.examine(answer, retrieved).audit

    def examine(self, answer: Any, retrieved: Sequence[Any] | None = None) -> Examination:
        """The audit with the payloads it rests on."""
        with suppress(Exception):  # a foreign object can fail in any way; serving must go on
            if retrieved is not None and not _is_list(retrieved):
                return _unreadable("retrieved", retrieved, "a list of payloads or ids")
            parsed = _parsed(answer)
            if parsed is not None:
                return self._examined(parsed, retrieved)
        return _unreadable("answer", answer, "a reply's text, its object, or a list of citations")

    def _refuses(self, parsed: ParsedAnswer) -> bool:
        """Whether a reply refuses, and its segments, if it has any, say nothing else."""
        reported = [
            text for text in (parsed.answer, *(part.text for part in parsed.segments)) if text
        ]
        strength, known = self.policy.refusal, self._tokens
        if not reported:
            return "" in known.folded and not parsed.citations and not parsed.segments
        return all(is_refusal(text, strength, known) for text in reported)

    def _examined(self, parsed: ParsedAnswer, retrieved: Sequence[Any] | None) -> Examination:
        if parsed.broken is not None or parsed.error is not None:
            return Examination(_audit([_unusable(parsed)], "error"))
        if self._refuses(parsed):
            return Examination(_VALID["refusal"])
        parts = parts_of(parsed)
        if self._depth == 1 and not (parsed.cites_first is False and self.policy.cite_first):
            try:
                cited = clean_citations(parts, retrieved, self._live, self.policy.unit)
            except Exception:  # of foreign values; the full way names them
                cited = None
            if cited is not None:
                ids = tuple([one.snippet_id for one in cited])
                return Examination(_VALID["answer"], tuple(cited), ids)
        checking = Checking(self._checks, parts, retrieved)
        if self._depth >= 1:
            checking.note_answer(parsed.cites_first)
            checking.note_uncovered_text(parsed)
        kind: Kind = "answer" if checking.ids else "uncited"
        return Examination(
            _audit(checking.findings, kind) if checking.findings else _VALID["answer"],
            tuple(checking.cited),
            tuple(checking.ids),
            checking.complete,
            checking.compared,
            tuple(checking.unchecked),
            tuple(checking.unjudged),
        )


def _parsed(answer: Any) -> ParsedAnswer | None:
    if isinstance(answer, ParsedAnswer):
        return answer
    if type(answer) is dict and answer.keys() == _PLAIN:
        text, citations = answer["answer"], answer["citations"]
        if type(text) is str and type(citations) is list:
            return ParsedAnswer(answer=text, citations=citations)
    if isinstance(answer, (str, Mapping)):
        return parse_answer(answer)
    return ParsedAnswer(citations=answer) if _is_list(answer) else None


def _is_list(value: Any) -> bool:
    text = isinstance(value, (str, bytes, bytearray, memoryview))
    return isinstance(value, Sequence) and not text


def _unreadable(field: str, value: Any, wanted: str) -> Examination:
    got = f"type {type(value).__name__}"
    fault = CitationFinding(code=f"bad_type_{field}", field=field, got=got, expected=wanted)
    return Examination(_audit([fault], "error"))


def _unusable(parsed: ParsedAnswer) -> CitationFinding:
    """Why a reply is neither an answer nor a refusal."""
    reported = parsed.error
    if parsed.broken is not None or reported is None:
        fact = one_line(parsed.broken or "", BROKEN_SHOWN)
        return CitationFinding(code="bad_json", got=fact, expected="whole JSON")
    got = f"{reported.error}: {reported.tip}" if reported.tip else reported.error
    return CitationFinding(
        code="model_reported_error", field=display_value(reported.field), got=display_value(got)
    )


def _audit(findings: list[CitationFinding], kind: Kind) -> AnswerAudit:
    ordered = worst_first(
        [one if one.tip else structs.replace(one, tip=tip_of(one.code)) for one in findings]
    )
    return AnswerAudit(code=ordered[0].code, kind=kind, findings=ordered)


def holds_at(audit: AnswerAudit, depth: Depth) -> bool:
    """Whether nothing was found at this depth, whatever was at others."""
    return not any(found_at(finding) == depth for finding in audit.findings)


def found_at(finding: CitationFinding) -> str:
    """The depth of a finding: the last for one about the claim itself."""
    return "support" if finding.field == CLAIM else depth_of(finding.code)


def needs_documents(depth: Depth) -> bool:
    """Whether a depth looks into the frozen documents."""
    return DEPTHS.index(depth) >= DEPTHS.index("text")


def clean_citations(
    parts: Sequence[Part],
    retrieved: Sequence[Any] | None,
    live: LiveIndex,
    unit: Unit | None,
) -> list[Citation] | None:
    """The payloads of an answer whose citations hold, part by part; None where that is not sure.

    May raise on foreign values: then it is not sure, either.
    """
    known = None if retrieved is None else _by_id(retrieved)
    if retrieved is not None and known is None:
        return None
    found: list[Citation] = []
    for part in parts:
        if part.again or not part.citations:
            return None
        spans: set[tuple[str, Offsets]] = set()
        of: tuple[str, str] | None = None
        for _, citation in part.citations:
            payload = citation if known is None else _known(citation, known)
            complete = None if payload is None else complete_payload(payload)
            if complete is None or complete.k_pos is None or not live.made(complete):
                return None
            if complete.score_norm is None and complete.score_raw is None:
                return None
            section = complete.section_id, complete.doc_id
            if of is not None and of != section:
                return None
            of = section
            found.append(complete)
            spans.add((complete.snippet_id, complete.offsets))
        if len(spans) != len(part.citations):
            return None
    first = unit or found[0].offsets.unit
    if any(one.offsets.unit != first for one in found):
        return None
    if retrieved is None:
        display_value = {one.k_final is None for one in found}
        return found if len(display_value) == 1 and _in_order(found) else None
    if not _in_order(retrieved):
        return None
    # If any chunk has its place after a reranking, every cited one has it.
    if None not in [one.k_final for one in found]:
        return found
    final = [c.get("k_final") if type(c) is dict else c.k_final for c in retrieved]
    return found if all(place is None for place in final) else None


def _by_id(retrieved: Sequence[Any]) -> dict[str, Any] | None:
    kinds = {type(chunk) for chunk in retrieved}
    if kinds == {dict}:
        known = {chunk.get("snippet_id"): chunk for chunk in retrieved}
    elif kinds == {Citation}:
        known = {chunk.snippet_id: chunk for chunk in retrieved}
    else:
        return None
    return known if len(known) == len(retrieved) else None


def _known(citation: Any, known: dict[str, Any]) -> Any:
    """The retrieved payload, if the citation does not contradict it."""
    if type(citation) is str:
        return known.get(citation)
    if type(citation) is Citation:
        return citation if known.get(citation.snippet_id) == citation else None
    if type(citation) is not dict:
        return None
    chunk = known.get(citation.get("snippet_id"))  # type: ignore[arg-type]
    if type(chunk) is not dict:
        return None
    if citation.items() <= chunk.items():
        return chunk
    # The model's own words are not a field that could disagree.
    reported = {name: value for name, value in citation.items() if name != "quote"}
    return chunk if reported.items() <= chunk.items() else None


def _in_order(chunks: Sequence[Any]) -> bool:
    """Whether the order law holds; strictly falling scores need no other check."""
    before = 2.0
    for chunk in chunks:
        score = chunk.get("score_norm") if type(chunk) is dict else chunk.score_norm
        if score is None or not score < before:
            return out_of_order(chunks) is None
        before = score
    return True
