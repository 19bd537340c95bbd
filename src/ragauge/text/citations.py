"""Citation lists and claims, found in the text of an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

_HEADINGS = ("citations", "sources", "bronnen", "quellen", "références", "引用")
_AFTER_HEADING = re.compile(r"""["'*_\s]*[:：]["'*_ \t]*""")
_BEFORE_HEADING = "-*•\"'_ \t"
_BULLETS = re.compile(r"\s*\n((?:[ \t]*[-*•][ \t]+[^\n]*(?:\n|$))+)")
_TEMPLATE_LIST = "\n- citations: ["
_SEPARATORS = re.compile(r"[\s,;，；、]+")
_FENCE = re.compile(r"```[a-zA-Z]*\n?|```")
_INLINE = re.compile(r"\[([^\[\]\s,;]+(?:\s*[,;]\s*[^\[\]\s,;]+)*)\]")
_AROUND_ID = "\"'“”‘’«»`[](){}<>*"
_NOTHING = frozenset({"", "-", "–", "none", "n/a", "null", "geen", "keine", "aucune", "无"})


class Answer(Struct, frozen=True):
    """An answer's text taken apart: its claim, and its citations, None where no list was found."""

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
    templated = _templated(text)
    if templated:
        return templated
    if "{" in text:
        structured = _json_answer(text)
        if structured:
            return structured
    lowered = _lowered(text)
    spans, ids = _lists(text, lowered)
    claim = _claim(text, lowered, spans)
    return Answer(claim, unique(ids) if spans else None)


def _templated(text: str) -> Answer | None:
    """An answer in the template's own form, taken apart without a search for other forms.

    Two colons are the template's own: no other list can hide in the text.
    """
    if not text.startswith("- claim:") or text[-1] != "]" or text.count(":") != 2:
        return None
    at = text.find(_TEMPLATE_LIST)
    written = text[at + len(_TEMPLATE_LIST) : -1]
    if at < 0 or "[" in written or '"' in written or not text.isascii():
        return None
    return Answer(text[8:at].strip(), unique(split_ids(written)))


def inline_markers(text: str, retrieved: tuple[str, ...]) -> tuple[str, ...]:
    """The ids named by markers such as [p1#2], or by position such as [1].

    >>> inline_markers("X maps [2] and holds [p9#9].", ("p1#1", "p1#2"))
    ('p1#2', 'p9#9')
    """
    found = []
    for match in _INLINE.finditer(text):
        for marker in split_ids(match[1]):
            place = int(marker) if marker.isascii() and marker.isdigit() else 0
            by_place = marker not in retrieved and 0 < place <= len(retrieved)
            found.append(retrieved[place - 1] if by_place else marker)
    return unique(found)


def split_ids(text: str) -> list[str]:
    """The ids of a list written as text, quotes and brackets stripped."""
    parts = [part.strip(_AROUND_ID) for part in _SEPARATORS.split(text)]
    return [part for part in parts if part and part.casefold() not in _NOTHING]


def unique(ids: Iterable[str]) -> tuple[str, ...]:
    """The ids in order of first mention, each once."""
    return tuple(dict.fromkeys(ids))


def id_of(value: Any) -> str | None:
    """The id of a citation given as text or as an object, None where it has none."""
    if isinstance(value, dict):
        value = value.get("id") or value.get("snippet_id") or value.get("chunk_id")
    return value if isinstance(value, str) and value.strip() else None


def _lists(text: str, lowered: str) -> tuple[list[tuple[int, int]], list[str]]:
    """The spans of every citation list of the text, headings included, and all their ids."""
    spans: list[tuple[int, int]] = []
    ids: list[str] = []
    for start, after in sorted(_headings(lowered)):
        if spans and start < spans[-1][1]:
            continue
        end, found = _list_at(text, after)
        spans.append((_line_start(text, start), end))
        ids += found
    return spans, ids


def _headings(lowered: str) -> list[tuple[int, int]]:
    """Where each heading's word begins, and where what it heads does."""
    found = []
    for word in _HEADINGS:
        at = lowered.find(word)
        while at >= 0:
            after = _AFTER_HEADING.match(lowered, at + len(word))
            # A letter before it makes it the end of another word, such as "resources"; Chinese
            # is written without blanks, so there a letter before says nothing.
            if after and not (word.isascii() and lowered[at - 1 : at].isalnum() and at):
                found.append((at, after.end()))
            at = lowered.find(word, at + 1)
    return found


def _line_start(text: str, at: int) -> int:
    """The beginning of the line where only a list marker or markup stands before `at`."""
    line = text.rfind("\n", 0, at) + 1
    return line if not text[line:at].strip(_BEFORE_HEADING) else at


def _list_at(text: str, start: int) -> tuple[int, list[str]]:
    """Where the list that begins here ends, and its ids."""
    if text[start : start + 1] in ("[", "【"):
        end = _closing(text, start)
        return end, _bracketed(text[start:end])
    bullets = _BULLETS.match(text, start)
    if bullets:
        lines = (line.strip().lstrip("-*•").strip() for line in bullets[1].splitlines())
        return bullets.end(), [id for line in lines for id in split_ids(line.rstrip("."))]
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    return end, split_ids(text[start:end].rstrip().rstrip(".。"))


def _closing(text: str, start: int) -> int:
    """The end of the bracketed list that begins here, or of the line if it never closes."""
    end = text.find("]", start)
    if end > 0 and text.find("[", start + 1, end) < 0 and text[start] == "[":
        return end + 1
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "[【") - (text[at] in "]】")
        if depth == 0:
            return at + 1
    line_end = text.find("\n", start)
    return len(text) if line_end < 0 else line_end


def _bracketed(text: str) -> list[str]:
    if '"' in text:
        listed = _decoded(text)
        if isinstance(listed, list):
            return [id for value in listed if (id := id_of(value))]
    return split_ids(text.replace("【", " ").replace("】", " "))


def _json_answer(text: str) -> Answer | None:
    """The answer of a JSON object that stands in the text, fenced or among prose."""
    bare = _FENCE.sub("", text) if "```" in text else text
    answer = _decoded(bare[bare.find("{") : bare.rfind("}") + 1])
    if not isinstance(answer, dict) or not answer.keys() & {"claim", "answer", "citations"}:
        return None
    claim = answer.get("claim", answer.get("answer"))
    listed = answer.get("citations")
    if isinstance(listed, str):
        listed = split_ids(listed)
    ids = [id for v in listed if (id := id_of(v))] if isinstance(listed, list) else None
    return Answer(claim if isinstance(claim, str) else "", None if ids is None else unique(ids))


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _claim(text: str, lowered: str, lists: list[tuple[int, int]]) -> str:
    """The text without its citation lists, from the claim field on where there is one."""
    start = 0
    at = lowered.find("claim")
    while at >= 0:
        after = _AFTER_HEADING.match(lowered, at + 5)
        if after and not text[text.rfind("\n", 0, at) + 1 : at].strip(_BEFORE_HEADING):
            start = after.end()
            break
        at = lowered.find("claim", at + 1)
    kept = []
    for begin, end in lists:
        kept.append(text[start:begin])
        start = max(start, end)
    return "".join([*kept, text[start:]]).strip()


def _lowered(text: str) -> str:
    """The text in lower case, every character still in its place."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join([low if len(low := character.lower()) == 1 else character for character in text])
