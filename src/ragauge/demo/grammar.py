"""How English and Dutch ask: the words that say what is wanted, and those that only ask."""

from __future__ import annotations

import re
from typing import Literal

from ragauge.demo.words import Language, word_set

Wants = Literal["person", "time", "number", "amount", "place", "reason", "anything"]

PEOPLE = word_set("""
    architect architects archivist artist artists author authors banker collector director duke
    elector emperor family founder king kings librarian man men merchant monarch painter
    painters person physician pope queen ruler scholar sculptor woman writer
    architecten archivaris bibliothecaris directeur geleerde heerser hertog hoogleraar keizer
    koning koningin kunstenaar kunstenaars mannen oprichter paus persoon schilder schilders
    schrijver schrijvers stichter verzamelaar vorst
""")
ANYBODY = word_set("""
    artist artists family man men monarch person ruler scholar woman
    geleerde heerser kunstenaar kunstenaars mannen persoon vorst
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
BODIES = word_set("""
    bodies body institution institutions organisation organisations organization organizations
    instelling instellingen organisatie organisaties
""")
KINDS = BODIES | word_set("""
    archive archives libraries library manner museum museums reason reasons way
    archief manier musea reden redenen wijze
""")
"""Nouns after `which` that say no more than the kind of thing wanted."""
MEASURES = word_set(
    "big deep far heavy high large long tall wide breed diep groot hoog lang ver zwaar"
)
UNTOLD_MEASURES = word_set("big far large long old groot lang oud ver")
"""After `how` they are answered without being said again."""
HOW = word_set("how hoe")
CALLED = word_set("called heet heette heten")
ASKING = word_set("which what many much number welke welk wat hoeveel aantal")
"""A noun that follows one of these is what is asked for."""

FRAMING = word_set("""
    about according answer brief briefly citation citations cite compare context contrast define
    describe discuss display document documents enumerate exactly explain find give identify
    indicate kindly know least list many mention most outline please provide question sentence
    short show sketch source sources specify state summarise summarize tell year years
    aantal alstublieft antwoord behandel benoem beschrijf bespreek bron bronnen definieer geef
    graag hoeveel hoogstens inhouden inhoudt jaar jaren kort leg licht maak minstens noem omschrijf
    ongeveer precies schets som toon vat vergelijk verklaar vermeld vertel vertellen volgens
    vooral vraag vriendelijk wees weet zeg zeggen zin
    am d da de del den der des di du la le sur van von y zu
""")
"""Words around a question, and small words inside foreign names: they ask for nothing."""
CONTENT = word_set("define describe discuss indicate list mention show state beschrijft vermeldt")
"""Those of them that ask for nothing only where the question opens with them."""
NUMERALS = word_set("two three four five six twee drie vier vijf zes")
LIGHT = NUMERALS | word_set("""
    available behind break broke came carried carry cause caused causes come comes date dated dates
    do drawn drew get go goes got happen happened jointly kind kinds known made make making number
    numbers owe owes part put responsible saw say says see set sort sorts take taken takes time
    together took type types use used uses went
    bekend brak danken dankt dateert deel draagt dragen gebeurde gebeurt gemaakt gezamenlijk
    kent kom komen komt kwam kwamen liep loopt maakt maakte maken nummer samen soort soorten stamt
    telde tellen telt tijd uitbrak verantwoordelijk veroorzaakte voeren voert zegt
""")
"""Words that hardly narrow a question down."""
STRICT = word_set("""
    biggest current currently earliest fifth final first former fourth future highest largest
    last latest next oldest present second smallest third today youngest
    derde eerste grootste hoogste huidig huidige jongste kleinste laatste nieuwste oudste
    toekomstige tweede vierde volgende voormalige vorige
""")
"""Words without which another thing is asked."""
BY_NOW = word_set("current currently nowadays today tegenwoordig")
"""Those of them that may be said of all that a question asks."""
OTHERS = word_set("another fifth fourth second third derde tweede vierde vijfde")
"""Words that say a thing is not the one that was spoken of."""

AFTER = word_set("after na nadat")
"""What follows them went before what is asked."""
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
OF_SEVERAL = word_set("architects years architecten jaren")
"""What is asked for is more than one."""
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
RELATING: dict[Language, frozenset[str]] = {
    "en": word_set("""
        connect connected connection connects link linked links relate related relation
        relationship tie ties
    """),
    "nl": word_set("band relatie verband verbindt verbonden verhouding"),
}
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
    *(ARTICLES, IN, DEMONYMS, COMPARING, BY_SIZE, IN_TIME, *RELATING.values(), _DUTCH),
)
"""All of these words: a slip of the pen may stand for one of them."""


def _any(words: frozenset[str]) -> str:
    return "|".join(sorted(words))


_MONEY = re.compile(
    r"\b(?:costs?|prices?|fees?|salary|budgets?|paid|pay|worth|revenue|kost|kosten|kostte|kostten|"
    r"prijs|toegangsprijs|begroting|salaris|betaald|betalen|waard)\b"
)
_COUNT = re.compile(r"\b(?:number|aantal) (?!one\b|\d)\w+")
_INTERROGATIVE = re.compile(
    r"\b(?:who|whom|whose|when|where|why|which|what|how|wie|wiens|wanneer|waar|waarom|welke|welk|wat|"
    r"hoe|hoeveel)\b|^(?:name|identify|give|list|mention|noem|benoem|geef|vermeld)\b"
)
_HOW = re.compile(r"(?:how|hoe|(?:what|which|welke) (?:way|manner|manier|wijze))\b")
_YEAR = re.compile(r"\b(?:which|what|welke?|wat is het) (?:\w+ )?(?:year|jaar)\b")
_ASKS = "which|what|whose|welke|welk|wat|name|identify|give|list|mention|noem|benoem|geef|vermeld"
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
            rf"(?:who|whom|whose|wie|wiens)\b"
            rf"|(?:{_ASKS})(?: \w+){{0,3}}? (?:{_any(PEOPLE)})\b"
            rf"|(?:{_ASKS})(?: (?:{_any(NUMERALS)}))? (?:{_any(BODIES)})\b"
        ),
    ),
    ("place", re.compile(rf"(?:where|waar)\b|(?:{_ASKS})(?: \w+)? (?:{_any(PLACES)})\b")),
    (
        "reason",
        re.compile(
            r"(?:why|waarom)\b|(?:what|wat|welke|which)(?: \w+){0,2} (?:reasons?|reden)\b"
            r"|wat (?:is|was)(?: \w+){0,3} aanleiding\b"
        ),
    ),
)


_REWORDED = (
    (re.compile(r"\bbefore (.+?),? or after(?: it| that)?\b", re.I), r"earlier than \1"),
    (re.compile(r"\bvoor (.+?),? of (?:er)?na\b", re.I), r"eerder dan \1"),
    (re.compile(r"\b(?:open|existed|exists) longer\b", re.I), "opened earlier"),
    (re.compile(r"\bbestaa[nt]t? langer\b|\blanger bestaat\b", re.I), "is ouder"),
    (re.compile(r"\bnumber of\b", re.I), "number"),
)


def reworded(question: str) -> str:
    """The question with some turns said as the rules know them.

    >>> reworded("Did the Louvre open before the Prado or after it?")
    'Did the Louvre open earlier than the Prado?'
    """
    for turn, words in _REWORDED:
        question = turn.sub(words, question)
    return question


def is_asking(plain: str) -> bool:
    """Whether a word asks, such as `how`."""
    return bool(_INTERROGATIVE.fullmatch(plain))


def wanted(plain: str) -> Wants:
    """What the first word that asks asks for; talk of money anywhere asks for an amount.

    >>> wanted("what was it called when it opened"), wanted("it opened in which year")
    ('anything', 'time')
    """
    if _MONEY.search(plain):
        return "amount"
    if _COUNT.search(plain):
        return "number"
    first = _INTERROGATIVE.search(plain)
    asking = plain[first.start() :] if first else plain
    return next((wants for wants, pattern in _WANTED if pattern.match(asking)), "anything")


def asks_how(plain: str) -> bool:
    """Whether the first word that asks is `how`, or asks in what way."""
    first = _INTERROGATIVE.search(plain)
    return first is not None and bool(_HOW.match(plain, first.start()))


def asks_year(plain: str) -> bool:
    """Whether a year is asked for, and so no century will do."""
    return bool(_YEAR.search(plain))


def language_of(plain: frozenset[str]) -> Language:
    """The language a question is asked in, by the small words it holds.

    >>> language_of(frozenset({"wie", "ontwierp", "het", "museum"}))
    'nl'
    """
    return "nl" if plain & _DUTCH else "en"
