"""Sentences of a masked text, edits of it, and whether a sentence is an order or a question.

Many verbs that give orders are nouns too: `Show the rooms`, but `Show business`; `Liste die Teile
auf`, but `Liste der Museen`; 解释这件事, but 解释权. Such a word gives an order only if what
follows can follow the verb alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from ragauge.jitters.lexicons import (
    AUXILIARIES,
    IMPERATIVES,
    PREPOSITIONS,
    QUESTION_WORDS,
    plain,
)
from ragauge.jitters.protected import KEPT
from ragauge.text.word_lists import word_set

Edit = tuple[int, int, str]
"""Start, end, and the text that replaces what is there."""

_SENTENCE = re.compile(r"[^.?!。！？\n]+[.?!。！？]*")
_FIRST = re.compile(r"\W*?(?=[\w\ufffc])")
LONGEST = 1000
"""Rules leave longer sentences alone, so that they take linear time on any text."""


def sentences(painted: str) -> Iterator[tuple[int, int]]:
    """The spans of the sentences that rules look at, from their first word on."""
    for match in _SENTENCE.finditer(painted):
        start, end = match.span()
        if end - start <= LONGEST and (first := _FIRST.match(painted, start, end)):
            yield first.end(), end


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits, which are in order and do not overlap."""
    parts, at = [], 0
    for start, end, new in edits:
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def capitals_of(old: str, new: str) -> str:
    """The new words with the capitals of the old.

    >>> capitals_of("Explain", "describe"), capitals_of("LIST", "enumerate")
    ('Describe', 'ENUMERATE')
    """
    if old.isupper() and len(old) > 1:
        return new.upper()
    return capitalised(new) if old[:1].isupper() else new


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def uncapitalised(text: str) -> str:
    return text[:1].lower() + text[1:]


_LETTER = r"[^\W\d_]"
_WORDS = re.compile(rf"({_LETTER}+(?:['’-]{_LETTER}+)*)(?:[ ]+({_LETTER}+))?")

_NOUNS_TOO = {
    "en": word_set("list show name state outline contrast display find sketch give"),
    "nl": word_set("licht toon som vat zet laat schets vergelijk"),
    "de": word_set("liste vergleiche"),
    "fr": word_set("liste montre affiche mets cite"),
}
"""Verbs of orders that are nouns or adverbs as well."""

_OBJECTS = {
    "en": (
        r"(?:the|all|a|an|any|each|every|both|its|their|these|those|some|me|us|one|two|three|four|"
        r"five|six|seven|eight|nine|ten|how|why|what|which|who|where|when|whether|out)\b"
        rf"|{KEPT}[^?]*\Z"
    ),
    "nl": (
        r"(?:me|mij|ons|de|het|een|alle|deze|dit|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|"
        rf"enkele|hoe|waarom|welke?|wie|toe|zien|aan)\b|op (?:welke?|wat|wie)\b|{KEPT}[^?]*\Z"
    ),
    "de": (
        r"(?:die|das|den|alle|sämtliche|mir|uns|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|"
        r"wie|was|welche)\b|[^.?!]* auf[.!]?\Z"
    ),
    "fr": (
        r"(?:le|la|les|un|une|tous|toutes|ces|deux|trois|quatre|cinq|comment|quels?|quelles?)\b"
        r"(?! (?:plus|moins)\b)|l['’]"
    ),
}
"""Patterns of what follows such a verb when it gives an order."""

_FORMAL = frozenset(verb for verb in IMPERATIVES["de"] if verb.endswith("n"))
"""These give an order only before `Sie`: `Erklären Sie`, but `Erklären ist schwer`."""
_TO_ME = "-(?:moi|nous)"

ZH_VERBS = "解释|说明|列出|列举|比较|对比|显示|展示|描述|总结|给出|介绍"
_ZH_COUNTED = "[一二三四五六七八九十两几][个种项座条位家本件点张幅部段所名次大]"
_ZH_THING = (
    rf"(?:这|该|此|那|以下|下列|所有|全部|各|每|其|哪些|谁|{_ZH_COUNTED}|{KEPT}|[A-Za-z])"
    r"(?![^。！]*[?？])(?![^。！的]*的[^。！]*(?:谁|哪|什么|多少|吗))"
)
ZH_COMPARED = rf"(?:一下|{_ZH_THING})"
ZH_OBJECT = rf"(?:如何|怎么|怎样|为什么|为何|什么[是叫]|{ZH_COMPARED})"
"""A pattern of what follows a Chinese verb of an order: 介绍这座宫殿的书是谁写的 is not one."""
_ZH_ASKS = re.compile("[谁哪吗呢]|什么|多少|几[个年种座家位次]|怎[么样]|何[时处]|为何|如何|是否")
_ZH_MAY_ORDER = re.compile(rf"(?:{ZH_VERBS})|[^?？]*[。.！!]\Z")
"""Possibly an order, despite its question words: 解释纸是如何制作的."""


def is_order(painted: str, start: int, end: int, language: str) -> bool:
    """Whether the sentence begins with a verb that tells someone to do something.

    >>> is_order("Show the rooms.", 0, 15, "en"), is_order("Show must go on.", 0, 16, "en")
    (True, False)
    """
    if language not in IMPERATIVES and language != "zh":
        return False
    return bool(_orders(language).match(painted, start, end))


def is_question(painted: str, start: int, end: int, language: str) -> bool:
    """Whether the sentence is a question, by its mark or by its first words."""
    return painted[start:end].rstrip().endswith(("?", "？")) or asks_in_words(
        painted, start, end, language
    )


def asks_in_words(painted: str, start: int, end: int, language: str) -> bool:
    """Whether the words of the sentence ask, even without its mark."""
    if language == "zh":
        may_be_order = _ZH_MAY_ORDER.match(painted, start, end)
        return not may_be_order and bool(_ZH_ASKS.search(painted, start, end))
    found = _WORDS.match(painted, start, end)
    if not found:
        return False
    first, second = plain(found[1]), plain(found[2] or "")
    opens = first in QUESTION_WORDS or first in AUXILIARIES
    return opens or (first in PREPOSITIONS and second in QUESTION_WORDS)


@cache
def _orders(language: str) -> re.Pattern[str]:
    """The beginning of an order: a verb that is only a verb, or one with its object."""
    if language == "zh":
        return re.compile(
            rf"(?:比较|对比)(?={ZH_COMPARED})|(?!比较|对比)(?:{ZH_VERBS})(?={ZH_OBJECT})"
        )
    unsure = _NOUNS_TOO[language]
    sure = IMPERATIVES[language] - unsure - _FORMAL
    either = ["|".join(sorted(verbs)) for verbs in (sure, unsure, _FORMAL)]
    beginnings = (
        rf"(?:{either[0]})(?:{_TO_ME})?\b(?!['’-])",
        rf"(?:{either[1]})(?:{_TO_ME}\b| (?:{_OBJECTS[language]}))",
        rf"(?:{either[2]}) sie\b",
    )
    return re.compile("|".join(beginnings), re.IGNORECASE)
