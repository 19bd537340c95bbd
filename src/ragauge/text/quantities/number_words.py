"""Numbers in words: what one word counts for, in English, Dutch, German and French."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from ragauge.text.quantities.quantity import listed

Role = Literal["count", "scale", "ordinal", "share", "halves", "decade"]


class NumberWord(NamedTuple):
    """What a word counts for."""

    role: Role
    value: int
    """Of a share, what stands under the line: 3 for thirds. Of halves, how many they are."""
    common: bool = False
    """Rather another word: Dutch `onze` is our, French `neuf` is new."""


_WORDS: dict[str, NumberWord] = {}


def _add(role: Role, first: int, words: str, step: int = 1, common: bool = False) -> None:
    """Words for first, first + step, …; forms of one number are joined by a stroke."""
    for place, forms in enumerate(words.split()):
        for form in forms.split("|"):
            _WORDS[form] = NumberWord(role, first + place * step, common)


_add("count", 0, "zero one two three four five six seven eight nine ten eleven twelve thirteen")
_add("count", 14, "fourteen fifteen sixteen seventeen eighteen nineteen")
_add("count", 20, "twenty thirty forty|fourty fifty sixty seventy eighty ninety", 10)
_add("count", 2, "twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien")
_add("count", 15, "vijftien zestien zeventien achttien negentien")
_add("count", 20, "twintig dertig veertig vijftig zestig zeventig tachtig negentig", 10)
_add("count", 2, "zwei|zwo drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn")
_add("count", 15, "fünfzehn sechzehn siebzehn achtzehn neunzehn")
_add("count", 20, "zwanzig dreißig|dreissig vierzig fünfzig sechzig siebzig achtzig neunzig", 10)
_add("count", 2, "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze")
_add("count", 16, "seize")
_add("count", 20, "vingt|vingts trente quarante cinquante soixante septante huitante nonante", 10)
_add("count", 1, "een|één|ein|eine|einen|einem|einer|eins|un|une", common=True)
_add("count", 0, "nul|null|zéro", common=True)
_add("count", 9, "neuf", common=True)
_add("count", 11, "elf onze|onze", common=True)
_add("count", 11, "onze elf", step=0, common=True)
_add("count", 12, "dozijn|dutzend|douzaine")
_add("scale", 12, "dozen")
_add("scale", 100, "hundred|honderd|hundert")
_add("scale", 100, "cent", common=True)
_add("count", 7, "sept", common=True)
_add("count", 100, "cents", common=True)
_add("scale", 1000, "thousand|duizend|tausend|mille")
_add("scale", 10**6, "million|miljoen|millionen|mln")
_add("scale", 10**9, "billion|miljard|milliard|milliards|milliarde|milliarden|bn")
_add("scale", 10**12, "trillion|biljoen|billionen")
_add("ordinal", 1, "first second third fourth fifth sixth seventh eighth ninth tenth eleventh")
_add("ordinal", 12, "twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth")
_add("ordinal", 19, "nineteenth twentieth")
_add("ordinal", 30, "thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth", 10)
_add("ordinal", 100, "hundredth")
_add("ordinal", 1, "eerste tweede derde vierde vijfde zesde zevende achtste negende tiende elfde")
_add("ordinal", 12, "twaalfde dertiende veertiende vijftiende zestiende zeventiende achttiende")
_add("ordinal", 19, "negentiende twintigste eenentwintigste")
_add("ordinal", 1, "premier|première deuxième|seconde troisième quatrième cinquième sixième")
_add("ordinal", 7, "septième huitième neuvième dixième onzième douzième treizième quatorzième")
_add("ordinal", 15, "quinzième seizième")
_add("ordinal", 20, "vingtième")
_GERMAN_ORDINALS = (
    "erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft dreizehnt vierzehnt "
    "fünfzehnt sechzehnt siebzehnt achtzehnt neunzehnt zwanzigst einundzwanzigst"
)
for _ending in ("e", "er", "en", "es", "em"):
    _forms = " ".join(stem + _ending for stem in _GERMAN_ORDINALS.split())
    _add("ordinal", 1, _forms)
_add("share", 2, "half|halve|helft|halb|halbe|hälfte|demi|moitié")
_add("share", 3, "thirds quarters|kwart|viertel fifths sixths sevenths eighths ninths tenths")
_add("share", 4, "quarter|fourths")
_add("share", 3, "drittel")
_add("halves", 3, "anderhalf|anderhalve|anderthalb|eineinhalb tweeënhalf|zweieinhalb", 2)
_add("halves", 7, "drieënhalf|dreieinhalb vierenhalf|viereinhalb vijfenhalf|fünfeinhalb", 2)
_add("decade", 20, "twenties thirties forties fifties sixties seventies eighties nineties", 10)
_WORDS["acht"] = NumberWord("count", 8)

_COMPOUND_PARTS: dict[str, int] = {
    word: entry.value
    for word, entry in _WORDS.items()
    if (entry.role == "count" and entry.value < 100) or word in {"honderd", "hundert"}
}
_COMPOUND_PARTS |= {"een": 1, "één": 1, "ein": 1, "duizend": 1000, "tausend": 1000}
_OTHER_LANGUAGES = listed(
    "one two three four five six seven eight nine ten eleven twelve un une deux trois quatre "
    "cinq sept huit neuf dix onze douze treize quatorze quinze seize eine einen einem einer "
    "cents dozijn dutzend douzaine nul null zero zéro"
)
for _word in _OTHER_LANGUAGES:
    _COMPOUND_PARTS.pop(_word, None)
_ANY_PART = "|".join(sorted(_COMPOUND_PARTS, key=len, reverse=True))
_PART = re.compile(f"{_ANY_PART}|en|ën|und")
_COMPOUND = re.compile(f"(?:{_ANY_PART}|en|ën|und)++(ste?|de|ter?|sten|tes)?+")
_LONGEST = 80


@lru_cache(maxsize=1 << 16)
def number_word(word: str) -> NumberWord | None:
    """What a lower-case word counts for, compounds included; None for a word that is no number.

    >>> number_word("twaalfduizend"), number_word("vierundzwanzig").value, number_word("house")
    (NumberWord(role='count', value=12000, common=False), 24, None)
    """
    entry = _WORDS.get(word)
    if entry is not None or not 6 <= len(word) <= _LONGEST:
        return entry
    match = _COMPOUND.fullmatch(word)
    if match is None:
        return None
    stem = word[: match.start(1)] if match[1] else word
    value = _compound_value(_PART.findall(stem))
    if value is None:
        return None
    return NumberWord("ordinal" if match[1] else "count", value)


def _compound_value(parts: list[str]) -> int | None:
    """What the parts of a Dutch or German compound add up to: vier en twintig is 24."""
    total = group = 0
    ones = 0
    for part in parts:
        value = _COMPOUND_PARTS.get(part)
        if value is None:
            continue
        if value == 1000:
            total, group, ones = (group + ones or 1) * 1000, 0, 0
        elif value == 100:
            group, ones = (group + ones or 1) * 100, 0
        elif ones and not (ones < 10 and value >= 20):
            return None
        else:
            ones += value
    return total + group + ones or None
