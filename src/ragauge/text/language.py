"""Language: which of the five a text is written in, by its small words and its script."""

from __future__ import annotations

import re

from ragauge.text.stop_words import STOP_WORDS, Language
from ragauge.text.words import words

_READ_CHARS = 4_000
"""Characters to read: more would change nothing."""
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_KANA_HANGUL = re.compile("[\u3041-\u30ff\u1100-\u11ff\uac00-\ud7a3]")

_LATIN: tuple[Language, ...] = ("en", "nl", "de", "fr")
_MORE: dict[Language, str] = {
    "en": "no not never every many more most all only who",
    "nl": "niet geen nooit meer meest alle alleen elke zonder wanneer tijdens",
    "de": "nicht kein keine keinen nie mehr alle nur jede jeder ohne",
    "fr": "ne pas jamais plus tous toutes toujours sans chaque aucun aucune",
}
"""Words of grammar that show a language, but have too much meaning to be stop words."""
_OTHERS = """
    el los las del una por para con como más su sus fue está pero muy entre desde hasta ser son es
    il lo gli della dello dei delle di che per non è sono nel nella anche più questo
    o os um uma não em ao aos foi são pelo pela também dos das
    og det som på er av af til ikke jeg var har med ett inte och är för att den vid
    w na z się jest nie do że oraz
    că și este pentru cu din
    bir ve bu için
    ja on ei että
"""
"""Words of other languages: a text that has more of these is written in none of the five."""
_MIN_POINTS = 1.5
"""Fewer small words than this, shared ones counted in part, are too little evidence."""
_MIN_FRACTION = 0.12
_LEAD = 1.25


def language_of(text: str) -> Language | None:
    """The language of a text, or None if its words do not show it: too few, or another language.

    >>> [language_of(t) for t in ("Wie heeft het geschilderd?", "它成立于1800年。", "Amsterdam")]
    ['nl', 'zh', None]
    """
    head = text[:_READ_CHARS]
    found = words(head)
    if not found:
        return None
    if not head.isascii():
        if _KANA_HANGUL.search(head):
            return None
        han = len(_HAN.findall(head))
        if han >= 2 and 2 * han >= len(found):
            return "zh"
    return _by_small_words(found)


def _by_small_words(found: list[str]) -> Language | None:
    points: dict[Language | None, float] = dict.fromkeys((*_LATIN, None), 0.0)
    for word in found:
        for language, worth in _WORTH.get(word, ()):
            points[language] += worth
    best, second = sorted(points, key=points.__getitem__, reverse=True)[:2]
    enough = points[best] >= max(_MIN_POINTS, _MIN_FRACTION * len(found))
    return best if enough and points[best] >= _LEAD * points[second] else None


def _worth() -> dict[str, tuple[tuple[Language | None, float], ...]]:
    """The languages of each small word; one that several languages share counts in part."""
    listed: dict[Language | None, frozenset[str]] = {
        language: STOP_WORDS[language] | frozenset(_MORE[language].split()) for language in _LATIN
    }
    listed[None] = frozenset(_OTHERS.split())
    return {
        word: tuple((language, 1 / len(having)) for language in having)
        for word in frozenset().union(*listed.values())
        for having in [[language for language, small in listed.items() if word in small]]
    }


_WORTH = _worth()
