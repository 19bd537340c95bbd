"""Claim algebra: where every wrong and every missing claim comes from, as counts that add up.

A claim of the answer is right when the reference supports it, and grounded when any one context
does. A context is relevant when it supports a claim of the reference. So each claim has one
address, and of the judged claims of an answer, as whole numbers:

- supported by a context + self-knowledge + invented = claims;
- misled by a relevant context + misled by noise + invented = claims - right ones;

and of the judged claims of a reference: unused + missed by the retriever = claims - said ones.

A verdict that is unknown is not False. In these counts a claim that lacks one of the verdicts the
others have is out of all of them at once and is counted as unjudged, so that the sums hold over
the rest. A metric that needs one kind of verdict alone takes its `Tally` instead: a claim that no
context has stays unsupported, whatever is not known of its reference. Where every claim of a text
has the same verdicts the two are one, and so the sums hold between the metrics too; a judge gives
or withholds them for all claims of a text in one call, and the lexical one in one table.

To call a claim supported because one context of five is known to support it, while those
without such luck are left out, would flatter the answer: all five verdicts must be known.
Verdicts that no claim has (there is no reference, or that call failed) are not waited for: the
counts that need them are None, and the others stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from ragauge.contracts.claims import AnswerAddress, AnswerClaims, Claim, ReferenceAddress


class AnswerCounts(Struct, frozen=True, kw_only=True):
    """How many claims of an answer are of each sort; None without the verdicts it takes."""

    judged: int
    unjudged: int
    supported: int | None
    """By a context, whether correct or not."""
    right: int | None
    self_knowledge: int | None
    invented: int | None
    misled_by_relevant: int | None
    misled_by_noise: int | None


class Mark(NamedTuple):
    """What is known of a claim: whether a context supports it, and whether the other text does."""

    supported: bool | None
    other: bool | None


class Tally(NamedTuple):
    """How many claims have one kind of verdict, and for how many it is true."""

    true: int
    known: int
    unknown: int


def in_contexts(claims: Sequence[Claim], chunks: int | None) -> Tally:
    """The tally of claims that a context supports, regardless of the other text.

    >>> known, unknown = Claim(text="a", chunks=(False,)), Claim(text="b", chunks=(None,))
    >>> in_contexts([known, unknown], 1)
    Tally(true=0, known=1, unknown=1)
    """
    return _tally([mark.supported for mark in marks(claims, chunks)])


def in_other_text(claims: Sequence[Claim]) -> Tally:
    """The tally of claims that the other text supports, regardless of the contexts."""
    return _tally([claim.other for claim in claims])


def answer_counts(claims: AnswerClaims) -> AnswerCounts:
    """The counts of the answer's claims by address.

    >>> right = Claim(text="It is in Ede.", chunks=(True, False), other=True)
    >>> wrong = Claim(text="It is red.", chunks=(False, True), other=False)
    >>> counts = answer_counts(
    ...     AnswerClaims(judge="j", answer=(right, wrong), reference=(right,), chunks=2)
    ... )
    >>> counts.supported, counts.right, counts.misled_by_relevant, counts.misled_by_noise
    (2, 1, 0, 1)
    """
    judged = _complete_marks(claims.answer or (), claims.chunks)
    addresses = answer_addresses(claims)
    by_both = _both_known(judged)
    split = by_both and relevance(claims) is not None
    return AnswerCounts(
        judged=len(judged),
        unjudged=len(claims.answer or ()) - len(judged),
        supported=_count_true(mark.supported for mark in judged),
        right=_count_true(mark.other for mark in judged),
        self_knowledge=addresses.count("self_knowledge") if by_both else None,
        invented=addresses.count("invented") if by_both else None,
        misled_by_relevant=addresses.count("misled_by_relevant") if split else None,
        misled_by_noise=addresses.count("misled_by_noise") if split else None,
    )


def answer_addresses(claims: AnswerClaims) -> tuple[AnswerAddress | None, ...]:
    """The address of each claim of the answer, in order; None if its verdicts are incomplete."""
    relevant = relevance(claims)
    answer = claims.answer or ()
    found: list[AnswerAddress | None] = []
    for claim, mark in zip(answer, marks(answer, claims.chunks), strict=True):
        if mark.supported is None or mark.other is None:
            found.append(None)
        elif mark.other:
            found.append("grounded" if mark.supported else "self_knowledge")
        elif not mark.supported:
            found.append("invented")
        elif relevant is None:
            found.append(None)
        else:
            misled = any(map(all, zip(claim.chunks, relevant, strict=True)))
            found.append("misled_by_relevant" if misled else "misled_by_noise")
    return tuple(found)


def reference_addresses(claims: AnswerClaims) -> tuple[ReferenceAddress | None, ...]:
    """The address of each claim of the reference; None if its verdicts are incomplete."""
    return tuple(
        None
        if mark.supported is None or mark.other is None
        else "said"
        if mark.other
        else "unused"
        if mark.supported
        else "retriever_missed"
        for mark in marks(claims.reference or (), claims.chunks)
    )


def relevance(claims: AnswerClaims) -> tuple[bool, ...] | None:
    """Whether each context supports a claim of the reference; None if that is not known.

    It is not known for a reference without claims. Not to be confused with `useful`, which is a
    verdict on a complete context: an address must follow from the verdicts on claims alone, or the
    same claim could have two.
    """
    if not claims.reference or claims.chunks is None:
        return None
    lines = [_verdicts(claim, claims.chunks) for claim in claims.reference]
    known = [line for line in lines if line is not None]
    if len(known) < len(lines):
        return None
    return tuple(any(line[place] for line in known) for place in range(claims.chunks))


def marks(claims: Sequence[Claim], chunks: int | None) -> list[Mark]:
    """What is known of each claim."""
    lines = [None if chunks is None else _verdicts(claim, chunks) for claim in claims]
    return [
        Mark(None if line is None else any(line), claim.other)
        for claim, line in zip(claims, lines, strict=True)
    ]


def _complete_marks(claims: Sequence[Claim], chunks: int | None) -> list[Mark]:
    """The marks of the claims that have every verdict that any of the claims has."""
    found = marks(claims, chunks)
    needed = [any(mark[kind] is not None for mark in found) for kind in range(len(Mark._fields))]
    return [
        mark
        for mark in found
        if any(needed)
        and not any(need and it is None for need, it in zip(needed, mark, strict=True))
    ]


def _both_known(judged: Sequence[Mark]) -> bool:
    """Whether the verdicts of both the contexts and the other text are known."""
    return bool(judged) and None not in judged[0]


def _verdicts(claim: Claim, chunks: int) -> list[bool] | None:
    """Each context's verdict on a claim; None if one of them is missing."""
    known = [verdict for verdict in claim.chunks if verdict is not None]
    return known if len(known) == len(claim.chunks) == chunks else None


def _count_true(verdicts: Iterable[bool | None]) -> int | None:
    """How many are True; None if none is known."""
    found = _tally(list(verdicts))
    return found.true if found.known else None


def _tally(verdicts: Sequence[bool | None]) -> Tally:
    known = [verdict for verdict in verdicts if verdict is not None]
    return Tally(sum(known), len(known), len(verdicts) - len(known))
