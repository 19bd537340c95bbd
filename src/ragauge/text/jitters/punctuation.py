"""`punct` and `quote`: marks in another form, a last mark left out, a comma more."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from ragauge.text.jitters.asking import asks_in_words, is_order
from ragauge.text.jitters.protected import KEPT, masked, quoted_or_code
from ragauge.text.jitters.sentences import Edit, edited, sentences

_LETTER = r"[^\W\d_]"
_AFTER_WORD = rf"(?:(?<={_LETTER})|(?<={KEPT}))"
_DASH = re.compile(rf"(?<=[\w{KEPT})\],;])[ \t]+(?:[–—]|--)[ \t]+(?=[\w{KEPT}(\[])")
_INNER_APOSTROPHE = re.compile(rf"{_AFTER_WORD}'(?={_LETTER})")
_LAST_MARK = re.compile(rf"(?<=[\w{KEPT})\]])[ \t\u00a0]*([?.])(?=\s*\Z)")
_LAST_WIDE_MARK = re.compile(r"[？。](?=\s*\Z)")
_NARROW = {"？": "?", "。": ""}
_IN_YEAR = {
    "en": re.compile(
        rf"(?:in|by|since|until|after|before) {KEPT}{{4}}"
        r"(?= (?:the|a|who|what|which|how|did|it|he|she|they|its)\b)",
        re.IGNORECASE,
    ),
    "fr": re.compile(
        rf"(?:en|depuis|avant|après) {KEPT}{{4}}(?= (?:le|la|les|quel|quelle|qui|combien)\b)",
        re.IGNORECASE,
    ),
}


def punct(text: str, language: str) -> str:
    """The text without its last mark, with short dashes, bent apostrophes, and a comma after an
    opening such as `In 1808`.

    The question mark goes only where the words ask without it. Chinese keeps it, half as wide.

    >>> punct("In 1808 who founded it — and what's left?", "en")
    'In 1808, who founded it - and what’s left?'
    >>> punct("What is X?", "en"), punct("什么是X？", "zh")
    ('What is X', '什么是X?')
    """
    painted = masked(text, language)
    edits = [(*found.span(), " - ") for found in _DASH.finditer(painted)]
    edits += [(*found.span(), "’") for found in _INNER_APOSTROPHE.finditer(painted)]
    edits += _commas(text, painted, language)
    edits += _last_mark(painted, language)
    return edited(text, sorted(edits))


def _commas(text: str, painted: str, language: str) -> Iterator[Edit]:
    """The commas that may follow a year at the beginning of a sentence."""
    pattern = _IN_YEAR.get(language)
    for start, end in sentences(painted) if pattern else ():
        found = pattern.match(painted, start, end) if pattern else None
        if found and text[found.end() - 4 : found.end()].isdecimal():
            yield found.end(), found.end(), ","


def _last_mark(painted: str, language: str) -> Iterator[Edit]:
    if language == "zh":
        yield from (
            (*found.span(), _NARROW[found[0]]) for found in _LAST_WIDE_MARK.finditer(painted)
        )
        return
    for found in _LAST_MARK.finditer(painted):
        if found[1] == "." or _needs_no_mark(painted, language):
            yield *found.span(), ""


def _needs_no_mark(painted: str, language: str) -> bool:
    """Whether the last sentence is a question, or an order, by its first words."""
    last = deque(sentences(painted), maxlen=1)
    return any(
        asks_in_words(painted, *span, language) or is_order(painted, *span, language)
        for span in last
    )


_STYLES = {"en": "“”‘’", "nl": "“”‘’", "de": "„“‚‘", "fr": "«»‹›", "zh": "“”‘’"}
_STRAIGHT = "\"\"''"
_DOUBLE = '"“”„«»'
_SINGLE = "'‹›‘’‚"
_QUOTES = _DOUBLE + _SINGLE
_BENT = re.compile("[“”„«»‹›‘’‚]")
_APOSTROPHE = re.compile(rf"{_AFTER_WORD}['’](?![\d_])")


def quote(text: str, language: str) -> str:
    """The text with straight quotes and apostrophes where they were bent, else the other way.

    Twice gives the first text again, so it is not idempotent: a text has one other form, and
    either may be the one that is asked. What is quoted stays as it is, and so does a text in
    which other marks would seem to quote something else.

    >>> quote("Who said “it's mine” in the Louvre's hall?", "en")
    'Who said "it\\'s mine" in the Louvre\\'s hall?'
    >>> quote('Wat is "de Nachtwacht"?', "nl")
    'Wat is “de Nachtwacht”?'
    """
    spans = [*quoted_or_code(text)]
    pairs = [span for span in spans if text[span[0]] in _QUOTES]
    painted = masked(text, language)
    bent = bool(_BENT.search(painted)) or any(_BENT.match(text, start) for start, _ in pairs)
    style = _STRAIGHT if bent else _STYLES.get(language, _STYLES["en"])
    edits = [*_pair_edits(text, pairs, style)]
    apostrophe = "'" if bent else "’"
    edits += [(*found.span(), apostrophe) for found in _APOSTROPHE.finditer(painted)]
    made = edited(text, sorted(edits))
    return made if [*quoted_or_code(made)] == spans else text


def _pair_edits(text: str, pairs: list[tuple[int, int]], style: str) -> Iterator[Edit]:
    """The marks of quotations in a style, but where what is quoted holds marks like them."""
    for start, end in pairs:
        at, like = (0, _DOUBLE) if text[start] in _DOUBLE else (2, _SINGLE)
        if not {*like} & {*text[start + 1 : end - 1]}:
            yield start, start + 1, style[at]
            yield end - 1, end, style[at + 1]


def has_quotes(text: str, language: str) -> bool:
    """Whether there is a quotation or an apostrophe whose form could be another."""
    return bool(_APOSTROPHE.search(masked(text, language))) or any(
        text[start] in _QUOTES for start, _ in quoted_or_code(text)
    )
