"""What frames the claims of an answer and is none of them: markers, lead-ins, list marks."""

from __future__ import annotations

import re

from ragauge.text.quantities.markers import without_inline_markers

_MARKER = re.compile(r"\[\s*(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\s*\]|【(\d{1,3})[^】]{0,20}】")
_SAID_MARKER = re.compile(
    r"[(\[](?:see |as per |from )?(?:passages?|contexts?|documents?|sources?)\s*"
    r"#?\d{1,3}(?:(?:\s*[,&]\s*|\s+and\s+)(?:passages?\s*)?\d{1,3})*[)\]]",
    re.I,
)
_PRESENTS = r"(?:here(?:['’]s| is| are)|(?:a )?summary\b)"
_TO_LINE_END = r"[^\n]{0,200}?:[ \t]*(?=\n)"
_LEAD_IN = re.compile(
    rf"^[ \t]*(?:(?:sure|certainly|of course)\b"
    rf"(?:{_TO_LINE_END}|[!,.]*[ \t]*(?:{_PRESENTS}[^\n.!?]{{0,160}}?:)?)"
    rf"|{_PRESENTS}(?:{_TO_LINE_END}|[^\n.!?]{{0,160}}?(?::|(?=\n))))",
    re.I | re.M,
)
"""What an assistant says before the answer begins; it claims nothing of the contexts. What it goes
on to say in the same line does."""
_PLEASANTRY = re.compile(
    r"\s*(?:yes|no|ja|nee|nein|oui|non|thanks?|thank you|bedankt|danke|merci"
    r"|(?:i )?hope (?:this|that|it) helps|you['’]re welcome|happy to help"
    r"|(?:please )?(?:let me know|feel free)\b[^.!?]{0,120}"
    r"|是的?|不是|谢谢|希望对你有帮助)\s*+[.!。！]*+\s*+",
    re.I,
)
"""What is said to be friendly, or a bare yes or no: it claims nothing by itself."""
_LENGTH_SAID = re.compile(
    r"\(?\b(?:within|in|under) \d+ words(?: or (?:less|fewer))?\)?"
    r"|\(?\b\d+ words or (?:less|fewer)\)?",
    re.I,
)
"""How long the answer was asked to be."""
_LIST_MARK = re.compile(r"^[ \t]*(?:\(?\d{1,2}[.)]|[-*•])(?=\s)", re.M)


def named_in(answer: str) -> list[tuple[int, list[str]]]:
    """Where each citation marker stands, and what it names.

    >>> named_in("It opened [1]. It closed [2-4, 7].")
    [(10, ['1']), (25, ['2', '3', '4', '7'])]
    """
    return [(match.start(), _numbers(match)) for match in _MARKER.finditer(answer)]


def without_frame(answer: str) -> str:
    """The answer with blanks for markers, lead-ins and list marks, so that places stay."""
    answer = without_inline_markers(answer)
    for pattern in (_MARKER, _SAID_MARKER, _LEAD_IN, _LIST_MARK):
        answer = pattern.sub(_blank, answer)
    return _LENGTH_SAID.sub(_blank, answer) if "words" in answer.lower() else answer


def is_pleasantry(plain: str, start: int, end: int) -> bool:
    """Whether this stretch is only friendly, or a bare yes or no."""
    return _PLEASANTRY.fullmatch(plain, start, end) is not None


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _numbers(match: re.Match[str]) -> list[str]:
    """The numbers a marker names, `[2-4]` spelled out."""
    named: list[str] = []
    for part in re.split(r"\s*[,;]\s*", match[1] or match[2]):
        first, _, last = re.sub(r"\s*[–-]\s*", "-", part).partition("-")
        if last and int(first) < int(last) <= int(first) + 20:
            named.extend(map(str, range(int(first), int(last) + 1)))
        else:
            named.extend(filter(None, (first, last)))
    return named
