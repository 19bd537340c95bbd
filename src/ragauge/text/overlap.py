"""Overlap: what an answer and a reference have in common in words and in runs of characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ragauge.text.canonical import canonical, composed
from ragauge.text.language import language_of
from ragauge.text.stop_words import Language, stop_words
from ragauge.text.words import words

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

Item = TypeVar("Item", bound=Hashable)

BETA = 2
"""In chrF, recall weighs twice as much as precision."""
LONGEST = 6
"""Characters of the longest run."""
_BITS = 10
"""Of a character's number; six fit into 64, with one that says which text they are from."""
_SORTED_FROM = 160
"""Characters of both texts together from which sorting is faster than counting."""


class Overlap(NamedTuple):
    """What two texts share, as a fraction of the answer, of the reference, and of both."""

    precision: float
    recall: float
    f: float


def overlap(shared: int, in_answer: int, in_reference: int) -> Overlap:
    """Precision, recall and F from counts; all 0 if nothing is shared.

    >>> overlap(3, 4, 6)
    Overlap(precision=0.75, recall=0.5, f=0.6)
    """
    if not shared:
        return Overlap(0.0, 0.0, 0.0)
    precision, recall = shared / in_answer, shared / in_reference
    return Overlap(precision, recall, 2 * precision * recall / (precision + recall))


def count_common(counted: Mapping[Item, int], others: Iterable[Item]) -> int:
    """How many of the others match those counted, one for one.

    >>> count_common({"a": 1, "b": 2}, "aabbb")
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
    return _word_overlap(words(reference), words(answer))


def content_overlap(reference: str, answer: str) -> Overlap:
    """The same without the stop words of the reference's language.

    Where the language cannot be told, what is a stop word in one of five languages and tells
    nothing in the others is left out. A text of stop words alone keeps them: "it is" is then
    all that it says.

    >>> content_overlap("the Night Watch", "It is the Night Watch").f
    1.0
    """
    language = language_of(reference)
    return _word_overlap(content_words(reference, language), content_words(answer, language))


def content_words(text: str, language: Language | None) -> list[str]:
    """The words of a text that are not stop words, or all of them if there are no others.

    >>> content_words("Founded in 1800", "en"), content_words("It is", "en")
    (['founded', '1800'], ['it', 'is'])
    """
    found, stop = words(text), stop_words(language)
    return [word for word in found if word not in stop] or found


def contains(answer: str, reference: str) -> bool:
    """Whether the answer contains the reference, word for word and in one piece.

    Both are canonical: case, punctuation and the form of dashes do not matter. A reference
    without a word stands nowhere.

    >>> contains("It opened in 1800, they say.", "In 1800"), contains("in 18001", "in 1800")
    (True, False)
    """
    wanted = words(canonical(reference))
    in_answer = words(canonical(answer))
    return bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(in_answer)} "


def _word_overlap(in_reference: list[str], in_answer: list[str]) -> Overlap:
    return overlap(
        count_common(Counter(in_reference), in_answer), len(in_answer), len(in_reference)
    )


def edit_distance(one: str, other: str) -> float:
    """Characters to insert, delete or replace (Levenshtein), over those of the longer text.

    Accents count with their letter (NFC); case, spaces and punctuation count as characters. Two
    empty texts are equal: 0.

    >>> edit_distance("kitten", "sitting"), edit_distance("cafe\\u0301", "café")
    (0.42857142857142855, 0.0)
    """
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_distance(composed(one), composed(other))


def chrf(reference: str, answer: str) -> float:
    """The F of common runs of one to six characters without spaces, with recall counting twice.

    chrF2 as sacrebleu computes it for one sentence, but from 0 to 1: precision and recall are
    averaged over the lengths for which both texts have runs. It needs no words, so it suits
    scripts and inflections that word measures handle badly. A text of spaces has nothing in
    common with any other.

    >>> round(chrf("The Night Watch", "Night Watch"), 4), chrf("夜巡", "夜巡")
    (0.7504, 1.0)
    """
    wanted, given = "".join(reference.split()), "".join(answer.split())
    shared = shared_runs(wanted, given)
    precision = sum(count / (len(given) - at) for at, count in enumerate(shared))
    recall = sum(count / (len(wanted) - at) for at, count in enumerate(shared))
    if not precision:
        return 0.0
    precision, recall = precision / len(shared), recall / len(shared)
    return (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)


def shared_runs(one: str, other: str) -> list[int]:
    """How many runs of 1, 2, … 6 characters both texts have, each as often as both have it.

    As many counts as both texts have runs of that length.

    >>> shared_runs("museum", "muse")
    [4, 3, 2, 1]
    """
    if len(one) + len(other) < _SORTED_FROM or not (one and other):
        return count_shared_runs(one, other)
    found = sort_shared_runs(one, other)
    return count_shared_runs(one, other) if found is None else found


def count_shared_runs(one: str, other: str) -> list[int]:
    """The same run by run: for short texts, and for those of very many different characters."""
    return [
        count_common(Counter(_runs(one, size)), _runs(other, size))
        for size in range(1, min(LONGEST, len(one), len(other)) + 1)
    ]


def sort_shared_runs(one: str, other: str) -> list[int] | None:
    """The same by sorting; None if the texts have more than a thousand different characters.

    Six characters are packed into a number, and the runs of both texts are sorted once. Shorter
    runs are the beginnings of these, so they are sorted too.
    """
    import numpy as np

    packed = _packed(one, other)
    if packed is None:
        return None
    packed.sort()
    others = np.concatenate(([0], np.cumsum(packed & 1)))
    packed >>= 1
    changes = packed[1:] ^ packed[:-1]
    found = []
    for size in range(1, min(LONGEST, len(one), len(other)) + 1):
        shift = _BITS * (LONGEST - size)
        edges = np.concatenate(([0], np.flatnonzero(changes >> shift) + 1, [len(packed)]))
        in_both, in_other = np.diff(edges), np.diff(others[edges])
        complete = (packed[edges[:-1]] >> shift) % (1 << _BITS) > 0
        found.append(int(np.minimum(in_other, in_both - in_other)[complete].sum()))
    return found


def _packed(one: str, other: str) -> Array | None:
    """The six characters from each place on as a number, whose last bit is 1 in the other text.

    Zeros follow the end of a text.
    """
    import numpy as np

    end = "\0" * (LONGEST - 1)
    bytes_of_all = f"{one}{end}{other}{end}".encode("utf-32-le", "surrogatepass")
    numbers = np.frombuffer(bytes_of_all, dtype="<u4").astype(np.int64) + 1
    if numbers.max() >= 1 << _BITS:
        numbers = np.unique(numbers, return_inverse=True)[1] + 1
        if numbers.max() >= 1 << _BITS:
            return None
    numbers[len(one) : len(one) + len(end)] = 0
    numbers[len(numbers) - len(end) :] = 0
    places = len(numbers) - len(end)
    packed = np.zeros(places, dtype=np.int64)
    for ahead in range(LONGEST):
        packed = packed << _BITS | numbers[ahead : ahead + places]
    packed = packed << 1 | (np.arange(places) > len(one))
    return np.delete(packed, slice(len(one), len(one) + len(end)))


def _runs(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(len(text) - size + 1))
