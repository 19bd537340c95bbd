"""English inflection: plurals, -s, -ed and -ing."""

from __future__ import annotations

import re

from ragauge.text.inflection.forms import without_rule
from ragauge.text.inflection.irregular_english import IRREGULAR

_VOWEL = re.compile("[aeiouy]")
_SYLLABLES = re.compile("[aeiouy]+")
_SHORT_OPEN = re.compile("[^aeiou]*[aeiouy][^aeiouwxy]")
"""One syllable, one vowel, one consonant: `hop` of hoping, which is hope or it would double."""
_LOST_E = re.compile(
    r"""(?:
        [cvu] | [^z]z | (?:[^aeiou]|[^aeiou]u)u
      | [^s]s | [bcdfgkptz]l | [dlr]g | [aeiou]g | (?:ch|rr?|str)ang
      | (?:[^aeiou]|qu)[iu]r | (?:[^aeiou]|qu)ar | (?:expl|st|ign|sc|ad|impl)or
      | (?:interf|adh|sev)er
      | (?:[^aeiou]|qu)in | (?:postp|eph|cl)on | (?:conv|interv)en
      | (?:comp|prof|ex)il | dul | consol
      | [^aeiou][ua]m | com
      | (?:[^aeiou]|[iu])at | creat | (?:^un|reun|inv|ign|exc|rec|inc)it | [^aeiouo]ut
      | (?:compl|del|comp|depl)et | (?:prom|dev|qu|den)ot
      | [^aeo]id | [^aeo]ud | [^aeo]ad | [^aeo]od | (?:c|rs)ed
      | [^aeo]ap | yp | [^aeo]ok | [^aeo]ib | (?:ba|brea|clo|soo|loa)th
    )$""",
    re.VERBOSE,
)
"""Ends of a verb that had an e before -ed and -ing."""
_KEPT_DOUBLE = frozenset("lsfz")
_NO_E = frozenset({"focus", "bias", "canvas", "debut", "pilot", "pivot", "ballot", "riot"})


def english(word: str) -> str:
    """The word without its ending; the base form where the rules know it."""
    known = without_rule(word, IRREGULAR)
    if known is not None:
        return known
    if word[-1] == "s":
        return _singular(word)
    if word.endswith("ied"):
        return word[:-3] + "y"
    if word.endswith("ed") and word[-3] != "e":
        return _base(word, word[:-2])
    if word.endswith("ing"):
        return _base(word, word[:-3])
    return _plain(word)


def _singular(word: str) -> str:
    if word.endswith(("ss", "us", "is", "ics")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "oes", "zzes")):
        return word[:-2]
    return _plain(word[:-1])


def _base(word: str, base: str) -> str:
    """What is left of a verb without its ending, with the e it lost or without the doubling."""
    if len(base) < 2 or not _VOWEL.search(base):
        return word
    if base[-1] == base[-2] and base[-1] not in "aeou":
        single = base[-1] in _KEPT_DOUBLE or len(base) < 4
        return _plain(base) if single else base[:-1]
    if base not in _NO_E and (_SHORT_OPEN.fullmatch(base) or _LOST_E.search(base)):
        return base + "e"
    return base


def _plain(word: str) -> str:
    """The word; travell and travel, install and instal are one beyond the first syllable."""
    if word.endswith("ll") and len(_SYLLABLES.findall(word)) > 1:
        return word[:-1]
    return word
