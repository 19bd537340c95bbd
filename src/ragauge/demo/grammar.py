"""How English and Dutch ask: the words that say what is wanted, and those that only ask."""

from __future__ import annotations

import re
from typing import Literal

from ragauge.demo.words import Language, word_set

Wants = Literal["person", "time", "number", "amount", "place", "reason", "anything"]

PEOPLE = word_set("""
    architect architects archivist artist artists author authors banker collector director duke
    elector emperor family founder king kings librarian man merchant monarch painter painters
    person physician pope queen ruler scholar sculptor woman writer
    architecten archivaris bibliothecaris directeur geleerde heerser hertog hoogleraar keizer
    koning koningin kunstenaar kunstenaars oprichter paus persoon schilder schilders schrijver
    schrijvers stichter verzamelaar vorst
""")
ANYBODY = word_set("""
    artist artists family man monarch person ruler scholar woman
    geleerde heerser kunstenaar kunstenaars persoon vorst
""")
"""Those of them that say of whom is asked no more than `who`."""
RULERS = word_set("duke elector emperor king pope queen")
PLACES = word_set("""
    cities city countries country district place square street town towns
    land plaats plaatsen plein stad steden straat wijk
""")
TIMES = word_set("""
    century date day decade moment month period point year years
    dag datum eeuw jaar jaren maand moment periode tijdstip
""")
KINDS = word_set("""
    archive archives institution libraries library manner museum museums reason reasons way
    archief instelling manier musea reden redenen wijze
""")
"""Nouns after `which` that say no more than the kind of thing wanted."""
MEASURES = word_set(
    "big deep far heavy high large long tall wide breed diep groot hoog lang ver zwaar"
)
UNTOLD_MEASURES = word_set("big far large long old groot lang oud ver")
"""After `how` they are answered without being said again."""
HOW = word_set("how hoe")
ASKING = word_set("which what many much welke welk wat hoeveel")
"""A noun that follows one of these is what is asked for."""

FRAMING = word_set("""
    about according answer brief briefly citation citations cite compare context contrast define
    describe discuss display document documents enumerate exactly explain find give identify
    indicate kindly know least list many mention most outline please provide question sentence
    short show sketch source sources specify state summarise summarize tell year years
    alstublieft antwoord behandel benoem beschrijf bespreek bron bronnen definieer geef graag
    hoeveel hoogstens inhouden inhoudt jaar jaren kort leg licht maak minstens noem omschrijf
    ongeveer precies schets som toon vat vergelijk verklaar vermeld vertel vertellen volgens
    vooral vraag vriendelijk wees weet zeg zeggen zin
    am d da de del den der des di du la le sur van von y zu
""")
"""Words around a question, and small words inside foreign names: they ask for nothing."""
LIGHT = word_set("""
    came cause caused causes come comes date dated dates drawn drew get go goes got happen
    happened kind kinds known made make making number numbers part responsible sort sorts take
    taken takes time took type types went
    bekend dateert deel gebeurde gebeurt gemaakt kent kom komen komt kwam kwamen maakt maakte
    maken nummer soort soorten stamt telde tellen telt tijd veroorzaakte
""")
"""Words that hardly narrow a question down."""
STRICT = word_set("""
    biggest current currently earliest fifth final first former fourth future highest largest
    last latest next oldest present second smallest third today youngest
    derde eerste grootste hoogste huidig huidige jongste kleinste laatste nieuwste oudste
    toekomstige tweede vierde volgende voormalige vorige
""")
"""Words without which another thing is asked."""
OTHERS = word_set("another fifth fourth second third derde tweede vierde vijfde")
"""Words that say a thing is not the one that was spoken of."""

ARTICLES = word_set("the a an de het een l la le")
IN = word_set("in te at near bij")
DEMONYMS = word_set("""
    american belgian british chinese dutch egyptian english european flemish french german
    italian spanish welsh
    amerikaanse belgische britse chinese duitse egyptische engelse europese franse italiaanse
    nederlands nederlandse spaanse vlaamse
""")

COMPARING = word_set("""
    bigger both common compare comparison contrast differ difference differences earlier earliest
    first higher larger later longer more older oldest respectively same similar smaller two
    versus younger
    allebei beide beiden dezelfde eerder eerst gemeen groter hetzelfde hoger jonger kleiner langer
    later meer ouder oudste overeenkomst twee vergeleken vergelijk vergelijking verschil verschillen
    verschillend
""")
BY_SIZE = word_set("""
    bigger higher larger longer more smaller
    groter hoger kleiner langer meer
""")
"""Comparisons that say nothing unless the documents say it too."""
MORE = word_set("more meer")
IN_TIME = word_set("""
    earlier earliest first later older oldest younger youngest
    eerder eerst jonger jongste later ouder oudste
""")
"""Comparisons that ask for years."""
RELATING = word_set("""
    connect connected connection connects link linked links relate related relation relationship
    tie ties
    band relatie verband verbindt verbonden verhouding
""")
JOINTS: dict[Language, tuple[frozenset[str], ...]] = {
    "en": (word_set("and or versus"), word_set("with to than from")),
    "nl": (word_set("en of versus"), word_set("met dan tot aan")),
}
"""Words between the two sides of a question, the surest first."""
_DUTCH = word_set("""
    beschrijf een heeft het hoe hoeveel leg naar noem sinds tussen vergelijk voor waar waarom
    waardoor wanneer wat welk welke werd wie wordt zijn
""")
KNOWN: frozenset[str] = frozenset().union(
    *(PEOPLE, PLACES, TIMES, KINDS, MEASURES, UNTOLD_MEASURES, HOW, ASKING, FRAMING, LIGHT, STRICT),
    *(ARTICLES, IN, DEMONYMS, COMPARING, BY_SIZE, IN_TIME, RELATING, _DUTCH),
)
"""All of these words: a slip of the pen may stand for one of them."""


def _any(words: frozenset[str]) -> str:
    return "|".join(sorted(words))


_MONEY = re.compile(
    r"\b(?:costs?|prices?|fees?|salary|budgets?|paid|pay|worth|revenue|kost|kosten|kostte|kostten|"
    r"prijs|toegangsprijs|begroting|salaris|betaald|betalen|waard)\b"
)
_INTERROGATIVE = re.compile(
    r"\b(?:who|whom|whose|when|where|why|which|what|how|wie|wiens|wanneer|waar|waarom|welke|welk|wat|"
    r"hoe|hoeveel)\b|^(?:name|identify|give|noem|benoem|geef)\b"
)
_HOW = re.compile(r"(?:how|hoe|(?:what|which|welke) (?:way|manner|manier|wijze))\b")
_ASKS = "which|what|whose|welke|welk|wat|name|identify|give|noem|benoem|geef"
_WANTED: tuple[tuple[Wants, re.Pattern[str]], ...] = (
    (
        "time",
        re.compile(
            rf"(?:when|wanneer|how old|hoe oud)\b|(?:{_ASKS})(?: \w+)? (?:{_any(TIMES)})\b"
            r"|.*\bopeningsja(?:ar|ren)\b|.*\b(?:opening|founding) years?\b"
        ),
    ),
    (
        "number",
        re.compile(rf"how (?:many|much|{_any(MEASURES)})\b|hoeveel\b|hoe (?:{_any(MEASURES)})\b"),
    ),
    (
        "person",
        re.compile(
            rf"(?:who|whom|whose|wie|wiens)\b|(?:{_ASKS})(?: \w+){{0,3}}? (?:{_any(PEOPLE)})\b"
        ),
    ),
    ("place", re.compile(rf"(?:where|waar)\b|(?:{_ASKS})(?: \w+)? (?:{_any(PLACES)})\b")),
    (
        "reason",
        re.compile(r"(?:why|waarom)\b|(?:what|wat|welke|which)(?: \w+){0,2} (?:reasons?|reden)\b"),
    ),
)


def wanted(plain: str) -> Wants:
    """What the first word that asks asks for; talk of money anywhere asks for an amount.

    >>> wanted("what was it called when it opened"), wanted("it opened in which year")
    ('anything', 'time')
    """
    if _MONEY.search(plain):
        return "amount"
    first = _INTERROGATIVE.search(plain)
    asking = plain[first.start() :] if first else plain
    return next((wants for wants, pattern in _WANTED if pattern.match(asking)), "anything")


def asks_how(plain: str) -> bool:
    """Whether the first word that asks is `how`, or asks in what way."""
    first = _INTERROGATIVE.search(plain)
    return first is not None and bool(_HOW.match(plain, first.start()))


def language_of(plain: frozenset[str]) -> Language:
    """The language a question is asked in, by the small words it holds.

    >>> language_of(frozenset({"wie", "ontwierp", "het", "museum"}))
    'nl'
    """
    return "nl" if plain & _DUTCH else "en"
