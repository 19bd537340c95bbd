"""The words of a text as support is looked for: stems, and what kind of word each is."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from ragauge.text.agreement import NEGATIONS
from ragauge.text.canonical import UNSPACED, composed
from ragauge.text.marks import MARKS, UNSEEN
from ragauge.text.stems import stem
from ragauge.text.stop_words import Language, stop_words

STOP, LIGHT, PLAIN, NAME, NUMBER = range(5)
WEIGHTS = (0.0, 0.35, 1.0, 1.7, 2.0)
"""How much it matters that a word of each kind stands in the contexts."""

_ASCII = re.compile(r"[0-9]+(?:[.,:][0-9]+)*|[A-Za-z]+(?:'[a-z]{1,2}\b)?")
_LETTERS = rf"[^\W\d_{UNSPACED}]"
_JOINED = f"[{MARKS}{UNSEEN}]"
_WORD = re.compile(
    rf"[0-9]+(?:[.,:][0-9]+)*|{_LETTERS}+(?:{_JOINED}+{_LETTERS}*)*(?:['’][a-z]{{1,2}}\b)?"
    rf"|(?=[{UNSPACED}])\w{_JOINED}*|[^\W_{UNSPACED}]+"
)
"""Numbers, words with their accents, and single characters of writing without blanks. What is
written in one, as "10pm" and "1990s", is a number and a word."""
_UNSEEN = re.compile(f"[{UNSEEN}]+")
_MOST = 1 << 16
"""Words that are kept with their stems."""
_STARTERS = frozenset('.!?:\n"“„«•*-–(>#')
"""After one of these a capital letter says nothing."""
_ZEROS = re.compile(r"(?<=\d)[.:]0+$")


class Tokens(NamedTuple):
    """The words of a text in order, as columns."""

    stems: list[str]
    kinds: list[int]
    starts: list[int]
    ends: list[int]


class _Read(NamedTuple):
    stem: str
    kind: int
    """Inside a sentence."""
    first: int
    """At the head of one, where a capital letter makes no name."""


def tokens(text: str, language: Language | None) -> Tokens:
    """The words of a text with their places.

    >>> found = tokens("It cost Ruys 1,200 guilders.", "en")
    >>> list(zip(found.stems, found.kinds))
    [('it', 0), ('cost', 2), ('ruy', 3), ('1200', 4), ('guilder', 2)]
    """
    pattern = _ASCII if text.isascii() else _WORD
    places = [match.span() for match in pattern.finditer(text)]
    known = _reads(language)
    reads = [known[text[start:end]] for start, end in places]
    head = len(text) - len(text.lstrip())
    kinds = [
        read.first if read.kind == NAME and (at[0] == head or _opens(text, at[0])) else read.kind
        for read, at in zip(reads, places, strict=True)
    ]
    starts, ends = [start for start, _ in places], [end for _, end in places]
    return Tokens([read.stem for read in reads], kinds, starts, ends)


def stems_of(text: str, language: Language | None) -> list[str]:
    """The stems alone, which is all that is asked of a context: ten times as quick."""
    pattern = _ASCII if text.isascii() else _WORD
    return list(map(_stems(language).__getitem__, pattern.findall(text)))


def is_denial(stem: str) -> bool:
    """Whether a word denies."""
    return stem in NEGATIONS or stem.endswith("n't")


class _Reads(dict[str, _Read]):
    """What words are, by how they are written, kept as they are met; emptied when it grows large.

    Quicker than `lru_cache`, and it is asked for every word.
    """

    def __init__(self, language: Language | None) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, written: str) -> _Read:
        if len(self) >= _MOST:
            self.clear()
        self[written] = read = _read(written, self._language)
        return read


class _Stems(dict[str, str]):
    """Their stems alone."""

    def __init__(self, reads: _Reads) -> None:
        super().__init__()
        self._reads = reads

    def __missing__(self, written: str) -> str:
        if len(self) >= _MOST:
            self.clear()
        self[written] = stem = self._reads[written].stem
        return stem


@cache
def _reads(language: Language | None) -> _Reads:
    return _Reads(language)


@cache
def _stems(language: Language | None) -> _Stems:
    return _Stems(_reads(language))


def _opens(text: str, start: int) -> bool:
    """Whether a sentence, a quote or a list entry starts here."""
    before = text[start - 1]
    if before == " ":
        before = text[start - 2]
    return before in _STARTERS


def _read(written: str, language: Language | None) -> _Read:
    """What a word is, by itself."""
    if written[0].isdigit():
        return _Read(_number(written), NUMBER, NUMBER)
    word = written.casefold()
    if not written.isascii():
        word = composed(_UNSEEN.sub("", word)).replace("’", "'")
    if is_denial(word):
        return _Read(word, PLAIN, PLAIN)
    base = word.partition("'")[0]
    if base in stop_words(language) or (len(base) == 1 and base.isascii()):
        return _Read(base, STOP, STOP)
    plain = LIGHT if base in LIGHT_WORDS else PLAIN
    kind = NAME if written[0].isupper() else plain
    return _Read(stem(base, language or "en"), kind, plain)


def _number(written: str) -> str:
    """A number without what changes nothing: `1,200` and `11:00` and `4.0`."""
    return _ZEROS.sub("", written.replace(",", ""))


_WORDS = """
    ability able absolutely accordingly achieve achieved across action actions actually add added
    adding addition additional additionally address aim aims alike allow allowed allowing allows
    almost along alongside already alternatively although always among amount ample another answer
    answers anyone anything apart apparent appear appeared appears applies apply appreciate
    appreciated approach appropriate approximately area areas argue argued argues around article
    aspect aspects associated assume attempt attention author available average avoid aware away
    based basis became become becomes becoming begin begins behalf behind being belief believe
    believed believes beneficial benefit benefits beside best better beyond bit brief briefly
    bring brings brought call called came capable care careful carefully case cases cause caused
    causes causing central certain certainly challenge challenges change changes characterized
    check choice choices choose chose cite cited citing claim claimed claims clear clearly closely
    come comes coming comment commented comments common commonly compared complete completely
    comprehensive concern concerns conclude concluded concludes conclusion condition conditions
    confirm confirmed connected consequently consider considerable considered consist consistent
    consistently consists contain contained containing contains content context contexts continue
    continued continues contrast contribute contributed contributes convenient correct could
    couple create created creates creating crucial current currently data deal decide decided
    decision deem deemed deeply define defined depend depending depends describe described
    describes describing despite detail detailed details determine determined development differ
    difference differences different difficult difficulty direct directly discuss discussed
    discusses discussing document documents done due earlier early easily easy effect effective
    effectively effects effort efforts either else elsewhere emphasize emphasized emphasizes
    emphasizing enable enables encounter end ended ending engage enjoy enjoyed enough ensure
    ensures ensuring entire entirely especially essential essentially establish established
    estimate etc even event events eventually ever every everyone everything evidence evident
    exact exactly example examples excellent except exceptional exist existing exists expect
    expected experience experienced experiences explain explained explains explicitly express
    expressed expresses expressing extensive extent extra face faced facing fact factor factors
    facts fairly fall familiar favor feature featured features featuring feedback feel feels felt
    few fewer fill final finally find finding finds fine first focus focused focuses follow
    followed following follows form format former forms forward found frequent frequently full
    fully function functions further furthermore future gain gained gather gave general generally
    generate get gets getting give given gives giving go goal goes going good got great greater
    greatly group groups guide half hand handle happen happened happening happens hard hardly head
    hear help helped helpful helping helps hence here high higher highest highlight highlighted
    highlighting highlights highly hold holding holds hope however huge idea ideal identified
    identify immediate immediately impact implies importance important importantly impression
    impressive improve improved improvement improves improving incident incidents include included
    includes including incorporate increase increased increasing indeed indicate indicated
    indicates indicating indication individual individuals inform information initial initially
    inside instance instances instead intended interest interested interesting introduce
    introduced involve involved involves involving issue issues item items itself join joined json
    keep keeping key kind kinds know known knows lack lacks large largely larger largest last
    lastly late later latest latter lead leading leads least leave leaving led left less let level
    levels lie like likely limit limited line list listed lists little local locate located
    location locations long longer look looking looks lot lots low lower made main mainly maintain
    maintained maintaining major majority make makes making manage managed manner many mark match
    matter matters maximum maybe mean meaning means meant meanwhile measure meet meeting meets
    mention mentioned mentioning mentions method methods middle might mind minor miss mix mixed
    moment more moreover most mostly move moved much multiple must name named namely names nature
    near nearby nearly necessarily necessary need needed needs negative never nevertheless new
    next nonetheless notable notably note noted notes nothing notice noticed number numerous
    objective obtain obtained obvious occasion occasionally occur occurred occurring occurs offer
    offered offering offers often ok okay old one ones open operate operated operates operation
    opinion opportunity option options order ordinary original originally other others otherwise
    outcome outside overall overview own paragraph part partially particular particularly parts
    party pass passage passages passed past path people per perfect perform performed perhaps
    period person personal perspective piece place placed places plan plans play played plays
    please plus point points poor popular portion position positive possibility possible possibly
    potential potentially practice praise praised praising prefer present presented presents
    previous previously primarily primary prior probably problem problems procedure proceed
    process processes produce produced product products promote proper properly prove provide
    provided provides providing purpose put quality question questions quick quickly quite raise
    raised range rate rated rather reach reached read ready real really reason reasons receive
    received receives receiving recent recently recognize recognized recommend recommended refer
    reference referred referring refers reflect reflected reflects regard regarded regarding
    regardless regular regularly relate related relates relating relation relative relatively
    relevant reliable remain remained remaining remains remark report reported reportedly
    reporting reports represent represented represents request requested require required
    requirement requirements requires requiring respectively respond response responsible rest
    result resulted resulting results reveal revealed reveals right role said same say saying says
    second section see seeing seek seeking seem seemed seems seen select self sense sent separate
    serve served serves serving set sets setting several shall share shared short should show
    showed showing shown shows side significant significantly similar similarly simple simply
    since single situation situations size slightly small smaller solid someone something
    sometimes somewhat soon sort source sources speak special specific specifically specified
    specify spot stand standard start started starting starts state stated statement statements
    states stating stay step steps still strong strongly structured style subject substantial
    successfully such sufficient suggest suggested suggesting suggests suitable summarize
    summarized summarizes summary support supported supporting supports suppose sure surrounding
    take taken takes taking talk task tell tells tend tends term terms text thank thanks
    themselves therefore thing things think third though thought through throughout thus time
    times together took top topic total toward towards traditional treat treated true truly try
    trying turn turned turns two type types typical typically ultimately unable unclear under
    understand understanding unfortunately unique unknown unless unlike upon usage use used useful
    user users uses using usual usually valuable value variety various vary varying version versus
    via view viewed visit want wanted wants way ways well went whatever whereas wherever whether
    whole wide widely widespread will willing wish within without wonder word words work worked
    working works world worse worst worth would write writes written yes yet
"""
LIGHT_WORDS = frozenset(_WORDS.split())
