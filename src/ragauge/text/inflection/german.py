"""German inflection: the endings of nouns and adjectives, and of weak verbs."""

from __future__ import annotations

import re

from ragauge.text.inflection.forms import forms_table, without_rule

_FORMS = """
    sein bin bist ist sind war waren gewesen | haben habe hat hatte hatten gehabt
    | werden werde wird wurde wurden geworden worden | können kann konnte konnten
    | müssen muss musste mussten | gehen geht ging gingen gegangen
    | kommen kommt kam kamen gekommen | geben gibt gab gaben gegeben
    | nehmen nimmt nahm nahmen genommen | sehen sieht sah sahen gesehen
    | finden findet fand fanden gefunden | schreiben schreibt schrieb schrieben geschrieben
    | bleiben bleibt blieb blieben geblieben | stehen steht stand standen gestanden
    | liegen liegt lag lagen gelegen | beginnen beginnt begann begannen begonnen
    | bringen bringt brachte brachten gebracht | denken denkt dachte dachten gedacht
    | kennen kennt kannte kannten gekannt | nennen nennt nannte nannten genannt
    | sterben stirbt starb starben gestorben | sprechen spricht sprach sprachen gesprochen
    | lesen liest las lasen gelesen | tragen trägt trug trugen getragen
    | halten hält hielt hielten gehalten | lassen lässt liess liessen gelassen
    | gewinnen gewinnt gewann gewannen gewonnen | verlieren verliert verlor verloren
    | wissen weiss wusste wussten gewusst | schliessen schliesst schloss schlossen geschlossen
    | entstehen entsteht entstand entstanden | bestehen besteht bestand bestanden
    | museum museums museen | zentrum zentren zentrums | malen malt malte malten gemalt
    | bauen baut baute bauten gebaut | fahren fährt fuhr fuhren gefahren
    | gründen gründet gründete gründeten gegründet
    | thema themen themas | firma firmen | datum daten datums
"""
_APART = """
    schon immer hier aber oder unter über später sieben seite seiten ende name kaiser messer feuer
    wasser winter sommer wetter fenster zimmer nummer mutter vater bruder tochter meister geist
    europa paris berlin dresden bremen münchen baden hessen sachsen preussen bayern italien spanien
    belgien indien nichts etwas alles links rechts bereits stets
"""
"""Words that look inflected and are none; `schon` is not `schön`."""
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


IRREGULAR = forms_table(_FORMS, _APART)


def german(word: str) -> str:
    """The word without its ending and its umlaut, which comes and goes with the plural."""
    known = without_rule(word, IRREGULAR)
    if known is not None:
        return known
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
