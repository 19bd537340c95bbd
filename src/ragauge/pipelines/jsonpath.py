"""Paths into JSON: `$.choices[0].message.content`, `$.hits[*].id`, `$['odd key']`, `$.runs[-1]`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ragauge.errors import UsageError
from ragauge.ingest.fields import kind, quoted
from ragauge.text.visible import one_line

EXAMPLE = "$.choices[0].message.content"
_KEYS_SHOWN = 120
_STEP = re.compile(
    r"""\.(?P<name>[\w-]+)
      | \[(?P<index>-?[0-9]{1,9})\]
      | \[(?P<each>\*)\]
      | \['(?P<single>(?:[^'\\]|\\.)*)'\]
      | \["(?P<double>(?:[^"\\]|\\.)*)"\]""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)

Step = str | int | None
"""A key, a place in a list, or None for each member of a list."""


class NothingThere(Exception):
    """A value has nothing at a path; the message says how far it goes, and what is there."""


class Path(Struct, frozen=True):
    """A place, or with `[*]` many places, in a JSON value."""

    text: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return self.text

    def find(self, value: Any) -> Any:
        """What stands there; with `[*]` a list, in which None stands for a member without it.

        >>> parse_path("$.hits[*].id").find({"hits": [{"id": "a"}, {}, {"id": "c"}]})
        ['a', None, 'c']
        """
        if None not in self.steps:
            return _walk(value, self.steps, "$")
        return list(_each(value, self.steps, "$"))


def parse_path(text: str) -> Path:
    """The path a text writes; raises UsageError with the place of what cannot be read."""
    steps: list[Step] = []
    at = 1
    if not text.startswith("$"):
        raise UsageError(f"{quoted(text)} is no path: it begins with $, as in {EXAMPLE}")
    while at < len(text):
        match = _STEP.match(text, at)
        if not match:
            rest = quoted(text[at:])
            raise UsageError(
                f"{quoted(text)} cannot be read from column {at + 1}, {rest}; "
                f"write .name, [0], [-1], [*] or ['odd name'], as in {EXAMPLE}"
            )
        steps.append(_step(match))
        at = match.end()
    return Path(text, tuple(steps))


def _step(match: re.Match[str]) -> Step:
    if match["each"]:
        return None
    if match["index"]:
        return int(match["index"])
    if match["name"]:
        return match["name"]
    written = match["double"] if match["single"] is None else match["single"]
    return _ESCAPE.sub(r"\1", written)


def _walk(value: Any, steps: tuple[Step, ...], place: str) -> Any:
    for step in steps:
        try:
            value, place = _inside(value, step), _deeper(place, step)
        except LookupError:
            raise NothingThere(f"{place} is {_described(value)}") from None
    return value


def _inside(value: Any, step: Step) -> Any:
    fits = (type(step) is str and type(value) is dict) or (
        type(step) is int and type(value) is list
    )
    if not fits:
        raise LookupError
    return value[step]


def _each(value: Any, steps: tuple[Step, ...], place: str) -> Iterator[Any]:
    """The values at a path with `[*]`; the list must be there, what its members lack is None."""
    star = steps.index(None)
    members = _walk(value, steps[:star], place)
    rest = steps[star + 1 :]
    if type(members) is not list:
        raise NothingThere(f"a list was expected, and there is {_described(members)}")
    for member in members:
        try:
            if None in rest:
                yield from _each(member, rest, place)
            else:
                yield _walk(member, rest, place)
        except NothingThere:
            if None not in rest:
                yield None


def _deeper(place: str, step: Step) -> str:
    if type(step) is str:
        return f"{place}.{step}" if re.fullmatch(r"[\w-]+", step) else f"{place}[{step!r}]"
    return f"{place}[{step}]"


def _described(value: Any) -> str:
    """What there is in place of what was sought."""
    if type(value) is dict:
        keys = one_line(", ".join(value), _KEYS_SHOWN)
        return f"an object with {keys}" if value else "an empty object"
    if type(value) is list:
        return f"a list of {len(value)}"
    return kind(value)
