"""A model's reply taken apart: auditable answers in whatever form they come."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from ragauge.citations.answer_object import Around, read_parts
from ragauge.citations.answer_parts import (
    ANSWERING,
    SPELLINGS,
    Part,
    answers_in,
    merged,
    parts_of,
    text_of,
)
from ragauge.citations.json_in_text import BrokenObject, objects_in, place_in, read_at, whole_object
from ragauge.citations.prose import read_prose
from ragauge.contracts.audit import ParsedAnswer

_NAMES = "|".join(name for part in ANSWERING for name in SPELLINGS[part])
_KNOWN_KEY = re.compile(rf"""["'“”‘’](?:{_NAMES})["'“”‘’]\s*[:：]""", re.IGNORECASE)
_OPENING = re.compile(r"\ufeff?\s*(?:```\w*\s*)?(?=[{\[])")
"""What may stand before the JSON of a reply that is nothing else."""
_CLOSING = re.compile(r"\s*(?:```\s*)?\Z")
_FENCED = re.compile(r"\s*```\w*\s*(\{.*\})\s*```\s*\Z", re.DOTALL)
_WAS_TO_BE = re.compile(
    rf"""\[\s*\{{\s*"|\{{\s*(?:(?:```\s*)?\Z|["'“”‘’][^"'“”‘’]*["'“”‘’]?\s*\Z|["'“”‘’]?error\b"""
    rf"""|(?:{_NAMES})\s*[:：])""",
    re.IGNORECASE,
)
"""How the JSON of a reply begins that is nothing else, whatever becomes of it."""


def parse_answer(reply: str | Mapping[str, Any]) -> ParsedAnswer:
    """The reply's answer, citations and segments, and what the model says of itself.

    Never raises, whatever comes, and never guesses: of JSON that cannot be read nothing is used.

    >>> parse_answer('{"citations": ["p1#1"], "answer": "X maps.", "ΔS": 0.2}').citations
    ['p1#1']
    >>> parse_answer("- claim: X maps.\\n- citations: [p1#1]").cites_first
    False
    >>> parse_answer('{"citations": ["p1#1"], "answ').broken
    'not JSON: unterminated string starting at line 1, column 25; the text is cut off'
    """
    if isinstance(reply, str):
        return _of_text(str.__str__(reply))  # a framework may have made it a kind of its own
    kind = type(reply).__name__
    try:
        if isinstance(reply, Mapping):
            return _of_object(reply)
    except Exception as error:  # a foreign object can fail in any way
        kind = f"{kind} that raises {type(error).__name__}"
    return ParsedAnswer(broken=f"the reply is a {kind}; give its text, or an object of plain JSON")


def _of_object(reply: Mapping[str, Any]) -> ParsedAnswer:
    fields = dict(reply)
    answers = answers_in(fields)
    if not answers:
        return ParsedAnswer(answer=text_of(fields))
    whole = merged(answers)
    if whole is None:
        return ParsedAnswer(answer=text_of(fields), broken=_several(answers))
    # The order of a decoded object's keys need not be that of the text it came from.
    return msgspec.structs.replace(read_parts(parts_of(whole)), cites_first=None)


def _of_text(text: str) -> ParsedAnswer:
    fenced = _FENCED.match(text) if "```" in text else None
    alone = fenced[1] if fenced else text
    whole = whole_object(alone) if alone.lstrip()[:1] == "{" else None
    if whole is not None:
        parts = parts_of(whole)
        if type(parts["answer"].value) is str if "answer" in parts else "segments" in parts:
            return read_parts(parts)
    found = (_of_array(text) if "[" in text else None) or (_of_json(text) if "{" in text else None)
    return found or read_prose(text)


def _of_json(text: str) -> ParsedAnswer | None:
    """The answer that a text holds as JSON, alone or amid prose; None where it holds none."""
    opening = _OPENING.match(text)
    opens_at = opening.end() if opening else -1
    answers: list[dict[Any, Any]] = []
    spans: list[tuple[int, int]] = []
    for one in objects_in(text):
        if isinstance(one, BrokenObject):
            if _was_an_answer(text, one, opens=one.start == opens_at):
                return ParsedAnswer(answer=text, broken=one.why(text))
            continue
        alone = one.start == opens_at and _CLOSING.match(text, one.end) is not None
        met = answers_in(one.value, alone=alone)
        if met:
            answers += met
            spans.append((one.start, one.end))
    if not answers:
        return _never_read(text, opens_at)
    whole = merged(answers)
    if whole is None:
        place = f"the last at {place_in(text, spans[-1][0])}"
        return ParsedAnswer(answer=text, broken=_several(answers, place))
    return read_parts(parts_of(whole), Around(text[: spans[0][0]], text[spans[-1][1] :]))


def _of_array(text: str) -> ParsedAnswer | None:
    """What a reply says that is one JSON array: segments, or citations without an answer."""
    opening = _OPENING.match(text)
    if not opening or text[opening.end()] != "[":
        return None
    found = read_at(text, opening.end())
    if isinstance(found, BrokenObject) or not _CLOSING.match(text, found.end):
        return None
    members: list[Any] = found.value
    if members and all(isinstance(one, dict) and "text" in parts_of(one) for one in members):
        return read_parts({"segments": Part(members, 0, 0)})
    if answers_in(members) or not all(isinstance(one, (dict, str)) for one in members):
        return None
    return ParsedAnswer(citations=members)


def _was_an_answer(text: str, broken: BrokenObject, *, opens: bool) -> bool:
    """Whether what cannot be read was to be the answer, and is no bracket of the prose."""
    if _KNOWN_KEY.search(text, broken.start, broken.end):
        return True
    return opens and (broken.cut_off or _WAS_TO_BE.match(text, broken.start) is not None)


def _never_read(text: str, opens_at: int) -> ParsedAnswer | None:
    """The fault of a reply that opens as JSON and goes on in a way that is none."""
    if opens_at < 0 or not _WAS_TO_BE.match(text, opens_at):
        return None
    found = read_at(text, opens_at)
    if not isinstance(found, BrokenObject):
        return None
    return ParsedAnswer(answer=text, broken=found.why(text))


def _several(answers: list[dict[Any, Any]], place: str = "in one object") -> str:
    return f"{len(answers):,} answers that differ, {place}; write one"
