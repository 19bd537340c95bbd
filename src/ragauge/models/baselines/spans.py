"""Entities as the baselines give them: places and types, none over another."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct


class FoundSpan(Struct, frozen=True, order=True):
    """A stretch of a text with a type, half-open, in characters."""

    start: int
    end: int
    type: str


def without_overlaps(*groups: Iterable[FoundSpan]) -> list[FoundSpan]:
    """The spans in reading order; of two that overlap the one of the earlier group stays.

    Within a group the longer stays, then the one that begins first.

    >>> without_overlaps([FoundSpan(4, 9, "TOP")], [FoundSpan(0, 5, "TMP"), FoundSpan(9, 12, "X")])
    [FoundSpan(start=4, end=9, type='TOP'), FoundSpan(start=9, end=12, type='X')]
    """
    kept: list[FoundSpan] = []
    for group in groups:
        for span in sorted(group, key=lambda one: (one.start - one.end, one)):
            if all(span.end <= other.start or other.end <= span.start for other in kept):
                kept.append(span)
    return sorted(kept)
