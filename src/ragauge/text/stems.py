"""Stems: the form in which two inflections of one word meet."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ragauge.text.inflection.dutch import dutch
from ragauge.text.inflection.english import english
from ragauge.text.inflection.french import french
from ragauge.text.inflection.german import german
from ragauge.text.stop_words import Language

_RULES: dict[Language, Callable[[str], str]] = {
    "en": english,
    "nl": dutch,
    "de": german,
    "fr": french,
}
_POSSESSIVES = ("'s", "’s")


@lru_cache(maxsize=1 << 16)
def stem(word: str, language: Language = "en") -> str:
    """The stem of a word in the form `words` gives it; Chinese has none, the word comes back.

    Only inflection goes: plurals, persons and tenses, the endings of adjectives. Derivation
    stays, because a painter is not a painting and slowly is not slow. A stem need not be a word.

    >>> [stem(word) for word in ("museums", "stopped", "hoping", "went", "founded", "found")]
    ['museum', 'stop', 'hope', 'go', 'found', 'find']
    """
    rule = _RULES.get(language)
    if rule is None:
        return word
    if word.endswith(_POSSESSIVES):
        word = word[:-2]
    return rule(word)
