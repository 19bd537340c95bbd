"""The lexical judge: sentences for claims, a supporter for verdicts, and no model."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.claims import AnswerClaims, Claim, Supporter
from ragauge.metrics.claims import relevance
from ragauge.models.judging.plan import nearest
from ragauge.refusals.predicate import is_refusal
from ragauge.text.sentences import sentences
from ragauge.text.words import words

Claims = tuple[Claim, ...] | None
"""None where there is no text."""


def lexical_claims(row: AnswerRow, supporter: Supporter, *, refused: bool = False) -> AnswerClaims:
    """What a judge would say of an answer, as far as words can tell.

    Each sentence is one claim, though it may hold several, or half of one. One is right when any
    reference supports it; a context is useful when it supports a sentence of the reference. A
    refusal claims nothing, and evades; one in free words too, whatever strength of the predicate
    was chosen for the other metrics, as a judge that reads would see. The answer's own sentences
    stand for the questions that it would answer: compared with the question, they tell whether it
    keeps to the subject.
    """
    evades = refused or is_refusal(row.answer or "", "free", question=row.question)
    answer = "" if evades else row.answer
    passages = None if row.contexts is None else [context.text for context in row.contexts]
    references = [text for text in row.references if words(text)]
    said = _compared(_claims(answer), references, supporter)
    wanted = _compared(_claims(nearest(row)), [] if answer is None else [answer], supporter)
    said, wanted = _in_chunks((said, wanted), passages or (), supporter)
    found = AnswerClaims(
        judge=f"lexical {supporter.id}",
        answer=said,
        reference=wanted,
        chunks=None if passages is None else len(passages),
        questions=None if said is None else tuple(claim.text for claim in said),
        noncommittal=None if answer is None else evades,
    )
    return structs.replace(found, useful=relevance(found))


def _claims(text: str | None) -> Claims:
    """The sentences of a text that have a word."""
    if text is None:
        return None
    return tuple(
        Claim(text=text[span.start : span.end], span=(span.start, span.end))
        for span in sentences(text)
        if words(text[span.start : span.end])
    )


def _compared(claims: Claims, others: Sequence[str], supporter: Supporter) -> Claims:
    """The claims with the verdict of the other texts; where there are none, it stays unknown."""
    if not claims or not others:
        return claims
    table = supporter.table([claim.text for claim in claims], others)
    pairs = zip(claims, table, strict=True)
    return tuple(structs.replace(claim, other=any(verdicts)) for claim, verdicts in pairs)


def _in_chunks(
    sides: Sequence[Claims], passages: Sequence[str], supporter: Supporter
) -> list[Claims]:
    """The claims with the verdicts of the passages, which are looked at once for both sides."""
    texts = [claim.text for side in sides for claim in side or ()]
    lines = iter(supporter.table(texts, passages))
    return [
        side and tuple(structs.replace(claim, chunks=tuple(next(lines))) for claim in side)
        for side in sides
    ]
