"""Options that are wrong, in the words of whoever gave them."""

from __future__ import annotations

from collections.abc import Mapping


def in_flags(message: str, flags: Mapping[str, str]) -> str:
    """A message about a field of the options, with the flag in the field's place.

    >>> in_flags("Expected `float` > 0.0 - at `$.timeout_s`", {"timeout_s": "--timeout"})
    '--timeout: expected a number > 0.0'
    """
    fact, at, place = message.partition(" - at `$.")
    field = place.rstrip("`")
    if not at:
        return message
    plain = fact.replace("`float`", "a number").replace("`int`", "a whole number")
    return f"{flags.get(field, field)}: {plain[:1].lower()}{plain[1:]}"
