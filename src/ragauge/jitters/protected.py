"""What no jitter may change: numbers and dates, code, URLs, quoted text, names, ids.

It is found once and masked, character by character, so that places in the masked text are the
same as in the text, and the rules of a jitter match only what they may change.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import chain

from msgspec import Struct, structs

from ragauge.jitters.lexicons import (
    ABBREVIATIONS,
    FINITE,
    MONTHS,
    NAME_OPENERS,
    OPENERS,
    PARTICLES,
    VERBS,
    plain,
)

KEPT = "\ufffc"
"""Replaces every protected character; one in the text itself is protected too."""

MARKS = "\u0300-\u036f\u00ad\u200b-\u200d\u2060"
"""Accents that are characters of their own, and invisible characters: both are inside words."""

Span = tuple[int, int]

_CJK = (
    "\u3000-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uffef\U00020000-\U000323af"
)
_CHUNK = re.compile(rf"[^\s{_CJK}]+")
_BEFORE = "([\"'“”„‘’‚«»‹›*¿¡–—"
_AFTER = ")].,;:?!…\"'“”‘’«»‹›*-–—"
_CODE = re.compile(rf"[\d_/\\@#=<>{{}}|~^$%&+*()\[\]{KEPT}]|^[-.]|\w[.:]+\w")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_LETTERS = rf"(?:[^\W\d_][{MARKS}]*)+"
_WORD = re.compile(rf"{_LETTERS}(?:['’‐‑-]{_LETTERS})*")
_POSSESSIVE = re.compile(r"['’]s\Z")
_STOP = re.compile(r"[.?!…]")
_BLANK = re.compile(r"\s")
_SENTENCE_END = re.compile("[\n\r。！？]")
_WITHIN_NAME = re.compile(r"[ \u00a0]+")
_LONGEST_TITLE = 8
_MOST_PARTICLES = 3
_MONTH = "|".join(sorted(MONTHS))
_DATES = re.compile(
    rf"""\b\d{{1,2}}(?:st|nd|rd|th|er|e|\.)?[ ](?:{_MONTH})\b(?:,?[ ]\d{{2,4}}\b)?
       | \b(?:{_MONTH})[ ]\d{{1,4}}(?:st|nd|rd|th)?\b(?:,[ ]\d{{4}}\b)?
       | (?<=\d)[ \u00a0]?[-–—~][ \u00a0]?(?=\d)
       | (?:(?<=\d)|(?<=\d[snrt][tdh])),[ \u00a0](?=\d)""",
    re.VERBOSE | re.IGNORECASE,
)
"""Dates, ranges such as 1990 – 2000, and the comma of a date."""

_OPENING = re.compile(r"`+|[“”„«»‹›‘‚「『《〈〝＂]|(?<!\d)\"(?=\S)|(?<!\w)'(?=\S)")
_CLOSING = {
    opening: re.compile(closing)
    for opening, closing in {
        "“": "”",
        "”": "”",
        "„": "[“”]",
        "«": "»",
        "»": "«",
        "‹": "›",
        "›": "‹",
        "‘": r"(?<!\s)’(?!\w)",
        "‚": r"(?<!\s)[‘’](?!\w)",
        "「": "」",
        "『": "』",
        "《": "》",
        "〈": "〉",
        "〝": "[〞〟]",
        "＂": "＂",
        '"': r'(?<!\s)"',
        "'": r"(?<!\s)'(?!\w)",
    }.items()
}


@lru_cache(maxsize=8)  # all the jitters of a question use the same
def masked(text: str, language: str) -> str:
    """The text with every protected character replaced by KEPT, at the same length.

    >>> masked("Who owns the Night Watch (1642) by `x`?", "en").replace(KEPT, "_")
    'Who owns the ___________ (____) by ___?'
    """
    parts, at = [], 0
    for start, end in protected(text, language):
        parts += [text[at:start], KEPT * (end - start)]
        at = end
    return "".join([*parts, text[at:]])


def protected(text: str, language: str) -> list[Span]:
    """The spans no jitter may change, in order, with a gap between them."""
    enclosed = [*quoted_or_code(text)]
    dates = [match.span() for match in _DATES.finditer(text)]
    found: list[Span] = []
    for start, end in sorted([*enclosed, *_names_and_code(text, enclosed, language), *dates]):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def quoted_or_code(text: str) -> Iterator[Span]:
    """The spans of quotations and of code between backticks, including their marks."""
    closings = _Closings(text)
    at = 0
    for match in _OPENING.finditer(text):
        if match.start() < at:
            continue
        end = closings.after(match)
        if end:
            yield match.start(), end
            at = end


class _Closings:
    """The ends of quotations. Each kind of mark is searched for once, so that a thousand opening
    marks do not take a thousand searches."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: dict[str, list[int]] = {}

    def after(self, opening: re.Match[str]) -> int | None:
        """The end of the quotation that this mark opens, None if nothing closes it."""
        mark = opening[0]
        if mark[0] == "`":
            return self._fences.get(opening.start())
        if mark not in self._ends:
            self._ends[mark] = [found.end() for found in _CLOSING[mark].finditer(self._text)]
        ends = self._ends[mark]
        at = bisect_left(ends, opening.end() + 1)
        return ends[at] if at < len(ends) else None

    @cached_property
    def _fences(self) -> dict[int, int]:
        """The end of the code that each run of backticks opens: the next run of the same length."""
        ends: dict[int, int] = {}
        nearest: dict[int, int] = {}
        for run in reversed([*re.finditer("`+", self._text)]):
            length = len(run[0])
            if length in nearest:
                ends[run.start()] = nearest[length]
            nearest[length] = run.end()
        return ends


class _Token(Struct, frozen=True):
    """A word of the text, a piece of code, or a number."""

    start: int
    end: int
    kind: str
    """word, opener (of a sentence), name or code."""
    lower: str = ""


def _names_and_code(text: str, enclosed: list[Span], language: str) -> list[Span]:
    """The spans of numbers, code and names outside quotations and code.

    Adjacent words of a name and the particles between them are one span.
    """
    found = [*_tokens(text, enclosed)]
    if language == "de":  # `Erklären Sie den Bau` has no name `Sie den Bau`
        found = [
            structs.replace(token, kind="word") if token.lower == "sie" else token
            for token in found
        ]
    tokens = [_as_name(text, found, at) for at in range(len(found))]
    # Dutch "of" is "or": it separates names.
    particles = PARTICLES - {"of"} if language == "nl" else PARTICLES
    spans = [(token.start, token.end) for token in tokens if token.kind == "code"]
    at = 0
    while at < len(tokens):
        last = at
        if tokens[at].kind == "name":
            while (further := _next_of_name(text, tokens, last, particles)) is not None:
                last = further
            possessive = _POSSESSIVE.search(text, tokens[last].start, tokens[last].end)
            end = possessive.start() if possessive else tokens[last].end
            spans.append((tokens[at].start, end))
        at = last + 1
    return spans


def _tokens(text: str, enclosed: list[Span]) -> Iterator[_Token]:
    """The tokens between the enclosed spans."""
    edges = [0, *chain.from_iterable(enclosed), len(text)]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        ended, begins = start, start == 0
        for chunk in _CHUNK.finditer(text, start, end):
            for first, last, known in _pieces(text, *chunk.span()):
                gap, word = text[ended:first], text[first:last]
                begins = begins or bool(
                    _SENTENCE_END.search(gap) or (_STOP.search(gap) and _BLANK.search(gap))
                )
                kind = "name" if any(map(str.isupper, word)) else "word"
                if begins and plain(word) in OPENERS and (word[1:].islower() or word.isupper()):
                    kind = "opener"
                yield _Token(first, last, known or kind, word.lower().replace("’", "'"))
                ended, begins = last, False


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """The words of a run without spaces, or all of it as code, without the marks at its ends."""
    run = text[start:end]
    start += len(run) - len(run.lstrip(_BEFORE))
    core = run.lstrip(_BEFORE).rstrip(_AFTER)
    end = start + len(core)
    stop = text[end : end + 1] == "."
    if stop and (_INITIALS.fullmatch(core) or core.lower() in ABBREVIATIONS):
        yield start, end + 1, "code" if core.islower() else "name"
    elif _CODE.search(core):
        yield start, end, "code"
    else:
        for word in _WORD.finditer(text, start, end):
            yield *word.span(), ""


def _as_name(text: str, tokens: list[_Token], at: int) -> _Token:
    """The token, as a name if it opens one: `The Hague`, `Explain Everything is an app`."""
    token, after = tokens[at], tokens[at + 1 : at + 2]
    if token.kind != "opener" or not after or after[0].kind != "name":
        return token
    if not _adjoins(text, token, after[0]):
        return token
    named = token.lower in NAME_OPENERS
    if not named and token.lower in VERBS:  # a verb after the name shows that it is a title
        title = tokens[at + 1 : at + 1 + _LONGEST_TITLE]
        follower = next((other for other in title if other.kind != "name"), None)
        named = follower is not None and follower.lower in FINITE
    return structs.replace(token, kind="name") if named else token


def _adjoins(text: str, left: _Token, right: _Token) -> bool:
    """Whether only a space separates two tokens; as in `de' Medici`, an apostrophe too."""
    start = left.end + (left.lower in PARTICLES and text[left.end] in "'’")
    return bool(_WITHIN_NAME.fullmatch(text, start, right.start))


def _next_of_name(
    text: str, tokens: list[_Token], at: int, particles: frozenset[str]
) -> int | None:
    """The place of the name's next word, skipping particles; None if the name ends."""
    for further in range(at + 1, min(at + 2 + _MOST_PARTICLES, len(tokens))):
        token = tokens[further]
        if not _adjoins(text, tokens[further - 1], token):
            return None
        if token.kind == "name":
            return further
        if token.lower not in particles:
            return None
    return None
