"""Checking one answer at every depth: all its findings in the order of discovery."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from ragauge.citations.codes import tip_of
from ragauge.citations.joining import Retrieved, cited_id, join_payload
from ragauge.citations.payload import as_mapping, complete_payload, display_value, read_payload
from ragauge.citations.places import PlaceCheck, QuotedWords, place_findings
from ragauge.citations.rules import (
    LiveIndex,
    Pointer,
    crossed_sections,
    mixed_units,
    out_of_order,
    repeated_citations,
)
from ragauge.citations.support import (
    NO_SPAN,
    CitedSpan,
    ClaimCheck,
    claim_findings,
    failed_check,
    span_text,
    uncovered_text_findings,
)
from ragauge.contracts.answers import Context
from ragauge.contracts.audit import DEPTHS, CitationFinding, ParsedAnswer
from ragauge.contracts.citation import Citation
from ragauge.contracts.documents import Documents
from ragauge.text.sized_lru import SizedLRU

if TYPE_CHECKING:
    from ragauge.citations.validator import Policy

IDS_SHOWN = 5
SUPPORT = DEPTHS.index("support")
PAYLOAD_ONLY = ("index_hash", "embed_model", "analyzer", "rev", "doc_id")
ROOM = 1_000
"""What a finding takes besides its words, in characters."""
KEPT_CHARS = 1 << 23
"""Characters of the cached words that no document has, so that they are not searched again."""
_NEEDED = {
    "missing_score": ("score_norm", "score_raw"),
    "missing_k_pos": ("k_pos",),
    "missing_k_final": ("k_final",),
}
"""What the log of a retrieval needs: one of these fields, or else the code."""


class Part(Struct, frozen=True):
    """Citations that are judged together: an answer's, or those of one segment."""

    segment: int | None
    citations: Sequence[tuple[int, Any]]
    """Each with its place in the list it was written in."""
    text: str = ""
    """What they are cited for; nothing, where only segments say something."""
    again: bool = False
    """Segments cite them, too: they are read once more, and counted there."""


class Checks(Struct, frozen=True):
    """What answers are checked against: built once, used by many threads."""

    policy: Policy
    depth: int
    live: LiveIndex
    documents: Documents | None
    looked_for: SizedLRU[tuple[Any, ...], PlaceCheck]


class Checking:
    """What is wrong with one answer, and the payloads it rests on."""

    def __init__(
        self, checks: Checks, parts: Sequence[Part], retrieved: Sequence[Any] | None
    ) -> None:
        self._checks, self._retrieved = checks, retrieved
        self._known = Retrieved(retrieved or ())
        own = [one for part in parts for _, one in part.citations]
        ranked = own if retrieved is None else retrieved
        self._reranked = any(_has(one, "k_final") for one in ranked)
        self.findings: list[CitationFinding] = []
        self.cited: list[Citation] = []
        self.ids: list[str] = []
        self.complete = True
        """Whether every citation's payload is among the cited."""
        self.compared = 0
        self.unchecked: list[str] = []
        self.unjudged: list[str] = []
        self._pointers: list[Citation | Pointer] = []
        for part in parts:
            self._add(part)

    def _add(self, part: Part) -> None:
        """Look at the citations of one part, each by itself and then together."""
        segment = part.segment
        if not part.citations:
            self._note([CitationFinding(code="empty_citations", field="citations")], None, segment)
        read = [(place, self._read(one, place, part)) for place, one in part.citations]
        if self._checks.depth < 1 or part.again:
            return
        pointers = [(place, one) for place, one in read if one is not None]
        allowed = self._checks.policy.allow_cross_section
        if allowed is not None:
            crossed = crossed_sections([one for _, one in pointers], allowed)
            self._note([crossed] if crossed else [], None, segment)
        for place, finding in repeated_citations(pointers):
            self._note([finding], place, segment)
        if self._retrieved is None:
            self._note_order([one for _, one in part.citations], segment)
        self._pointers += [one for _, one in pointers]
        if self._checks.depth >= SUPPORT and part.citations:
            self._judge(part, [(place, one) for place, one in read if isinstance(one, Citation)])

    def note_answer(self, cites_first: bool | None) -> None:
        """What is wrong with the citations of all parts taken together."""
        policy = self._checks.policy
        mixed = mixed_units(self._pointers, policy.unit)
        self._note([mixed] if mixed else [], None, None)
        if self._retrieved is not None:
            self._note_order(self._retrieved, None)
        if cites_first is False and policy.cite_first:
            late = CitationFinding(
                code="cite_after_answer", field="citations", expected="before or in the answer"
            )
            self._note([late], None, None)

    def _read(self, citation: Any, place: int, part: Part) -> Citation | Pointer | None:
        """The readable part of a citation; None if that is only its id."""
        id, segment = cited_id(citation), part.segment
        known = None if id is None else self._known.as_retrieved(id)
        strange = self._retrieved is not None and id is not None and known is None
        if id is not None and not part.again:
            self.ids.append(known or id)
        if strange:
            count, first = len(self._known), self._known.first(IDS_SHOWN)
            expected = "a retrieved one, but nothing was retrieved"
            if first:
                shown = ", ".join(first) + (", …" if count > IDS_SHOWN else "")
                expected = f"one of the {count} retrieved: {shown}"
            finding = CitationFinding(
                code="not_retrieved",
                field="snippet_id",
                got=display_value(id),
                expected=display_value(expected),
            )
            self._note([finding], place, segment)
        # One that brings nothing that only a retriever knows cannot be read by itself: if it was
        # not retrieved, nothing else can be checked.
        if self._checks.depth < 1 or (strange and not any(_has(citation, n) for n in PAYLOAD_ONLY)):
            self.complete = False
            for one in [] if id else join_payload(citation, None).findings:
                if one.field == "snippet_id" or one.code == "bad_type_citation":
                    self._note([one], place, segment)
            return None
        chunk = self._known.chunk(known)
        read = join_payload(citation, chunk)
        self._note(read.findings, place, segment)
        # What the log of a retrieval needs and the payload lacks, if it is a payload at all.
        faulty = {finding.field for finding in read.findings}
        unlogged = [
            CitationFinding(code=code, field=names[0])
            for code, names in _NEEDED.items()
            if None not in faulty
            and all(read.fields.get(name) is None for name in names)
            and faulty.isdisjoint(names)
            and (self._reranked or code != "missing_k_final")
        ]
        self._note(unlogged, place, segment)
        self._note(list(self._checks.live.differences(read.fields)), place, segment)
        if read.citation is None:
            self.complete = False
            return Pointer(**{name: read.fields.get(name) for name in Pointer.__struct_fields__})
        if self._checks.depth >= 2:
            text = _text_at(chunk, "text") or _text_at(citation, "text")
            said = QuotedWords(snippet=text, quote=_text_at(citation, "quote"))
            self._compare(read.citation, said, place, segment)
        if not part.again:
            self.cited.append(read.citation)
        return read.citation

    def _compare(
        self, payload: Citation, said: QuotedWords, place: int, segment: int | None
    ) -> None:
        """Compare the text at the citation's offsets with the snippet and the quote."""
        documents, kept = self._checks.documents, self._checks.looked_for
        assert documents is not None, "asked for when the validator was made"
        key = (payload.doc_id, payload.rev, payload.offsets, said.snippet, said.quote)
        found = kept.get(key)
        if found is None:
            found = place_findings(payload, said, documents, self._checks.policy.offsets)
            if found.findings and found.seen == "words":
                size = len(said.snippet or "") + len(said.quote or "")
                kept.keep(key, found, chars=size + ROOM)
        self._note(found.findings, place, segment)
        if found.seen == "words" or found.findings:
            self.compared += 1
        else:
            self.unchecked.append(found.reason or "no words to compare")

    def note_uncovered_text(self, parsed: ParsedAnswer) -> None:
        """Check what the answer says outside its segments against everything that is cited."""
        if self._checks.depth < SUPPORT or not parsed.segments or not self.cited:
            return
        said = [segment.text for segment in parsed.segments]

        def check() -> ClaimCheck:
            spans = [
                Context(one.snippet_id, text)
                for one in self.cited
                if (text := self._text_at(one)) is not None
            ]
            if not self.complete or len(spans) < len(self.cited):
                return ClaimCheck(reason=NO_SPAN)
            return uncovered_text_findings(parsed.answer, said, spans, self._retrieved_texts)

        self._check(check, None)

    def _judge(self, part: Part, cited: Sequence[tuple[int, Citation]]) -> None:
        """Check what a part says against the spans it cites."""

        def check() -> ClaimCheck:
            spans = [
                CitedSpan(place, Context(one.snippet_id, text))
                for place, one in cited
                if (text := self._text_at(one)) is not None
            ]
            if len(spans) < len(part.citations):
                return ClaimCheck(reason=NO_SPAN)
            return claim_findings(part.text, spans, self._retrieved_texts)

        self._check(check, part.segment)

    def _check(self, check: Callable[[], ClaimCheck], segment: int | None) -> None:
        """Note the result of checking a claim; a check that fails is noted as such."""
        try:
            found = check()
        except Exception as error:  # the words of others meet our model here: see `FAILED`
            found = ClaimCheck(reason=failed_check(error))
        for place, finding in found.findings:
            self._note([finding], place, segment)
        if found.reason is not None:
            self.unjudged.append(found.reason)

    def _text_at(self, payload: Citation) -> str | None:
        documents = self._checks.documents
        assert documents is not None, "asked for when the validator was made"
        return span_text(payload, documents, self._checks.policy.offsets)

    def _retrieved_texts(self) -> Iterator[Context]:
        """What was retrieved, each as the frozen document has it, or else as it was logged."""
        for chunk in self._retrieved or ():
            payload = complete_payload(chunk) or read_payload(chunk).citation
            text = self._text_at(payload) if payload is not None else None
            id, words = cited_id(chunk), text or _text_at(chunk, "text")
            if id is not None and words is not None:
                yield Context(id, words)

    def _note_order(self, listed: Sequence[Any], segment: int | None) -> None:
        payloads = not any(isinstance(one, str) for one in listed)
        broken = out_of_order(listed) if payloads else None
        self._note([broken] if broken else [], None, segment)

    def _note(
        self, findings: Sequence[CitationFinding], item: int | None, segment: int | None
    ) -> None:
        for finding in findings:
            self.findings.append(
                structs.replace(finding, item=item, segment=segment, tip=tip_of(finding.code))
            )


def parts_of(parsed: ParsedAnswer) -> list[Part]:
    """The citations segment by segment; before them those that no segment cites.

    A segment may name by its id alone what the answer's own list describes. What that list says
    of a citation that a segment describes as well is read, too: the two may differ.
    """
    listed = list(enumerate(parsed.citations or ()))
    if not parsed.segments:
        return [Part(None, listed, parsed.answer)]
    described = {cited_id(one): one for _, one in listed if as_mapping(one) is not None}
    cited: dict[str | None, Any] = {}
    parts = []
    for number, segment in enumerate(parsed.segments):
        members = [
            described.get(cited_id(one), one) if isinstance(one, str) else one
            for one in segment.citations
        ]
        for one in members:
            cited.setdefault(cited_id(one), one)
        parts.append(Part(number, list(enumerate(members)), segment.text))
    cited.pop(None, None)
    loose = [(place, one) for place, one in listed if cited_id(one) not in cited]
    again = [
        (place, one)
        for place, one in listed
        if (id := cited_id(one)) in cited and not isinstance(one, str) and one != cited[id]
    ]
    own = [Part(None, loose)] if loose else []
    return [*own, *([Part(None, again, again=True)] if again else []), *parts]


def _has(chunk: Any, name: str) -> bool:
    written = as_mapping(chunk)
    return written is not None and written.get(name) is not None


def _text_at(fields: Any, name: str) -> str | None:
    text = fields.get(name) if isinstance(fields, Mapping) else None
    return text if isinstance(text, str) and text.strip() else None
