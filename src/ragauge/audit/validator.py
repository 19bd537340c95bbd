"""The validator: one answer's citations checked, in microseconds, whatever is given to it.

from ragauge import CitationValidator
validator = CitationValidator(manifest)
audit = validator(answer, retrieved)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from ragauge.audit.answer import parse_answer
from ragauge.audit.clean import clean_citations
from ragauge.audit.codes import entry_of, tip_of, worst_first
from ragauge.audit.joining import by_id, cited_id, disagreements, joined
from ragauge.audit.live import LiveIndex
from ragauge.audit.offsets import OffsetReading
from ragauge.audit.payload import read_payload, told
from ragauge.audit.places import Said, place_findings
from ragauge.audit.rules import Pairs, crossed_sections, mixed_units, out_of_order, repeated
from ragauge.contracts.audit import (
    DEPTHS,
    OK,
    AnswerAudit,
    CitationFinding,
    Depth,
    Kind,
    ParsedAnswer,
    ParsedSegment,
)
from ragauge.contracts.citation import Citation, Unit
from ragauge.contracts.documents import Documents
from ragauge.contracts.manifest import Manifest
from ragauge.errors import UsageError
from ragauge.text.refusal import DEFAULT_TOKEN, refusal_in, tokens

IDS_SHOWN = 5
PAYLOAD_ONLY = ("index_hash", "embed_model", "analyzer", "rev", "doc_id")


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
    """A raw reply whose citations stand only after the answer is refused."""
    refusal_tokens: tuple[str, ...] = (DEFAULT_TOKEN,)
    refusal_near: bool = False
    """Take the refusal in quotes or with a final stop for a refusal, too."""
    offsets: OffsetReading = OffsetReading()


class Examined(Struct, frozen=True):
    """An audit with the payloads it rests on, for whoever measures more."""

    audit: AnswerAudit
    cited: tuple[Citation, ...] = ()
    ids: tuple[str, ...] = ()
    """Every cited id, also of those whose payload is not whole."""
    compared: int = 0
    """Citations whose text was compared with the frozen document."""
    unchecked: tuple[str, ...] = ()
    """Why the text of a citation could not be looked at."""


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
        if self.policy.depth == "text" and documents is None:
            raise UsageError("depth text compares with documents; give the frozen ones")
        self._depth = DEPTHS.index(self.policy.depth)
        self._documents = documents
        self._tokens = tokens(self.policy.refusal_tokens)
        self._refusals = ("exact", "near") if self.policy.refusal_near else ("exact",)
        self._live = LiveIndex.of(manifest)

    def __call__(self, answer: Any, retrieved: Sequence[Any] | None = None) -> AnswerAudit:
        """What holds of an answer's citations, and what does not.

        The answer is a reply's raw text, the object it was decoded to, or its list of citations;
        `retrieved` are the payloads of what was retrieved, best first, or their ids.
        """
        return self.examine(answer, retrieved).audit

    def examine(self, answer: Any, retrieved: Sequence[Any] | None = None) -> Examined:
        """The audit with the payloads it rests on."""
        try:
            return self._examined(_parsed(answer), retrieved)
        except Exception as error:  # a foreign object can fail in any way; serving must go on
            fault = CitationFinding(code="bad_type_answer", got=type(error).__name__)
            return Examined(_audit([fault], "error"))

    def _examined(self, parsed: ParsedAnswer, retrieved: Sequence[Any] | None) -> Examined:
        unusable = _unusable(parsed)
        if unusable:
            return Examined(_audit([unusable], "error"))
        if parsed.answer and refusal_in(parsed.answer, self._tokens) in self._refusals:
            return Examined(_VALID["refusal"])
        parts = list(_parts(parsed))
        clean = self._clean(parsed, [part for _, part in parts], retrieved)
        if clean is not None:
            return clean
        checking = _Checking(self, retrieved)
        for number, part in parts:
            checking.add(part, number)
        if self._depth >= 1:
            checking.note_whole(parsed.cites_first)
        return checking.examined()

    def _clean(
        self, parsed: ParsedAnswer, parts: list[Sequence[Any]], retrieved: Sequence[Any] | None
    ) -> Examined | None:
        """The audit of an answer that is seen at once to hold; None where it has to be examined."""
        late = parsed.cites_first is False and self.policy.cite_first
        if self._depth != 1 or late:
            return None
        found = clean_citations(parts, retrieved, self._live, self.policy.unit)
        if found is None:
            return None
        return Examined(_VALID["answer"], tuple(found), tuple([one.snippet_id for one in found]))


class _Checking:
    """One answer on its way through the depths."""

    def __init__(self, validator: CitationValidator, retrieved: Sequence[Any] | None) -> None:
        self._own = validator
        self._retrieved = retrieved
        self._known = by_id(retrieved) if retrieved is not None else None
        self._reranked = any(_has(chunk, "k_final") for chunk in retrieved or ())
        self._findings: list[CitationFinding] = []
        self._cited: list[Citation] = []
        self._ids: list[str] = []
        self._own_payloads: list[Any] = []
        self._compared = 0
        self._unchecked: list[str] = []

    def add(self, citations: Sequence[Any], segment: int | None) -> None:
        """The citations of one segment, or of an answer without segments."""
        if not citations:
            self._note([CitationFinding(code="empty_citations", field="citations")], None, segment)
        read = [self._read(one, place, segment) for place, one in enumerate(citations)]
        if self._own._depth < 1:
            return
        whole = [one for one in read if one is not None]
        allowed = self._own.policy.allow_cross_section
        if len(whole) > 1:
            crossed = None if allowed is None else crossed_sections(whole, allowed)
            self._note([crossed] if crossed else [], None, segment)
            for place, finding in repeated(read):
                self._note([finding], place, segment)
        self._cited += whole

    def _read(self, citation: Any, place: int, segment: int | None) -> Citation | None:
        id = cited_id(citation)
        if id is not None:
            self._ids.append(id)
        known = self._known
        chunk = None if known is None or id is None else known.get(id)
        strange = known is not None and id is not None and id not in known
        if strange:
            self._note([self._not_retrieved(id or "")], place, segment)
        if self._own._depth < 1 or (strange and not _has_payload(citation)):
            return None
        payload = joined({"snippet_id": id} if type(citation) is str else citation, chunk)
        if chunk is None:
            self._own_payloads.append(citation)
        elif type(citation) is not str:
            self._note(disagreements(citation, chunk), place, segment)
        return self._checked(payload, citation, place, segment)

    def _checked(
        self, payload: Any, citation: Any, place: int, segment: int | None
    ) -> Citation | None:
        read = read_payload(payload)
        self._note(read.findings, place, segment)
        whole = read.citation
        if whole is None:
            return None
        faulty = [finding.field for finding in read.findings]
        self._note(self._unlogged(whole, faulty), place, segment)
        self._note(list(self._own._live.differences(whole)), place, segment)
        if self._own._depth >= 2:
            self._compare(whole, payload, citation, place, segment)
        return whole

    def _unlogged(self, payload: Citation, faulty: Sequence[str | None]) -> list[CitationFinding]:
        """What the log of a retrieval needs and the payload does not tell."""
        lost = {
            "missing_score": payload.score_norm is None and payload.score_raw is None,
            "missing_k_pos": payload.k_pos is None,
            "missing_k_final": self._reranked and payload.k_final is None,
        }
        fields = {"missing_score": "score_norm", "missing_k_pos": "k_pos"}
        return [
            CitationFinding(code=code, field=field)
            for code, absent in lost.items()
            if absent and (field := fields.get(code, "k_final")) not in faulty
        ]

    def _compare(
        self, payload: Citation, raw: Any, citation: Any, place: int, segment: int | None
    ) -> None:
        """The text at the citation's offsets, beside what the snippet and the quote say."""
        said = Said(snippet=_text(raw), quote=_quote(citation))
        documents = self._own._documents
        assert documents is not None, "asked for when the validator was made"
        found = place_findings(payload, said, documents, self._own.policy.offsets)
        self._note(found.findings, place, segment)
        if found.seen == "words" or found.findings:
            self._compared += 1
        else:
            self._unchecked.append(found.reason or "no words to compare")

    def note_whole(self, cites_first: bool | None) -> None:
        """What is wrong with the citations taken together."""
        mixed = mixed_units(self._cited, self._own.policy.unit)
        self._note([mixed] if mixed else [], None, None)
        listed = self._retrieved if self._retrieved is not None else self._own_payloads
        broken = out_of_order(listed) if not any(type(one) is str for one in listed) else None
        self._note([broken] if broken else [], None, None)
        if cites_first is False and self._own.policy.cite_first:
            late = CitationFinding(
                code="cite_after_answer", field="citations", expected="before or in the answer"
            )
            self._note([late], None, None)

    def examined(self) -> Examined:
        kind: Kind = "answer" if self._ids else "uncited"
        audit = _audit(self._findings, kind) if self._findings else _VALID["answer"]
        return Examined(
            audit, tuple(self._cited), tuple(self._ids), self._compared, tuple(self._unchecked)
        )

    def _not_retrieved(self, id: str) -> CitationFinding:
        known = list(self._known or ())
        shown = ", ".join(known[:IDS_SHOWN]) + (", …" if len(known) > IDS_SHOWN else "")
        expected = f"one of the {len(known)} retrieved: {shown}" if known else "nothing retrieved"
        return CitationFinding(
            code="not_retrieved", field="snippet_id", got=told(id), expected=told(expected)
        )

    def _note(
        self, findings: Sequence[CitationFinding], item: int | None, segment: int | None
    ) -> None:
        for finding in findings:
            self._findings.append(
                structs.replace(finding, item=item, segment=segment, tip=tip_of(finding.code))
            )


def _parsed(answer: Any) -> ParsedAnswer:
    if isinstance(answer, ParsedAnswer):
        return answer
    if type(answer) is dict and answer.keys() == _PLAIN:
        text, citations = answer["answer"], answer["citations"]
        if type(text) is str and type(citations) is list:
            return ParsedAnswer(answer=text, citations=citations)
    if isinstance(answer, (str, Mapping)):
        return parse_answer(answer)
    if isinstance(answer, Sequence):
        return ParsedAnswer(citations=answer)
    raise TypeError(type(answer).__name__)


def _unusable(parsed: ParsedAnswer) -> CitationFinding | None:
    """Why a reply is neither an answer nor a refusal."""
    if parsed.broken is not None:
        return CitationFinding(code="bad_json", got=told(parsed.broken), expected="whole JSON")
    if parsed.error is not None:
        said = parsed.error
        got = f"{said.error}: {said.tip}" if said.tip else said.error
        return CitationFinding(code="model_reported_error", field=said.field, got=told(got))
    return None


def _parts(parsed: ParsedAnswer) -> Iterator[tuple[int | None, Sequence[Any]]]:
    """The citations segment by segment; those of no segment come first, as the answer's own."""
    segments: tuple[ParsedSegment, ...] = parsed.segments
    if not segments:
        yield None, parsed.citations or ()
        return
    within = {cited_id(one) for segment in segments for one in segment.citations}
    loose = [one for one in parsed.citations or () if cited_id(one) not in within]
    if loose:
        yield None, loose
    for number, segment in enumerate(segments):
        yield number, segment.citations


def _audit(findings: list[CitationFinding], kind: Kind) -> AnswerAudit:
    ordered = worst_first(
        [one if one.tip else structs.replace(one, tip=tip_of(one.code)) for one in findings]
    )
    return AnswerAudit(code=ordered[0].code, kind=kind, findings=ordered)


def held_at(audit: AnswerAudit, depth: Depth) -> bool:
    """Whether nothing was found at this depth, whatever was at others."""
    return not any(_depth_of(finding.code) == depth for finding in audit.findings)


def _depth_of(code: str) -> str:
    entry = entry_of(code)
    return entry.depth if entry else ""


def _has_payload(citation: Any) -> bool:
    """Whether a citation brings what only a retriever knows, and so can be read by itself.

    Of one that does not, and was not retrieved, no more can be said than that.
    """
    return any(_has(citation, name) for name in PAYLOAD_ONLY)


def _has(chunk: Any, name: str) -> bool:
    found = chunk.get(name) if isinstance(chunk, Mapping) else getattr(chunk, name, None)
    return found is not None


def _text(raw: Any) -> str | None:
    text = raw.get("text") if isinstance(raw, Mapping) else None
    return text if isinstance(text, str) and text else None


def _quote(citation: Any) -> str | None:
    quote = citation.get("quote") if isinstance(citation, Mapping) else None
    return quote if isinstance(quote, str) and quote.strip() else None
