"""The cheap look at an answer, before any rule is asked: most have no word of a refusal."""

from __future__ import annotations

import re

_INFORMATION = (
    r"(?=.{0,60}(?:info|detail|mention|data|answer|referen|knowledge|specific|context|expla"
    r"|discuss|descri|document|figure|material|evidence|indicat|record|sign|proof|confirm|guid"
    r"|source|passage|text|content|statement|instruct|list|section|defini|reason|example|idea"
    r"|clue|result|knows|match|response|article|way))"
)
_SPANISH = (
    r"(?:lo s|s[eé]|ten[eg]|pu[ed]|pod|hay|disp|enc|con|prop|apar|est|es p|es s|fig|perm|inc|esp"
    r"|ind|dic|exis|sab|ofre|he|ha |me|da|fac|apl|proc|resp|acl|det|prec|soy|ent|hac|hab|trat|cubr"
    r"|bas)"
)
_CUE = re.compile(
    r"n(?:ot\b|othing|['’][taeiouyhéê]|iet|icht|ever|/a|able|kno|clea|answ|spec|bek|kla|suf|conn"
    rf"|vol|tbre|(?<=\bn)(?:o {_INFORMATION}|o {_SPANISH}|one|or |e |either|owhere|ergens|irgend"
    r"|ulle part|ing[uú]n|i idea|/d)"
    r"|o[cz](?<=descono.)|(?<=geen)|(?<=kein)|(?<=aucun)"
    r"|(?<=ign)or|(?<=silen)|(?<=to men)tion|(?<=beyon)d my)"
)
_EAST_ASIAN = re.compile("[不没沒无無未难難缺？]|ません|ない|なし|かねま|ください|お願い")


def cued(text: str) -> bool:
    """Whether a closer look is worth its time.

    It is asked of every answer of a million. So almost all of it hangs on one letter, which a
    regular expression finds as fast as memory is read.

    >>> cued("It opened in 1885."), cued("It is not known.")
    (False, True)
    """
    low = text.lower()
    if _CUE.search(low) or "?" in low or "pas " in low or "impos" in low or "lack" in low:
        return True
    if "idk" in low or "dunno" in low or "please" in low or "por favor" in low or "outside" in low:
        return True
    return not low.isascii() and _EAST_ASIAN.search(low) is not None
