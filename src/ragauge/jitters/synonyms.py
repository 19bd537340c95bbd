"""`syn`: synonyms for the words that frame a question.

The subject of the question stays: verbs such as `designed` are not part of the frame. A word is
changed only if what follows confirms its role: `List the parts`, but not `List prices rose`.
"""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from ragauge.jitters.protected import KEPT, masked
from ragauge.jitters.sentences import (
    ZH_COMPARED,
    ZH_OBJECT,
    Edit,
    apply_edits,
    capitals_of,
    sentences,
)


class Synonym(Struct, frozen=True):
    """Words and their replacement, given what comes after."""

    old: str
    new: str
    then: str = ""
    """A pattern that what follows must match."""
    anywhere: bool = False
    """Not only at the beginning of a sentence."""


_ONE = "the|all|a|an|any|each|every|both|its|their|these|those|some"
_NUMERALS = "one|two|three|four|five|six|seven|eight|nine|ten"
_WHAT = rf" (?:(?:{_ONE}|{_NUMERALS})\b|{KEPT})"
_NOUNS = (
    r"years?|months?|days?|dates?|decades?|century|centuries|town|towns|city|cities|country|"
    r"countries|village|province|region|place|places|building|buildings|architects?|artists?|"
    r"painters?|sculptors?|authors?|writers?|office|bodies|institutions?|organi[sz]ations?|"
    r"museums?|library|libraries|archives?|collections?|person|king|queen|bank|firm|company|"
    r"companies|law|laws|standards?|codes?|conditions?|reasons?|languages?|documents?|books?|"
    r"paintings?|room|rooms|street|department|ministry|programmes?|events?|parts?|methods?|"
    r"tools?|version|versions|options?|settings?|parameters?|functions?|files?|fields?|steps?|"
    r"section|chapter|pages?"
)
_WHICH_NOUN = (
    rf" (?:(?:{_NUMERALS}) )?(?:{_NOUNS})\b(?! (?:the|a|an|its|as|best|better|more|most)\b)"
)
_NO_CHOICE = r"(?![^?]* or )"
_PAST = "made|built|kept|held|brought|sold|bought|found|set|put|chosen|written|given|paid|linked"
_DONE = rf"(?:\w{{3,}}ed|{_PAST})\b"
_STATE = "do|feel|look|sound|taste|smell|go|fare|seem|like|compare|know|call|called|named|known"
_LOCATED = "moved|sent|taken|brought|transferred|shipped"
_NO_PLACE = "difference|problem|catch|limit|line|proof|evidence|fault|mistake|harm|point"
_CURRENT = (
    "director|building|name|renovation|owner|location|seat|address|head|keeper|curator|version|"
    "form|state|status|site|home|president|mayor|king|librarian|archivist"
)

_EN = (
    Synonym("explain", "describe", r" (?!yourself|away\b)\S"),
    Synonym("list", "enumerate", _WHAT),
    Synonym("compare", "contrast", r" (?!notes\b|and contrast\b)(?![^.?!]* to\b)\S"),
    Synonym("show", "display", rf"{_WHAT}(?![^.?!]* (?:how|why|whether|that|who|to)\b)"),
    Synonym(
        "name", "identify", rf" (?:{_ONE}|{_NUMERALS})\b(?! \w+ {KEPT}+[.!]?$)(?![^.?!]* after\b)"
    ),
    Synonym("summari[sz]e", "sum up", rf"{_WHAT}"),
    Synonym("outline", "sketch", rf"(?:{_WHAT}| how\b)"),
    Synonym("provide", "give", rf" (?:{_ONE}|{_NUMERALS})\b(?![^.?!]* (?:with|for|to)\b)"),
    Synonym("state", "give", r" the (?:year|name|date|place|reason|number|title)s?\b"),
    Synonym("tell me", "let me know", r" (?:who|what|when|where|why|how|which|whether|if)\b"),
    *(
        Synonym(f"{place} which", f"{place} what", _WHICH_NOUN)
        for place in ("in", "on", "at", "by", "for", "from", "to", "under", "with", "since")
    ),
    Synonym("which", "what", rf"{_WHICH_NOUN}{_NO_CHOICE}"),
    Synonym("(?:which|what) kind of", "what sort of", r" \S"),
    Synonym("(?:which|what) kinds of", "what sorts of", r" \S"),
    Synonym("on what condition", "under what condition", r" (?:did|was|were|is|are|does|do|may)\b"),
    Synonym("what", "how much", r" (?:does|do|did) [^?.!]* cost ?\?"),
    Synonym("what is the difference", "what difference is there", r" between\b"),
    Synonym("is it true", "is it the case", r" that\b"),
    Synonym(
        "how many",
        "what number of",
        r" (?!(?:times|years|months|weeks|days|hours|minutes|was|is|does|has|others|plus)\b)"
        r"(?:\w+s|people|men|women|children)\b(?! ago)",
    ),
    Synonym("how", "in what way", rf" (?:is|are|was|were) (?![^?]* (?:{_STATE})\b)[^?]*? {_DONE}"),
    Synonym("how", "in what way", rf" (?:did|does|do|can|could) (?![^?]*\b(?:{_STATE})\b)\S"),
    Synonym("when", "at what point in time", r" (?:did|was|were|will|had)\b[^,]*\?"),
    Synonym(
        "where",
        "in what place",
        rf" (?:is|are|was|were) (?!the (?:{_NO_PLACE})\b)(?![^?]* (?:{_LOCATED})\b)"
        r"[^,?]* (?!(?:from|to|for|of|at|in)\b)\S+ ?\?",
    ),
    Synonym("why", "for what reason", r" (?:did|was|were|is|are|does|do|has|have|had|must)\b"),
    *(
        Synonym(rf"(?<=\b{whose} )present", "current", rf" (?:{_CURRENT})\b", anywhere=True)
        for whose in ("the", "its", "their", "his", "her")
    ),
)

_NL_VERB = "kwam|kwamen|komen|krijgt|kreeg|werkt|werken|kan|kunnen|moet"
_NL_LEFT_OVER = (
    "aan|af|bij|door|heen|in|mee|na|naar|om|onder|op|over|toe|tegen|tussen|uit|van|vanaf|vandaan|"
    "voor"
)
_NL_ASKED = (
    " (?:(?:aan|bij|door|in|met|op|onder|sinds|uit|van|voor) (?=w))?"
    r"(?:hoe|waarom|wat|welke?|wie|waar|wanneer|of)\b"
)
_NL_DONE = r"(?:ge|be|ver|ont|her|vol|af|over|op|uit|in|aan)\w+(?:d|t|en)"
_NL_NUMERALS = "twee|drie|vier|vijf|zes|zeven|acht|negen|tien"
_NL_SOME = rf"(?:{_NL_NUMERALS}|alle|enkele|een paar|minstens|ten minste)\b"
_NL_LISTED = (
    rf" (?:{_NL_SOME}|de (?:{_NL_NUMERALS}|belangrijkste|namen)\b"
    r"|de \w+(?:en|s)(?= (?:van|in|uit|die|waar\w*|op|bij)\b|[.!]|$))"
)
"""What is named one by one, and is not given a name: `Noem het geen museum`."""
_NL_STRANDED = (
    rf"(?![^?]* (?:{_NL_LEFT_OVER})"
    r"(?:(?: \w+)? ?\?| (?:ge|be|ver|ont|her)\w+(?:d|t|en)\b| dat\b))"
)
_NL_NO_PLACE = "verschil|probleem|oorzaak|grens|fout|reden|nadruk|oorsprong|oplossing"
_NL = (
    Synonym("leg uit", "beschrijf", _NL_ASKED),
    Synonym("licht toe", "verklaar", r" (?:hoe|waarom)\b"),
    Synonym("noem", "vermeld", _NL_LISTED),
    Synonym("som op", "vermeld", r" (?:welke?|wat|wie)\b"),
    Synonym("geef aan", "vermeld", r" (?:welke?|wat|wie|waar|wanneer|hoe|hoeveel|of|waarom)\b"),
    Synonym(
        "vergelijk",
        "maak een vergelijking van",
        rf" (?:(?:de|een|twee|drie|het(?! (?:met|maar|eens|eerst|en)\b))\b|{KEPT})",
    ),
    Synonym("bespreek", "behandel", _NL_ASKED),
    Synonym("omschrijf", "beschrijf", r" \S"),
    Synonym("vertel me", "laat me weten", r" (?:welke?|wat|wie|waar|wanneer|hoe|of|waarom)\b"),
    Synonym("sinds wanneer", "sinds welk moment", r" \w+"),
    Synonym("wanneer", "op welk moment", r" (?!(?:is|zijn|kan|kunnen|mag)\b)\w+ [^,]*\?"),
    Synonym("waarom", "om welke reden", r" \w+"),
    Synonym("wat kost", "hoeveel kost", r" \S"),
    Synonym("wat kosten", "hoeveel kosten", r" \S"),
    Synonym("wat is het verschil", "welk verschil is er", r" tussen\b"),
    Synonym("welk verband", "wat voor verband", r" bestaat er\b"),
    Synonym("hoe", "op welke manier", rf" (?:{_NL_VERB})\b(?! (?:dat|het|dit)\b)"),
    Synonym(
        "hoe",
        "op welke manier",
        rf" (?:wordt|worden|werd|werden) (?![^?]*\b(?:genoemd|geheten)\b)[^?]*\b{_NL_DONE}\b",
    ),
    Synonym("hoe", "op welke manier", r" komt (?!het\b|dat\b)\S"),
    Synonym(
        "waar",
        "op welke plaats",
        r" (?:wordt|worden|werd|werden|staat|staan|ligt|liggen|hangt|bevindt|bevinden)\b"
        rf"(?! (?:de|het) (?:{_NL_NO_PLACE})\b){_NL_STRANDED}",
    ),
    Synonym("huidige", "tegenwoordige", r" (?!tijd\b)\S", anywhere=True),
    Synonym("huidig", "tegenwoordig", r" (?!tijd\b)\S", anywhere=True),
)

_DE_PAST = "wurde|wurden|begann|begannen|kam|kamen|zog|ging|eröffnete|schloss|entstand|entstanden"
_DE_DONE = r"(?:ge|be|ver|er|ent|zer|auf|ab|an|ein|aus|um|wieder)\w+(?:t|en)"
_DE_NO_VERDICT = r"(?![^.?!]* (?:für|zum|zur)\b)"
_DE_LISTED = (
    r" (?:(?:alle|einige|mindestens|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn)\b"
    r"|die (?:zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|wichtigsten)\b"
    r")"
)
"""What is named one by one, and is not given a name: `Nenne es kein Museum`."""
_SIE = " sie"
_DE = (
    Synonym("erkläre?", "beschreibe", rf",? (?!dich\b|mich\b|ihn\b|es\b){_DE_NO_VERDICT}\S"),
    Synonym("erklären", "beschreiben", rf"{_SIE},? (?!sich\b|ihn\b|es\b){_DE_NO_VERDICT}\S"),
    Synonym("erläutere", "beschreibe", r",? \S"),
    Synonym("schildere", "beschreibe", r",? \S"),
    Synonym("nenne", "benenne", _DE_LISTED),
    Synonym("nennen", "benennen", rf"{_SIE}{_DE_LISTED}"),
    Synonym("liste", "zähle", r" [^.?!]* auf[.!]?$"),
    Synonym("listen", "zählen", rf"{_SIE} [^.?!]* auf[.!]?$"),
    Synonym("wann", "zu welchem Zeitpunkt", rf" (?:{_DE_PAST})\b"),
    Synonym("seit wann", "seit welchem Zeitpunkt", r" \w+"),
    Synonym("(?:warum|weshalb|wieso)", "aus welchem Grund", r" \w+"),
    Synonym("wie", "auf welche Weise", r" (?:entstand|entstanden|kam|kamen|begann|begannen)\b"),
    Synonym(
        "wie",
        "auf welche Weise",
        rf" (?:wurde|wurden) (?![^?]*\b(?:genannt|bezeichnet|geheißen)\b)[^?]*\b{_DE_DONE}\b",
    ),
    Synonym("wo", "an welchem Ort", r" (?:befindet|befinden|steht|stehen|wurde|wurden)\b"),
    Synonym("was kostet", "wie viel kostet", r" \S"),
    Synonym("was kosten", "wie viel kosten", r" \S"),
)

_FR_WHAT = r" (?:(?:le|la|les|tous|toutes|ces|deux|trois)\b|l['’])"
_FR_NO_WORDS = (
    r"(?! ?(?:deux |trois |\w+ )?(?:phrases?|passages?|textes?|paragraphes?|articles?|extraits?|"
    r"vers|mots?|paroles|définitions?|sources?|exemples?)\b)"
)
"""What is quoted word by word cannot be named instead."""
_FR_HOW_IS = (
    r"(?! *(?:est|était|sont|étaient)[ -](?:le|la|les|l['’]|il|elle|ce|un|une)\b"
    r"| *(?:se fait|ça|cela))"
)
"""`Comment est le musée` asks what it is like."""
_FR = (
    Synonym("explique", "décris", rf"(?:{_FR_WHAT}| comment\b)"),
    Synonym("expliquez", "décrivez", rf"(?:{_FR_WHAT}| comment\b)"),
    Synonym("liste", "énumère", r" (?:les|tous|toutes|ces)\b"),
    Synonym("listez", "énumérez", r" (?:les|tous|toutes|ces)\b"),
    Synonym("cite", "nomme", rf"{_FR_WHAT}{_FR_NO_WORDS}"),
    Synonym("citez", "nommez", rf"{_FR_WHAT}{_FR_NO_WORDS}"),
    Synonym("compare", "mets en regard", rf"{_FR_WHAT}(?![^.?!]* (?:à|au|aux|avec)\b)"),
    Synonym("comparez", "mettez en regard", rf"{_FR_WHAT}(?![^.?!]* (?:à|au|aux|avec)\b)"),
    Synonym("montre", "affiche", rf"{_FR_WHAT}(?![^.?!]* (?:que|comment|à|au|aux)\b)"),
    Synonym("montrez", "affichez", rf"{_FR_WHAT}(?![^.?!]* (?:que|comment|à|au|aux)\b)"),
    Synonym("en quelle année", "au cours de quelle année", r" \S"),
    Synonym("depuis quand", "depuis quel moment", r" [^,]*\?"),
    Synonym("quand", "à quel moment", r" [^,]*\?"),
    Synonym("pourquoi", "pour quelle raison", r" (?!pas\b)[^,]*\?"),
    Synonym("où", "à quel endroit", r" se (?:trouve|trouvent|situe|situent)\b"),
    Synonym(
        "comment",
        "de quelle manière",
        rf"{_FR_HOW_IS} (?![^?]*\b(?:appel|nomm|va|allez|dit)) *\S[^,]*\?",
    ),
    Synonym("que coûte", "combien coûte", r" \S"),
    Synonym("que coûtent", "combien coûtent", r" \S"),
    Synonym("qui est-ce qui", "qui", r" \S"),
)

_ZH = (
    Synonym("解释", "说明", ZH_OBJECT),
    Synonym("列出", "列举", ZH_OBJECT),
    Synonym("比较", "对比", ZH_COMPARED),
    Synonym("显示", "展示", ZH_OBJECT),
    Synonym("什么时候", "何时", anywhere=True),
    Synonym("哪一年", "哪年", anywhere=True),
    Synonym("(?<![因认作成称以名视变改定分译个])为什么", "为何", anywhere=True),
    Synonym("(?<![不例比譬犹])如何", "怎样", anywhere=True),
    Synonym("在哪里", "在何处", anywhere=True),
)

SYNONYMS: dict[str, tuple[Synonym, ...]] = {"en": _EN, "nl": _NL, "de": _DE, "fr": _FR, "zh": _ZH}

_BEFORE_IMPERATIVE = {
    "en": r"(?:please,? |(?:can|could|would|will) you (?:please )?)?",
    "nl": r"(?:graag: )?",
    "de": r"(?:bitte,? )?",
    "fr": r"(?:s['’]il (?:vous|te) plaît,? )?",
    "zh": r"(?:请(?:你|您|问)?)?",
}
"""What may come before an imperative at the beginning of a sentence."""


def syn(text: str, language: str) -> str:
    """The text with synonyms for the words that frame its questions.

    >>> syn("Explain the list of the Louvre. In which year did the show open?", "en")
    'Describe the list of the Louvre. In what year did the show open?'
    """
    if language not in SYNONYMS:
        return text
    painted = masked(text, language)
    edits: list[Edit] = []
    for start, end in sentences(painted):
        # Where two rules match the same place, the first rule wins.
        found: list[Edit] = []
        opened = False
        for pattern, new, anywhere in _rules(language):
            if opened and not anywhere:
                continue
            first = pattern.match(painted, start, end)
            matches = pattern.finditer(painted, start, end) if anywhere else filter(None, [first])
            candidates = [(*one.span("old"), capitals_of(one["old"], new)) for one in matches]
            opened = opened or (bool(candidates) and not anywhere)
            found += [
                edit
                for edit in candidates
                if not any(edit[0] < other[1] and other[0] < edit[1] for other in found)
            ]
        edits += sorted(found)
    return apply_edits(text, edits)


@cache
def _rules(language: str) -> tuple[tuple[re.Pattern[str], str, bool], ...]:
    """The rules of a language as pattern, new words, and whether they apply anywhere.

    They are compiled on first use: the patterns of all languages take 30 ms.
    """
    edge = "" if language == "zh" else r"\b"
    rules = []
    for synonym in SYNONYMS[language]:
        before = edge if synonym.anywhere else _BEFORE_IMPERATIVE[language]
        written = rf"{before}(?P<old>{synonym.old}){edge}(?={synonym.then})"
        rules.append((re.compile(written, re.IGNORECASE), synonym.new, synonym.anywhere))
    return tuple(rules)
