"""The span that an answer cites beside the one its chunk has, in words."""

from __future__ import annotations

from ragauge.contracts.citation import Offsets
from ragauge.reports.numbers import counted

UNITS = {"char": "character", "token": "token"}


def span_words(one: Offsets) -> str:
    """
    >>> span_words(Offsets(85, 362))
    'characters 85–362'
    """
    return f"{UNITS[one.unit]}s {one.start}–{one.end}"


def apart(cited: Offsets, known: Offsets) -> str:
    """How the cited span lies to the one that the chunk has.

    >>> apart(Offsets(85, 362), Offsets(78, 355))
    'the cited one begins 7 characters later and ends 7 characters later'
    >>> apart(Offsets(0, 9), Offsets(0, 8))
    "the cited one begins where the chunk's does and ends 1 character later"
    >>> apart(Offsets(0, 3), Offsets(3, 8))
    'the two have nothing in common'
    """
    if cited.unit != known.unit:
        return f"one counts {UNITS[cited.unit]}s, the other {UNITS[known.unit]}s"
    if cited.end <= known.start or known.end <= cited.start:
        return "the two have nothing in common"
    begins = _moved(cited.start - known.start, cited.unit)
    ends = _moved(cited.end - known.end, cited.unit)
    return f"the cited one begins {begins} and ends {ends}"


def _moved(by: int, unit: str) -> str:
    if by == 0:
        return "where the chunk's does"
    return f"{counted(abs(by), UNITS[unit])} {'later' if by > 0 else 'earlier'}"
