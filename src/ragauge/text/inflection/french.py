"""French inflection: plurals, the feminine, the participle and the plainest verb endings."""

from __future__ import annotations

from ragauge.text.inflection.forms import forms_table, without_rule

_FORMS = """
    être est sont était étaient fut furent été sera seront étant
    | avoir a ont avait avaient eut aura auront ayant
    | aller va vont allait allé allée allés allées ira iront
    | faire fait faits faite faites font faisait fit firent fera
    | pouvoir peut peuvent pouvait pu | devoir doit doivent devait dû
    | voir voit voient voyait vu vue vus vues vit | prendre prend prennent prit pris prenait
    | mettre met mettent mit mis | venir vient viennent venait vint venu venue venus venues
    | devenir devient deviennent devint devenu devenue
    | tenir tient tiennent tenait tint tenu tenue
    | écrire écrit écrits écrite écrites écrivit écrivait écrivent | dire dit dits disent disait
    | naître né née nés nées naquit | mourir mourut meurt mourait | vivre vécut vécu vivait
    | peindre peint peinte peints peintes peignit peignait peignent
    | construire construit construite construits construites construisit
    | œil yeux | travail travaux | vitrail vitraux | bail baux | ciel cieux | monsieur messieurs
    | madame mesdames | beau bel belle beaux belles | nouveau nouvel nouvelle nouveaux nouvelles
    | vieux vieil vieille vieilles | blanc blanche blancs blanches | long longue longs longues
    | public publique publics publiques
"""
_APART = """
    paris france temps corps fois mois pays bras cas bois choix prix voix croix paix six dix deux
    plus moins mais dans sans sous très près après jamais toujours puis depuis alors ailleurs
    jus abus refus processus campus virus tapis avis permis repas bas gris précis trois héros
    gaz nez chez ans hier cher fier mer fer hiver amer
"""
"""Words that end as if inflected: the temps is no plural."""
_OWN_S = ("ss", "ais", "ourgeois", "inois", "anois")


IRREGULAR = forms_table(_FORMS, _APART)


def french(word: str) -> str:
    """The word in the masculine singular, without the e at its end; fonder and fondées as fondé."""
    known = without_rule(word, IRREGULAR)
    if known is not None:
        return known
    return _masculine(_singular(word))


def _singular(word: str) -> str:
    if word.endswith(("eaux", "eux", "oux")):
        return word[:-1] if word.endswith("eaux") else word
    if word.endswith("aux"):
        return word[:-3] + "al"
    return word[:-1] if word[-1] == "s" and not word.endswith(_OWN_S) else word


def _masculine(word: str) -> str:
    known = IRREGULAR.get(word)
    if known is not None:
        return known
    if word.endswith("ée"):
        return word[:-1]
    if word.endswith("er") and word[-3] not in "iv" and len(word) > 4:
        return word[:-2] + "é"
    if word.endswith("euse"):
        return word[:-2] + "x"
    if word.endswith("èrent"):
        return word[:-5] + "é"
    if word.endswith("aient"):
        return word[:-3] + "t"
    if word.endswith("ent") and not word.endswith("ment") and len(word) > 5:
        return word[:-3]
    if word.endswith(("nne", "lle", "tte")) and len(word) > 5:
        return word[:-2]
    return word[:-1] if word[-1] == "e" else word
