"""How much of a question a passage covers, each word weighed by how much it tells."""

from __future__ import annotations

from collections.abc import Iterable

from ragauge.demo.kin import RELATED, kin
from ragauge.demo.lexicon import Lexicon
from ragauge.demo.passages import Passage, Sentence
from ragauge.demo.question import BEGUN, Question

BEFORE, ELSEWHERE, PARTLY = 0.75, 0.5, 0.8
"""What a word is worth in the sentence before, elsewhere in the chunk, and in another form."""
CURRENT = kin("current")
HALF, LIGHT = 0.5, 0.2
"""What the noun after `which` and a number weigh, and what a word that hardly narrows the question
down does: the first two are looked for by rules of their own."""


class Weighed:
    """A question with the weight of its words."""

    def __init__(self, question: Question, lexicon: Lexicon) -> None:
        self.question = question
        self.sides = tuple(Weighed(side, lexicon) for side in question.sides)
        self.names = (*question.names, *question.settings)
        self._idf, self._joined, self._alike = lexicon.idf, lexicon.joined, lexicon.alike
        self._weights = self._weigh()
        self._total = sum(self._weights.values())

    def _weigh(self) -> dict[str, float]:
        question = self.question
        light = question.light if question.asks_how else ()
        full = (*question.words, *question.numbers) or light or self.names
        most = sum(map(self._idf, full)) / len(full) if full else 0.0
        weights = {word: LIGHT * min(self._idf(word), most) for word in question.light}
        weights |= {word: self._idf(word) for word in full}
        halves = (*question.asked, *question.numbers, *(question.after & {*full}))
        return weights | {word: HALF * self._idf(word) for word in halves}

    def coverage(self, passage: Passage, sentence: Sentence) -> float:
        """The share of the question's words that the sentence covers in its place, by weight.

        A question of names alone is covered by a sentence that names them.
        """
        if not self._total:
            return 0.0
        worth = sum(
            weight * self._worth(word, passage, sentence) for word, weight in self._weights.items()
        )
        return worth / self._total

    def _worth(self, word: str, passage: Passage, sentence: Sentence) -> float:
        if word in sentence.words or word in passage.heading:
            return 1.0
        alike = self._alike(word) | RELATED.get(word, frozenset())
        if not alike.isdisjoint(sentence.words):
            return PARTLY
        begins = not BEGUN.isdisjoint(sentence.words) or passage.begins_with(sentence)
        if self._begins(word) and begins:
            return ELSEWHERE
        if word == CURRENT and sentence.still_holds:
            return 1.0
        before = passage.before(sentence)
        if before and word in before.words:
            return 1.0 if word in self.question.after else BEFORE
        here = word in passage.words or not alike.isdisjoint(passage.words)
        return ELSEWHERE if here else 0.0

    def _begins(self, word: str) -> bool:
        return self.question.form == "compare" and word in BEGUN

    def share(self, words: Iterable[str], there: frozenset[str]) -> float:
        """The share of some words that stands there, weighed by rarity."""
        weights = {word: self._idf(word) for word in words}
        total = sum(weights.values())
        here = sum(weight for word, weight in weights.items() if self.stands(word, there))
        return here / total if total else 0.0

    def stands(self, word: str, there: frozenset[str]) -> bool:
        """Whether a word stands there, by itself or joined into a longer one."""
        return word in there or not self._joined(word).isdisjoint(there)
