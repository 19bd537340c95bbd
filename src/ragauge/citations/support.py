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
    """The result of comparing a claim with its cited spans."""

    findings: tuple[tuple[int | None, CitationFinding], ...] = ()
    """Each with the place of its citation; None if it is about all of them."""
    reason: str | None = None
    """Why nothing can be said; None where something can."""


def span_text(payload: Citation, documents: Documents, reading: OffsetReading) -> str | None:
    """The text at a citation's offsets below its document's title; None if there is none.

    A span seldom names what its document is about, and whoever follows a citation sees that.
    """
    document = documents.find(payload.doc_id, payload.rev)
    place = resolve(payload.offsets, document.text, reading) if document else None
    if document is None or not isinstance(place, Place):
        return None
    # The first line is a title if it is short and not a sentence.
    line, ended, _ = document.text[:LONGEST_TITLE].lstrip().partition("\n")
    title = line.rstrip() if ended and not line.rstrip().endswith(SENTENCE_ENDS) else ""
    span = document.text[slice(*place)]
    return span if span.startswith(title) else f"{title}\n{span}"


def claim_findings(
    claim: str, cited: Sequence[CitedSpan], others: Callable[[], Iterable[Context]]
) -> ClaimCheck:
    """What a claim says that its cited spans do not, and which other context says it instead.

    The others are compared only if the cited spans do not support the claim. A number in brackets
    is not a marker here: only the retrieved list could say which chunk it means.
    """
    found = _compare(claim, cited, others)
    if isinstance(found, str):
        return ClaimCheck(reason=found)
    findings = list(_lost_findings(found))
    if any(one.supported for one in found.claims):  # else it is said already that none does
        for id, span in found.own.items():
            citing = [chunk for one in found.claims for chunk in one.cited if chunk.chunk == id]
            if citing and not any(chunk.supports for chunk in citing):
                score = max(chunk.score or 0.0 for chunk in citing)
                got = f"{score:.2f} at best for what it is cited for"
                findings.append((span.item, _unsupported(got, found.found.threshold)))
    return ClaimCheck(tuple(findings))


def uncovered_text_findings(
    answer: str,
    segments: Sequence[str],
    cited: Sequence[Context],
    others: Callable[[], Iterable[Context]],
) -> ClaimCheck:
    """Compare what an answer says outside its segments with all that it and they cite.

    A citation that supports none of that is not a fault: it belongs to its segment.
    """
    from ragauge.grounding.groundedness import NO_CLAIM

    outside = uncovered_text(answer, segments)
    if not outside:
        return ClaimCheck()
    spans = [CitedSpan(place, one) for place, one in enumerate(cited)]
    found = _compare(outside, spans, others)
    if isinstance(found, str):
        return ClaimCheck(reason=None if found == NO_CLAIM else found)
    return ClaimCheck(tuple((None, finding) for _, finding in _lost_findings(found)))


def uncovered_text(answer: str, segments: Sequence[str]) -> str:
    """The sentences of an answer that none of its segments has the words of.

    >>> uncovered_text("It opened in 1800. Napoleon designed it.", ["The museum opened in 1800."])
    'Napoleon designed it.'
    """
    said = [_content_words(segment) for segment in segments]
    stretches = [answer[one.start : one.end] for one in sentences(answer)]
    return "\n".join(
        text for text in stretches if not any(_content_words(text) <= segment for segment in said)
    )


def _content_words(text: str) -> set[str]:
    return {*words(text)} - stop_words(language_of(text))


def failed_check(error: Exception) -> str:
    """The reason if our own check failed."""
    return one_line(f"{FAILED}: {type(error).__name__}: {error}", FAULT_SHOWN)


class _Comparison(NamedTuple):
    """A claim compared with its cited spans, by their ids."""

    found: CitationSupport
    own: dict[str, CitedSpan]

    @property
    def claims(self) -> list[CitingSentence]:
        return [one for one in self.found.sentences if one.claims]


def _compare(
    claim: str, cited: Sequence[CitedSpan], others: Callable[[], Iterable[Context]]
) -> _Comparison | str:
    """The claim compared with its spans, then with the others if need be; or why not."""
    if not claim.strip():
        return NO_TEXT
    if not cited:
        return UNCITED
    own = {span.context.id: span for span in reversed(cited)}
    contexts = [span.context for span in cited if own[span.context.id] is span]
    found = _claim_support(claim, contexts, tuple(own))
    if found.reason:
        return found.reason
    if not all(one.supported for one in found.sentences if one.claims):
        more = [one for one in others() if one.id not in own]
        found = _claim_support(claim, [*contexts, *more], tuple(own)) if more else found
    return _Comparison(found, own)


def _claim_support(
    claim: str, contexts: Sequence[Context], cited: Sequence[str]
) -> CitationSupport:
    from ragauge.grounding import Passages
    from ragauge.grounding.cited import citation_support

    passages = Passages(contexts)
    return citation_support(claim, passages, cited, kind=_kind(passages), numbered=False)


def _kind(passages: Passages) -> AnswerKind:
    """An audited claim answers a question, be it as long as a summary."""
    return "qa" if passages.record is None else "data_to_text"


def _lost_findings(comparison: _Comparison) -> Iterator[tuple[int | None, CitationFinding]]:
    """The sentences that their cited spans do not support."""
    for one in comparison.claims:
        if not one.supported:
            items = [comparison.own[chunk.chunk].item for chunk in one.cited]
            if one.elsewhere is None:
                got = f"{one.score or 0.0:.2f} for {shown(one.text)}{_missing(one, comparison)}"
                finding = _unsupported(got, comparison.found.threshold)
            else:
                cited = ", ".join(one_line(chunk.chunk, ID_SHOWN) for chunk in one.cited)
                holder = f"{one_line(one.elsewhere.chunk, ID_SHOWN)} supports {shown(one.text)}"
                scores = f"{one.elsewhere.score:.2f}, the cited {one.score or 0.0:.2f}"
                finding = CitationFinding(
                    code="misattributed", field=CLAIM, got=cited, expected=f"{holder} ({scores})"
                )
            yield (items[0] if len(items) == 1 else None), finding


def _missing(one: CitingSentence, comparison: _Comparison) -> str:
    """The numbers and words of a sentence that no cited span has, to be named after its score."""
    from ragauge.grounding import Passages
    from ragauge.grounding.groundedness import groundedness

    passages = Passages([comparison.own[chunk.chunk].context for chunk in one.cited])
    found = groundedness(one.text, passages, kind=_kind(passages))
    lacking = list(dict.fromkeys((*found.unsupported_numbers, *found.unsupported_words)))
    if not lacking:
        return ""
    more = len(lacking) - MISSING_SHOWN
    shown = [one_line(word, ID_SHOWN) for word in lacking[:MISSING_SHOWN]]
    return f"; not there: {', '.join(shown)}" + (f" and {more} more" if more > 0 else "")


def _unsupported(got: str, threshold: float) -> CitationFinding:
    expected = f"{threshold:g} or more"
    return CitationFinding(code="unsupported", field=CLAIM, got=got, expected=expected)
