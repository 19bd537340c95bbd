"""Abbreviations: words whose full stop need not end the sentence, in five languages."""

from __future__ import annotations

from ragauge.text.stop_words import STOP_WORDS


def _listed(written: str) -> frozenset[str]:
    return frozenset(written.split())


LEADING = _listed(
    """
    mr mrs ms mx dr drs prof profs messrs gen col sgt capt cpt cmdr lt maj adm gov sen rep pres hon
    rev msgr supt cf vs viz approx ca incl excl resp aka
    dhr mevr mw ir ing mgr bijv vgl evt zgn
    hr hrn fr frl dipl bspw evtl ggf insb inkl exkl sog bzgl bzw
    mme mmes mlle mlles
    """
)
"""Those that stand before what they belong to, as titles do: they never end a sentence."""

DOTTED = _listed(
    """
    eg ie zb dh ua uä oä va idr usf zt pex cad càd bv oa dwz maw nl mbt ivm tav tov ihb ipv
    """
)
"""The same for those of several pieces: `eg` for "e.g.", `zb` for "z.B." and "z. B."."""

NAMING = _listed(
    """
    st ste sts mt ft jr sr inc ltd co corp bros llc plc dept univ assn natl intl ave blvd rd al ed
    eds trans repr esq phd gebr wed zn str hl chr jh jhd ex tel mm
    """
)
"""Those within or at the end of a name: a sentence ends there if a plain word starts the next."""

NUMBERED = _listed(
    """
    no nos nr nrs n° art arts fig figs sec sect vol vols ch chap chaps p pp pg par para eq tab pl op
    cat inv ver v c b d r s f ff fl est circa ps
    blz pag hfst afb deel dl jrg geb overl gest
    abb kap bd bde abs ziff rdn gegr
    fasc n num tél
    jan feb mrt apr jun jul aug sep sept okt oct nov dec dez janv févr fév avr juil déc mär
    mon tue tues thu thur thurs fri sat sun
    """
)
"""Those with a number after them: a sentence ends there if none follows."""

ORDINAL_NOUNS = _listed(
    """
    januar jänner februar märz april mai juni juli august september oktober november dezember
    januari februari maart mei augustus december
    jan feb mär mrt apr jun jul aug sep sept okt nov dez
    jahrhundert jahrhunderts jahrhunderten jahrhunderte jh jhd jhs weltkrieg weltkriegs weltkrieges
    jahrtausend jahrtausends lebensjahr lebensjahres stock etage klasse kapitel auflage band platz
    jahrestag geburtstag tag monat
    """
)
"""What a German "12." is the twelfth of."""

STARTERS = frozenset().union(*STOP_WORDS.values()) | _listed(
    "no not never nee niet geen nein nicht kein keine non yes ja oui"
)
"""Plain words: written with a capital, they start a sentence and are no name."""
STARTERS_NO_NAME = STARTERS - _listed(
    "de den der des die du la le les l d al el van von ten ter will an"
)
"""Those among them that are no part of a name either, for what follows an initial."""
