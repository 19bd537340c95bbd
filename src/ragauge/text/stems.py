"""Stems: one form for all inflections of a word, by light rules for each language."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from ragauge.text.stop_words import Language
from ragauge.text.word_lists import read_toml

SHORTEST = 4
"""Letters of the shortest word that a rule is tried on."""
_POSSESSIVES = ("'s", "’s")


@lru_cache(maxsize=1 << 16)
def stem(word: str, language: Language = "en") -> str:
    """The stem of a word in the form of `words`; in Chinese, the word itself.

    Only inflection is removed: plurals, persons and tenses, endings of adjectives. Derivation
    stays, because a painter is not a painting and slowly is not slow. A stem need not be a word.

    >>> [stem(word) for word in ("museums", "stopped", "hoping", "went", "founded", "found")]
    ['museum', 'stop', 'hope', 'go', 'found', 'find']
    """
    rule = _RULES.get(language)
    if rule is None:
        return word
    if word.endswith(_POSSESSIVES):
        word = word[:-2]
    irregular = _irregular()[language]
    if word in irregular:
        return irregular[word]
    return word if len(word) < SHORTEST or not word.isalpha() else rule(word)


@cache
def _irregular() -> Mapping[str, Mapping[str, str]]:
    """The stems of the forms that no rule covers, by language."""
    tables = {}
    for language, listed in read_toml(__package__, "stems.toml").items():
        groups = [group.split() for group in re.split(r"[|\n]", listed["forms"].strip())]
        tables[language] = {word: word for word in listed["apart"].split()}
        tables[language] |= {form: forms[0] for forms in groups for form in forms}
    return tables


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


def _english(word: str) -> str:
    """The word without plural, -s, -ed and -ing; the base form if the rules know it."""
    if word[-1] == "s":
        if word.endswith(("ss", "us", "is", "ics")):
            return word
        if word.endswith("ies"):
            return word[:-3] + "y" if len(word) > 4 else word[:-1]
        if word.endswith(("sses", "shes", "ches", "xes", "oes", "zzes")):
            return word[:-2]
        return _plain(word[:-1])
    if word.endswith("ied"):
        return word[:-3] + "y"
    if word.endswith("ed") and word[-3] != "e":
        return _base(word, word[:-2])
    if word.endswith("ing"):
        return _base(word, word[:-3])
    return _plain(word)


def _base(word: str, base: str) -> str:
    """A verb without its ending, with the e it lost or without the doubled letter."""
    if len(base) < 2 or not _VOWEL.search(base):
        return word
    if base[-1] == base[-2] and base[-1] not in "aeou":
        single = base[-1] in _KEPT_DOUBLE or len(base) < 4
        return _plain(base) if single else base[:-1]
    if base not in _NO_E and (_SHORT_OPEN.fullmatch(base) or _LOST_E.search(base)):
        return base + "e"
    return base


def _plain(word: str) -> str:
    """The word with one final l if it has more syllables: travell and travel are the same."""
    if word.endswith("ll") and len(_SYLLABLES.findall(word)) > 1:
        return word[:-1]
    return word


_LONG = "(?:aa|ee|oo|uu|ij|ui|ie|oe|eu|ou|au|ei)"
_OPEN = re.compile("(.*[^aeiou]|)([aeou])([bcdfgklmnprst])")
"""A single vowel before a single consonant, which was long: `bom` of bomen is boom."""
_UNSTRESSED = re.compile(".*[aeiouy].*(?:e[lrmn]|i[gk]|or|um)")
_FOLDED_END = {"v": "f", "z": "s"}
_PLURAL_S = re.compile(".*(?:[^aeiou]e[lrmn]|ie|um|eur|oor|aar|ee|[^aeiou][ao]|é)s")
_NL_FINITE = re.compile(f"(.*(?:{_LONG}[bfgklmpvw]|[aeiou].*[^aeiou]e[rl]|[rl][kp]))t")
_NL_PAST = re.compile(
    f"(.*[aeiou].*[^aeiou]e[lrn]|.*{_LONG}[wfms]|.+[lraeou]g)den?"
    f"|(.*{_LONG}[kp]|.+[rl]k|.*[aeiou].*t|.*(?:pp|kk))ten?"
)
_NL_PARTICIPLE = re.compile("((?:op|aan|uit|af|toe|mee|na|voor|door|over|onder|om)?)ge(.{3,}[td])")
_WEAK = re.compile(f".*(?:(?:[wfmsgvz]|[^aeiou]e[lrn]|{_LONG}[lrn])d|[kpf]t)")


def _dutch(word: str) -> str:
    """The word without plurals, -e, -t, -te, -de and the ge- of the participle.

    In the spelling of the singular or of the bare verb: geschilderd, schilder; opgericht, opricht.
    """
    if match := _NL_PARTICIPLE.fullmatch(word):
        before, rest = match[1], match[2]
        if _WEAK.fullmatch(rest):
            return before + rest[:-1]
        return before + rest if rest[-1] == "t" else word
    if match := _NL_PAST.fullmatch(word):
        return match[1] or match[2]
    if _PLURAL_S.fullmatch(word):
        return word[:-1]
    if match := _NL_FINITE.fullmatch(word):
        return match[1]
    if word.endswith("heden"):
        return word[:-4] + "eid"
    if word.endswith("ën"):
        return word[:-2]
    if word.endswith(("jes", "tes", "des")) and len(word) > 5:
        return word[:-2]
    if word.endswith("en") and word[-3] not in "ieo":
        return _closed(word, word[:-2])
    if word.endswith("e") and word[-2] not in "ieou":
        return _closed(word, word[:-1])
    return word


def _closed(word: str, base: str) -> str:
    """The base as it is spelled without the ending: mann is man, bom is boom, huiz is huis."""
    if len(base) < 3 or not re.search("[aeiouy]", base):
        return word
    if base[-1] == base[-2]:
        return base[:-1]
    base = base[:-1] + _FOLDED_END.get(base[-1], base[-1])
    match = None if _UNSTRESSED.fullmatch(base) else _OPEN.fullmatch(base)
    return f"{match[1]}{match[2] * 2}{match[3]}" if match else base


_ENDING = re.compile("(.{3,}?)(?:em|en|es|e|s|(?<=el)n)")
_ER = re.compile(
    "(.*[äöü].*|.*(?:kind|bild|feld|lied|kleid|geist|ei|glied|gebiet|schild|weib|geld)"
    "|.*(?:isch|lich|ig|al|ell)|gross|neu|alt|klein|jung|hoh|lang|kurz|deutsch|gut|weit)ern?"
)
"""Plurals and adjectives in -er; a Maler is one who paints, and keeps it."""
_KEPT = re.compile(".*(?:ss|us|is|ens|urs|els|ors|ers)|.?.?[ao]s")
"""Ends that are the word's own: bus, kurs."""
_ROUNDED = str.maketrans("äöü", "aou")
_OWN_UMLAUT = re.compile("schön|zähl|drück|könn|müss|würd|für|führ|hör|lös|prüf|stütz")
"""Without the umlaut these would be other words: zahlen, drucken, schon."""
_PARTICIPLE = re.compile("ge(.{2,})t")
_PAST = re.compile("(.*(?:[aeiouäöü]g|lg|[aeiou]b|[üö]h?r|ier))te[nt]?")
_FINITE = re.compile("(.{3,}ier)t")


def _german(word: str) -> str:
    """The word without its ending and without its umlaut, which may come from the plural."""
    base = _without_ending(word)
    return base if _OWN_UMLAUT.fullmatch(base) else base.translate(_ROUNDED)


def _without_ending(word: str) -> str:
    if word.endswith("innen") and len(word) > 7:
        return word[:-3]
    for pattern in (_PAST, _FINITE, _PARTICIPLE, _ER):
        if match := pattern.fullmatch(word):
            return match[1]
    match = None if _KEPT.fullmatch(word) else _ENDING.fullmatch(word)
    if match is None:
        return word[:-1] if word.endswith("ern") and len(word) > 5 else word
    return match[1]


_OWN_S = ("ss", "ais", "ourgeois", "inois", "anois")


def _french(word: str) -> str:
    """The word in the masculine singular, without the e at its end; fonder and fondées as fondé."""
    if word.endswith(("eaux", "eux", "oux")):
        word = word[:-1] if word.endswith("eaux") else word
    elif word.endswith("aux"):
        word = word[:-3] + "al"
    elif word[-1] == "s" and not word.endswith(_OWN_S):
        word = word[:-1]
    known = _irregular()["fr"].get(word)
    if known is not None:
        return known
    if word.endswith("ée"):
        return word[:-1]
    if word.endswith("er") and word[-3] not in "iv" and len(word) > 4:
        return word[:-2] + "é"
    if word.endswith("euse"):
        return word[:-2] + "x"
    if word.endswith("èrent"):
        return word[:-5] + "é"
    if word.endswith("aient"):
        return word[:-3] + "t"
    if word.endswith("ent") and not word.endswith("ment") and len(word) > 5:
        return word[:-3]
    if word.endswith(("nne", "lle", "tte")) and len(word) > 5:
        return word[:-2]
    return word[:-1] if word[-1] == "e" else word


_RULES: dict[Language, Callable[[str], str]] = {
    "en": _english,
    "nl": _dutch,
    "de": _german,
    "fr": _french,
}
