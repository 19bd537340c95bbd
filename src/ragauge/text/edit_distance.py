"""Edit distance: how much of a text must be typed anew to make another of it."""

from __future__ import annotations

from ragauge.text.canonical import composed


def edit_distance(one: str, other: str) -> float:
    """Characters to insert, delete or replace (Levenshtein), over those of the longer text.

    Accents count with their letter (NFC); case, blanks and punctuation count as characters. Two
    empty texts are alike: 0.

    >>> edit_distance("kitten", "sitting"), edit_distance("cafe\\u0301", "café")
    (0.42857142857142855, 0.0)
    """
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_distance(composed(one), composed(other))
