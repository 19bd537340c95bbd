"""The keys an auditable answer is written with, whatever their spelling."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

SPELLINGS = {
    "answer": ("claim", "answer", "response"),
    "citations": (
        *("citations", "citation", "sources", "references"),
        *("bronnen", "quellen", "références", "引用"),
    ),
    "segments": ("segments",),
    "text": ("text",),
    "deltaS": ("δs", "deltas"),
    "lambda": ("λ", "lambda", "λstate", "lambdastate"),
    "error": ("error",),
    "field": ("field",),
    "tip": ("tip", "fix"),
}
"""What each part of an answer may be called, the first that has a value counting. Capitals and
all but letters and digits make no difference: `ΔS`, `delta_s` and `DeltaS` are one."""

ANSWERING = ("answer", "citations", "segments")
"""An object with one of these parts is an answer."""

_LONGEST = 40
_DEEPEST = 5
_WIDEST = 1000
_PLACES = {
    spelling: (part, place)
    for part, spellings in SPELLINGS.items()
    for place, spelling in enumerate(spellings)
}


class Part(Struct, frozen=True):
    """A part of an answer, and which key of its object it was."""

    value: Any
    key: int
    rank: int


def parts_of(fields: Mapping[Any, Any]) -> dict[str, Part]:
    """The parts an object has; what is null or empty text is not there."""
    found: dict[str, Part] = {}
    for key, (name, value) in enumerate(fields.items()):
        known = _meant(name) if isinstance(name, str) and len(name) <= _LONGEST else None
        if known is None or value is None or (type(value) is str and not value):
            continue
        part, rank = known
        if part not in found or rank < found[part].rank:
            found[part] = Part(value, key, rank)
    return found


@lru_cache(maxsize=1024)
def _meant(name: str) -> tuple[str, int] | None:
    """The part that a key names, and how much before its other names it counts."""
    folded = name.casefold().replace("∆", "δ")  # the mathematical sign looks like the letter
    return _PLACES.get("".join(letter for letter in folded if letter.isalnum()))


def is_answer(fields: Mapping[Any, Any], *, alone: bool = True) -> bool:
    """Whether an object is an auditable answer, empty or not, or a reported error.

    Amid prose an error or a text may be an example, so there it has to say more.
    """
    names = [name for name in fields if isinstance(name, str) and len(name) <= _LONGEST]
    if any(known[0] in ANSWERING for name in names if (known := _meant(name))):
        return True
    parts = parts_of(fields)
    if alone:
        return "error" in parts or "text" in parts
    return "error" in parts and ("tip" in parts or "field" in parts)


def answers_in(value: Any, *, alone: bool = True) -> list[dict[Any, Any]]:
    """The answers that a decoded value is or wraps: those that stand least deep in it."""
    level = [value]
    for _ in range(_DEEPEST):
        objects = [fields for part in level if (fields := plain_object(part)) is not None]
        answers = [_innermost(fields) for fields in objects if is_answer(fields, alone=alone)]
        if answers:
            return answers
        lists = [part for part in level if isinstance(part, (list, tuple))]
        inner = [member for fields in objects for member in fields.values()]
        level = [*inner, *(member for listed in lists for member in listed)][:_WIDEST]
    return []


def _innermost(fields: dict[Any, Any]) -> dict[Any, Any]:
    """The answer itself, where `response` holds the whole of it and not its text."""
    for _ in range(_DEEPEST):
        parts = parts_of(fields)
        within = plain_object(parts["answer"].value) if "answer" in parts else None
        if within is None or "citations" in parts or not is_answer(within):
            break
        fields = within
    return fields


def plain_object(value: Any) -> dict[Any, Any] | None:
    """A mapping as a dict; None for anything else."""
    if isinstance(value, dict):
        return value
    return dict(value) if isinstance(value, Mapping) else None


def merged(answers: list[dict[Any, Any]]) -> dict[Any, Any] | None:
    """The one answer that several objects make: the same again, or each with parts of its own.

    None where two of them say different things of one part.
    """
    whole: dict[Any, Any] = answers[0]
    for answer in answers[1:]:
        if text_of(answer) == text_of(whole) != "":
            continue
        if set(parts_of(whole)) & set(parts_of(answer)):
            return None
        whole = {**whole, **answer}
    return whole


def text_of(value: Any) -> str:
    """A value as text: its JSON where it is none, and nothing where it has no JSON."""
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return ""
