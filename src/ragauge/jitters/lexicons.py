"""The words jitters know, read from `lexicons.toml`, and the language that they show."""

from __future__ import annotations

import re

from ragauge.text.word_lists import read_toml, word_set, word_sets

_FILE = read_toml(__package__, "lexicons.toml")

IMPERATIVES = word_sets(_FILE["imperatives"])
VERBS = frozenset().union(*IMPERATIVES.values())
QUESTION_WORDS = word_set(_FILE["question_words"])
AUXILIARIES = word_set(_FILE["auxiliaries"])
PREPOSITIONS = word_set(_FILE["prepositions"])
OPENERS = QUESTION_WORDS | AUXILIARIES | PREPOSITIONS | VERBS | word_set(_FILE["other_openers"])
NAME_OPENERS = word_set(_FILE["name_openers"])
PARTICLES = word_set(_FILE["particles"])
FINITE = word_set(_FILE["finite"])
ABBREVIATIONS = word_set(_FILE["abbreviations"])
MONTHS = word_set(_FILE["months"])
_SMALL_WORDS = word_sets(_FILE["small_words"])


def plain(word: str) -> str:
    """The word as a lexicon has it: in lower case, `what` for `What’s`.

    >>> plain("What’s"), plain("Qu’est-ce"), plain("Montrez-moi")
    ('what', "qu'est-ce", 'montrez')
    """
    lower = word.lower().replace("’", "'").removesuffix("-moi").removesuffix("-nous")
    first, _, ending = lower.partition("'")
    return first if ending in ("s", "re", "ll", "d", "ve") else lower


LANGUAGES = ("en", "nl", "de", "fr", "zh")

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\U00020000-\U000323af]+")


def language_of(text: str) -> str:
    """The likeliest of en, nl, de, fr and zh; en where no word shows it.

    Chinese, where Chinese characters outnumber the other words; else the language that has the
    most of the text's small words, the earlier of LANGUAGES where two have as many.

    >>> language_of("In welk jaar werd het museum geopend?"), language_of("什么是 IIIF？")
    ('nl', 'zh')
    """
    found = [word.lower() for word in _WORD.findall(text)]
    if len(_HAN.findall(text)) > len(found):
        return "zh"
    counts = {name: sum(word in known for word in found) for name, known in _SMALL_WORDS.items()}
    return max(counts, key=lambda name: counts[name])
