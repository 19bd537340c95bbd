"""Dutch inflection: plurals, -e, -t, -te, -de and the participle with ge-."""

from __future__ import annotations

import re

from ragauge.text.inflection.forms import forms_table, without_rule

_LONG = "(?:aa|ee|oo|uu|ij|ui|ie|oe|eu|ou|au|ei)"

_FORMS = """
    zijn ben bent is was waren geweest | hebben heb hebt heeft had hadden gehad
    | worden word wordt werd werden geworden | kunnen kan kunt kon konden
    | zullen zal zult zou zouden | moeten moet moest moesten | mogen mag mocht mochten
    | willen wil wilt wilde wilden wou | gaan ga gaat ging gingen gegaan
    | staan sta staat stond stonden gestaan | doen doe doet deed deden gedaan
    | zien zie ziet zag zagen gezien | komen kom komt kwam kwamen gekomen
    | geven geef geeft gaf gaven gegeven | nemen neem neemt nam namen genomen
    | vinden vind vindt vond vonden gevonden
    | schrijven schrijf schrijft schreef schreven geschreven
    | blijven blijf blijft bleef bleven gebleven | krijgen krijg krijgt kreeg kregen gekregen
    | liggen lig ligt lag lagen gelegen | beginnen begin begint begon begonnen
    | brengen breng brengt bracht brachten gebracht | denken denk denkt dacht dachten gedacht
    | kopen koop koopt kocht kochten gekocht | zoeken zoek zoekt zocht zochten gezocht
    | spreken spreek spreekt sprak spraken gesproken | lezen lees leest las lazen gelezen
    | sterven sterf sterft stierf stierven gestorven | verliezen verlies verliest verloor verloren
    | winnen win wint won wonnen gewonnen | hangen hang hangt hing hingen gehangen
    | lopen loop loopt liep liepen gelopen | houden houd houdt hield hielden gehouden
    | laten laat liet lieten gelaten | zitten zit zat zaten gezeten
    | heten heet heette heetten geheten | verkopen verkoop verkoopt verkocht verkochten
    | verschijnen verschijn verschijnt verscheen verschenen
    | ontstaan ontstaat ontstond ontstonden | bestaan bestaat bestond bestonden
    | stad steden | schip schepen | kind kinderen | lid leden | ei eieren | blad bladen bladeren
    | dag dagen | weg wegen | glas glazen | god goden | dak daken | bedrag bedragen
    | oorlog oorlogen | koning koningen | museum musea museums
    | hertog hertogen | catalogus catalogi | politicus politici | historicus historici
    | openen open opent opende openden geopend geopende | gebruiken gebruik gebruikt gebruikte
    | gebeuren gebeurt gebeurde gebeurd | wereld werelden | duizend duizenden | honderd honderden
"""
_APART = """
    einde aarde orde waarde eeuw markt gebied gebouw geld geloof gevolg geval gemiddeld
    mens alles soms eens thans altijd vaak duits frans engels nederlands nederland duitsland
    huis prijs reis kruis vlees ons leeuwarden leiden dresden noorden zuiden oosten westen
    tussen binnen buiten boven onder eigen zeven negen duizend honderd haven teken leven keten
    mede vrede beide liefde methode periode diepte hoogte ziekte jeugd deugd vreugde
    gezicht gerecht gewicht gedicht gevecht gebit genot gehucht geslacht gezag concert expert
    desert insert soort kaart
"""
"""Words that look inflected and are none."""
_OPEN = re.compile("(.*[^aeiou]|)([aeou])([bcdfgklmnprst])")
"""A single vowel before a single consonant, which was long: `bom` of bomen is boom."""
_UNSTRESSED = re.compile(".*[aeiouy].*(?:e[lrmn]|i[gk]|or|um)")
_FOLDED_END = {"v": "f", "z": "s"}
_PLURAL_S = re.compile(".*(?:[^aeiou]e[lrmn]|ie|um|eur|oor|aar|ee|[^aeiou][ao]|é)s")
_FINITE = re.compile(f"(.*(?:{_LONG}[bfgklmpvw]|[aeiou].*[^aeiou]e[rl]|[rl][kp]))t")
_PAST = re.compile(
    f"(.*[aeiou].*[^aeiou]e[lrn]|.*{_LONG}[wfms]|.+[lraeou]g)den?"
    f"|(.*{_LONG}[kp]|.+[rl]k|.*[aeiou].*t|.*(?:pp|kk))ten?"
)
_PARTICIPLE = re.compile("((?:op|aan|uit|af|toe|mee|na|voor|door|over|onder|om)?)ge(.{3,}[td])")
_WEAK = re.compile(f".*(?:(?:[wfmsgvz]|[^aeiou]e[lrn]|{_LONG}[lrn])d|[kpf]t)")


IRREGULAR = forms_table(_FORMS, _APART)


def dutch(word: str) -> str:
    """The word without its ending, in the spelling of the singular or of the bare verb."""
    known = without_rule(word, IRREGULAR)
    if known is not None:
        return known
    if match := _PARTICIPLE.fullmatch(word):
        return _without_ge(word, match[1], match[2])
    if match := _PAST.fullmatch(word):
        return match[1] or match[2]
    if _PLURAL_S.fullmatch(word):
        return word[:-1]
    if match := _FINITE.fullmatch(word):
        return match[1]
    return _without_e(word)


def _without_ge(word: str, before: str, rest: str) -> str:
    """The participle as the bare verb: geschilderd, schilder; opgericht, opricht."""
    if _WEAK.fullmatch(rest):
        return before + rest[:-1]
    return before + rest if rest[-1] == "t" else word


def _without_e(word: str) -> str:
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
