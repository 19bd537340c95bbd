"""The analyzer: a text as the words that carry it, folded and lightly stemmed."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal

ANALYZER = "lower+ascii_fold+stop_en_nl+light_stem:v1"
Language = Literal["en", "nl"]


def word_set(text: str) -> frozenset[str]:
    """The words of a list that is written as text."""
    return frozenset(text.split())


_STOP: dict[Language, frozenset[str]] = {
    "en": word_set("""
        a about after again all also although am an and any are as at be became become been being
        between both but by can could did do does done during each ever every for from had has have
        having he her here him his how i if in into is it its itself just may me might more most
        much must my no nor not now of off on once one only or other our out over own per same shall
        she should since so some such than that the their them then there these they this those
        through to too under until up upon us very was we were what when where which while who whom
        whose why will with within without would you your yet
    """),
    "nl": word_set("""
        aan af al alle als altijd andere ben bij bent daar daarna dan dat de der deze die dit doch
        door dus een eens en er ergens ging gingen haar had hadden heb hebben heeft hem het hier hij
        hoe hun ik in is je jij kan kon konden kunnen kunt maar mag me meer men met mij mijn moet
        moeten na naar niet niets nog nu of om omdat onder ons ook op over sinds te tegen tegenover
        ten ter toch toen tot tussen u uit uw van vanaf veel voor waar waarin waarom wanneer want
        waren was wat we wel welk welke werd werden wie wiens wij wil worden wordt zal ze zelf zich
        zij zijn zo zoals zou zowel zulke
    """),
}
_ANY_STOP = _STOP["en"] | _STOP["nl"]

_LETTERS = str.maketrans({"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th"})
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}\b)")
_GENITIVE = re.compile(r"['’]s\b|['’](?=\s|$)")
_WORD = re.compile(r"[^\W_]+")
_ENDINGS = ("ingen", "ing", "ed", "en", "e")
_KEPT = 3
"""Letters a word keeps at least when its ending goes."""
WORDS_KEPT = 65_536


def folded(text: str) -> str:
    """The text in lower case without accents: only base letters, as far as they have any.

    >>> folded("Hiëronymus, Musée & Snøhetta’s")
    'hieronymus, musee & snohetta’s'
    """
    parts = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return "".join(part for part in parts if not unicodedata.combining(part))


def surface_words(text: str) -> list[str]:
    """The words as written, with capitals and accents; 6,487 is one, and ’s is no word.

    >>> surface_words("Plantin-Moretus sold 6,487 of Ashmole's books.")
    ['Plantin', 'Moretus', 'sold', '6487', 'of', 'Ashmole', 'books']
    """
    return _WORD.findall(_GENITIVE.sub(" ", _THOUSANDS.sub("", unicodedata.normalize("NFC", text))))


def stems(text: str) -> list[str]:
    """The stems of the words that are no stop words, in order.

    >>> stems("The libraries were opened in 1884; de bibliotheken, de bibliotheek")
    ['librari', 'open', '1884', 'bibliothek', 'bibliothek']
    """
    return [stem(word) for word in surface_words(text) if not is_stop(word)]


def is_stop(word: str, language: Language | None = None) -> bool:
    """Whether a word carries nothing: in that language, or in either.

    >>> is_stop("die"), is_stop("die", "en")
    (True, False)
    """
    return folded(word) in (_STOP[language] if language else _ANY_STOP)


@lru_cache(WORDS_KEPT)
def stem(word: str) -> str:
    """A word without its commonest English and Dutch endings, so that forms of it meet.

    Only spelling is looked at: what comes out need not be a word, it only has to come out of all
    its forms.

    >>> [stem(w) for w in ("founded", "galleries", "gallery", "huizen", "huis", "gardens", "glass")]
    ['found', 'galeri', 'galeri', 'huis', 'huis', 'gard', 'glas']
    """
    form = folded(word)
    if not form.isalpha() or not form.isascii():
        return form
    return _spelled_alike(_without_ending(_singular(form)))


def _singular(form: str) -> str:
    plural = form.endswith("s") and not form.endswith(("ss", "us", "is"))
    single = form[:-1] if plural and len(form) > _KEPT else form
    if len(single) > _KEPT and single.endswith(("ie", "y")):
        return single.removesuffix("e").removesuffix("y").removesuffix("i") + "i"
    return single


def _without_ending(form: str) -> str:
    for ending in _ENDINGS:
        if form.endswith(ending) and len(form) - len(ending) >= _KEPT:
            return form.removesuffix(ending)
    return form


def _spelled_alike(form: str) -> str:
    """Double letters single, a final v or z as f or s: as Dutch spells long and short forms."""
    single = re.sub(r"([a-z])\1", r"\1", form)
    return single[:-1] + {"v": "f", "z": "s"}.get(single[-1], single[-1])
