"""The page of a document: a frozen text, opened at the span that a citation points to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import Struct

from ragauge.citations.likeness import differences, nearest, nearly
from ragauge.citations.offsets import OffsetReading, Place, Unresolved, resolve, ruler_of
from ragauge.contracts.citation import Offsets
from ragauge.contracts.documents import FrozenDocument
from ragauge.contracts.kept import KeptAnswer
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.links import Links, run_names
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Figures, Page
from ragauge.dashboard.pages.question_trace import (
    LONGEST_TEXT,
    apart,
    chunks_of,
    citations_of,
    holds,
    offset_reading,
    parted,
    span_words,
    without_bare,
)
from ragauge.dashboard.rendering import render
from ragauge.dashboard.unit_list import SHORT, Ways
from ragauge.reports import differences as compared
from ragauge.reports.differences import Differing, Marked
from ragauge.reports.foreign import cut, flat, readable
from ragauge.reports.numbers import counted
from ragauge.text.canonical import composed

if TYPE_CHECKING:
    from markupsafe import Markup

IN_TOKENS = (
    "The citation counts its offsets in tokens. Without the tokenizer that made them they are no "
    "place in a text, so that nothing is marked."
)
NO_OFFSETS = "The citation gives no offsets that can be read, so that nothing is marked."
MOST_ANSWERS = 200
"""Answers to a question that are looked at for what they cite of the document."""
MOST_KNOWN = 100
"""Spans of the document, cited or retrieved, that a page looks at."""
MOST_DIFFERENCES = 20
MOST_CHECKS = 20
"""Texts that are compared for a page."""
CHUNK, QUOTE = "The chunk's text", "The quote"
AROUND = 20_000
"""Characters before and after the span that are shown with it."""
LONGEST = 60_000
"""Characters of a part, however long the span is."""
TO_LINE = 2_000
"""How far a part reaches back to begin with a line."""


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The document that the address names; without it, what the answers know of its text."""
    run, unit = material.run(asked.needed("run")), asked.exact("unit")
    doc_id, rev, offsets = asked.needed("doc"), asked.exact("rev"), None
    if asked.text("start") or asked.text("end"):
        offsets = Offsets(asked.number("start"), asked.number("end"))
    begin = asked.number("from") if asked.text("from") else None
    answers = (material.answers(run, unit) or ()) if unit else ()
    every = known_of(answers[:MOST_ANSWERS], doc_id, rev)
    known, ways = every[:MOST_KNOWN], Ways(run, unit, links, {})
    document, reading = material.document(run, doc_id, rev), offset_reading(run)
    place, why, view, more_checks = None, "", None, 0
    checks: list[Check] = []
    others: list[Place] = []
    parts: dict[str, str] = {}
    if document:
        place, why = _place(document, offsets, known, reading)
        others = _others(known, offsets, document.text, reading)
        view = opened(document.text, place, others, begin)
        checks, more_checks = _checks(document, place, ways, known, offsets)
        # The way to what stands before and after the part that is shown, where a server has it.
        here = ways.document(doc_id, rev, offsets) or ""
        if here.startswith("/"):
            at = {"earlier": view.earlier, "later": view.later}
            bare = here.partition("#")[0]
            parts = {name: f"{bare}&from={n}" for name, n in at.items() if n is not None}
    left_out = (
        (len(answers) - MOST_ANSWERS, "answer", "to the question", f"the first {MOST_ANSWERS:,}"),
        (len(every) - MOST_KNOWN, "span", "of the document", f"{MOST_KNOWN:,} of them"),
        (more_checks, "text", "of chunks and quotes", f"{MOST_CHECKS:,} of them"),
    )
    back = links.question(run.id, unit) if unit else None
    body = render(
        "document_page.html",
        run=run,
        run_name=run_names(run),
        unit=unit,
        back=back,
        doc_id=doc_id,
        rev=rev,
        offsets=offsets,
        document=document,
        place=place,
        why=why,
        view=view,
        others=len(others),
        checks=checks,
        cuts=[
            f"{counted(more, one)} more {what} not looked at: this page takes {most}."
            for more, one, what, most in left_out
            if more > 0
        ],
        differences=_differences(known, offsets, ways, doc_id, rev),
        known=known,
        parts=parts,
        links=links,
        span_words=span_words,
    )
    crumbs = (
        ("Runs", links.runs()),
        (run_names(run), links.run(run.id)),
        *(((unit, back),) if unit else ()),
        (doc_id, None),
    )
    figures = {"citations": lambda: _figures(known)}
    title = f"{cut(doc_id, SHORT)} · document"
    return Page(title=title, here="runs", drawn=body, crumbs=crumbs, data=figures)


class Known(Struct, frozen=True, kw_only=True):
    """A citation of the document, or a chunk of it that was retrieved."""

    id: str
    is_cited: bool
    offsets: Offsets | None
    """As the answer wrote them, else the chunk's."""
    own: Offsets | None
    """The chunk's."""
    quote: str | None
    text: str | None


def known_of(answers: Sequence[KeptAnswer], doc_id: str, rev: str) -> list[Known]:
    """What points into this revision of the document, each once, citations first."""
    found = dict.fromkeys(one for kept in answers for one in _in_answer(kept, doc_id, rev))
    # A citation without a quote says no more than one with it, and a chunk no more than either.
    quoted = {(one.id, one.offsets) for one in found if one.quote is not None}
    found = {one: None for one in found if one.quote or (one.id, one.offsets) not in quoted}
    said = {(one.id, one.offsets) for one in found if one.is_cited}
    kept = [one for one in found if one.is_cited or (one.id, one.offsets) not in said]
    return sorted(kept, key=lambda one: not one.is_cited)


def _in_answer(kept: KeptAnswer, doc_id: str, rev: str) -> Iterator[Known]:
    chunks, wanted = chunks_of(kept.trace, ()), (composed(doc_id), rev)
    for one in without_bare(citations_of(kept.trace, chunks)):
        if one.doc_id is not None and (composed(one.doc_id), one.rev or "") == wanted:
            yield Known(
                id=one.id or "",
                is_cited=True,
                offsets=one.offsets,
                own=one.known,
                quote=one.quote,
                text=one.text,
            )
    for chunk in chunks:
        if chunk.doc_id is not None and (composed(chunk.doc_id), chunk.rev or "") == wanted:
            yield Known(
                id=chunk.id or "",
                is_cited=False,
                offsets=chunk.offsets,
                own=chunk.offsets,
                quote=None,
                text=chunk.text,
            )


def _figures(known: Sequence[Known]) -> Figures:
    head = ("id", "cited", "start", "end", "unit", "chunk_start", "chunk_end", "quote")
    rows = []
    for one in known:
        span = one.offsets
        place = (span.start, span.end, span.unit) if span else (None, None, None)
        own = (one.own.start, one.own.end) if one.own else (None, None)
        rows.append((one.id, one.is_cited, *place, *own, one.quote))
    return Figures(head, rows)


def _place(
    document: FrozenDocument,
    offsets: Offsets | None,
    known: Sequence[Known],
    reading: OffsetReading,
) -> tuple[Place | None, str]:
    """Where the span stands, in code points, or why it is nowhere."""
    if offsets is None:
        if any(one.offsets and one.offsets.unit == "token" for one in known):
            return None, IN_TOKENS
        return None, NO_OFFSETS if any(one.offsets is None for one in known) else ""
    found = resolve(offsets, document.text, reading)
    if isinstance(found, Unresolved):
        return None, f"Nothing is marked: {found.reason}."
    return found, ""


def _others(
    known: Sequence[Known], offsets: Offsets | None, text: str, reading: OffsetReading
) -> list[Place]:
    """Other spans of the document that the answers cite, or that the chunks they name have."""
    spans = dict.fromkeys(span for one in known if one.is_cited for span in (one.offsets, one.own))
    spans.pop(offsets, None)
    found = (resolve(one, text, reading) for one in spans if one)
    return [one for one in found if isinstance(one, Place)]


def _differences(
    known: Sequence[Known], offsets: Offsets | None, ways: Ways, doc_id: str, rev: str
) -> list[tuple[str, str, str, str | None, str]]:
    """Where an answer cites the span and its chunk has another, or the other way round.

    For each the citation's id, what is the case, the other span, its address, how they differ.
    """
    found = dict[tuple[str, Offsets], tuple[str, str, str, str | None, str]]()
    for one in known:
        if one.offsets is None or one.own is None or one.offsets == one.own:
            continue
        if offsets == one.offsets or (offsets is None and one.offsets.unit == "token"):
            other, says = one.own, "The answer cites this span, and the chunk it names has"
        elif offsets == one.own:
            other, says = one.offsets, "This is the chunk's own span, and the answer cites"
        else:
            continue
        href = ways.document(doc_id, rev, other) if other.unit == "char" else None
        words = apart(one.offsets, one.own)
        found[one.id, other] = (one.id, says, span_words(other), href, words)
    return list(found.values())[:MOST_DIFFERENCES]


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


def _checks(
    document: FrozenDocument,
    place: Place | None,
    ways: Ways,
    known: Sequence[Known],
    offsets: Offsets | None,
) -> tuple[list[Check], int]:
    """Each different text once: those of chunks, then what is quoted of them; how many more.

    Looked at is what points to the very span; where none is asked for, what has no place.
    """
    text, near, differing = document.text, place.start if place else 0, Differing()
    stands = None if place is None else text[slice(*place)]

    def check(what: str, words: str, one: Known) -> Check:
        within = what == QUOTE
        if stands is not None:
            # The text of a chunk may go on: a page takes no more of it.
            is_cut = not within and len(words) == LONGEST_TEXT
            shown = stands[: len(words)] if is_cut else stands
            if words == shown or (within and words in shown):
                return Check(what=what, id=one.id, holds=True, says="stands there to the letter")
            if but_for := differences(words, shown, within=within):
                says = f"stands there but for {', '.join(but_for)}"
                return Check(what=what, id=one.id, holds=True, says=says)
        says = "is not what stands there" if stands is not None else "has no place of its own"
        start = nearest(text, words, near)
        found = nearly(text, words, near) if start is None else Place(start, start + len(words))
        href, at = None, ""
        if found:
            # In the unit of the run's offsets.
            ruler = ruler_of(text, "char", offset_reading(ways.run))
            span = Offsets(*(found if isinstance(ruler, Unresolved) else ruler.measured(found)))
            href, at = (
                ways.document(document.doc_id, document.rev, span),
                f"{span.start}–{span.end}",
            )
        wholly = bool(stands) and differing.wholly(words, stands or "")
        there: Marked = [(cut(flat(stands or ""), compared.LONGEST), False)]
        return Check(
            what=what,
            id=one.id,
            holds=False,
            says=says if found else f"{says}, and is nowhere in the document",
            words=differing(words, stands) if stands else [],
            stands=(there if wholly else differing(stands, words)) if stands else [],
            wholly=wholly,
            href=href,
            at=at,
        )

    said: dict[tuple[str, str], Known] = {}
    for one in known:
        is_placeless = one.offsets is None or one.offsets.unit == "token"
        if is_placeless if offsets is None else one.offsets == offsets:
            for what, words in ((CHUNK, one.text), (QUOTE, one.quote)):
                if words is not None and words.strip():
                    said.setdefault((what, words), one)
    every = sorted(said.items(), key=lambda each: each[0][0] == QUOTE)
    found = [check(what, words, one) for (what, words), one in every[:MOST_CHECKS]]
    return found, len(every) - len(found)


Line = tuple[int, bool, list[tuple["Markup", str, bool]]]
"""Its number, whether it is a heading, and its pieces. A piece is `cited`, `other` for what is
cited besides, or neither; the last says whether the span begins with it."""


class Opened(Struct, frozen=True, kw_only=True):
    """A part of a document."""

    lines: list[Line]
    window: Place
    length: int
    shows_span: bool
    """Whether all of the span is in this part."""

    @property
    def earlier(self) -> int | None:
        """Where the part before begins; None where there is none."""
        return max(0, self.window.start - LONGEST) if self.window.start else None

    @property
    def later(self) -> int | None:
        return self.window.end if self.window.end < self.length else None


def opened(text: str, span: Place | None, others: Sequence[Place], begin: int | None) -> Opened:
    """The part around the span, or that begins where the reader wants it, line by line."""
    if begin is not None:
        start = min(begin, len(text))
        end = start + LONGEST
    elif span is None:
        start, end = 0, 2 * AROUND
    else:
        start = max(0, span.start - AROUND)
        if start:
            start = text.rfind("\n", max(0, start - TO_LINE), start) + 1 or start
        end = min(span.end + AROUND, start + LONGEST)
    window = Place(start, min(len(text), end))
    marks = [span, *others] if span else others

    def kind(piece: Place) -> str:
        if span and holds(span, piece):
            return "cited"
        return "other" if any(holds(one, piece) for one in others) else ""

    lines: list[Line] = []
    number = text.count("\n", 0, start) + 1
    while start < window.end:
        at = text.find("\n", start, window.end)
        line = Place(start, window.end if at < 0 else at + 1)
        pieces = []
        # Pieces of one kind that follow each other are one mark, whatever crosses it.
        for name, group in groupby(parted(line, marks), key=kind):
            ends = [*group]
            words = letter_for_letter(text[ends[0].start : ends[-1].end])
            pieces.append((words, name, span is not None and ends[0].start == span.start))
        lines.append((number, text.startswith("#", start), pieces))
        start, number = line.end, number + 1
    shows_span = span is not None and holds(window, span)
    return Opened(lines=lines, window=window, length=len(text), shows_span=shows_span)


def letter_for_letter(text: str) -> Markup:
    """The text as a page takes it without losing a character: CRLF stays CRLF.

    A browser reads a bare CR as the end of a line, so that it is written as a reference. Other
    unseen characters are spelled out, as everywhere.
    """
    from markupsafe import Markup, escape

    return Markup("&#13;\n").join(escape(readable(part)) for part in text.split("\r\n"))
