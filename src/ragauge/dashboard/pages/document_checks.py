"""Whether the words of a citation stand where it points, and where they stand instead."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ragauge.citations.likeness import differences, nearest, nearly
from ragauge.citations.offsets import OffsetReading, Place, Unresolved, ruler_of
from ragauge.contracts.documents import FrozenDocument
from ragauge.dashboard.pages.document_known import Known
from ragauge.dashboard.pages.question_ways import Ways
from ragauge.reports.differences import LONGEST, Differing, Marked
from ragauge.reports.foreign import cut, flat

MOST = 20
"""Texts that are compared for a page."""
CHUNK, QUOTE = "The chunk's text", "The quote"


class Check(Struct, frozen=True, kw_only=True):
    """Words held against the place."""

    what: str
    id: str
    holds: bool
    says: str
    words: Marked = []
    stands: Marked = []
    """What is written in both places, with the differences marked; empty where there are none."""
    wholly: bool = False
    """Nearly all of it differs, so that nothing is marked."""
    href: str | None = None
    """Where the words stand instead."""
    at: str = ""


class Checker:
    """Holds what is said against what stands in a document."""

    def __init__(
        self, document: FrozenDocument, place: Place | None, ways: Ways, read: OffsetReading
    ) -> None:
        self._document, self._ways, self._read = document, ways, read
        self._text, self._place, self._differing = document.text, place, Differing()

    def checks(self, known: Sequence[Known]) -> tuple[tuple[Check, ...], int]:
        """Each different text once: those of chunks, then what is quoted of them; how many more."""
        said: dict[tuple[str, str], Known] = {}
        for one in known:
            for what, words in ((CHUNK, one.text), (QUOTE, one.quote)):
                if words is not None and words.strip():
                    said.setdefault((what, words), one)
        every = sorted(said.items(), key=lambda each: each[0][0] == QUOTE)
        found = tuple(self._check(what, words, one) for (what, words), one in every[:MOST])
        return found, len(every) - len(found)

    def _check(self, what: str, words: str, one: Known) -> Check:
        stands = None if self._place is None else self._text[slice(*self._place)]
        within = what == QUOTE
        if stands is not None:
            shown = stands[: len(words)] if one.is_cut and not within else stands
            if words == shown or (within and words in shown):
                return Check(what=what, id=one.id, holds=True, says="stands there to the letter")
            if but_for := differences(words, shown, within=within):
                says = f"stands there but for {', '.join(but_for)}"
                return Check(what=what, id=one.id, holds=True, says=says)
        return self._elsewhere(what, words, one.id, stands)

    def _elsewhere(self, what: str, words: str, id: str, stands: str | None) -> Check:
        """Words that are not at the place, with where they are."""
        found = self._found(words)
        there = "is not what stands there" if stands is not None else "has no place of its own"
        says = there if found else f"{there}, and is nowhere in the document"
        ours, theirs, wholly = self._beside(words, stands) if stands else ([], [], False)
        href, at = self._way(found) if found else (None, "")
        return Check(
            what=what,
            id=id,
            holds=False,
            says=says,
            words=ours,
            stands=theirs,
            wholly=wholly,
            href=href,
            at=at,
        )

    def _beside(self, words: str, stands: str) -> tuple[Marked, Marked, bool]:
        """Both texts with their differences marked; plain where nearly all of the words differ."""
        wholly = self._differing.wholly(words, stands)
        plain: Marked = [(cut(flat(stands), LONGEST), False)]
        there = plain if wholly else self._differing(stands, words)
        return self._differing(words, stands), there, wholly

    def _found(self, words: str) -> Place | None:
        near = self._place.start if self._place else 0
        at = nearest(self._text, words, near)
        return nearly(self._text, words, near) if at is None else Place(at, at + len(words))

    def _way(self, found: Place) -> tuple[str | None, str]:
        """The found place in the unit of the run's offsets."""
        ruler = ruler_of(self._text, "char", self._read)
        start, end = found if isinstance(ruler, Unresolved) else ruler.measured(found)
        one, run = self._document, self._ways.run
        href = self._ways.links.document(run.id, one.doc_id, one.rev, start, end, self._ways.unit)
        return href, f"{start}–{end}"
