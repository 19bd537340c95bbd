"""Entities as CorefUD and GUM mark them: `(e1-person` opens one, `e1)` closes it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

FIELDS = ("eid", "etype")
"""The parts of an opening bracket where the file does not name them."""
IDS = ("eid", "GRP")
_BRACKET = re.compile(r"\((?P<opened>[^()]+)(?P<single>\))?|(?P<closed>[^()]+)\)")
_PART = re.compile(r"(?P<id>.*)\[(?P<part>\d+)/(?P<of>\d+)\]")


class Bracketed(Struct, frozen=True):
    """An entity as runs of words, half-open; several where it is discontinuous."""

    type: str
    runs: tuple[tuple[int, int], ...]


def are_brackets(value: str) -> bool:
    return value.startswith("(") or value.endswith(")")


def bracketed(
    values: Sequence[str], fields: Sequence[str] = FIELDS
) -> tuple[list[Bracketed], list[str]]:
    """The entities that brackets mark in the words of a sentence, and what is wrong with them.

    >>> bracketed(["(e1-person", "e1)", "(e2-place)"])[0]
    [Bracketed(type='person', runs=((0, 2),)), Bracketed(type='place', runs=((2, 3),))]
    """
    opened: list[tuple[str, str, int]] = []
    parts: dict[str, tuple[str, list[tuple[int, int]]]] = {}
    found: list[Bracketed] = []
    faults: list[str] = []
    for place, value in enumerate(values):
        for bracket in _BRACKET.finditer(value):
            if bracket["opened"]:
                id, kind = _id_and_type(bracket["opened"], fields)
                opened.append((id, kind, place))
            id = bracket["closed"] or (opened[-1][0] if bracket["single"] else "")
            if not id:
                continue
            at = next((n for n in reversed(range(len(opened))) if opened[n][0] == id), None)
            if at is None:
                faults.append(f"{id}) closes what no bracket opened")
                continue
            _, kind, first = opened.pop(at)
            found += _whole(id, kind, (first, place + 1), parts)
    faults += [f"({id} is not closed in its sentence" for id, _, _ in opened]
    return found, faults


def _whole(
    id: str, kind: str, run: tuple[int, int], parts: dict[str, tuple[str, list[tuple[int, int]]]]
) -> Iterator[Bracketed]:
    """The entity that a run completes, if it does: `e1[1/2]` waits for `e1[2/2]`."""
    part = _PART.fullmatch(id)
    if not part:
        yield Bracketed(kind, (run,))
        return
    first_kind, runs = parts.setdefault(part["id"], (kind, []))
    runs.append(run)
    if len(runs) == int(part["of"]):
        yield Bracketed(first_kind, tuple(sorted(runs)))
        del parts[part["id"]]


def _id_and_type(opened: str, fields: Sequence[str]) -> tuple[str, str]:
    named = dict(zip(fields, opened.split("-"), strict=False))
    id = next((named[name] for name in IDS if name in named), opened)
    return id, named.get("etype") or "_"
