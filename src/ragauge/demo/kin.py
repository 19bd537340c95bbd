"""Words that say the same of an institution: who designed it, and who its architect was.

Written for museums, archives and libraries in English and Dutch, by hand: nothing is learned.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ragauge.demo.words import WORDS_KEPT, folded, is_stop, stem, surface_words

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


def _kin_of() -> dict[str, str]:
    found: dict[str, str] = {}
    for group in _GROUPS.strip().replace("\n  ", " ").split("\n"):
        name, _, forms = group.partition(": ")
        found |= dict.fromkeys(forms.split(), f"{name}*")
    return found


_KIN = _kin_of()
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
