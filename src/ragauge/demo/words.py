"""The analyzer: a text as the words that carry it, folded, lightly stemmed, with their kin."""

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
    plural = form.endswith("s") and not form.endswith(("ss", "us", "is"))
    if plural and len(form) > _KEPT:
        form = form[:-1]
    if len(form) > _KEPT and form.endswith(("ie", "y")):
        form = form.removesuffix("e").removesuffix("y").removesuffix("i") + "i"
    for ending in _ENDINGS:
        if form.endswith(ending) and len(form) - len(ending) >= _KEPT:
            form = form.removesuffix(ending)
            break
    # Double letters single, a final v or z as f or s: as Dutch spells long and short forms.
    form = re.sub(r"([a-z])\1", r"\1", form)
    return form[:-1] + {"v": "f", "z": "s"}.get(form[-1], form[-1])


# Words that say the same of an institution: who designed it, and who its architect was. Written for
# museums, archives and libraries in English and Dutch, by hand: nothing is learned.
_GROUPS = """
founded: found founded founder founders founding foundation establish established create created
  creation institute instituted begin began begun beginning start started origin originated arose
  form formed exist exists existence stichten stichtte gesticht stichter oprichten opgericht
  oprichter oprichting begon begonnen begin ontstaan ontstond ontstonden gevormd voortgekomen
  bestaan bestaat
designed: design designs designed designer architect architects plans ontwerp ontwerpen ontwierp
  ontworpen ontwerper architecten stadsarchitect architectenbureau
opened: open opens opened opening inaugurate inaugurated inauguration opende openden geopend
  openging opengesteld opengegaan openingsjaar openingsjaren available accessible beschikbaar
  toegankelijk
reopened: reopen reopens reopened reopening heropend heropende heropening heropenen
built: build built construct constructed construction erect erected bouwen bouw bouwde gebouwd
  gebouwde
building: building buildings premises gebouw gebouwen pand panden museumgebouw
moved: move moved moves moving bring brought brings transfer transferred relocate relocated
  shipped sent verhuizen verhuisde verhuisd verhuizing overgebracht overbrengen overbrenging
  verplaatst
kept: keep keeps kept hold holds held house houses housed preserve preserved preserves store
  stored stores holdings bewaren bewaart bewaard bewaarde beheert beheren beheerd herbergt
owned: own owns owned owner owners property belong belongs belonged possess possesses bezit
  bezitten eigenaar eigendom toebehoort
given: give gives gave given donate donated donation donor gift bequeath bequeathed bequest leave
  left legacy nalaten naliet nagelaten legaat nalatenschap schenken schonk geschonken schenking
  gaf geven gegeven
bought: buy buys bought purchase purchased purchases kopen kocht kochten gekocht aangekocht aankoop
acquired: acquire acquires acquired acquisition obtain obtains obtained verwerven verworven
  verkrijgen verkrijgt verkregen
received: receive receives received krijgen krijgt kreeg kregen ontvangen ontvangt ontving
reached: come comes came arrive arrived reach reached enter entered komen komt kwam kwamen gekomen
sold: sell sells sold sale verkopen verkocht verkoop
written: write wrote written writer writers author authors schrijven schreef schreven geschreven
  schrijver schrijvers auteur auteurs
discovered: discover discovered discovery excavate excavated unearthed ontdekken ontdekt ontdekte
  opgegraven gevonden vond vinden
closed: close closed closes closing closure shut sluiten sloot gesloten sluiting
burned: burn burned burnt gut gutted fire brand afgebrand verbrand uitgebrand
joined: join joined joins merge merged merger unite united combine combined samengevoegd
  samenvoegen samenvoeging fusie verenigd fuseerden
shown: show shows shown view display displayed exhibit exhibited exhibition tonen toont getoond
  tentoongesteld tentoonstelling tentoonstellingen
located: located situated stand stands stood lie lies lay seat home based location ligt liggen lag
  gelegen staat staan gevestigd bevindt zetel hoofdzetel zetelt zetelde zit zat zaten vestiging
completed: complete completed completion finish finished ready voltooien voltooide voltooid klaar
  gereed afgemaakt
printed: print prints printed printing drukken drukte gedrukt gedrukte
published: publish published publication publications publisher publishers issue issued appear
  appeared released release verschijnen verscheen verschenen uitgegeven uitgave uitgaven uitgever
  uitgevers gepubliceerd publicatie publicaties
restored: renovate renovated renovation restore restored restoration rebuild rebuilt verbouwing
  verbouwd verbouwen renovatie restauratie gerestaureerd hersteld
loaned: loan loans lent lend lends borrow borrowed bruikleen uitlenen uitgeleend geleend
extended: extend extended extension expand expanded expansion wing uitbreiding uitgebreid vleugel
damaged: damage damaged damages schade beschadigd
led: director directors head heads lead leads led directeur directeuren
painted: paint paints painted painter painters schilderen schilderde geschilderd schilder
  schilders
meant: mean means meant meaning betekent betekenis
collected: collection collections collect collected collects collector collectie collecties
  verzameling verzamelingen verzameld verzamelaar
current: current currently present today huidig huidige tegenwoordig tegenwoordige
large: large larger largest big bigger biggest grootste grotere groot grote
old: old older oldest oud oude oudste ouder
advised: guideline guidelines recommend recommended recommendation advise advised advice richtlijn
  richtlijnen aanbevolen advies
named: name names named naming rename renamed call calls called title naam namen noemen noemt
  genoemd heet heette heten benaming titel
made: make makes made making compile compiled produce produced drew drawn drafted maken maakt
  maakte gemaakt vervaardigd opgesteld
former: former formerly previously earlier before originally original oorspronkelijk voorheen
  voordat vroeger vroegere voormalig voormalige eerder eerdere
law: law laws legal legally statute wet wetten wettelijk wettelijke
hung: hang hangs hung hanging hangt hing hangen
launched: launch launched online gelanceerd
agreed: agree agrees agreed agreement overeengekomen afspraak
obliged: oblige obliged obligation obligatory compulsory mandatory duty voluntary verplicht
  verplichting plicht vrijwillig vrijwillige
renewed: renew renewed replace replaces replaced replacement new nieuw nieuwe vervangen
runs: run runs running
consulted: consult consulted consulting raadplegen raadpleegt geraadpleegd inzien inzage
friend: friend friends friendship befriended vriend vrienden vriendin vriendschap bevriend
young: young youth jong jonge jongs jeugd
history: history histories historical historic geschiedenis historisch historische
king: king kings koning koningen
queen: queen queens koningin koninginnen
pope: pope popes paus pausen
emperor: emperor emperors keizer keizers
duke: duke dukes hertog hertogen
elector: elector electors keurvorst keurvorsten
librarian: librarian librarians bibliothecaris bibliothecarissen
archivist: archivist archivists archivaris archivarissen
"""
_PHRASES = (
    (re.compile(r"\b(?:opened again|open again|weer open\w*|ging weer open)", re.I), "reopened"),
    (re.compile(r"\bset up\b|\bcame into being\b|\bgrew from\b", re.I), "founded"),
    (re.compile(r"\b(?:gaat|ging) terug (?:op|tot)\b|\bgoes back to\b", re.I), "origin"),
    (re.compile(r"\btot stand\b", re.I), "built"),
    (re.compile(r"\b(?:led|leads?) to\b|\b(?:gave|gives) rise to\b", re.I), "caused"),
    (re.compile(r"\b(?:came|come) out\b", re.I), "published"),
    (re.compile(r"\b(?:came|come) together\b", re.I), "joined"),
    (re.compile(r"\bopen(?:s|ed)? (?:its|their) doors\b", re.I), "opened"),
    (re.compile(r"\bversion 1(?:\.0)?(?![.\d])", re.I), "first version"),
)
"""What takes several words to say, and the one word it counts as."""


_KIN = {
    form: f"{group.partition(': ')[0]}*"
    for group in _GROUPS.strip().replace("\n  ", " ").split("\n")
    for form in group.partition(": ")[2].split()
}
_RELATED = {
    "acquired*": "bought* given* received* reached*",
    "received*": "given* acquired* bought*",
    "bought*": "acquired*",
    "located*": "moved* kept*",
    "shown*": "hung*",
    "hung*": "shown*",
    "obliged*": "law*",
    "runs*": "led*",
}
RELATED = {name: frozenset(others.split()) for name, others in _RELATED.items()}
"""What a question may say of a deed, and the deeds that are ways to do it."""
FORMS = frozenset(_KIN)
_FIRST_PART, _LAST_PART = 3, 6
"""Letters that the parts of a joined word have at least."""


@lru_cache(WORDS_KEPT)
def kin(word: str) -> str:
    """What a word counts as: the name of its kin, marked with a star, or else its stem.

    A long word counts as its last part, as Dutch joins words.

    >>> kin("Architect"), kin("ontwierp"), kin("fotocollectie"), kin("libraries")
    ('designed*', 'designed*', 'collected*', 'librari')
    """
    form = folded(word)
    for start in (0, *range(_FIRST_PART, len(form) - _LAST_PART + 1)):
        if form[start:] in _KIN:
            return _KIN[form[start:]]
    return stem(word)


def kins(text: str) -> list[str]:
    """What the words of a text count as, in order, stop words left out.

    >>> kins("zijn jeugdvriend")
    ['friend*', 'young*']
    """
    words = [word for word in surface_words(in_one_word(text)) if not is_stop(word)]
    return [one for word in words for one in (kin(word), *_first_part(word))]


@lru_cache(WORDS_KEPT)
def _first_part(word: str) -> tuple[str, ...]:
    """The kin of what a joined word begins with, where both parts have one."""
    form = folded(word)
    cuts = range(_FIRST_PART, len(form) - _LAST_PART + 1)
    return next(((_KIN[form[:at]],) for at in cuts if form[:at] in _KIN and form[at:] in _KIN), ())


def in_one_word(text: str) -> str:
    """The text with phrases such as `set up` as one word.

    >>> in_one_word("It was set up in 1790.")
    'It was founded in 1790.'
    """
    for phrase, word in _PHRASES:
        text = phrase.sub(word, text)
    return text
