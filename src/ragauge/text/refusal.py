"""Refusal: one predicate, several strengths.

`exact`: the complete text is the token. `near` is the token with a list marker, quotes, a final
stop or a claim field around it. `free` says in its own words that it does not answer; where that
is not certain it is an answer, and `undetermined` is only noted. By default (`auto`) all three
count as refusals.
"""

from __future__ import annotations

import re

from msgspec import Struct

from ragauge.contracts.gold import (
    DEFAULT_STRENGTH,
    DEFAULT_TOKENS,
    REFUSING,
    Refusal,
    Strength,
)
from ragauge.text.refusals.free import Judgement, free_refusal

_FREE: dict[Judgement, Refusal] = {
    "refusal": "free",
    "undetermined": "undetermined",
    "answer": "none",
}

_DRESSING = re.compile(
    r"""^(?:[-*•–]\s+|\d+[.)]\s+)?      # a list marker
        (?:claim|answer)?\s*[:：]?\s*   # a claim field
        ["'“”‘’«»„`*_]*\s*              # opening quotes or emphasis
        (?P<core>.*?)
        \s*["'“”‘’«»„`*_]*              # closing quotes, before or after the stop
        \s*[.!。！…]*
        \s*["'“”‘’«»„`*_]*$""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


_DRESSING_WORDS = 4
_DRESSING_CHARACTERS = 40


class Tokens(Struct, frozen=True):
    """The refusal tokens of a run, folded, and the lengths no refusal exceeds."""

    folded: frozenset[str]
    most_words: int
    most_characters: int


def tokens(texts: tuple[str, ...] = DEFAULT_TOKENS) -> Tokens:
    folded = frozenset(fold(text) for text in texts)
    words = max((len(text.split()) for text in folded), default=0)
    characters = max(map(len, folded), default=0)
    return Tokens(folded, words + _DRESSING_WORDS, characters + _DRESSING_CHARACTERS)


def fold(text: str) -> str:
    """Trimmed, case-folded, blanks collapsed.

    >>> fold("  Not in\\n context ")
    'not in context'
    """
    return " ".join(text.casefold().split())


def refusal_in(text: str, known: Tokens) -> Refusal:
    """How the text refuses: "exact", "near", or "none".

    >>> [refusal_in(t, tokens()) for t in ("Not in context", "- “not in context.”", "It is not.")]
    ['exact', 'near', 'none']
    """
    if len(text.split(None, known.most_words)) > known.most_words:
        return "none"
    folded = fold(text)
    if folded in known.folded:
        return "exact"
    if len(folded) > known.most_characters:
        return "none"
    match = _DRESSING.match(folded)
    return "near" if match and match["core"] in known.folded else "none"


def refusal_in_free_words(text: str, question: str | None = None) -> Refusal:
    """How a text without the token refuses: "free", "undetermined", or "none".

    >>> refusal_in_free_words("Sorry, I don't have that information.")
    'free'
    """
    return _FREE[free_refusal(text, question=question).verdict]


def is_refusal(
    text: str,
    strength: Strength = DEFAULT_STRENGTH,
    known: Tokens | None = None,
    question: str | None = None,
) -> bool:
    """Whether an answer counts as a refusal under a strength of the predicate.

    >>> [is_refusal("The documents do not say.", strength) for strength in REFUSING]
    [True, False, False, True]
    """
    refusal = refusal_in(text, known or tokens())
    if refusal == "none" and "free" in REFUSING[strength]:
        refusal = refusal_in_free_words(text, question)
    return refusal in REFUSING[strength]
