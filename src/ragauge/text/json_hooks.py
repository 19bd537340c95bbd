"""Hooks for the standard library's JSON decoder, which reject what JSON must not contain."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ragauge.text.visible import one_line

MAX_KEY_CHARS = 60
MAX_NUMBER_CHARS = 40


class JsonFault(Exception):
    """The text is JSON with a value that cannot be accepted: a fact, then a remedy."""

    def __init__(self, fact: str, remedy: str = "") -> None:
        super().__init__(fact + remedy)
        self.fact = fact


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object, each key once."""
    members = dict(pairs)
    if len(members) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        repeated = next(key for key in counts if counts[key] > 1)
        shown = one_line(repeated, MAX_KEY_CHARS)
        raise JsonFault(
            f'key "{shown}" appears {counts[repeated]} times in one object', "; keep one"
        )
    return members


def no_constant(name: str) -> Any:
    raise JsonFault(f"{name} is not a JSON number", "; write null where there is no value")


def finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise JsonFault(f"number {one_line(text, MAX_NUMBER_CHARS)} is out of range")
    return number


def integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:  # Python converts at most some thousand digits
        raise JsonFault(f"number {one_line(text, MAX_NUMBER_CHARS)} is out of range") from None
