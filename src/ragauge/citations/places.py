"""Whether a citation's words stand where it says, and where they stand if not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Literal
from weakref import WeakKeyDictionary

from msgspec import Struct

from ragauge.citations.fuzzy_match import around, differences, fuzzy_match, nearest_exact
from ragauge.citations.offsets import OffsetReading, Place, Ruler, Unresolved, resolve, ruler_of
from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.citation import Citation
from ragauge.contracts.documents import Documents, FrozenDocument
from ragauge.text.canonical import UNSPACED
from ragauge.text.sized_lru import SizedLRU
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
        at = nearest_exact(text, snippet, near) if snippet.strip() else None
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
            # That which reaches least out of the span, before it or past it.
            reach = {one: max(place.start - one.start, one.end - place.end) for one in places}
            return Found(min(places, key=reach.__getitem__))
        return self._find_nearly(quote, place.start)

    def _find_nearly(self, words: str, near: int) -> Found | None:
        place = fuzzy_match(self.document.text, words, near)
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
            off = ("" if drift else "its end ") + with_unit(drift or end, ruler.unit, "+")
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
        off = f"{'begins' if early else 'ends'} {with_unit(by, ruler.unit)}"
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


def with_unit(number: int, unit: str, sign: Literal["", "+"] = "") -> str:
    """A number of units; with `+` the sign is always written.

    >>> with_unit(1, "bytes"), with_unit(7, "characters", "+")
    ('1 byte', '+7 characters')
    """
    return f"{number:{sign}d} {unit.removesuffix('s') if abs(number) == 1 else unit}"


def shown(text: str, beside: str | None = None) -> str:
    """A text in quotation marks, cut; beside another, from where the two become different.

    >>> shown("The museum was opened in the year 1885, in summer", "The museum was opened in 1885")
    '"…s opened in the year 1885, in summer"'
    """
    from_ = 0
    if beside is not None:
        pairs = enumerate(zip(text, beside, strict=False))
        shorter = min(len(text), len(beside))
        differs = next((at for at, (one, other) in pairs if one != other), shorter)
        from_ = max(differs - BEFORE, 0)
    cut = "…" if from_ else ""
    return f'"{one_line(cut + text[from_ : from_ + 10 * SHOWN], SHOWN)}"'


def _overlap(a: Place, b: Place) -> bool:
    return a.start < b.end and b.start < a.end


class QuotedWords(Struct, frozen=True):
    """The words that are to stand at the cited place; None where they are not known."""

    snippet: str | None = None
    """The snippet's whole text, as the retriever gave it."""
    quote: str | None = None
    """What the model quotes of it; a blank one is none."""


class PlaceCheck(Struct, frozen=True):
    """What a look at the cited place has shown."""

    findings: tuple[CitationFinding, ...] = ()
    """Without item, segment and tip: the caller knows them."""
    seen: Literal["words", "range", "nothing"] = "words"
    """What was held against the place: the words, or, where none are known, only that the offsets
    lead into the document. With `nothing` and no findings it neither holds nor fails."""
    reason: str | None = None
    """Why no words were compared."""


_AS_SAID = PlaceCheck()
_NO_WORDS = "neither the snippet's text nor a quote is given"
_IN_RANGE = PlaceCheck((), "range", _NO_WORDS)


def place_findings(
    payload: Citation, said: QuotedWords, documents: Documents, reading: OffsetReading
) -> PlaceCheck:
    """What is wrong with the place a citation gives, and how much of it could be looked at.

    Words that stand where they should cost a slice and a comparison; only others are searched
    for, in the cited document first.
    """
    document = documents.find(payload.doc_id, payload.rev)
    if document is None:
        got = one_line(f"{payload.doc_id}@{payload.rev}", ID_SHOWN)
        lost = _finding("missing_document", "doc_id", got, "the document of that revision")
        return PlaceCheck((lost,), "nothing", "the document is not there")
    place = resolve(payload.offsets, document.text, reading)
    snippet, quote = said.snippet, None if _blank(said.quote) else said.quote
    if isinstance(place, Place):
        stands = document.text[place.start : place.end]
        if (snippet is None or snippet == stands) and (quote is None or quote in stands):
            return _IN_RANGE if snippet is None and quote is None else _AS_SAID
    cited = CitedPlace(payload, document, documents, reading, place)
    findings = _offset_findings(cited, snippet, quote)
    if snippet is not None and snippet != cited.stands:
        findings += _snippet_findings(cited, snippet)
    # A quote that stands in the snippet shares its fate.
    if quote is not None and (snippet is None or quote not in snippet):
        findings += _quote_findings(cited, quote)
    if cited.unchecked:
        return PlaceCheck(tuple(findings), "nothing", cited.unchecked)
    if snippet is None and quote is None:
        return PlaceCheck(tuple(findings), "range", _NO_WORDS)
    return PlaceCheck(tuple(findings))


def _blank(text: str | None) -> bool:
    return text is None or not text.strip()


def _offset_findings(
    cited: CitedPlace, snippet: str | None, quote: str | None
) -> list[CitationFinding]:
    """The finding for offsets that lead to no place, with where the words stand."""
    place, offsets = cited.place, cited.payload.offsets
    if isinstance(place, Place) or cited.unchecked:
        return []
    where = ""
    if snippet is not None and (found := cited.find(snippet)):
        where = f"; the text {cited.true_place(found)}"
    elif snippet is None and quote is not None and (found := cited.find(quote)):
        where = f"; the quote stands at {cited.range_in(cited.document.text, found.place)}"
    if place.kind == "beyond":
        got, expected = f"{offsets.start}–{offsets.end}", place.reason
        return [_finding("out_of_range", "offsets", got, expected + where + cited.file_note)]
    expected = f"an offset between characters{where}"
    got = place.reason + cited.file_note
    return [_finding("span_text_mismatch", "offsets", got, expected)]


def _snippet_findings(cited: CitedPlace, snippet: str) -> list[CitationFinding]:
    """The finding for a snippet whose text is not what stands at the offsets."""
    found, stands = cited.find(snippet), cited.stands
    if found is None:
        return [_elsewhere(cited, snippet, "offsets")]
    if stands is None:
        if not (cited.unchecked and found.but_for):
            return []  # to the letter in the document, or said of the offsets already
        stands = cited.document.text[slice(*found.place)]
    got = shown(stands, beside=snippet) + cited.file_note
    expected = f"{shown(snippet, beside=stands)} {cited.true_place(found)}"
    return [_finding("span_text_mismatch", "offsets", got, expected)]


def _quote_findings(cited: CitedPlace, quote: str) -> list[CitationFinding]:
    """The finding for a quote that does not stand in the cited span word for word."""
    stands = cited.stands
    if stands is not None:
        if quote in stands:
            return []
        but_for = differences(quote, stands, within=True)
        if but_for:
            return [_quote_finding(cited, quote, differing(but_for))]
    found = cited.find_quote(quote)
    if found is None:
        return [_elsewhere(cited, quote, "quote")]
    if stands is None and not found.but_for:
        return []
    return [_quote_finding(cited, quote, cited.beside(found))]


def _quote_finding(cited: CitedPlace, quote: str, where: str) -> CitationFinding:
    expected = f"the words of the span; {where}{cited.file_note}"
    return _finding("span_text_mismatch", "quote", shown(quote), expected)


def _elsewhere(cited: CitedPlace, words: str, field: str) -> CitationFinding:
    """The finding for words that do not stand in the cited document."""
    doc_id, stands = one_line(cited.payload.doc_id, ID_SHOWN), cited.stands
    if _blank(words):
        fact = "is the snippet's whole text"
    else:
        search = other_source(words, cited.payload.doc_id, cited.documents)
        holder, others = search.holder, search.searched
        if holder and holder.tells:
            where = cited.range_in(holder.document.text, holder.place)
            shared = "" if holder.alone else ", and others,"
            named = one_line(holder.document.doc_id, ID_SHOWN)
            holds = f"{named} {where}{shared} holds {shown(words)}{cited.file_note}"
            return _finding(
                "misattributed", "doc_id" if field == "offsets" else field, doc_id, holds
            )
        why = "no other document was searched"
        if holder:
            why = "too short to tell where it comes from"
        elif others:
            how = "as whole words" if search.whole_words else "to the letter"
            several = f"in none of the {others:,} others" if others > 1 else "not in the 1 other"
            why = f"{how} {several} searched"
        fact = f"is not in {doc_id}, and {why}"
    if field == "quote":
        return _finding("span_text_mismatch", field, shown(words), fact + cited.file_note)
    got = "nothing like it" if stands is None else shown(stands, beside=words)
    expected = f"{shown(words, beside=stands)} {fact}"
    return _finding("span_text_mismatch", field, got + cited.file_note, expected)


def _finding(code: str, field: str, got: str, expected: str) -> CitationFinding:
    return CitationFinding(code=code, field=field, got=got, expected=expected)


TELLING_WORDS = 3
"""Fewer words may stand anywhere: they tell a document only where no other has them."""
UNSPACED_WORD = 2
"""Characters that count as a word in scripts without blanks."""
KEPT_CHARS = 1 << 24
"""Characters of the words that were searched for, and of the documents that hold them."""
ENTRY_CHARS = 256
"""What remembering a search takes besides them."""

_UNSPACED = re.compile(f"[{UNSPACED}]")


class SourceDocument(Struct, frozen=True):
    """A document that holds the words, the first by id, and where in it."""

    document: FrozenDocument
    place: Place
    alone: bool
    """No other document holds them."""
    tells: bool
    """The words can be said to come from it: they are many, or stand in no other document."""


class Search(Struct, frozen=True):
    """What came of looking for words in the other documents."""

    holder: SourceDocument | None
    searched: int
    """Documents that were looked into; all that can be read, where none holds the words."""
    whole_words: bool
    """Only whole words counted."""


_SEARCHES: WeakKeyDictionary[Documents, SizedLRU[tuple[str, str], Search]] = WeakKeyDictionary()


def other_source(words: str, doc_id: str, documents: Documents) -> Search:
    """The first document other than `doc_id` that holds the words, if any does.

    Few words, such as a name or a year, must be whole words: "art" does not stand in "party".
    What was found is remembered, because the documents are frozen: a stale snippet recurs.
    """
    try:
        searches = _SEARCHES.setdefault(documents, SizedLRU(KEPT_CHARS))
    except TypeError:  # no hash, or no weak reference to it: nothing to remember it by
        searches = SizedLRU(KEPT_CHARS)
    search = searches.get((doc_id, words))
    if search is None:
        search = _search(words, doc_id, documents)
        held = len(search.holder.document.text) if search.holder else 0
        searches.keep((doc_id, words), search, chars=ENTRY_CHARS + len(words) + held)
    return search


def _search(words: str, doc_id: str, documents: Documents) -> Search:
    unspaced, searched = len(_UNSPACED.findall(words)), 0
    spaced = len(_UNSPACED.sub(" ", words).split())
    telling = spaced + unspaced // UNSPACED_WORD >= TELLING_WORDS
    # Few words must be no part of longer ones, in scripts that part them.
    before = r"(?<!\w)" if _parted(words[0]) else ""
    after = r"(?!\w)" if _parted(words[-1]) else ""
    pattern = None if telling else re.compile(f"{before}{re.escape(words)}{after}")

    def holding() -> Iterator[tuple[FrozenDocument, Place]]:
        nonlocal searched
        for document in documents.others(doc_id):
            searched += 1
            at = document.text.find(words)
            if at >= 0 and pattern is not None:
                match = pattern.search(document.text, at)
                at = match.start() if match else -1
            if at >= 0:
                yield document, Place(at, at + len(words))

    held = list(islice(holding(), 2))
    alone = len(held) == 1
    holder = SourceDocument(*held[0], alone=alone, tells=telling or alone) if held else None
    return Search(holder, searched, not telling)


def _parted(character: str) -> bool:
    return character.isalnum() and not _UNSPACED.match(character)
