"""Whether the spans that an answer cites support what it says, by its words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from ragauge.citations.cited_place import ID_SHOWN, shown
from ragauge.citations.offsets import OffsetReading, Place, resolve
from ragauge.contracts.answers import AnswerKind, CitationSupport, CitingSentence, Context
from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.citation import Citation
from ragauge.contracts.documents import Documents
from ragauge.text.visible import one_line

if TYPE_CHECKING:
    from ragauge.text.grounding import Passages

CLAIM = "claim"
"""The field of findings about what an answer says, and not about its pointers."""
NO_TEXT = "the answer's text is not given"
NO_SPAN = "a cited span cannot be read"
UNCITED = "nothing is cited"
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
    title = _title(document.text)
    span = document.text[slice(*place)]
    return span if span.startswith(title) else f"{title}\n{span}"


def _title(text: str) -> str:
    """The first line of a document, where it can be a title: short, and no sentence."""
    line = text[:LONGEST_TITLE].lstrip().partition("\n")
    title = line[0].rstrip()
    return title if line[1] and not title.endswith(SENTENCE_ENDS) else ""


def claim_findings(
    claim: str, cited: Sequence[CitedSpan], others: Callable[[], Iterable[Context]]
) -> ClaimCheck:
    """What a claim says that its cited spans do not, and which other context says it instead.

    The others are looked at only where the cited spans do not support the claim. A number in
    brackets is no marker here: only what was retrieved would tell which chunk it means.
    """
    if not claim.strip():
        return ClaimCheck(reason=NO_TEXT)
    if not cited:
        return ClaimCheck(reason=UNCITED)
    own = {span.context.id: span for span in reversed(cited)}
    contexts = [span.context for span in cited if own[span.context.id] is span]
    found = _held(claim, contexts, tuple(own))
    if found.reason:
        return ClaimCheck(reason=found.reason)
    if not all(one.supported for one in found.sentences if one.claims):
        more = [one for one in others() if one.id not in own]
        found = _held(claim, [*contexts, *more], tuple(own)) if more else found
    return ClaimCheck(tuple(_findings(found, own)))


def _held(claim: str, contexts: Sequence[Context], cited: Sequence[str]) -> CitationSupport:
    from ragauge.text.grounding import Passages
    from ragauge.text.grounding.cited import citation_support

    passages = Passages(contexts)
    return citation_support(claim, passages, cited, kind=_kind(passages), numbered=False)


def _kind(passages: Passages) -> AnswerKind:
    """An audited claim answers a question, be it as long as a summary."""
    return "qa" if passages.record is None else "data_to_text"


def _findings(
    found: CitationSupport, own: dict[str, CitedSpan]
) -> Iterator[tuple[int | None, CitationFinding]]:
    claims = [one for one in found.sentences if one.claims]
    lost = [one for one in claims if not one.supported]
    for one in lost:
        items = [own[chunk.chunk].item for chunk in one.cited]
        yield (items[0] if len(items) == 1 else None), _finding(one, found.threshold)
    if len(lost) == len(claims):
        return  # that no citation supports anything is said already
    for id, span in own.items():
        held = [chunk for one in claims for chunk in one.cited if chunk.chunk == id]
        if held and not any(chunk.supports for chunk in held):
            score = max(chunk.score or 0.0 for chunk in held)
            got = f"{score:.2f} at best for what it is cited for"
            yield span.item, _unsupported(got, found.threshold)


def _finding(one: CitingSentence, threshold: float) -> CitationFinding:
    if one.elsewhere is None:
        return _unsupported(f"{one.score or 0.0:.2f} for {shown(one.text)}", threshold)
    cited = ", ".join(one_line(chunk.chunk, ID_SHOWN) for chunk in one.cited)
    holder = f"{one_line(one.elsewhere.chunk, ID_SHOWN)} supports {shown(one.text)}"
    expected = f"{holder} ({one.elsewhere.score:.2f}, the cited {one.score or 0.0:.2f})"
    return CitationFinding(code="misattributed", field=CLAIM, got=cited, expected=expected)


def _unsupported(got: str, threshold: float) -> CitationFinding:
    expected = f"{threshold:g} or more"
    return CitationFinding(code="unsupported", field=CLAIM, got=got, expected=expected)
