"""Citation lists and claims, found in the text of an answer."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.text.canonical import lowered

_ASCII_HEADINGS = ("citations", "sources", "bronnen", "quellen")
_HEADINGS = (*_ASCII_HEADINGS, "références", "引用")
_AFTER_HEADING = re.compile(r"""["'*_\s]*[:：]["'*_ \t]*""")
_BEFORE_HEADING = "-*•–#>\"'_ \t"
_LOOK_BACK = 40
"""The most characters of markup before a heading on its line."""
_BULLET = re.compile(r"[ \t]*(?:[-*•–]|\d+[.)])[ \t]+")
_BULLETS = re.compile(
    rf"""\s*\n((?:{_BULLET.pattern}(?!["'*_]*claim\b)[^\n]*(?:\n|$))+)""", re.IGNORECASE
)
_BRACKET_BELOW = re.compile(r"[ \t\r]*\n[ \t]*(?=[\[【])")
_IDS = "[^\\s,;，；、]+(?:[ \\t]*[,;，；、][ \\t]*[^\\s,;，；、]+)*"
_IDS_BELOW = re.compile(rf"[ \t\r]*\n((?:[ \t]*{_IDS}[ \t\r]*(?:\n|$))+)")
_NEXT_BRACKET = re.compile(r"[ \t,;，；、]*(?=[\[【])")
_BRACKETS = re.compile(r"[\[\]【】]")
_BRACKET_NEAR = 4096
_TEMPLATE_LIST = "\n- citations: ["
_ONE_ID = re.compile(r"\w[\w#/.@-]*\w", re.ASCII)
_ID_LIKE = re.compile(r"[\d#_/:]")
_SEPARATORS = re.compile(r"[\s,;，；、]+")
_FENCE = re.compile(r"```[a-zA-Z]*\n?|```")
_INLINE = re.compile(r"\[([^\[\]\s,;]+(?:\s*[,;]\s*[^\[\]\s,;]+)*)\]")
_OBJECT = re.compile(r'\{\s*"')
_OBJECTS_TRIED = 20
_LENIENT = json.JSONDecoder(strict=False)
_ANSWER_KEYS = {"claim", "answer", "citations"}
_WRITTEN_ID = re.compile(r"""["'](?:id|snippet_id|chunk_id)["']\s*:\s*["']([^"'\n]+)["']""")
_AROUND_ID = "\"'“”‘’«»`[](){}<>*［］（）【】「」『』《》"
_NOTHING = frozenset({"", "-", "–", "none", "n/a", "null", "geen", "keine", "aucune", "无"}) | {
    *("&", "and", "en", "und", "et", "和")  # they join the last two ids of a list
}
_LONGEST_NOTHING = max(map(len, _NOTHING))


class Answer(Struct, frozen=True):
    """The claim and the citations of an answer's text; None if no list was found."""

    claim: str
    citations: tuple[str, ...] | None


def take_apart(text: str) -> Answer:
    """The claim and the citations of a free-text answer.

    >>> take_apart("- claim: X maps.\\n- citations: [p1#1, 'p2#3']")
    Answer(claim='X maps.', citations=('p1#1', 'p2#3'))
    >>> take_apart('```json\\n{"claim": "X maps.", "citations": [{"id": "p1#1"}]}\\n```')
    Answer(claim='X maps.', citations=('p1#1',))
    >>> take_apart("X maps.").citations is None
    True
    """
    templated = _template_answer(text)
    if templated:
        return templated
    if "{" in text:
        found = _json_answer(text)
        if found:
            return _object_answer(*found)
    low = lowered(text)
    spans, ids = _lists(text, low)
    claim = _claim(text, low, spans)
    return Answer(claim, tuple(dict.fromkeys(ids)) if spans else None)


def _template_answer(text: str) -> Answer | None:
    """The parts of an answer in exactly the form of the template, without a search for other forms.

    With only the template's two colons there can be no other list in the text.
    """
    if not text.startswith("- claim:") or text[-1] != "]" or text.count(":") != 2:
        return None
    at = text.find(_TEMPLATE_LIST)
    inside = text[at + len(_TEMPLATE_LIST) : -1]
    nested = "[" in inside or "]" in inside or '"' in inside
    if at < 0 or nested or not text.isascii():
        return None
    alone = len(inside) > _LONGEST_NOTHING and _ONE_ID.fullmatch(inside)
    return Answer(
        text[8:at].strip(), (inside,) if alone else tuple(dict.fromkeys(split_ids(inside)))
    )


def inline_markers(text: str, retrieved: tuple[str, ...]) -> tuple[str, ...]:
    """The ids named by markers such as [p1#2], or by position such as [1].

    >>> inline_markers("X maps [2] and holds [p9#9].", ("p1#1", "p1#2"))
    ('p1#2', 'p9#9')
    """
    found = []
    for match in _INLINE.finditer(text):
        for marker in split_ids(match[1]):
            numeral = marker.isascii() and marker.isdigit() and len(marker) < 10
            place = int(marker) if numeral else 0
            is_position = marker not in retrieved and 0 < place <= len(retrieved)
            found.append(retrieved[place - 1] if is_position else marker)
    return tuple(dict.fromkeys(found))


def split_ids(text: str) -> list[str]:
    """The ids of a list written as text, quotes and brackets stripped."""
    parts = [part.strip(_AROUND_ID) for part in _SEPARATORS.split(text)]
    if "(" in text:  # the bracket is part of an id such as p1(2)
        parts = [f"{part})" if "(" in part and ")" not in part else part for part in parts]
    return [part for part in parts if len(part) > _LONGEST_NOTHING or not _is_nothing(part)]


def _is_nothing(part: str) -> bool:
    return not part or part.casefold() in _NOTHING


def id_of(value: Any) -> str | None:
    """The id of a citation given as text or as an object; None if it has none."""
    if isinstance(value, dict):
        value = value.get("id") or value.get("snippet_id") or value.get("chunk_id")
    return value if isinstance(value, str) and value.strip() else None


def list_spans(text: str) -> list[tuple[int, int]]:
    """The start and end of each citation list of the text, including its heading.

    >>> list_spans("X maps.\\nSources: [p1#1]")
    [(8, 23)]
    """
    return _lists(text, lowered(text))[0]


def _lists(text: str, low: str) -> tuple[list[tuple[int, int]], list[str]]:
    """The spans of every citation list of the text, headings included, and all their ids."""
    spans: list[tuple[int, int]] = []
    ids: list[str] = []
    closings: dict[int, int] = {}
    for start, after in sorted(_headings(low)):
        if spans and start < spans[-1][1]:
            continue
        end, found = _list_at(text, after, closings)
        line = _line_start(text, start)
        if line is None and not _is_list(text[after:end], found):
            continue
        spans.append((start if line is None else line, end))
        ids += found
    return spans, ids


def _is_list(inside: str, ids: list[str]) -> bool:
    """Whether the text after a word inside a sentence is a list, not the rest of the sentence.

    >>> _is_list("Lake Victoria and Lake Tana.", ["Lake", "Victoria", "Lake", "Tana"])
    False
    """
    bracketed = inside.lstrip()[:1] in ("[", "【")
    return bracketed or all(_ID_LIKE.search(id) for id in ids)


def _headings(low: str) -> list[tuple[int, int]]:
    """The place of each heading, and the place of the text after it."""
    found = []
    for word in _ASCII_HEADINGS if low.isascii() else _HEADINGS:
        at = low.find(word)
        while at >= 0:
            after = _AFTER_HEADING.match(low, at + len(word))
            # A letter before it makes it the end of another word, such as "resources"; Chinese
            # is written without spaces, so there a letter before means nothing.
            if after and not (at and word.isascii() and _inside_word(low, at)):
                found.append((at, after.end()))
            at = low.find(word, at + 1)
    return found


def _inside_word(text: str, at: int) -> bool:
    """Whether a letter comes before, directly or with an underscore as in `data_sources`."""
    before = text[at - 1]
    return before.isalnum() or (before == "_" and text[max(0, at - 2)].isalnum())


def _line_start(text: str, at: int) -> int | None:
    """The start of the line if only a list marker or markup comes before `at`, else None."""
    begin = max(0, at - _LOOK_BACK)
    before = text[begin:at].rstrip(_BEFORE_HEADING)
    starts = before[-1] == "\n" if before else begin == 0
    return begin + len(before) if starts else None


def _list_at(text: str, start: int, closings: dict[int, int]) -> tuple[int, list[str]]:
    """The end of the list that begins here, and its ids."""
    if text[start : start + 1] not in ("[", "【"):
        below = _BRACKET_BELOW.match(text, start)
        if not below:
            return _list_without_brackets(text, start)
        start = below.end()
    end = _closing(text, start, closings)
    ids = _bracketed_ids(text[start:end])
    while end < len(text) and (another := _NEXT_BRACKET.match(text, end)):
        start, end = another.end(), _closing(text, another.end(), closings)
        ids += _bracketed_ids(text[start:end])
    return end, ids


def _list_without_brackets(text: str, start: int) -> tuple[int, list[str]]:
    """The end of a list on the line of its heading or on those below, and its ids."""
    below = _BULLETS.match(text, start) or _IDS_BELOW.match(text, start)
    if below:
        lines = [_BULLET.sub("", line, count=1) for line in below[1].split("\n")]
        return below.end(), [id for line in lines for id in split_ids(line.rstrip(". \t\r"))]
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    return end, split_ids(text[start:end].rstrip().rstrip(".。"))


def _closing(text: str, start: int, closings: dict[int, int]) -> int:
    """The end of the bracketed list that begins here, or of the line if it never closes."""
    end = text.find("]", start, start + _BRACKET_NEAR)
    if end > 0 and text.find("[", start + 1, end) < 0 and text[start] == "[":
        return end + 1
    if not closings:
        closings.update(_closings(text))
    line_end = closings.get(start) or text.find("\n", start)
    return len(text) if line_end < 0 else line_end


def _closings(text: str) -> dict[int, int]:
    """The end of each bracket that closes; never empty, so that it is computed once for a text."""
    found, opened = {-1: -1}, []
    for bracket in _BRACKETS.finditer(text):
        if bracket[0] in "[【":
            opened.append(bracket.start())
        elif opened:
            found[opened.pop()] = bracket.end()
    return found


def _bracketed_ids(text: str) -> list[str]:
    if '"' in text:
        listed = _decode(text)
        if isinstance(listed, list):
            return _ids_of(listed) or []
    if "{" in text:
        return _WRITTEN_ID.findall(text)
    return split_ids(text.replace("【", " ").replace("】", " "))


def _json_answer(text: str) -> tuple[dict[str, Any], str] | None:
    """The JSON object that is the answer, fenced or within prose, and the text around it."""
    bare = _FENCE.sub("", text) if "```" in text else text
    start, end = bare.find("{"), bare.rfind("}") + 1
    answer = _decode(bare[start:end])
    if _is_answer(answer):
        return answer, f"{bare[:start]}\n{bare[end:]}"
    for match in islice(_OBJECT.finditer(bare), _OBJECTS_TRIED):
        start = match.start()
        try:
            answer, end = _LENIENT.raw_decode(bare, start)
            msgspec.json.encode(answer)
        except (ValueError, RecursionError):  # not JSON, or with half a character in it
            continue
        if _is_answer(answer):
            return answer, f"{bare[:start]}\n{bare[end:]}"
    return None


def _is_answer(value: Any) -> bool:
    return isinstance(value, dict) and not _ANSWER_KEYS.isdisjoint(value)


def _object_answer(answer: dict[str, Any], around: str) -> Answer:
    """The answer in an object; lists inside its claim and around the object are read as well."""
    claim = answer.get("claim", answer.get("answer"))
    claim = claim if isinstance(claim, str) else ""
    ids = _ids_of(answer.get("citations"))
    if ids is None and claim:
        claim, within = msgspec.structs.astuple(take_apart(claim))
        ids = None if within is None else [*within]
    spans, others = _lists(around, lowered(around))
    if spans:
        ids = [*(ids or []), *others]
    return Answer(claim, None if ids is None else tuple(dict.fromkeys(ids)))


def _ids_of(value: Any) -> list[str] | None:
    """The ids of a decoded list; a bare number is an id too, because models write those."""
    if isinstance(value, str):
        return split_ids(value)
    if not isinstance(value, list):
        return None
    ids = [str(member) if type(member) is int else id_of(member) for member in value]
    return [id for id in ids if id]


def _decode(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return None


def _claim(text: str, low: str, lists: list[tuple[int, int]]) -> str:
    """The text without its citation lists, from the claim field on if there is one."""
    start = 0
    at = low.find("claim")
    while at >= 0:
        after = _AFTER_HEADING.match(low, at + 5)
        if after and _line_start(text, at) is not None:
            start = after.end()
            break
        at = low.find("claim", at + 1)
    kept = []
    for begin, end in lists:
        kept.append(text[start:begin])
        start = max(start, end)
    return "".join([*kept, text[start:]]).strip()
