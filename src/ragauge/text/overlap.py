"""Overlap: what an answer and a reference have in common in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from ragauge.text.canonical import canonical
from ragauge.text.language import language_of
from ragauge.text.stop_words import Language, stop_words
from ragauge.text.words import words

Counted = TypeVar("Counted", bound=Hashable)


class Overlap(NamedTuple):
    """What is common, as a share of the answer, of the reference, and of both."""

    precision: float
    recall: float
    f: float


def overlap(shared: int, in_answer: int, in_reference: int) -> Overlap:
    """Precision, recall and F from counts; all 0 where nothing is shared.

    >>> overlap(3, 4, 6)
    Overlap(precision=0.75, recall=0.5, f=0.6)
    """
    if not shared:
        return Overlap(0.0, 0.0, 0.0)
    precision, recall = shared / in_answer, shared / in_reference
    return Overlap(precision, recall, 2 * precision * recall / (precision + recall))


def common(counted: Mapping[Counted, int], others: Iterable[Counted]) -> int:
    """How many of the others have a partner among those counted, one for one.

    >>> common({"a": 1, "b": 2}, "aabbb")
    3
    """
    free, found = dict(counted), 0
    for other in others:
        left = free.get(other)
        if left:
            free[other] = left - 1
            found += 1
    return found


def word_overlap(reference: str, answer: str) -> Overlap:
    """The words that both texts have, each as often as both have it.

    >>> word_overlap("in 1800", "It opened in 1800.")
    Overlap(precision=0.5, recall=1.0, f=0.6666666666666666)
    """
    return _shared(words(reference), words(answer))


def content_overlap(reference: str, answer: str) -> Overlap:
    """The same without the stop words of the reference's language.

    Where the language cannot be told, what is a stop word in one of five languages and tells
    nothing in the others is left out. A text of stop words alone keeps them: "it is" is then
    all that it says.

    >>> content_overlap("the Night Watch", "It is the Night Watch").f
    1.0
    """
    language = language_of(reference)
    return _shared(content_words(reference, language), content_words(answer, language))


def content_words(text: str, language: Language | None) -> list[str]:
    """The words of a text that are no stop words, or all of them where there is no other.

    >>> content_words("Founded in 1800", "en"), content_words("It is", "en")
    (['founded', '1800'], ['it', 'is'])
    """
    found, idle = words(text), stop_words(language)
    return [word for word in found if word not in idle] or found


def contains(answer: str, reference: str) -> bool:
    """Whether the reference stands in the answer, word for word and in one piece.

    Both are canonical: case, punctuation and the form of dashes do not matter. A reference
    without a word stands nowhere.

    >>> contains("It opened in 1800, they say.", "In 1800"), contains("in 18001", "in 1800")
    (True, False)
    """
    wanted = words(canonical(reference))
    return bool(wanted) and _in_a_row(wanted) in _in_a_row(words(canonical(answer)))


def _in_a_row(found: list[str]) -> str:
    return f" {' '.join(found)} "


def _shared(in_reference: list[str], in_answer: list[str]) -> Overlap:
    return overlap(common(Counter(in_reference), in_answer), len(in_answer), len(in_reference))
