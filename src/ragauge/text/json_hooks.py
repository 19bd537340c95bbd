"""What JSON may not hold, told where it is read: hooks for the decoder of the standard library."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ragauge.text.visible import one_line

KEY_SHOWN = 60
NUMBER_SHOWN = 40


class JsonFault(Exception):
    """The text is JSON, and says something that cannot be kept: a fact, then a remedy."""

    def __init__(self, fact: str, remedy: str = "") -> None:
        super().__init__(fact + remedy)
        self.fact = fact


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object, each key once."""
    members = dict(pairs)
    if len(members) < len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key in times if times[key] > 1)
        shown = one_line(twice, KEY_SHOWN)
        raise JsonFault(f'key "{shown}" appears {times[twice]} times in one object', "; keep one")
    return members


def no_constant(name: str) -> Any:
    raise JsonFault(f"{name} is not a JSON number", "; write null where there is no value")


def finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise JsonFault(f"number {one_line(text, NUMBER_SHOWN)} is out of range")
    return number


def whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:  # Python converts at most some thousand digits
        raise JsonFault(f"number {one_line(text, NUMBER_SHOWN)} is out of range") from None
