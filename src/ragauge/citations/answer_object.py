"""An auditable answer from the parts of its object, and from the prose around it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from ragauge.citations.answer_parts import Part, parts_of, plain_object, text_of
from ragauge.citations.prose import marks, read_prose
from ragauge.contracts.audit import ParsedAnswer, ParsedSegment, ReportedError
from ragauge.text.citations import id_of, split_ids, take_apart

_FENCE = re.compile(r"```\w*")
_LONGEST_NUMBER = 40


class Around(Struct, frozen=True):
    """The prose before and after the JSON of a reply."""

    before: str = ""
    after: str = ""


_ALONE = Around()


class _Told(Struct, frozen=True):
    """What a reply says, what it cites, and whether it cites first."""

    answer: str
    citations: Sequence[Any] | None
    cites_first: bool | None = None


def read_parts(parts: Mapping[str, Part], around: Around = _ALONE) -> ParsedAnswer:
    """The answer that an object's parts give, and where parts are lacking the prose around it."""
    segments = _segments(parts["segments"].value) if "segments" in parts else ()
    citations = _listed(parts["citations"].value) if "citations" in parts else None
    answer = parts.get("answer") or (None if segments else parts.get("text"))
    error = None
    if answer is not None or segments:
        told = _told(parts, answer, citations, segments)
    elif "error" in parts:
        told, error = _Told("", citations), _reported_error(parts)
    else:
        told = _told_around(citations, around)
    if told.citations is None and answer is not None and not segments:
        told = _cited_in_prose(told.answer, around)
    return ParsedAnswer(
        answer=told.answer,
        citations=told.citations,
        segments=segments,
        cites_first=told.cites_first,
        reported_deltaS=_number(parts["deltaS"].value) if "deltaS" in parts else None,
        reported_lambda=_optional(parts, "lambda"),
        error=error,
    )


def _told(
    parts: Mapping[str, Part],
    answer: Part | None,
    citations: Sequence[Any] | None,
    segments: tuple[ParsedSegment, ...],
) -> _Told:
    """What the object says; its citations come first, or with the segments they belong to."""
    text = text_of(answer.value) if answer else "\n".join(one.text for one in segments)
    keys = [parts["citations"].key] if citations else []
    if any(one.citations for one in segments):
        keys.append(parts["segments"].key)
    if not keys:
        return _Told(text, citations)
    said = answer.key if answer else parts["segments"].key
    return _Told(text, citations, min(keys) <= said or marks(text, citations or ()))


def _told_around(citations: Sequence[Any] | None, around: Around) -> _Told:
    """The answer in prose, with the citations as JSON; with prose on both sides who knows."""
    before, after = (_FENCE.sub("", prose).strip() for prose in (around.before, around.after))
    prose = read_prose(f"{before}\n{after}".strip())
    if not citations:
        return _Told(prose.answer, citations if prose.citations is None else prose.citations)
    if bool(before) == bool(after):
        return _Told(prose.answer, citations)
    return _Told(prose.answer, citations, bool(after) or marks(prose.answer, citations))


def _cited_in_prose(answer: str, around: Around) -> _Told:
    """The answer with what its text cites; a list around its JSON says more than markers."""
    if take_apart(answer).citations is None:
        for prose, first in ((around.before, True), (around.after, False)):
            listed = take_apart(prose).citations if prose else None
            if listed:
                return _Told(answer, listed, first or marks(answer, listed))
    within = read_prose(answer)
    text = answer if within.citations is None else within.answer
    return _Told(text, within.citations, within.cites_first)


def _segments(value: Any) -> tuple[ParsedSegment, ...]:
    fields = plain_object(value)
    members = value if fields is None else [*fields.values()]
    if not isinstance(members, (list, tuple)):
        return ()
    return tuple(_segment(one) for one in members)


def _segment(value: Any) -> ParsedSegment:
    fields = plain_object(value)
    if fields is None:
        return ParsedSegment(text=text_of(value), citations=())
    parts = parts_of(fields)
    text = parts.get("text") or parts.get("answer")
    citations = _listed(parts["citations"].value) if "citations" in parts else ()
    return ParsedSegment(text=text_of(text.value) if text else "", citations=citations)


def _listed(value: Any) -> Sequence[Any]:
    """Citations as they are written; those of an object are its members, if it is none itself."""
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, str):
        return split_ids(value)
    fields = plain_object(value)
    if fields is None or id_of(fields):
        return [value]
    return [*fields.values()]


def _reported_error(parts: Mapping[str, Part]) -> ReportedError:
    return ReportedError(
        error=text_of(parts["error"].value),
        field=_optional(parts, "field"),
        tip=_optional(parts, "tip"),
    )


def _optional(parts: Mapping[str, Part], name: str) -> str | None:
    return text_of(parts[name].value) or None if name in parts else None


def _number(value: Any) -> float | None:
    """The finite number that a value is or writes; None for any other."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str) and len(value) > _LONGEST_NUMBER:
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
