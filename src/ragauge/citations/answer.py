"""A model's reply taken apart: auditable answers in whatever form they come."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.citations.json_in_text import (
    BrokenObject,
    complete_object,
    objects_in,
    place_in,
    read_at,
)
from ragauge.contracts.audit import ParsedAnswer, ParsedSegment, ReportedError
from ragauge.text.citations import id_of, inline_markers, list_spans, split_ids, take_apart

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
    """The answers that a decoded value is or wraps: those least deep in it."""
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
    """The answer itself, if `response` contains the complete object and not its text."""
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


def merge_answers(answers: list[dict[Any, Any]]) -> dict[Any, Any] | None:
    """The one answer that several objects make: the same again, or each with parts of its own.

    None where two of them say different things of one part.
    """
    merged: dict[Any, Any] = answers[0]
    for answer in answers[1:]:
        if text_of(answer) == text_of(merged) != "":
            continue
        if set(parts_of(merged)) & set(parts_of(answer)):
            return None
        merged = {**merged, **answer}
    return merged


def text_of(value: Any) -> str:
    """A value as text: its JSON if it is not text, and nothing if it has no JSON."""
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return ""


_LINK = re.compile(r"\[[^\[\]]*\]\(")
_LIKE_AN_ID = re.compile(r"[\d#]")


def read_prose(text: str) -> ParsedAnswer:
    """The claim and the citations of a text.

    Markers such as [p1#2] show that it cites within the text. They become citations only on
    request, because only the retrieved list says which chunk [2] means.
    """
    apart = take_apart(text)
    claim, listed = apart.claim, apart.citations
    first: bool | None = None
    if listed is None:
        first = any(_LIKE_AN_ID.search(id) for id in _markers(claim)) or None
    elif listed:
        # Whether the first list is before the claim, an opening line such as "Sure:" aside.
        spans = list_spans(text)
        before = take_apart(text[: spans[0][0]]).claim if spans else ""
        first = not before or not claim.startswith(before) or marks(claim, listed)
    return ParsedAnswer(answer=claim, citations=listed, cites_first=first)


def marks(claim: str, citations: Sequence[Any]) -> bool:
    """Whether a marker in the claim names one of the citations, by its id or its number."""
    markers = _markers(claim)
    if not markers:
        return False
    named = {one if isinstance(one, str) else id_of(one) for one in citations}
    numbers = {str(number) for number in range(1, len(citations) + 1)}
    return not (named | numbers).isdisjoint(markers)


def _markers(claim: str) -> tuple[str, ...]:
    """The texts in square brackets, except those of Markdown links."""
    if "[" not in claim:
        return ()
    return inline_markers(_LINK.sub("(", claim) if "](" in claim else claim, ())


_FENCE = re.compile(r"```\w*")
_LONGEST_NUMBER = 40


class Around(Struct, frozen=True):
    """The prose before and after the JSON of a reply."""

    before: str = ""
    after: str = ""


_ALONE = Around()


def read_parts(parts: Mapping[str, Part], around: Around = _ALONE) -> ParsedAnswer:
    """The answer that an object's parts give, and where parts are lacking the prose around it."""
    segments = _segments(parts["segments"].value) if "segments" in parts else ()
    citations = _as_list(parts["citations"].value) if "citations" in parts else None
    answer = parts.get("answer") or (None if segments else parts.get("text"))
    text, first, error = "", None, None
    if answer is not None or segments:
        text = text_of(answer.value) if answer else "\n".join(one.text for one in segments)
        # Citations come first, or with the segments they belong to.
        keys = [parts["citations"].key] if citations else []
        if any(one.citations for one in segments):
            keys.append(parts["segments"].key)
        if keys:
            said = answer.key if answer else parts["segments"].key
            first = min(keys) <= said or marks(text, citations or ())
        if citations is None and answer is not None and not segments:
            text, citations, first = _cited_in_prose(text, around)
    elif "error" in parts:
        reported = {name: text_of(parts[name].value) for name in ("field", "tip") if name in parts}
        error = ReportedError(
            error=text_of(parts["error"].value),
            field=reported.get("field") or None,
            tip=reported.get("tip") or None,
        )
    else:
        # The answer in prose, with the citations as JSON; with prose on both sides who knows.
        before, after = (_FENCE.sub("", prose).strip() for prose in (around.before, around.after))
        prose = read_prose(f"{before}\n{after}".strip())
        text = prose.answer
        if not citations:
            citations = citations if prose.citations is None else prose.citations
        elif bool(before) != bool(after):
            first = bool(after) or marks(text, citations)
    return ParsedAnswer(
        answer=text,
        citations=citations,
        segments=segments,
        cites_first=first,
        reported_deltaS=_number(parts["deltaS"].value) if "deltaS" in parts else None,
        reported_lambda=text_of(parts["lambda"].value) or None if "lambda" in parts else None,
        error=error,
    )


def _cited_in_prose(answer: str, around: Around) -> tuple[str, Sequence[Any] | None, bool | None]:
    """The answer with what its text cites; a list around its JSON says more than markers."""
    if take_apart(answer).citations is None:
        for prose, first in ((around.before, True), (around.after, False)):
            listed = take_apart(prose).citations if prose else None
            if listed:
                return answer, listed, first or marks(answer, listed)
    within = read_prose(answer)
    text = answer if within.citations is None else within.answer
    return text, within.citations, within.cites_first


def _segments(value: Any) -> tuple[ParsedSegment, ...]:
    fields = plain_object(value)
    members = value if fields is None else [*fields.values()]
    found = []
    for one in members if isinstance(members, (list, tuple)) else ():
        within = plain_object(one)
        parts = {"text": Part(one, 0, 0)} if within is None else parts_of(within)
        text = parts.get("text") or parts.get("answer")
        citations = _as_list(parts["citations"].value) if "citations" in parts else ()
        found.append(ParsedSegment(text=text_of(text.value) if text else "", citations=citations))
    return tuple(found)


def _as_list(value: Any) -> Sequence[Any]:
    """Citations as they are written; those of an object are its members, if it is none itself."""
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, str):
        return split_ids(value)
    fields = plain_object(value)
    if fields is None or id_of(fields):
        return [value]
    return [*fields.values()]


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


_NAMES = "|".join(name for part in ANSWERING for name in SPELLINGS[part])
_KNOWN_KEY = re.compile(rf"""["'“”‘’](?:{_NAMES})["'“”‘’]\s*[:：]""", re.IGNORECASE)
_OPENING = re.compile(r"\ufeff?\s*(?:```\w*\s*)?(?=[{\[])")
"""What may come before the JSON of a reply that is nothing else."""
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
        return _of_text(str.__str__(reply))  # a framework may use a subclass of its own
    kind = type(reply).__name__
    try:
        if isinstance(reply, Mapping):
            fields = dict(reply)
            answers = answers_in(fields)
            if not answers:
                return ParsedAnswer(answer=text_of(fields))
            merged = merge_answers(answers)
            if merged is None:
                return ParsedAnswer(answer=text_of(fields), broken=_several(answers))
            # The order of a decoded object's keys need not be that of the text it came from.
            return msgspec.structs.replace(read_parts(parts_of(merged)), cites_first=None)
    except Exception as error:  # a foreign object can fail in any way
        kind = f"{kind} that raises {type(error).__name__}"
    return ParsedAnswer(broken=f"the reply is a {kind}; give its text, or an object of plain JSON")


def _of_text(text: str) -> ParsedAnswer:
    fenced = _FENCED.match(text) if "```" in text else None
    alone = fenced[1] if fenced else text
    merged = complete_object(alone) if alone.lstrip()[:1] == "{" else None
    if merged is not None:
        parts = parts_of(merged)
        if type(parts["answer"].value) is str if "answer" in parts else "segments" in parts:
            return read_parts(parts)
    found = (_of_array(text) if "[" in text else None) or (_of_json(text) if "{" in text else None)
    return found or read_prose(text)


def _of_json(text: str) -> ParsedAnswer | None:
    """The answer that a text holds as JSON, alone or within prose; None if it has none."""
    opening = _OPENING.match(text)
    opens_at = opening.end() if opening else -1
    answers: list[dict[Any, Any]] = []
    spans: list[tuple[int, int]] = []
    for one in objects_in(text):
        if isinstance(one, BrokenObject):
            # Was it to be the answer, or is it a bracket of the prose?
            if _KNOWN_KEY.search(text, one.start, one.end) or (
                one.start == opens_at and (one.cut_off or _WAS_TO_BE.match(text, one.start))
            ):
                return ParsedAnswer(answer=text, broken=one.why(text))
            continue
        alone = one.start == opens_at and _CLOSING.match(text, one.end) is not None
        answers_here = answers_in(one.value, alone=alone)
        if answers_here:
            answers += answers_here
            spans.append((one.start, one.end))
    if not answers:
        # A reply that opens as JSON may go on in a way that is none.
        opens = opens_at >= 0 and _WAS_TO_BE.match(text, opens_at)
        broken = read_at(text, opens_at) if opens else None
        if not isinstance(broken, BrokenObject):
            return None
        return ParsedAnswer(answer=text, broken=broken.why(text))
    merged = merge_answers(answers)
    if merged is None:
        place = f"the last at {place_in(text, spans[-1][0])}"
        return ParsedAnswer(answer=text, broken=_several(answers, place))
    return read_parts(parts_of(merged), Around(text[: spans[0][0]], text[spans[-1][1] :]))


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


def _several(answers: list[dict[Any, Any]], place: str = "in one object") -> str:
    return f"{len(answers):,} answers that differ, {place}; write one"
