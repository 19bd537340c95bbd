"""Canonical text: the form in which gold phrases are searched for in a claim."""

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
_ASCII_DELETED = string.punctuation.replace("-", "").encode()
_REFERENCE_DELETED = str.maketrans("", "", string.punctuation)

_OTHER_DASHES = (0x2053, 0x2212)
"""The swung dash and the minus sign: dashes to the eye, not to Unicode's categories."""

# Scripts written without spaces between words, or with endings joined to them (Korean), where a
# letter next to a phrase does not mean that the phrase is inside a word.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
)
_UNSPACED = re.compile(f"[{UNSPACED}]")


def canonical(text: str) -> str:
    """The text in lower case, without punctuation and symbols, with single spaces.

    Dashes and the minus sign become spaces; other punctuation and invisible characters, such as
    the soft hyphen, are deleted. NFKC runs again after case folding, which can separate letters,
    and after the deletions, which can bring a letter and its accent together, so that the
    canonical form of the result is the result itself.

    >>> canonical("The Rijksmuseum\u2019s  well\u2010known “Night Watch” (1642).")
    'the rijksmuseums well known night watch 1642'
    """
    if text.isascii():
        # As bytes, because str.translate walks character by character once something is deleted.
        return " ".join(text.encode().lower().translate(_ASCII, _ASCII_DELETED).decode().split())
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = unicodedata.normalize("NFKC", folded.translate(_REPLACEMENTS))
    return " ".join(kept.split())


def canonical_reference(text: str) -> str:
    """The reference's ASCII rule: lower case, ASCII punctuation deleted, single spaces.

    >>> canonical_reference("Well-known “Night Watch”!")
    'wellknown “night watch”'
    """
    return " ".join(text.lower().translate(_REFERENCE_DELETED).split())


CANONS: dict[Canon, Callable[[str], str]] = {
    "unicode": canonical,
    "reference": canonical_reference,
}


class Phrases(Struct, frozen=True):
    """Gold phrases prepared for searching: long ones as substrings, short ones as words."""

    canon: Canon
    long: tuple[str, ...]
    short: tuple[str, ...]

    def found_in(self, claim: str) -> bool:
        """Whether the canonical form of the claim contains one of the phrases.

        A canonical phrase in the lower-case ASCII claim is in the canonical claim too, so most
        correct answers are found without computing the canonical form.
        """
        if claim.isascii():
            lowered = claim.lower()
            for phrase in self.long:
                if phrase in lowered:
                    return True
        canon_claim = canonical(claim) if self.canon == "unicode" else canonical_reference(claim)
        for phrase in self.long:
            if phrase in canon_claim:
                return True
        return any(_contains_as_words(phrase, canon_claim) for phrase in self.short)


def phrases(texts: tuple[str, ...], canon: Canon) -> Phrases | None:
    """The phrases to look for, or None if none has a letter or digit left.

    With `canon="reference"`, phrases under five characters are dropped, as the reference does.
    """
    canonical_texts = [CANONS[canon](text) for text in texts]
    long = tuple(phrase for phrase in canonical_texts if len(phrase) >= SHORT)
    short = tuple(phrase for phrase in canonical_texts if 0 < len(phrase) < SHORT)
    if not long and not short:
        return None
    return Phrases(canon, long, short if canon == "unicode" else ())


def composed(text: str) -> str:
    """The text in NFC: an accent may be a character of its own, and means the same."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def lowered(text: str) -> str:
    """The text in lower case, with every character still in its place.

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


def _contains_as_words(phrase: str, text: str) -> bool:
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        if _may_end(text[at - 1 : at], phrase[0]) and _may_end(phrase[-1], text[end : end + 1]):
            return True
        at = text.find(phrase, at + 1)
    return False


def _may_end(left: str, right: str) -> bool:
    """Whether a word can end between two adjacent characters of canonical text."""
    if not left or not right or left == " " or right == " ":
        return True
    return bool(_UNSPACED.match(left) or _UNSPACED.match(right))


class _Replacements(dict[int, str | int | None]):
    """What replaces a character: a space for dashes, nothing for punctuation and the invisible.

    Filled on demand, because a table for all of Unicode takes a tenth of a second.
    """

    def __missing__(self, code: int) -> str | int | None:
        category = unicodedata.category(chr(code))
        out = category[0] in "PS" or category == "Cf"
        replacement = " " if category == "Pd" or code in _OTHER_DASHES else None if out else code
        self[code] = replacement
        return replacement


_REPLACEMENTS = _Replacements()
