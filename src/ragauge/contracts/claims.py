"""Claims of an answer and of its reference, and who supports which: what judged metrics read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

AnswerAddress = Literal[
    "grounded", "self_knowledge", "misled_by_relevant", "misled_by_noise", "invented"
]
"""What a claim of an answer is: right and in a chunk, right and in none, wrong and in a relevant
chunk, wrong and in irrelevant ones alone, wrong and in none."""
ReferenceAddress = Literal["said", "unused", "retriever_missed"]
"""What became of a claim of the reference: said by the answer; not said, though a chunk has it;
not said, and in no chunk."""
Preferred = Literal["first", "second", "tie"]


class Claim(Struct, frozen=True, kw_only=True):
    """One statement, with what was found of it.

    A verdict is True or False; None where nobody was asked or the judge failed, which is never
    taken for False.
    """

    text: str
    chunks: tuple[bool | None, ...] = ()
    """Whether each context supports it, in the row's order."""
    other: bool | None = None
    """Whether the other text supports it: the reference an answer's claim, the answer a
    reference's."""
    span: tuple[int, int] | None = None
    """Where it stands, if it is a part of the text."""


class AnswerClaims(Struct, frozen=True, kw_only=True):
    """All that a judge said of one answer."""

    judge: str
    """`lexical`, or the model and the versions of its prompts."""
    answer: tuple[Claim, ...] | None = None
    """None where they were not extracted; empty where the answer claims nothing."""
    reference: tuple[Claim, ...] | None = None
    chunks: int | None = None
    """How many contexts there were; None where the row tells nothing of them."""
    useful: tuple[bool | None, ...] | None = None
    """Whether each context is useful for the reference, in rank order."""
    questions: tuple[str, ...] | None = None
    """Questions that the answer would be the answer to; the lexical judge has the answer's own
    sentences in their place."""
    likeness: tuple[float, ...] | None = None
    """Cosine of the question with each of `questions`; None before an embedder was asked."""
    noncommittal: bool | None = None
    """The answer evades the question."""
    errors: tuple[str, ...] = ()
    """What went wrong while it was judged: records such as `chunk 3: http_500: …`, in the order
    of the plan."""


class RubricScore(Struct, frozen=True, kw_only=True):
    """What a rubric judge gave an answer."""

    score: int | None
    """1 to 5; None where the judge failed."""
    reason: str


class Preference(Struct, frozen=True, kw_only=True):
    """Which of two answers a rubric judge prefers, asked in both orders."""

    preferred: Preferred | None
    """A tie, too, where the order decided; None where the judge failed."""
    by_order: bool
    """The judge held to a place, not to an answer."""
    reason: str


class Supporter(Protocol):
    """Whoever can tell without a model whether a passage supports a claim."""

    @property
    def id(self) -> str:
        """Name and version, such as `groundedness/1`: it goes into every record made with it."""

    def supports(self, claim: str, passage: str) -> bool: ...

    def table(self, claims: Sequence[str], passages: Sequence[str]) -> list[list[bool]]:
        """A line for each claim, with whether each passage supports it, as `supports` says.

        A blank passage supports nothing.
        """
