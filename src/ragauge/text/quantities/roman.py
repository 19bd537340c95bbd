"""Roman numerals after a name or in a chapter's number."""

from __future__ import annotations

import re

from ragauge.text.quantities.quantity import listed

NUMERAL = re.compile(r"[IVXL][IVXL]*+(?:e|ème|ste|de)?+(?![\w-])")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50}
_VALID = re.compile(r"(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
CHAPTERS = listed(
    "chapter part volume book act article section title appendix type phase class hoofdstuk "
    "deel boek artikel kapitel teil band chapitre partie tome livre acte"
)


def roman_value(written: str) -> int | None:
    """The number that a Roman numeral in capitals spells; None where it spells none.

    >>> roman_value("XIV"), roman_value("II"), roman_value("IIX"), roman_value("")
    (14, 2, None, None)
    """
    if not written or not _VALID.fullmatch(written):
        return None
    total = 0
    for sign, following in zip(written, [*written[1:], ""], strict=True):
        value = _VALUES[sign]
        total += -value if value < _VALUES.get(following, 0) else value
    return total
