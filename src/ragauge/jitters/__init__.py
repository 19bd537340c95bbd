"""Jitters: changes to a question that should not change its answer."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from ragauge.errors import UsageError
from ragauge.jitters.lexicons import language_of
from ragauge.jitters.order import movable, order
from ragauge.jitters.synonyms import syn
from ragauge.jitters.wording import (
    case,
    has_quotes,
    long_words,
    polite,
    polite_opening,
    punct,
    quote,
    typo,
    ws,
)

Risk = Literal["none", "low", "medium"]
"""How likely the change is to be read as a different question."""


class Jitter(Struct, frozen=True):
    """A change of any text that keeps its numbers, code, URLs, quotations and names."""

    name: str
    risk: Risk
    about: str
    apply: Callable[[str, str], str]
    """Takes a text and its language: en, nl, de, fr or zh; other languages have no lexicon."""


_ALL = (
    Jitter("none", "none", "The question as it is worded.", lambda text, language: text),
    Jitter(
        "ws",
        "none",
        "Blanks around commas, colons and the last question mark, two between two words.",
        ws,
    ),
    Jitter("punct", "none", "Forms of dashes and apostrophes, the last mark left out.", punct),
    Jitter("syn", "low", "Other words of asking: explain, describe; which year, what year.", syn),
    Jitter("order", "low", "A clause or the question phrase in another place.", order),
    Jitter("case", "none", "The first letter small.", case),
    Jitter("quote", "none", "Straight quotes and apostrophes bent, or bent ones straight.", quote),
    Jitter("polite", "low", "A polite opening.", polite),
    Jitter("typo", "medium", "One slip of the keyboard in a long word that is no name.", typo),
)
JITTERS: dict[str, Jitter] = {jitter.name: jitter for jitter in _ALL}
DEFAULT = ("none", "ws", "punct", "syn", "order")

_SPACED = re.compile(r"(?<!\s)[ \t]+([,:])[ \t]*")
_SYNONYMS = {"explain": "describe", "list": "enumerate", "compare": "contrast", "show": "display"}
_SYNONYM = re.compile(rf"\b(?:{'|'.join(_SYNONYMS)})\b", re.IGNORECASE)


def _reference_punct(text: str) -> str:
    dashed = text.replace("—", "-").replace("–", "-")
    if dashed.endswith("?"):
        return f"{dashed[:-1].rstrip(' ')} ?"
    return f"{dashed}?" if dashed[-1:].isalnum() else dashed


REFERENCE: dict[str, Callable[[str], str]] = {
    "none": lambda text: text,
    "ws": lambda text: _SPACED.sub(r"\1 ", text),
    "punct": _reference_punct,
    "syn": lambda text: _SYNONYM.sub(lambda found: _SYNONYMS[found[0].lower()], text),
    "order": lambda text: text.replace(
        "with citations, in one sentence", "in one sentence, with citations"
    ),
}
"""The jitters of the reference, for runs that are compared with its figures. They protect nothing
and know only English; no text is lost."""


def jittered(
    text: str,
    name: str,
    *,
    language: str | None = None,
    profile: Literal["ours", "reference"] = "ours",
) -> str:
    """The text after a jitter; the same text if the jitter finds nothing to change.

    The language is guessed from the text unless it is given.

    >>> jittered("Explain how the Louvre was founded.", "syn")
    'Describe how the Louvre was founded.'
    >>> jittered("Explain Y.", "syn", profile="reference")
    'describe Y.'
    """
    if name not in JITTERS:
        near = difflib.get_close_matches(name, JITTERS, n=1)
        hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(JITTERS)}"
        raise UsageError(f'there is no jitter "{name}"; {hint}')
    if profile == "ours":
        return JITTERS[name].apply(text, _known_language(text, language))
    if name not in REFERENCE:
        known = ", ".join(REFERENCE)
        raise UsageError(f'jitter "{name}" is ours; the reference profile has {known}')
    return REFERENCE[name](text)


def applies(text: str, name: str, language: str | None = None) -> bool:
    """Whether the text contains what the jitter changes, so that a change can be expected.

    Quotes for `quote`, a long word for `typo`, a movable clause or phrase for `order`, a question
    or an order without a polite word for `polite`; the others apply to every question. A jitter
    may still leave such a text alone: `order` if moving the phrase could change the meaning,
    `syn` if it knows no other word.
    """
    known = _known_language(text, language)
    if name == "order":
        return movable(text, known)
    if name == "quote":
        return has_quotes(text, known)
    if name == "typo":
        return bool(long_words(text, known))
    if name == "polite":
        return bool(polite_opening(text, known))
    return name != "none" and bool(text.strip())


def _known_language(text: str, language: str | None) -> str:
    return language.lower().partition("-")[0] if language else language_of(text)
