"""The small jitters: spaces (`ws`), other forms of marks (`punct`, `quote`), a lower-case first
letter (`case`), a polite opening (`polite`), a typing mistake (`typo`)."""

from __future__ import annotations

import hashlib
import re
from collections import deque

from ragauge.jitters.lexicons import IMPERATIVES, OPENERS, plain
from ragauge.jitters.protected import KEPT, MARKS, masked, quoted_or_code
from ragauge.jitters.sentences import (
    Edit,
    apply_edits,
    asks_in_words,
    is_order,
    is_question,
    sentences,
    uncapitalised,
)

_LEFT = rf"[\w{KEPT})\]]"
_RIGHT = rf"[\w{KEPT}(\[]"
_LETTER = r"[^\W\d_]"
_COMMA_OR_COLON = re.compile(rf"(?<={_LEFT})[ \t]*(?:(,)[ \t]*|(:)[ \t]+)(?={_RIGHT})")
_FULL_WIDTH = re.compile(rf"(?<={_LEFT})[，：][ \t]*(?={_RIGHT})")
_LAST_ASKING = re.compile(rf"(?<={_LEFT})[ \t\u00a0]*([?？])(?=\s*\Z)")
_GAP = re.compile(rf"(?<={_LETTER})[ ]+(?={_LETTER})")
_END = re.compile(r"(?<=\S)[ ]*\Z")


def ws(text: str, language: str) -> str:
    """The text with other spaces: around commas and colons, before the last question mark, and
    two between the first two words that are not names.

    At the end if the text has no such place. Lines and their beginnings stay, and so does the
    comma of `C,D`. French has a space before `:` and `?`, so there it is removed.

    >>> ws("Where is it kept: in Delft, or not?", "en")
    'Where  is it kept : in Delft , or not ?'
    """
    painted = masked(text, language)
    space = "" if language == "fr" else " "
    edits: list[Edit] = []
    for found in _COMMA_OR_COLON.finditer(painted):
        start, end = found.span()
        # A comma without a space next to it may be in an id or between names: `C,D`.
        if end - start > 1 or not all(
            painted[at] == KEPT or text[at].isupper() or text[at].isdecimal()
            for at in (start - 1, end)
        ):
            edits.append((start, end, " , " if found[1] else f"{space}: "))
    edits += [(*found.span(), f"{found[0][0]} ") for found in _FULL_WIDTH.finditer(painted)]
    edits += [(*found.span(), space + found[1]) for found in _LAST_ASKING.finditer(painted)]
    if gap := _GAP.search(painted):
        edits.append((*gap.span(), "  "))
    return apply_edits(
        text, sorted(edits) or [(*end.span(), " ") for end in _END.finditer(painted)]
    )


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

    The question mark is removed only if the words ask without it. Chinese keeps it, half as wide.

    >>> punct("In 1808 who founded it — and what's left?", "en")
    'In 1808, who founded it - and what’s left?'
    >>> punct("What is X?", "en"), punct("什么是X？", "zh")
    ('What is X', '什么是X?')
    """
    painted = masked(text, language)
    edits: list[Edit] = [(*found.span(), " - ") for found in _DASH.finditer(painted)]
    edits += [(*found.span(), "’") for found in _INNER_APOSTROPHE.finditer(painted)]
    if in_year := _IN_YEAR.get(language):
        for span in sentences(painted):
            found = in_year.match(painted, *span)
            if found and text[found.end() - 4 : found.end()].isdecimal():
                edits.append((found.end(), found.end(), ","))
    if language == "zh":
        edits += [(*found.span(), _NARROW[found[0]]) for found in _LAST_WIDE_MARK.finditer(painted)]
    else:
        for found in _LAST_MARK.finditer(painted):
            # A question mark is not needed if the first words of the last sentence ask or order.
            if found[1] == "." or any(
                asks_in_words(painted, *span, language) or is_order(painted, *span, language)
                for span in deque(sentences(painted), maxlen=1)
            ):
                edits.append((*found.span(), ""))
    return apply_edits(text, sorted(edits))


_STYLES = {"en": "“”‘’", "nl": "“”‘’", "de": "„“‚‘", "fr": "«»‹›", "zh": "“”‘’"}
_STRAIGHT = "\"\"''"
_DOUBLE = '"“”„«»'
_SINGLE = "'‹›‘’‚"
_QUOTES = _DOUBLE + _SINGLE
_CURLY = re.compile("[“”„«»‹›‘’‚]")
_APOSTROPHE = re.compile(rf"{_AFTER_WORD}['’](?![\d_])")


def quote(text: str, language: str) -> str:
    """The text with straight quotes and apostrophes if they were curly, else the other way round.

    Applied twice it gives the first text again, so it is not idempotent: a text has two forms,
    and either may be the original. Quoted text does not change, and neither does a text in which
    other marks would seem to quote something else.

    >>> quote("Who said “it's mine” in the Louvre's hall?", "en")
    'Who said "it\\'s mine" in the Louvre\\'s hall?'
    >>> quote('Wat is "de Nachtwacht"?', "nl")
    'Wat is “de Nachtwacht”?'
    """
    spans = [*quoted_or_code(text)]
    pairs = [span for span in spans if text[span[0]] in _QUOTES]
    painted = masked(text, language)
    curly = bool(_CURLY.search(painted)) or any(_CURLY.match(text, start) for start, _ in pairs)
    style = _STRAIGHT if curly else _STYLES.get(language, _STYLES["en"])
    edits: list[Edit] = []
    for start, end in pairs:  # unless the quoted text contains such marks
        at, like = (0, _DOUBLE) if text[start] in _DOUBLE else (2, _SINGLE)
        if not {*like} & {*text[start + 1 : end - 1]}:
            edits += [(start, start + 1, style[at]), (end - 1, end, style[at + 1])]
    apostrophe = "'" if curly else "’"
    edits += [(*found.span(), apostrophe) for found in _APOSTROPHE.finditer(painted)]
    requoted = apply_edits(text, sorted(edits))
    return requoted if [*quoted_or_code(requoted)] == spans else text


def has_quotes(text: str, language: str) -> bool:
    """Whether there is a quotation or an apostrophe that has another form."""
    return bool(_APOSTROPHE.search(masked(text, language))) or any(
        text[start] in _QUOTES for start, _ in quoted_or_code(text)
    )


_FIRST_WORD = re.compile(rf"[^\w{KEPT}]*(?P<word>[^\W\d_]+(?:['’-][^\W\d_]+)*)")
_FIRST_SIGN = re.compile(r"\s*(?=\S)")
_LONG_WORD = re.compile(rf"(?<![\w{KEPT}{MARKS}'’-])[^\W\d_]{{7,}}(?![\w{KEPT}{MARKS}'’-])")


def case(text: str, language: str) -> str:
    """The text with its first letter in lower case, if the first word is known not to be a name.

    >>> case("In which year?", "en"), case("Rembrandt painted what?", "en")
    ('in which year?', 'Rembrandt painted what?')
    """
    painted = masked(text, language)
    found = _FIRST_WORD.match(painted)
    word = found["word"] if found else ""
    if not found or plain(word) not in OPENERS or not (word[0].isupper() and word[1:].islower()):
        return text
    ordering = language == "de" and word.lower() in IMPERATIVES["de"]
    if ordering and not is_order(painted, found.start("word"), len(painted), "de"):
        return text  # a possible order that is none is a noun: `Liste der Museen`
    return apply_edits(text, [(*found.span("word"), uncapitalised(word))])


_POLITE: dict[str, tuple[str, str]] = {
    "en": ("Could you tell me: ", "Please "),
    "nl": ("Kunt u mij zeggen: ", "Wees zo vriendelijk en "),
    "de": ("Bitte sagen Sie mir: ", "Bitte "),
    "fr": ("Pourriez-vous me dire : ", "Merci d'avance : "),
    "zh": ("请问，", "请"),
}
"""What comes before a question, and before an imperative."""
_ALREADY = re.compile(
    r"\W*(?:(?:please|kindly|can you|could you|would you|will you|may i|graag|alstublieft|kunt u|"
    r"kun je|wilt u|wil je|zou u|zou je|wees zo|bitte|können sie|könnten sie|kannst du|könntest "
    r"du|veuillez|pourriez-vous|pouvez-vous|peux-tu|pourrais-tu|merci d['’]avance|"
    r"s['’]il (?:vous|te) plaît)\b|请|麻烦|劳驾)",
    re.IGNORECASE,
)
_ALSO = re.compile(
    r", please\b|\bplease[.?!]*\s*\Z|\b(?:alstublieft|alsjeblieft|a\.u\.b|bitte)\b|"
    r"s['’]il (?:vous|te) plaît\b|(?<![申邀聘恳])请(?!求|柬|愿)",
    re.IGNORECASE,
)
"""Words that are polite anywhere in a text."""


def polite(text: str, language: str) -> str:
    """The text with a polite opening, if it opens with a question or an order and is not polite
    already.

    >>> polite("In which year?", "en"), polite("List the parts.", "en")
    ('Could you tell me: in which year?', 'Please list the parts.')
    """
    opening = polite_opening(text, language)
    first = _FIRST_SIGN.match(text)
    if not first or not opening:
        return text
    return apply_edits(case(text, language), [(first.end(), first.end(), opening)])


def polite_opening(text: str, language: str) -> str:
    """The words that `polite` puts before the text; empty if there is no question or order, or if
    it has such words already."""
    painted = masked(text, language)
    first = next(sentences(painted), None)
    if not first or language not in _POLITE or _ALREADY.match(text) or _ALSO.search(painted):
        return ""
    asking, ordering = _POLITE[language]
    if is_order(painted, *first, language):
        return ordering
    return asking if is_question(painted, *first, language) else ""


_KEYBOARDS = {
    "en": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "de": ("qwertzuiop", "asdfghjkl", "yxcvbnm"),
    "fr": ("azertyuiop", "qsdfghjklm", "wxcvbn"),
}


def typo(text: str, language: str) -> str:
    """The text with one typing mistake in a long word: two letters swapped, or the next key hit.

    The hash of the text chooses the word, the letter and the mistake; the first and the last
    letter of a word stay. Unchanged if no word of seven lower-case letters or more is free.

    >>> typo("Who designed the building?", "en")
    'Who designed the buildimg?'
    """
    words = long_words(text, language)
    if not words:
        return text
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
    start, end = words[int.from_bytes(digest[:8]) % len(words)]
    at = start + 1 + digest[8] % (end - start - 2)
    pair = text[at : at + 2]
    swaps = digest[9] % 2 == 0 and at + 2 < end and pair[0] != pair[1]
    if swaps:
        return apply_edits(text, [(at, at + 2, pair[::-1])])
    rows = _KEYBOARDS.get(language, _KEYBOARDS["en"])
    row = next(row for row in rows if pair[0] in row)
    key = row.index(pair[0])
    near = row[max(0, key - 1) : key] + row[key + 1 : key + 2]
    return apply_edits(text, [(at, at + 1, near[digest[10] % len(near)])])


def long_words(text: str, language: str) -> list[tuple[int, int]]:
    """The spans of words that `typo` may change: seven lower-case letters or more."""
    found = _LONG_WORD.finditer(masked(text, language))
    return [match.span() for match in found if match[0].isascii() and match[0].islower()]
