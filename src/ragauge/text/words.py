"""Words: what the answer metrics count."""

from __future__ import annotations

import re

from ragauge.text.canonical import UNSPACED, composed

MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    "\u07a6-\u07b0\u07eb-\u07f3\u07fd\u0816-\u0819\u081b-\u0823\u0825-\u0827\u0829-\u082d"
    "\u0859-\u085b\u0898-\u089f\u08ca-\u08e1\u08e3-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957"
    "\u0962-\u0963\u0981-\u0983\u09bc\u09be-\u09cd\u09d7\u09e2-\u09e3\u09fe-\u0a03\u0a3c-\u0a51"
    "\u0a70-\u0a71\u0a75\u0a81-\u0a83\u0abc\u0abe-\u0acd\u0ae2-\u0ae3\u0afa-\u0b03\u0b3c"
    "\u0b3e-\u0b57\u0b62-\u0b63\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3c\u0c3e-\u0c56"
    "\u0c62-\u0c63\u0c81-\u0c83\u0cbc\u0cbe-\u0cd6\u0ce2-\u0ce3\u0d00-\u0d03\u0d3b-\u0d3c"
    "\u0d3e-\u0d4d\u0d57\u0d62-\u0d63\u0d81-\u0d83\u0dca-\u0ddf\u0df2-\u0df3\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u0f18-\u0f19\u0f35\u0f37\u0f39\u0f3e-\u0f3f"
    "\u0f71-\u0f84\u0f86-\u0f87\u0f8d-\u0fbc\u0fc6\u102b-\u103e\u1056-\u1059\u105e-\u1060"
    "\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u135d-\u135f"
    "\u1712-\u1715\u1732-\u1734\u1752-\u1753\u1772-\u1773\u17b4-\u17d3\u17dd\u180b-\u180d\u180f"
    "\u1885-\u1886\u18a9\u1920-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1b04\u1b34-\u1b44"
    "\u1b6b-\u1b73\u1b80-\u1b82\u1ba1-\u1bad\u1be6-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1ce8"
    "\u1ced\u1cf4\u1cf7-\u1cf9\u1dc0-\u1dff\u20d0-\u20f0\u2cef-\u2cf1\u2d7f\u2de0-\u2dff"
    "\u302a-\u302f\u3099-\u309a\ua66f-\ua672\ua674-\ua67d\ua69e-\ua69f\ua6f0-\ua6f1\ua802\ua806"
    "\ua80b\ua823-\ua827\ua82c\ua880-\ua881\ua8b4-\ua8c5\ua8e0-\ua8f1\ua8ff\ua926-\ua92d"
    "\ua947-\ua953\ua980-\ua983\ua9b3-\ua9c0\ua9e5\uaa29-\uaa36\uaa43\uaa4c-\uaa4d\uaa7b-\uaa7d"
    "\uaab0\uaab2-\uaab4\uaab7-\uaab8\uaabe-\uaabf\uaac1\uaaeb-\uaaef\uaaf5-\uaaf6\uabe3-\uabea"
    "\uabec-\uabed\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f"
)
"""Accents, points and vowel signs of the scripts in use, as ranges for a regular expression.

Python's `\\w` leaves them out, which would split Hindi, Thai and pointed Arabic words.
Spelled out, because asking Unicode for each character at import takes a tenth of a second.
"""

UNSEEN = "\u00ad\u061c\u200b-\u200f\u2060-\u2064\ufeff"
"""Invisible characters, such as the soft hyphen: inside a word they do not separate anything."""

_ASCII = bytes(
    ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else 32 for code in range(256)
)
"""Lower case, and a space for everything except letters and digits."""

_JAMO = "\u1160-\u11ff"
"""Vowels and finals of Korean written in pieces: they join the syllable before them."""
_JOINED = f"[{MARKS}{UNSEEN}{_JAMO}]"
_WORD = re.compile(
    rf"[^\W_{UNSPACED}]+(?:{_JOINED}+[^\W_{UNSPACED}]*)*|(?=[{UNSPACED}])\w{_JOINED}*"
)
_UNSEEN = re.compile(f"[{UNSEEN}]+")


def words(text: str) -> list[str]:
    """The words of a text in order: NFC, case-folded, runs of letters and digits.

    Each character of Chinese, Japanese, Korean, Thai and other scripts without spaces is a word
    of its own. Apostrophes, hyphens and underscores separate words; accents are kept, because
    "coördinatie" is spelled so and "coordinatie" is not.

    >>> words("The museum's Curaçao-hal, 夜巡 (STRASSE)")
    ['the', 'museum', 's', 'curaçao', 'hal', '夜', '巡', 'strasse']
    """
    if text.isascii():
        return text.encode().translate(_ASCII).decode().split()
    return _case_folded(_WORD.findall(composed(text)))


def _case_folded(found: list[str]) -> list[str]:
    """The words case-folded all at once, which is five times as fast as one by one.

    NFC runs again, because case folding can take a letter and its accent apart.
    """
    if not found:
        return []
    return composed(_UNSEEN.sub("", "\n".join(found)).casefold()).split("\n")
