"""Claims of an answer compared with gold facts: correct, incorrect, or unverifiable."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from ragauge.text.agreement import NEGATIONS
from ragauge.text.canonical import canonical
from ragauge.text.language import language_of
from ragauge.text.sentences import sentences
from ragauge.text.stems import stem
from ragauge.text.stop_words import Language, stop_words
from ragauge.text.words import words

Verdict = Literal["correct", "incorrect", "unverifiable"]
_SHORT_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)
_DIGIT = re.compile(r"\d")


class KnownFacts:
    """Facts prepared for looking up claims.

    >>> facts = KnownFacts(["opgericht in 1800"], "Wanneer werd het Rijksmuseum opgericht?")
    >>> facts.verdict("Het Rijksmuseum is opgericht in 1800."), facts.verdict("In 1801.")
    ('correct', 'incorrect')
    >>> facts.verdict("Het is opgericht in 1800 op Mars."), facts.verdict("Wie weet?")
    ('incorrect', 'unverifiable')
    """

    def __init__(self, texts: Iterable[str], question: str | None = None) -> None:
        texts = list(texts)
        self._language = language_of(" ".join([*texts, question or ""]))
        self._wordings = {canonical(text) for text in texts}
        self._facts = [(self._stems(words(text)), _denies(text)) for text in texts]
        # A number in a question is often one of several to choose from, so a fact must confirm it.
        self._given = self._stems(word for word in words(question or "") if not _DIGIT.search(word))

    def verdict(self, claim: str) -> Verdict:
        """Whether the claim is contained in one fact.

        The direction: the fact has every content word of the claim that the question does not
        already have, and at least one. A fact may say more than the claim; a claim that says more
        than the fact is incorrect. If one of them is negated and the other is not, they
        disagree. Inflections of a word are the same word, and the order of words does not matter.
        A question, or a claim with stop words only, is unverifiable, unless a fact has the same
        wording.
        """
        if canonical(claim) in self._wordings:
            return "correct"
        content = self._stems(content_words(claim, self._language))
        if not content or claim.rstrip().endswith(("?", "？")):
            return "unverifiable"
        new = (content - self._given) or content
        denies = _denies(claim)
        contained = any(new <= known and denies == denied for known, denied in self._facts)
        return "correct" if contained else "incorrect"

    def _stems(self, texts: Iterable[str]) -> frozenset[str]:
        language = self._language
        return frozenset(texts if language is None else (stem(word, language) for word in texts))


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, each taken as one claim or one fact."""
    return [text[place.start : place.end].strip() for place in sentences(text)]


def content_words(claim: str, language: Language | None) -> frozenset[str]:
    """The words of a claim without its stop words; negations always stay.

    >>> sorted(content_words("It was not founded in 1800", "en"))
    ['1800', 'founded', 'not']
    """
    return frozenset(words(claim)) - stop_words(language)


def _denies(text: str) -> bool:
    return not NEGATIONS.isdisjoint(words(text)) or bool(_SHORT_NOT.search(text))
