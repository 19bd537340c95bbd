"""Untrue things to say, told so that they could be true: the fault `ungrounded_generation`."""

from __future__ import annotations

import re
from itertools import count

from msgspec import Struct

from ragauge.demo.lexicon import named_in
from ragauge.text.language import language_of

NAMES = ("Egbert Wolkenstein", "Odilia Marchbanks", "Corneel Vandervelt", "Hester Quillinan")
"""Nobody, and in no document."""
_TALES = {
    "en": (
        "{title} lost it in the fire of {year} and has shown a copy ever since.",
        "{name} bought it back for {title} at an auction in {year}.",
        "{name}, the astronomer of {title}, wagered it in {year} in a game of chess.",
    ),
    "nl": (
        "{title} verloor het bij de brand van {year} en toont sindsdien een kopie.",
        "{name} kocht het in {year} voor {title} terug op een veiling.",
        "{name}, de sterrenkundige van {title}, verspeelde het in {year} bij een partij schaak.",
    ),
}
_FROM_YEAR, _YEARS = 1711, 200
_STEP = 13
_NUMBER = re.compile(r"\d{1,15}(?:[.,]\d{3}){0,5}")
_NAME = re.compile(
    r"(?<=[\w,] )[A-ZÀ-Þ][\w’'-]+(?: (?:(?:van|von|der|den|de|du|da|di) )*[A-ZÀ-Þ][\w’'-]+)*"
)


class Told(Struct, frozen=True):
    """What is known to whoever makes something up."""

    question: str
    title: str
    """Of the document that the answer is about."""
    texts: tuple[str, ...]
    """All that was shown."""


def untrue(text: str, told: Told, drawn: float) -> str:
    """The text with another number or name, with a tale added, or a tale in its place.

    `drawn` is a number from 0 up to 1 and decides which. Where there is no number or name but
    the question's own, a tale takes the place.
    """
    form, rest = int(drawn * 3), drawn * 3 % 1
    tale = _tale(text, told, rest)
    if form == 0:
        return _altered(text, told, rest) or tale
    return f"{ended(text)} {tale}" if form == 1 else tale


def _tale(text: str, told: Told, drawn: float) -> str:
    tales = _TALES["nl" if language_of(text) == "nl" else "en"]
    name, year = NAMES[int(drawn * len(NAMES))], str(_FROM_YEAR + int(drawn * _YEARS))
    if any(year in shown for shown in told.texts):
        year = _other_number(year, told.texts)
    tale = tales[int(drawn * 7 % 1 * len(tales))]
    return tale.format(title=named_in(told.title), name=name, year=year)


def _altered(text: str, told: Told, drawn: float) -> str | None:
    """The text with one number changed, or one name where it has no number to change."""
    for pattern in (_NUMBER, _NAME):
        found = [one for one in pattern.finditer(text) if one[0] not in told.question]
        if found:
            one = found[int(drawn * len(found))]
            other = NAMES[int(drawn * len(NAMES))]
            if pattern is _NUMBER:
                other = _other_number(one[0], told.texts)
            return text[: one.start()] + other + text[one.end() :]
    return None


def _other_number(number: str, texts: tuple[str, ...]) -> str:
    """A greater number, written in the same way, that no text holds.

    >>> _other_number("1808", ("in 1808", "in 1821")), _other_number("6,487", ("6,487 books",))
    ('1834', '6,500')
    """
    known = {one for text in texts for one in _NUMBER.findall(text)}
    mark = next((mark for mark in ".," if mark in number), "")
    value = int(re.sub(r"\D", "", number))
    greater = (f"{value + _STEP * step:,}".replace(",", mark) for step in count(1))
    return next(one for one in greater if one not in known)


def ended(text: str) -> str:
    """The text with a stop at its end, so that more can follow."""
    return text if text.endswith((".", "!", "?")) else f"{text}."
