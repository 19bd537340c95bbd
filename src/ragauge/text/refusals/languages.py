"""The languages whose refusals are known; their rules are compiled when they are first asked."""

from __future__ import annotations

from functools import cache
from typing import Literal

from ragauge.text.refusals import chinese, dutch, english, french, german, japanese, spanish
from ragauge.text.refusals.folding import SIMPLIFIED
from ragauge.text.refusals.rules import Rules, Sheet, compiled, pieces

Language = Literal["en", "nl", "de", "fr", "es", "zh", "ja"]

SHEETS: dict[Language, Sheet] = {
    "en": english.SHEET,
    "nl": dutch.SHEET,
    "de": german.SHEET,
    "fr": french.SHEET,
    "es": spanish.SHEET,
    "zh": chinese.SHEET,
    "ja": japanese.SHEET,
}


@cache
def rules_of(language: Language) -> Rules:
    return compiled(SHEETS[language])


CUES: dict[Language, tuple[str, ...]] = {
    language: pieces(sheet.cues.translate(SIMPLIFIED)) for language, sheet in SHEETS.items()
}
"""Pieces of words; a text without one does not refuse in that language."""
