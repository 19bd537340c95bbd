"""Options that are wrong, in the words of whoever gave them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from ragauge.errors import UsageError

Options = TypeVar("Options", bound=Struct)


def chosen_options(command: str, kind: type[Options], given: Mapping[str, Any]) -> Options:
    """The options of a call, each of the kind it should be; raises UsageError otherwise."""
    try:
        return msgspec.convert(dict(given), kind, str_keys=True)
    except msgspec.ValidationError as error:
        flags = {name: f"--{name.replace('_', '-')}" for name in kind.__struct_fields__}
        raise UsageError(f"{command}: {in_flags(str(error), flags)}") from None


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
