"""The Porter stemmer, in the variant that ROUGE is commonly computed with."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

_KEPT = "sky news inning outing canning howe proceed exceed succeed"
_WHOLE = {
    **{word: word for word in _KEPT.split()},
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "innings": "inning",
    "outings": "outing",
    "cannings": "canning",
}
"""Words with a stem of their own."""
_STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "fulli": "ful",
}
_STEP_3 = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_ENDINGS = "al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize"
_STEP_4 = dict.fromkeys(_ENDINGS.split(), "")
_SHAPE = str.maketrans("aeiou" + "bcdfghjklmnpqrstvwxz0123456789", "v" * 5 + "c" * 30)


@lru_cache(maxsize=1 << 16)
def porter_stem(word: str) -> str:
    """The stem of a lower-case word of ASCII letters and digits.

    Porter's algorithm of 1980 with the later departures that NLTK makes, which rouge-score
    stems with: "flies" gives "fli", "enjoy" stays, a few words have stems of their own.

    >>> [porter_stem(word) for word in ("relational", "hopping", "skies", "enjoyed")]
    ['relat', 'hop', 'sky', 'enjoy']
    """
    if len(word) <= 2 or word in _WHOLE:
        return _WHOLE.get(word, word)
    word = _y_to_i(_past_and_gerund(_plural(word)))
    word = _replaced(_double_suffix(word), _STEP_3, 1)
    return _last_letters(_without_suffix(word))


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_and_gerund(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        stem = word.removesuffix(suffix)
        if stem != word and "v" in _shape(stem):
            return _mended(stem)
    return word


def _mended(stem: str) -> str:
    """What is left of a word once -ed or -ing is gone, as it would be written."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    shape = _shape(stem)
    if len(stem) > 1 and stem[-1] == stem[-2] and shape[-1] == "c":
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if shape.count("vc") == 1 and _ends_short(stem) else stem


def _y_to_i(word: str) -> str:
    after_consonant = len(word) > 2 and word[-1] == "y" and _shape(word[:-1])[-1] == "c"
    return word[:-1] + "i" if after_consonant else word


def _double_suffix(word: str) -> str:
    """The word with two suffixes in one made a single suffix: -ational to -ate."""
    if word.endswith("alli") and _measure(word[:-4]):
        return _double_suffix(word[:-2])
    if word.endswith("logi") and _measure(word[:-3]):
        return word[:-1]
    return _replaced(word, _STEP_2, 1)


def _without_suffix(word: str) -> str:
    if word.endswith("ion"):
        stem = word[:-3]
        return stem if stem.endswith(("s", "t")) and _measure(stem) > 1 else word
    return _replaced(word, _STEP_4, 2)


def _last_letters(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        measure = _measure(stem)
        if measure > 1 or (measure == 1 and not _ends_short(stem)):
            word = stem
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _replaced(word: str, suffixes: Mapping[str, str], least: int) -> str:
    """The word with its longest known suffix replaced, if the rest measures enough."""
    for size in range(min(7, len(word)), 1, -1):
        suffix = word[-size:]
        if suffix in suffixes:
            stem = word[:-size]
            return stem + suffixes[suffix] if _measure(stem) >= least else word
    return word


def _measure(stem: str) -> int:
    """How often a consonant follows a vowel: Porter's m."""
    return _shape(stem).count("vc")


def _ends_short(stem: str) -> bool:
    """Whether a short syllable ends it, as in "hop" and "up": Porter's *o."""
    shape = _shape(stem)
    return shape == "vc" or (shape.endswith("cvc") and stem[-1] not in "wxy")


def _shape(stem: str) -> str:
    """The stem in c and v; a y is a vowel after a consonant."""
    shape = stem.translate(_SHAPE)
    if "y" not in shape:
        return shape
    made = ""
    for letter in shape:
        made += letter if letter != "y" else "v" if made.endswith("c") else "c"
    return made
