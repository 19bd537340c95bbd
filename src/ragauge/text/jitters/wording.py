"""`case`, `polite` and `typo`: a capital less, a kind word more, a slip of the keyboard."""

from __future__ import annotations

import hashlib
import re

from ragauge.text.jitters.asking import is_order, is_question
from ragauge.text.jitters.lexicons import IMPERATIVES, OPENERS, plain
from ragauge.text.jitters.protected import KEPT, MARKS, masked
from ragauge.text.jitters.sentences import edited, lowered, sentences

_FIRST_WORD = re.compile(rf"[^\w{KEPT}]*(?P<word>[^\W\d_]+(?:['’-][^\W\d_]+)*)")
_FIRST_SIGN = re.compile(r"\s*(?=\S)")
_LONG_WORD = re.compile(rf"(?<![\w{KEPT}{MARKS}'’-])[^\W\d_]{{7,}}(?![\w{KEPT}{MARKS}'’-])")


def case(text: str, language: str) -> str:
    """The text with its first letter small, where the first word is known to be no name.

    >>> case("In which year?", "en"), case("Rembrandt painted what?", "en")
    ('in which year?', 'Rembrandt painted what?')
    """
    painted = masked(text, language)
    found = _FIRST_WORD.match(painted)
    if not found or not _is_capitalised_opener(found["word"]):
        return text
    if language == "de" and _is_german_noun(painted, found):
        return text
    return edited(text, [(*found.span("word"), lowered(found["word"]))])


def _is_capitalised_opener(word: str) -> bool:
    return plain(word) in OPENERS and word[0].isupper() and word[1:].islower()


def _is_german_noun(painted: str, first: re.Match[str]) -> bool:
    """Whether a word that could order does not, and so is a noun: `Liste der Museen`."""
    ordering = first["word"].lower() in IMPERATIVES["de"]
    return ordering and not is_order(painted, first.start("word"), len(painted), "de")


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
"""What is polite anywhere in a text."""


def polite(text: str, language: str) -> str:
    """The text with a polite opening, where it opens with a question or an order and is not
    polite already.

    >>> polite("In which year?", "en"), polite("List the parts.", "en")
    ('Could you tell me: in which year?', 'Please list the parts.')
    """
    opening = polite_opening(text, language)
    first = _FIRST_SIGN.match(text)
    if not first or not opening:
        return text
    return edited(case(text, language), [(first.end(), first.end(), opening)])


def polite_opening(text: str, language: str) -> str:
    """The words `polite` sets before the text; none where there is no question or order, or
    some such words stand there."""
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
