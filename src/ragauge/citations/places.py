"""Whether a citation's words stand where it says, and where they stand if not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Literal
from weakref import WeakKeyDictionary

from msgspec import Struct

from ragauge.citations.cited_place import ID_SHOWN, CitedPlace, differing, shown
from ragauge.citations.likeness import differences
from ragauge.citations.offsets import OffsetReading, Place, resolve
from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.citation import Citation
from ragauge.contracts.documents import Documents, FrozenDocument
from ragauge.text.canonical import UNSPACED
from ragauge.text.recent import Recent
from ragauge.text.visible import one_line


class Said(Struct, frozen=True):
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
    payload: Citation, said: Said, documents: Documents, reading: OffsetReading
) -> PlaceCheck:
    """What is wrong with the place a citation gives, and how much of it could be looked at.

    Words that stand where they should cost a slice and a comparison; only others are searched
    for, in the cited document first.
    """
    document = documents.find(payload.doc_id, payload.rev)
    if document is None:
        return PlaceCheck((_missing(payload),), "nothing", "the document is not there")
    place = resolve(payload.offsets, document.text, reading)
    if isinstance(place, Place) and _as_said(document.text[place.start : place.end], said):
        return _IN_RANGE if said.snippet is None and _blank(said.quote) else _AS_SAID
    return _looked_into(CitedPlace(payload, document, documents, reading, place), said)


def _as_said(stands: str, said: Said) -> bool:
    snippet, quote = said.snippet, said.quote
    if snippet is not None and snippet != stands:
        return False
    return quote is None or quote in stands or _blank(quote)


def _blank(text: str | None) -> bool:
    return text is None or not text.strip()


def _looked_into(cited: CitedPlace, said: Said) -> PlaceCheck:
    snippet, quote = said.snippet, None if _blank(said.quote) else said.quote
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
        search = other_holder(words, cited.payload.doc_id, cited.documents)
        holder = search.holder
        if holder and holder.tells:
            return _misattributed(cited, words, "doc_id" if field == "offsets" else field, holder)
        fact = f"is not in {doc_id}, and {_not_told(search)}"
    if field == "quote":
        return _finding("span_text_mismatch", field, shown(words), fact + cited.file_note)
    got = "nothing like it" if stands is None else shown(stands, beside=words)
    expected = f"{shown(words, beside=stands)} {fact}"
    return _finding("span_text_mismatch", field, got + cited.file_note, expected)


def _not_told(search: Search) -> str:
    """Why no other document can be named for words."""
    if search.holder:
        return "too short to tell where it comes from"
    if not search.searched:
        return "no other document was searched"
    how = "as whole words" if search.whole_words else "to the letter"
    several = search.searched > 1
    where = f"in none of the {search.searched:,} others" if several else "not in the 1 other"
    return f"{how} {where} searched"


def _misattributed(cited: CitedPlace, words: str, field: str, holder: Holder) -> CitationFinding:
    where = cited.range_in(holder.document.text, holder.place)
    shared = "" if holder.alone else ", and others,"
    holds = f"{one_line(holder.document.doc_id, ID_SHOWN)} {where}{shared} holds {shown(words)}"
    cited_id = one_line(cited.payload.doc_id, ID_SHOWN)
    return _finding("misattributed", field, cited_id, holds + cited.file_note)


def _missing(payload: Citation) -> CitationFinding:
    got = one_line(f"{payload.doc_id}@{payload.rev}", ID_SHOWN)
    return _finding("missing_document", "doc_id", got, "the document of that revision")


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


class Holder(Struct, frozen=True):
    """A document that holds the words, the first by id, and where in it."""

    document: FrozenDocument
    place: Place
    alone: bool
    """No other document holds them."""
    tells: bool
    """The words can be said to come from it: they are many, or stand in no other document."""


class Search(Struct, frozen=True):
    """What came of looking for words in the other documents."""

    holder: Holder | None
    searched: int
    """Documents that were looked into; all that can be read, where none holds the words."""
    whole_words: bool
    """Only whole words counted."""


_SEARCHES: WeakKeyDictionary[Documents, Recent[tuple[str, str], Search]] = WeakKeyDictionary()


def other_holder(words: str, doc_id: str, documents: Documents) -> Search:
    """The first document other than `doc_id` that holds the words, if any does.

    Few words, such as a name or a year, must be whole words: "art" does not stand in "party".
    What was found is remembered, because the documents are frozen: a stale snippet recurs.
    """
    searches = _searches_of(documents)
    search = searches.get((doc_id, words))
    if search is None:
        search = _search(words, doc_id, documents)
        held = len(search.holder.document.text) if search.holder else 0
        searches.keep((doc_id, words), search, chars=ENTRY_CHARS + len(words) + held)
    return search


def _searches_of(documents: Documents) -> Recent[tuple[str, str], Search]:
    try:
        return _SEARCHES.setdefault(documents, Recent(KEPT_CHARS))
    except TypeError:  # no hash, or no weak reference to it: nothing to remember it by
        return Recent(KEPT_CHARS)


def _search(words: str, doc_id: str, documents: Documents) -> Search:
    telling, searched = _telling(words), 0
    pattern = None if telling else re.compile(_as_whole_words(words))

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
    holder = Holder(*held[0], alone=alone, tells=telling or alone) if held else None
    return Search(holder, searched, not telling)


def _telling(words: str) -> bool:
    unspaced = len(_UNSPACED.findall(words))
    spaced = len(_UNSPACED.sub(" ", words).split())
    return spaced + unspaced // UNSPACED_WORD >= TELLING_WORDS


def _as_whole_words(words: str) -> str:
    """The pattern of words that are no part of longer ones, in scripts that part them."""
    before = r"(?<!\w)" if _parted(words[0]) else ""
    after = r"(?!\w)" if _parted(words[-1]) else ""
    return f"{before}{re.escape(words)}{after}"


def _parted(character: str) -> bool:
    return character.isalnum() and not _UNSPACED.match(character)
