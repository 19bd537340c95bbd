"""chrF: what an answer and a reference have in common in runs of characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragauge.text.overlap import common

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array


BETA = 2
"""Recall weighs twice as much as precision."""


def chrf(reference: str, answer: str) -> float:
    """The F of common runs of one to six characters without blanks, recall counting twice, 0 to 1.

    chrF2 as sacrebleu computes it for one sentence, but for its scale of 0 to 100: precision and
    recall are averaged over the lengths of which both texts have runs. Needs no words, so that it
    is the measure for scripts and inflections that words do badly with. A text of blanks has
    nothing in common with any.

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


LONGEST = 6
"""Characters of the longest run."""
_BITS = 10
"""Of a character's number; six of them fit into 64 with one to tell the texts apart."""
_SORTED_FROM = 160
"""Characters of both texts together from which sorting is quicker than counting."""


def shared_runs(one: str, other: str) -> list[int]:
    """How many runs of 1, 2, … 6 characters both texts have, each as often as both have it.

    As many counts as both texts have runs of that length.

    >>> shared_runs("museum", "muse")
    [4, 3, 2, 1]
    """
    if len(one) + len(other) < _SORTED_FROM or not (one and other):
        return counted_runs(one, other)
    found = sorted_runs(one, other)
    return counted_runs(one, other) if found is None else found


def counted_runs(one: str, other: str) -> list[int]:
    """The same run by run: for short texts, and for those of very many different characters."""
    return [
        common(Counter(_runs(one, size)), _runs(other, size))
        for size in range(1, min(LONGEST, len(one), len(other)) + 1)
    ]


def sorted_runs(one: str, other: str) -> list[int] | None:
    """The same by sorting; None where the texts have more than a thousand different characters.

    Six characters are packed into a number, and the runs of both texts sorted once: shorter runs
    are the beginnings of these, so that they stand sorted, too.
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
        beyond = _BITS * (LONGEST - size)
        edges = np.concatenate(([0], np.flatnonzero(changes >> beyond) + 1, [len(packed)]))
        in_both, in_other = np.diff(edges), np.diff(others[edges])
        whole = (packed[edges[:-1]] >> beyond) % (1 << _BITS) > 0
        found.append(int(np.minimum(in_other, in_both - in_other)[whole].sum()))
    return found


def _packed(one: str, other: str) -> Array | None:
    """The six characters from each place on as a number, its last bit 1 in the other text.

    Behind a text's end stand zeros.
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
