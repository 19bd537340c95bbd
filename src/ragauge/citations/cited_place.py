"""A cited place: what stands there, where words stand instead, and how a finding says it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ragauge.citations.likeness import around, differences, nearest, nearly
from ragauge.citations.offsets import OffsetReading, Place, Ruler, Unresolved, ruler_of
from ragauge.contracts.citation import Citation
from ragauge.contracts.documents import Documents, FrozenDocument
from ragauge.text.visible import one_line

SHOWN = 40
"""Characters that a finding shows of a text."""
BEFORE = 12
"""Of them, those before the first difference."""
ID_SHOWN = 60


class Found(Struct, frozen=True):
    """Words found in a document, to the letter or but for what is named."""

    place: Place
    but_for: tuple[str, ...] = ()


class CitedPlace(Struct, frozen=True):
    """A citation with the document it names, and the place in it or why there is none."""

    payload: Citation
    document: FrozenDocument
    documents: Documents
    reading: OffsetReading
    place: Place | Unresolved

    @property
    def stands(self) -> str | None:
        """What stands at the place; None where there is none."""
        return self.document.text[slice(*self.place)] if isinstance(self.place, Place) else None

    @property
    def unchecked(self) -> str | None:
        """Why nothing can be said of the offsets; None where something can."""
        place = self.place
        if isinstance(place, Place) or place.kind in ("beyond", "inside"):
            return None
        return place.reason

    def find(self, snippet: str) -> Found | None:
        """Where a snippet stands in the document, nearest to its offsets.

        The same wording at the offsets goes before the same letters far away.
        """
        text, place = self.document.text, self.place
        near = place.start if isinstance(place, Place) else place.near
        at = nearest(text, snippet, near) if snippet.strip() else None
        exact = None if at is None else Found(Place(at, at + len(snippet)))
        if isinstance(place, Place) and not (exact and _overlap(exact.place, place)):
            but_for = differences(snippet, text[slice(*place)])
            if but_for:
                return Found(place, but_for)
        return exact or self._find_nearly(snippet, near)

    def find_quote(self, quote: str) -> Found | None:
        """Where a quote stands in the document, nearest to the span that should hold it."""
        place = self.place
        if not isinstance(place, Place):
            return self.find(quote)
        places = [
            Place(at, at + len(quote)) for at in around(self.document.text, quote, place.start)
        ]
        if places:
            return Found(min(places, key=lambda found: _reach(found, place)))
        return self._find_nearly(quote, place.start)

    def _find_nearly(self, words: str, near: int) -> Found | None:
        place = nearly(self.document.text, words, near)
        if place is None:
            return None
        but_for = differences(words, self.document.text[slice(*place)])
        return Found(place, but_for or ("signs and blanks",))

    @property
    def file_note(self) -> str:
        """What is to be known of the file that was read."""
        rev = one_line(self.payload.rev, ID_SHOWN)
        return "" if self.document.proven else f"; the file is not proven to be rev {rev}"

    def true_place(self, found: Found) -> str:
        """Where a snippet really stands: how far from its offsets, in their own unit."""
        said = differing(found.but_for)
        ruler = self._ruler(self.document.text)
        if ruler is None or found.place == self.place:
            return said
        true, offsets = ruler.measured(found.place), self.payload.offsets
        drift, end = true.start - offsets.start, true.end - offsets.end
        off = f"not at the bounds of {ruler.unit}"
        if drift or end:
            off = ("" if drift else "its end ") + counted(drift or end, ruler.unit, "+")
        return f"{said}{', ' if said else ''}stands at {true.start}–{true.end} ({off})"

    def beside(self, found: Found) -> str:
        """Where a quote really stands: how far outside of the span."""
        said = differing(found.but_for)
        ruler = self._ruler(self.document.text)
        if ruler is None or not isinstance(self.place, Place):
            return said
        true, span = ruler.measured(found.place), ruler.measured(self.place)
        early = found.place.start < self.place.start
        by = span.start - true.start if early else true.end - span.end
        off = f"{'begins' if early else 'ends'} {counted(by, ruler.unit)}"
        off = f"{off} {'before' if early else 'past'} it"
        if by <= 0:  # part of a token that the span holds
            off = f"not at the bounds of {ruler.unit}"
        return f"{said}{', ' if said else ''}stands at {true.start}–{true.end}, {off}"

    def range_in(self, text: str, place: Place) -> str:
        """A place in any text, in the unit of the offsets where that can be measured."""
        ruler = self._ruler(text)
        measured = ruler.measured(place) if ruler else place
        return f"{measured.start}–{measured.end}"

    def _ruler(self, text: str) -> Ruler | None:
        ruler = ruler_of(text, self.payload.offsets.unit, self.reading)
        return None if isinstance(ruler, Unresolved) else ruler


def differing(but_for: tuple[str, ...]) -> str:
    return f"differs in {', '.join(but_for)}" if but_for else ""


def counted(number: int, unit: str, sign: Literal["", "+"] = "") -> str:
    """A number of units; with `+` the sign is always written.

    >>> counted(1, "bytes"), counted(7, "characters", "+")
    ('1 byte', '+7 characters')
    """
    return f"{number:{sign}d} {unit.removesuffix('s') if abs(number) == 1 else unit}"


def shown(text: str, beside: str | None = None) -> str:
    """A text in quotation marks, cut; beside another, from where the two become different.

    >>> shown("The museum was opened in the year 1885, in summer", "The museum was opened in 1885")
    '"…s opened in the year 1885, in summer"'
    """
    from_ = 0 if beside is None else max(_first_difference(text, beside) - BEFORE, 0)
    cut = "…" if from_ else ""
    return f'"{one_line(cut + text[from_ : from_ + 10 * SHOWN], SHOWN)}"'


def _first_difference(a: str, b: str) -> int:
    pairs = enumerate(zip(a, b, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(a), len(b)))


def _overlap(a: Place, b: Place) -> bool:
    return a.start < b.end and b.start < a.end


def _reach(found: Place, span: Place) -> int:
    """How far a place reaches out of a span, before it or past it."""
    return max(span.start - found.start, found.end - span.end)
