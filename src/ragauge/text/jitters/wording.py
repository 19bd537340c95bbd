"""`case`, `polite` and `typo`: a capital less, a kind word more, a slip of the keyboard."""

from __future__ import annotations

import hashlib
import re

from ragauge.text.jitters.lexicons import IMPERATIVES, OPENERS, plain
from ragauge.text.jitters.protected import KEPT, MARKS, masked
from ragauge.text.jitters.sentences import edited, lowered

_FIRST_WORD = re.compile(rf"[^\w{KEPT}]*(?P<word>[^\W\d_]+(?:['’-][^\W\d_]+)*)")
_FIRST_SIGN = re.compile(r"\s*(?=\S)")
_LONG_WORD = re.compile(rf"(?<![\w{KEPT}{MARKS}'’-])[^\W\d_]{{7,}}(?![\w{KEPT}{MARKS}'’-])")


def case(text: str, language: str) -> str:
    """The text with its first letter small, where the first word is known to be no name.

    >>> case("In which year?", "en"), case("Rembrandt painted what?", "en")
    ('in which year?', 'Rembrandt painted what?')
    """
    found = _FIRST_WORD.match(masked(text, language))
    if not found or not _is_capitalised_opener(found["word"]):
        return text
    return edited(text, [(*found.span("word"), lowered(found["word"]))])


def _is_capitalised_opener(word: str) -> bool:
    return plain(word) in OPENERS and word[0].isupper() and word[1:].islower()


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
_ZH_IMPERATIVE = re.compile("解释|说明|列出|列举|比较|对比|显示|展示|描述|总结|给出|介绍")


def polite(text: str, language: str) -> str:
    """The text with a polite opening, unless it has one.

    >>> polite("In which year?", "en"), polite("List the parts.", "en")
    ('Could you tell me: in which year?', 'Please list the parts.')
    """
    first = _FIRST_SIGN.match(text)
    if not first or language not in _POLITE or _ALREADY.match(text):
        return text
    asking, ordering = _POLITE[language]
    opening = ordering if _is_order(masked(text, language), first.end(), language) else asking
    return edited(case(text, language), [(first.end(), first.end(), opening)])


def _is_order(painted: str, at: int, language: str) -> bool:
    if language == "zh":
        return bool(_ZH_IMPERATIVE.match(painted, at))
    first = _FIRST_WORD.match(painted, at)
    return first is not None and first["word"].lower() in IMPERATIVES[language]


_KEYBOARDS = {
    "en": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "de": ("qwertzuiop", "asdfghjkl", "yxcvbnm"),
    "fr": ("azertyuiop", "qsdfghjklm", "wxcvbn"),
}


def typo(text: str, language: str) -> str:
    """The text with one slip in a long word: two letters swapped, or the key beside hit.

    The text's own hash chooses the word, the letter and the slip; the first and the last letter
    of a word stay. Unchanged where no word of seven small letters or more is free.

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
    slip = pair[::-1] if swaps else _beside(text[at], language, digest[10]) + pair[1]
    return edited(text, [(at, at + 2, slip)])


def long_words(text: str, language: str) -> list[tuple[int, int]]:
    """The spans of the words `typo` may slip in: seven small letters of the keyboard or more."""
    found = _LONG_WORD.finditer(masked(text, language))
    return [match.span() for match in found if match[0].isascii() and match[0].islower()]


def _beside(letter: str, language: str, chosen: int) -> str:
    """The letter on a key beside this one's."""
    rows = _KEYBOARDS.get(language, _KEYBOARDS["en"])
    row = next(row for row in rows if letter in row)
    at = row.index(letter)
    beside = row[max(0, at - 1) : at] + row[at + 1 : at + 2]
    return beside[chosen % len(beside)]
