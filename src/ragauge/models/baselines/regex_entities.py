"""Dates and identifiers found by their shape, in Dutch, English, German and French."""

from __future__ import annotations

import re

from ragauge.models.baselines.spans import FoundSpan, without_overlaps

DATE, IDENTIFIER = "TMP", "IDENTIFIER"

_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december|"
    "januari|februari|maart|mei|juni|juli|augustus|oktober|"
    "januar|jänner|februar|märz|mai|dezember|"
    "janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre"
)
_ORDINALS = (
    r"(?:\w+teen|ten|eleven|twelf|nin|eigh|seven|six|fif|four)th|first|second|third|"
    r"twent(?:ieth|y-first)|"
    r"(?:\w+tien|vijf|zes|zeven|negen|elf|twaalf|vier)de|eerste|tweede|derde|achtste|tiende|"
    r"\w*twintigste|"
    r"\w*zehnte[ns]?|\w*(?:ersten|zweiten|dritten|vierten|fünften|zwanzigsten)|"
    r"\d{1,2}(?:st|nd|rd|th|de|ste|e|\.)|[IVX]+(?:er|e|ème)"
)
_YEAR = r"(?:1\d{3}|20\d{2})"
_DATES = (
    rf"(?:\d{{1,2}}(?:\.|er|st|nd|rd|th)?\s+)?(?:{_MONTHS})\s+{_YEAR}(?!\d)",
    rf"(?:{_ORDINALS})\s+(?:centur(?:y|ies)|eeuw(?:en)?|jahrhunderts?|siècles?)\b",
    r"\d{3}0s\b",
    rf"(?<![.,]){_YEAR}(?![\w-]|[.,]\d)",
)
_IDENTIFIERS = (
    r"(?-i:[A-Z]{2})-(?=[\w:/-]*[\dA-Z])[A-Za-z0-9:/-]{1,11}(?![\w-])",
    r"(?-i:Q)[1-9]\d*\b",
    r"(?<=VIAF )\d{2,}\b",
    r"(?<=VIAF: )\d{2,}\b",
)


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(patterns)})", re.IGNORECASE)


_PATTERNS = {IDENTIFIER: _any_of(_IDENTIFIERS), DATE: _any_of(_DATES)}


class RegexEntities:
    """Finds years, dates, decades and centuries, and ISIL codes, Wikidata and VIAF ids.

    >>> RegexEntities().extract_entities("Opened on 10 October 1925 (NL-AmRM).")
    [FoundSpan(start=10, end=25, type='TMP'), FoundSpan(start=27, end=34, type='IDENTIFIER')]
    """

    def extract_entities(self, text: str) -> list[FoundSpan]:
        found = (
            [FoundSpan(one.start(), one.end(), type_of) for one in pattern.finditer(text)]
            for type_of, pattern in _PATTERNS.items()
        )
        return without_overlaps(*found)
