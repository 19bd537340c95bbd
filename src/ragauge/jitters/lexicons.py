"""The words jitters know: what may open a sentence, what joins a name, what makes a date.

A capital tells a name from a word, but not at the beginning of a sentence: there only a word
of this file counts as a word, and whatever else begins a sentence may be a name. The small words
of a text also show its language.
"""

from __future__ import annotations

import re

from ragauge.text.stop_words import listed

IMPERATIVES: dict[str, frozenset[str]] = {
    "en": listed(
        "explain describe list compare show name give tell state summarise summarize outline "
        "define identify mention enumerate contrast display discuss provide find indicate "
        "specify sketch"
    ),
    "nl": listed(
        "leg beschrijf noem vergelijk toon geef vertel som vat vermeld bespreek omschrijf licht "
        "verklaar zet maak definieer zeg laat behandel schets"
    ),
    "de": listed(
        "erkläre erklär erklären beschreibe beschreiben nenne nennen benenne benennen vergleiche "
        "vergleichen zeige zeigen liste listen zähle zählen gib geben erläutere erläutern "
        "schildere schildern definiere definieren fasse fassen"
    ),
    "fr": listed(
        "explique expliquez décris décrivez liste listez énumère énumérez cite citez nomme nommez "
        "compare comparez montre montrez affiche affichez donne donnez résume résumez définis "
        "définissez indique indiquez mets mettez"
    ),
}

QUESTION_WORDS = listed(
    "who whom whose what which when where why how "
    "wie wat welk welke wanneer waar waarom hoe hoeveel hoelang wiens "
    "wer wen wem wessen was welche welcher welches welchen welchem wann wo woher wohin warum "
    "weshalb wieso wieviel "
    "qui que qu'est-ce quoi quel quelle quels quelles quand où pourquoi comment combien lequel "
    "laquelle lesquels lesquelles"
)
AUXILIARIES = listed(
    "is are was were do does did has have had could would should can will may isn't aren't wasn't "
    "weren't don't doesn't didn't hasn't haven't couldn't wouldn't shouldn't "
    "zijn waren heeft hebben hadden wordt worden werd werden kan kunnen kon konden moet moeten "
    "ist sind war hat haben hatte hatten wird werden wurde wurden kann können konnte muss müssen "
    "est-ce est sont était étaient a-t-il a-t-elle est-il est-elle"
)
"""They open a question of yes or no."""

PREPOSITIONS = listed(
    "in on at by for from to with since after before during under until about through "
    "op bij door voor uit naar met sinds na vanaf tot aan over tijdens volgens van "
    "im an am auf für aus nach mit seit vor unter bis über während laut zu zur zum von "
    "en à dans sur par pour depuis avec après avant pendant sous selon jusqu'à au aux de"
)
"""They open a question if a question word follows: `In which year`."""

VERBS = frozenset().union(*IMPERATIVES.values())
OPENERS = (QUESTION_WORDS | AUXILIARIES | PREPOSITIONS | VERBS) | listed(
    "please kindly if there this that these those it the a an "
    "graag alstublieft als nu er dit dat deze die het een "
    "bitte wenn es dies diese dieser dieses der das "
    "veuillez si il ce cette ces le la les"
)

NAME_OPENERS = listed(
    "can will may the a an van von de het een der die das den le la les du des di da del el al "
    "mark ten ter"
)
"""They open a sentence, or a name if a capital follows: `The Hague`, `Will Smith`."""

PARTICLES = listed(
    "of the van von zu zur zum de der den del della dei di da du des la le les el y al bin ten "
    "ter te 't"
)
"""Small words that stand within a name: `Archive of the Indies`, `Pieter Teyler van der Hulst`."""

FINITE = listed(
    "is was are were has had does did can will ist war sind waren hat est était sont wordt werd "
    "heeft had wird wurde"
)
"""Verbs after which `Explain Everything` has turned out to be a name."""

ABBREVIATIONS = listed(
    "st dr mr mrs ms prof jr sr no nr ca vs ds mgr ir drs bv resp incl vol fig art ed eds al cf "
    "approx dept est bzw evtl usw ggf jh hl mme mlle"
)
"""Their stop ends no sentence."""

MONTHS = listed(
    "january february march april may june july august september october november december "
    "januari februari maart mei juni juli augustus oktober "
    "januar jänner februar märz mai dezember "
    "janvier février mars avril juin juillet août septembre octobre novembre décembre"
)


def plain(word: str) -> str:
    """The word as it stands in a lexicon: in lower case, `what` for `What’s`.

    >>> plain("What’s"), plain("Qu’est-ce"), plain("Montrez-moi")
    ('what', "qu'est-ce", 'montrez')
    """
    lower = word.lower().replace("’", "'").removesuffix("-moi").removesuffix("-nous")
    first, _, ending = lower.partition("'")
    return first if ending in ("s", "re", "ll", "d", "ve") else lower


LANGUAGES = ("en", "nl", "de", "fr", "zh")

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\U00020000-\U000323af]+")

_TELLING: dict[str, frozenset[str]] = {
    "en": listed(
        "the of and to is are was were what which who whose when where why how did does do "
        "has have had for from with by at on its their this that these between after before "
        "about many much name list explain describe compare show it be an"
    ),
    "nl": listed(
        "de het een van en is zijn was waren wat welk welke wie wanneer waar waarom hoe "
        "hoeveel werd werden wordt worden heeft hebben voor uit met bij op aan naar door dat "
        "dit deze niet ook tussen na sinds leg uit noem vergelijk beschrijf geef er je u"
    ),
    "de": listed(
        "der die das ein eine einen einem einer des dem den und ist sind war waren was "
        "welche welcher welches welchem wer wann wo warum wie wurde wurden wird werden hat "
        "haben für aus mit bei auf an nach durch dass nicht auch zwischen seit im am zum zur "
        "von erkläre nenne vergleiche beschreibe sie es"
    ),
    "fr": listed(
        "le la les un une des du de et est sont était que qui quoi quel quelle quels quelles "
        "quand où pourquoi comment combien pour avec par dans sur sous au aux en a ont été "
        "ce cette ces entre depuis après avant explique expliquez citez comparez décrivez il "
        "elle l d qu"
    ),
}


def language_of(text: str) -> str:
    """The likeliest of en, nl, de, fr and zh; en where nothing tells.

    Chinese, where Chinese characters outnumber the other words; else the language that has the
    most of the text's small words, the earlier of LANGUAGES where two have as many.

    >>> language_of("In welk jaar werd het museum geopend?"), language_of("什么是 IIIF？")
    ('nl', 'zh')
    """
    found = [word.lower() for word in _WORD.findall(text)]
    if len(_HAN.findall(text)) > len(found):
        return "zh"
    counts = {name: sum(word in known for word in found) for name, known in _TELLING.items()}
    return max(counts, key=lambda name: counts[name])
