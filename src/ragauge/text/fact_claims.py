"""Claims of an answer that can be looked up in facts, and whether they stand there."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragauge.text.agreement import NEGATIONS
from ragauge.text.language import language_of
from ragauge.text.sentences import sentences
from ragauge.text.stop_words import Language, stop_words
from ragauge.text.words import words

_SHORT_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)


class KnownFacts:
    """Facts made ready for looking up claims.

    >>> facts = KnownFacts(["Het Rijksmuseum werd opgericht in 1800."])
    >>> facts.hold("Opgericht in 1800."), facts.hold("Opgericht in 1801."), facts.hold("")
    (True, False, False)
    """

    def __init__(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        self._language = language_of(" ".join(texts))
        self._facts = [(frozenset(words(text)), _denies(text)) for text in texts]

    def hold(self, claim: str) -> bool:
        """Whether one fact has every telling word of the claim: the claim lies in the fact.

        A fact may say more than the claim, never the other way round. Where one of them denies
        and the other does not, they say different things. The order of words is not looked at.
        """
        telling, denies = telling_words(claim, self._language), _denies(claim)
        return bool(telling) and any(
            telling <= known and denies == denied for known, denied in self._facts
        )

    def verifiable(self, answer: str) -> list[str]:
        """The sentences of an answer that can be looked up: not questions, not stop words alone."""
        found = [answer[place.start : place.end].strip() for place in sentences(answer)]
        return [
            claim
            for claim in found
            if not claim.endswith(("?", "？")) and telling_words(claim, self._language)
        ]


def telling_words(claim: str, language: Language | None) -> frozenset[str]:
    """The words of a claim that are no stop words; negations are never among those.

    >>> sorted(telling_words("It was not founded in 1800", "en"))
    ['1800', 'founded', 'not']
    """
    return frozenset(words(claim)) - stop_words(language)


def _denies(text: str) -> bool:
    return not NEGATIONS.isdisjoint(words(text)) or bool(_SHORT_NOT.search(text))
