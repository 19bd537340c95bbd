"""Whether the spans that an answer cites support what it says, by its words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from ragauge.citations.offsets import OffsetReading, Place, resolve
from ragauge.citations.places import ID_SHOWN, shown
from ragauge.contracts.answers import AnswerKind, CitationSupport, CitingSentence, Context
from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.citation import Citation
from ragauge.contracts.documents import Documents
from ragauge.text.language import language_of
from ragauge.text.sentences import sentences
from ragauge.text.stop_words import stop_words
from ragauge.text.visible import one_line
from ragauge.text.words import words

if TYPE_CHECKING:
    from ragauge.grounding import Passages

CLAIM = "claim"
"""The field of findings about what an answer says, and not about its pointers."""
NO_TEXT = "the answer's text is not given"
NO_SPAN = "a cited span cannot be read"
UNCITED = "nothing is cited"
FAILED = "the check itself failed"
FAULT_SHOWN = 200
MISSING_SHOWN = 8
LONGEST_TITLE = 200
SENTENCE_ENDS = (".", "!", "?", "。", "！", "？", ",", ";", ":")


class CitedSpan(NamedTuple):
    """A citation of a claim: its place in the list, and the text it points to."""

    item: int
    context: Context


class ClaimCheck(Struct, frozen=True):
    """What a look at a claim beside its cited spans has shown."""

    findings: tuple[tuple[int | None, CitationFinding], ...] = ()
    """Each with the place of the citation it is about; None where it is about all of them."""
    reason: str | None = None
    """Why nothing can be said; None where something can."""


def span_text(payload: Citation, documents: Documents, reading: OffsetReading) -> str | None:
    """What stands at a citation's offsets, its document's title above it; None where nothing does.

    A span seldom names what its document is about, and whoever follows a citation sees that.
    """
    document = documents.find(payload.doc_id, payload.rev)
    place = resolve(payload.offsets, document.text, reading) if document else None
    if document is None or not isinstance(place, Place):
        return None
    # The first line is a title where it is short, and no sentence.
    line, ended, _ = document.text[:LONGEST_TITLE].lstrip().partition("\n")
    title = line.rstrip() if ended and not line.rstrip().endswith(SENTENCE_ENDS) else ""
    span = document.text[slice(*place)]
    return span if span.startswith(title) else f"{title}\n{span}"


def claim_findings(
    claim: str, cited: Sequence[CitedSpan], others: Callable[[], Iterable[Context]]
) -> ClaimCheck:
    """What a claim says that its cited spans do not, and which other context says it instead.

    The others are looked at only where the cited spans do not support the claim. A number in
    brackets is no marker here: only what was retrieved would tell which chunk it means.
    """
    found = _looked_at(claim, cited, others)
    if isinstance(found, str):
        return ClaimCheck(reason=found)
    findings = list(_lost(found))
    if any(one.supported for one in found.claims):  # else it is said already that none does
        for id, span in found.own.items():
            held = [chunk for one in found.claims for chunk in one.cited if chunk.chunk == id]
            if held and not any(chunk.supports for chunk in held):
                score = max(chunk.score or 0.0 for chunk in held)
                got = f"{score:.2f} at best for what it is cited for"
                findings.append((span.item, _unsupported(got, found.found.threshold)))
    return ClaimCheck(tuple(findings))


def unsaid_findings(
    answer: str,
    segments: Sequence[str],
    cited: Sequence[Context],
    others: Callable[[], Iterable[Context]],
) -> ClaimCheck:
    """What an answer says beside its segments, held against all that it and they cite.

    That a citation supports none of that is no fault: it is there for its segment.
    """
    from ragauge.grounding.groundedness import NO_CLAIM

    beside = unsaid(answer, segments)
    if not beside:
        return ClaimCheck()
    spans = [CitedSpan(place, one) for place, one in enumerate(cited)]
    found = _looked_at(beside, spans, others)
    if isinstance(found, str):
        return ClaimCheck(reason=None if found == NO_CLAIM else found)
    return ClaimCheck(tuple((None, finding) for _, finding in _lost(found)))


def unsaid(answer: str, segments: Sequence[str]) -> str:
    """The sentences of an answer that none of its segments has the words of.

    >>> unsaid("It opened in 1800. Napoleon designed it.", ["The museum opened in 1800."])
    'Napoleon designed it.'
    """
    said = [_telling(segment) for segment in segments]
    stretches = [answer[one.start : one.end] for one in sentences(answer)]
    return "\n".join(
        text for text in stretches if not any(_telling(text) <= segment for segment in said)
    )


def _telling(text: str) -> set[str]:
    return {*words(text)} - stop_words(language_of(text))


def failed_check(error: Exception) -> str:
    """Why nothing can be said, where it is our own check that broke off."""
    return one_line(f"{FAILED}: {type(error).__name__}: {error}", FAULT_SHOWN)


class _Looked(NamedTuple):
    """A claim that was held against its cited spans, by the ids of these."""

    found: CitationSupport
    own: dict[str, CitedSpan]

    @property
    def claims(self) -> list[CitingSentence]:
        return [one for one in self.found.sentences if one.claims]


def _looked_at(
    claim: str, cited: Sequence[CitedSpan], others: Callable[[], Iterable[Context]]
) -> _Looked | str:
    """The claim beside its spans, and beside the others where these do not hold it; or why not."""
    if not claim.strip():
        return NO_TEXT
    if not cited:
        return UNCITED
    own = {span.context.id: span for span in reversed(cited)}
    contexts = [span.context for span in cited if own[span.context.id] is span]
    found = _held(claim, contexts, tuple(own))
    if found.reason:
        return found.reason
    if not all(one.supported for one in found.sentences if one.claims):
        more = [one for one in others() if one.id not in own]
        found = _held(claim, [*contexts, *more], tuple(own)) if more else found
    return _Looked(found, own)


def _held(claim: str, contexts: Sequence[Context], cited: Sequence[str]) -> CitationSupport:
    from ragauge.grounding import Passages
    from ragauge.grounding.cited import citation_support

    passages = Passages(contexts)
    return citation_support(claim, passages, cited, kind=_kind(passages), numbered=False)


def _kind(passages: Passages) -> AnswerKind:
    """An audited claim answers a question, be it as long as a summary."""
    return "qa" if passages.record is None else "data_to_text"


def _lost(looked: _Looked) -> Iterator[tuple[int | None, CitationFinding]]:
    """The sentences that their cited spans do not support."""
    for one in looked.claims:
        if not one.supported:
            items = [looked.own[chunk.chunk].item for chunk in one.cited]
            if one.elsewhere is None:
                got = f"{one.score or 0.0:.2f} for {shown(one.text)}{_missing(one, looked)}"
                finding = _unsupported(got, looked.found.threshold)
            else:
                cited = ", ".join(one_line(chunk.chunk, ID_SHOWN) for chunk in one.cited)
                holder = f"{one_line(one.elsewhere.chunk, ID_SHOWN)} supports {shown(one.text)}"
                scores = f"{one.elsewhere.score:.2f}, the cited {one.score or 0.0:.2f}"
                finding = CitationFinding(
                    code="misattributed", field=CLAIM, got=cited, expected=f"{holder} ({scores})"
                )
            yield (items[0] if len(items) == 1 else None), finding


def _missing(one: CitingSentence, looked: _Looked) -> str:
    """The numbers and words of a sentence that no cited span has, to be told behind its score."""
    from ragauge.grounding import Passages
    from ragauge.grounding.groundedness import groundedness

    passages = Passages([looked.own[chunk.chunk].context for chunk in one.cited])
    found = groundedness(one.text, passages, kind=_kind(passages))
    lacking = list(dict.fromkeys((*found.unsupported_numbers, *found.unsupported_words)))
    if not lacking:
        return ""
    more = len(lacking) - MISSING_SHOWN
    told = [one_line(word, ID_SHOWN) for word in lacking[:MISSING_SHOWN]]
    return f"; not there: {', '.join(told)}" + (f" and {more} more" if more > 0 else "")


def _unsupported(got: str, threshold: float) -> CitationFinding:
    expected = f"{threshold:g} or more"
    return CitationFinding(code="unsupported", field=CLAIM, got=got, expected=expected)
