"""Canonical text: the form in which a gold phrase is looked for in a claim."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable

from msgspec import Struct

from ragauge.contracts.options import Canon

SHORT = 5
"""A phrase below this length, such as "yes" or "1800", must match whole words."""

_ASCII = bytes.maketrans(b"-", b" ")
_ASCII_OUT = string.punctuation.replace("-", "").encode()
_REFERENCE_OUT = str.maketrans("", "", string.punctuation)

_OTHER_DASHES = (0x2053, 0x2212)
"""The swung dash and the minus sign: dashes to the eye, not to Unicode's categories."""

# Scripts written without blanks between words, or with endings joined to them (Korean), where a
# neighbouring letter is no word's inside.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
)
_UNSPACED = re.compile(f"[{UNSPACED}]")


def canonical(text: str) -> str:
    """The text in lower case, without punctuation and symbols, blanks collapsed.

    Dashes and the minus sign become blanks; other punctuation, and characters nobody sees, such
    as the soft hyphen, go without a trace. NFKC runs again after case folding, which can take
    letters apart, and after the deletions, which can bring a letter and its accent together: so
    the result is a fixed point.

    >>> canonical("The Rijksmuseum\u2019s  well\u2010known “Night Watch” (1642).")
    'the rijksmuseums well known night watch 1642'
    """
    if text.isascii():
        # As bytes, because str.translate walks character by character once something is deleted.
        return " ".join(text.encode().lower().translate(_ASCII, _ASCII_OUT).decode().split())
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = unicodedata.normalize("NFKC", folded.translate(_UNICODE_OUT))
    return " ".join(kept.split())


def canonical_reference(text: str) -> str:
    """The brief's ASCII rule: lower case, ASCII punctuation deleted, blanks collapsed.

    >>> canonical_reference("Well-known “Night Watch”!")
    'wellknown “night watch”'
    """
    return " ".join(text.lower().translate(_REFERENCE_OUT).split())


CANONS: dict[Canon, Callable[[str], str]] = {
    "unicode": canonical,
    "reference": canonical_reference,
}


class Phrases(Struct, frozen=True):
    """Gold phrases made ready for the search: long ones as substrings, short ones as words."""

    canon: Canon
    long: tuple[str, ...]
    short: tuple[str, ...]

    def found_in(self, claim: str) -> bool:
        """Whether the claim, made canonical, holds one of the phrases.

        A canonical phrase that stands in the lower-cased ASCII claim stands in the canonical
        claim too, so most right answers are known before any canonical text is made.
        """
        if claim.isascii():
            lowered = claim.lower()
            for phrase in self.long:
                if phrase in lowered:
                    return True
        made = canonical(claim) if self.canon == "unicode" else canonical_reference(claim)
        for phrase in self.long:
            if phrase in made:
                return True
        return any(_stands_as_words(phrase, made) for phrase in self.short)


def phrases(texts: tuple[str, ...], canon: Canon) -> Phrases | None:
    """The phrases to look for, or None where none has a letter or digit left.

    The brief drops phrases under five characters; `canon="reference"` does as it does.
    """
    made = [CANONS[canon](text) for text in texts]
    long = tuple(phrase for phrase in made if len(phrase) >= SHORT)
    short = tuple(phrase for phrase in made if 0 < len(phrase) < SHORT)
    if not long and not short:
        return None
    return Phrases(canon, long, short if canon == "unicode" else ())


def composed(text: str) -> str:
    """The text in NFC: an accent may be written as its own character, and means the same."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def lowered(text: str) -> str:
    """The text in lower case, every character still in its place.

    >>> lowered("İstanbul")
    'İstanbul'
    """
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join([small if len(small := sign.lower()) == 1 else sign for sign in text])


def same_question(text: str) -> str:
    """The form in which two questions count as the same: NFKC, trimmed, runs of spaces as one.

    >>> same_question(" Explain  Y.\\n")
    'Explain Y.'
    """
    return " ".join((text if text.isascii() else unicodedata.normalize("NFKC", text)).split())


def _stands_as_words(phrase: str, text: str) -> bool:
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        if _parts(text[at - 1 : at], phrase[0]) and _parts(phrase[-1], text[end : end + 1]):
            return True
        at = text.find(phrase, at + 1)
    return False


def _parts(left: str, right: str) -> bool:
    """Whether a word can end between two neighbouring characters of canonical text."""
    if not left or not right or left == " " or right == " ":
        return True
    return bool(_UNSPACED.match(left) or _UNSPACED.match(right))


class _LeavesCanonical(dict[int, str | int | None]):
    """What becomes of a character: dashes a blank, punctuation, symbols and the unseen nothing.

    Filled as characters are met, because asking for all of Unicode takes a tenth of a second.
    """

    def __missing__(self, code: int) -> str | int | None:
        category = unicodedata.category(chr(code))
        out = category[0] in "PS" or category == "Cf"
        becomes = " " if category == "Pd" or code in _OTHER_DASHES else None if out else code
        self[code] = becomes
        return becomes


_UNICODE_OUT = _LeavesCanonical()
