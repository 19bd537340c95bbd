"""The page of a document: a frozen text, opened at the span that a citation points to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ragauge.citations.likeness import differences, nearest, nearly
from ragauge.citations.offsets import OffsetReading, Place, Unresolved, resolve, ruler_of
from ragauge.contracts.citation import Offsets
from ragauge.contracts.documents import FrozenDocument
from ragauge.contracts.history import Run
from ragauge.contracts.kept import KeptAnswer
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.links import Links, run_names
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Figures, Page
from ragauge.dashboard.pages.document_text import Opened, opened
from ragauge.dashboard.pages.question_trace import (
    LONGEST_TEXT,
    apart,
    chunks_of,
    citations_of,
    offset_reading,
    span_words,
    without_bare,
)
from ragauge.dashboard.rendering import render
from ragauge.dashboard.unit_list import SHORT, Ways
from ragauge.reports.differences import LONGEST, Differing, Marked
from ragauge.reports.foreign import cut, flat
from ragauge.reports.numbers import counted
from ragauge.text.canonical import composed

IN_TOKENS = (
    "The citation counts its offsets in tokens. Without the tokenizer that made them they are no "
    "place in a text, so that nothing is marked."
)
NO_OFFSETS = "The citation gives no offsets that can be read, so that nothing is marked."


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The document that the address names; without it, what the answers know of its text."""
    run, unit = material.run(asked.needed("run")), asked.exact("unit")
    doc_id, rev, offsets = asked.needed("doc"), asked.exact("rev"), _offsets(asked)
    document = material.document(run, doc_id, rev)
    knowledge = known_of(material.answers(run, unit) or () if unit else (), doc_id, rev)
    known, ways = knowledge.spans, Ways(run, unit, links, {})
    place, why = _place(document, offsets, known, run)
    text = document.text if document else ""
    others = _others(known, offsets, text, run)
    view = opened(text, place, others, _from(asked)) if document else None
    checks, more_checks = _checks(document, place, ways, _here(known, offsets))
    body = render(
        "document_page.html",
        run=run,
        run_name=run_names(run),
        unit=unit,
        back=links.question(run.id, unit) if unit else None,
        doc_id=doc_id,
        rev=rev,
        offsets=offsets,
        document=document,
        place=place,
        why=why,
        view=view,
        others=len(others),
        checks=checks,
        cuts=_cuts(knowledge, more_checks),
        differences=differences_of(known, offsets, ways, doc_id, rev),
        known=known,
        parts=_parts(links, run, doc_id, rev, offsets, unit, view),
        links=links,
    )
    crumbs = (
        ("Runs", links.runs()),
        (run_names(run), links.run(run.id)),
        *(((unit, links.question(run.id, unit)),) if unit else ()),
        (doc_id, None),
    )
    figures = {"citations": lambda: _figures(known)}
    title = f"{cut(doc_id, SHORT)} · document"
    return Page(title=title, here="runs", body=body, crumbs=crumbs, figures=figures)


def _offsets(asked: Asked) -> Offsets | None:
    """The span of the address; None where it names none."""
    if not (asked.text("start") or asked.text("end")):
        return None
    return Offsets(asked.number("start"), asked.number("end"))


def _from(asked: Asked) -> int | None:
    return asked.number("from") if asked.text("from") else None


def _place(
    document: FrozenDocument | None, offsets: Offsets | None, known: tuple[Known, ...], run: Run
) -> tuple[Place | None, str]:
    """Where the span stands, in code points, or why it is nowhere."""
    if document is None:
        return None, ""
    if offsets is None:
        if any(one.offsets and one.offsets.unit == "token" for one in known):
            return None, IN_TOKENS
        return None, NO_OFFSETS if any(one.offsets is None for one in known) else ""
    found = resolve(offsets, document.text, offset_reading(run))
    if isinstance(found, Unresolved):
        return None, f"Nothing is marked: {found.reason}."
    return found, ""


def _cuts(knowledge: Knowledge, more_checks: int) -> list[str]:
    """What was not looked at, each in words."""
    left = (
        (knowledge.more_answers, "answer", "to the question", f"the first {MOST_ANSWERS:,}"),
        (knowledge.more_spans, "span", "of the document", f"{MOST_KNOWN:,} of them"),
        (more_checks, "text", "of chunks and quotes", f"{MOST_CHECKS:,} of them"),
    )
    return [
        f"{counted(more, one)} more {what} not looked at: this page takes {most}."
        for more, one, what, most in left
        if more
    ]


def _here(known: tuple[Known, ...], offsets: Offsets | None) -> list[Known]:
    """What points to the very span; where none is asked for, what has no place in the text."""
    if offsets is None:
        return [one for one in known if one.offsets is None or one.offsets.unit == "token"]
    return [one for one in known if one.offsets == offsets]


def _checks(
    document: FrozenDocument | None, place: Place | None, ways: Ways, here: list[Known]
) -> tuple[tuple[Check, ...], int]:
    if document is None:
        return (), 0
    return Checker(document, place, ways, offset_reading(ways.run)).checks(here)


def _others(
    known: tuple[Known, ...], offsets: Offsets | None, text: str, run: Run
) -> tuple[Place, ...]:
    """Other spans of the document that the answers cite, or that the chunks they name have."""
    cited = [one for one in known if one.is_cited]
    spans = dict.fromkeys(span for one in cited for span in (one.offsets, one.own))
    spans.pop(offsets, None)
    found = (resolve(one, text, offset_reading(run)) for one in spans if one)
    return tuple(one for one in found if isinstance(one, Place))


def _parts(
    links: Links,
    run: Run,
    doc_id: str,
    rev: str,
    offsets: Offsets | None,
    unit: str,
    view: Opened | None,
) -> dict[str, str]:
    """The way to what stands before and after the part that is shown, where a server has it."""
    start, end = (offsets.start, offsets.end) if offsets else (None, None)
    whole = links.document(run.id, doc_id, rev, start, end, unit)
    if view is None or whole is None or not whole.startswith("/"):
        return {}
    bare = whole.partition("#")[0]
    places = {"earlier": view.earlier, "later": view.later}
    return {name: f"{bare}&from={at}" for name, at in places.items() if at is not None}


def _figures(known: tuple[Known, ...]) -> Figures:
    head = ("id", "cited", "start", "end", "unit", "chunk_start", "chunk_end", "quote")
    rows = []
    for one in known:
        span = one.offsets
        place = (span.start, span.end, span.unit) if span else (None, None, None)
        own = (one.own.start, one.own.end) if one.own else (None, None)
        rows.append((one.id, one.is_cited, *place, *own, one.quote))
    return Figures(head, rows)


MOST_ANSWERS = 200
"""Answers to a question that are looked at for what they cite of the document."""
MOST_KNOWN = 100
"""Spans of the document, cited or retrieved, that a page looks at."""


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

    @property
    def differs(self) -> bool:
        """Whether the answer cites another span than its chunk has."""
        return self.own is not None and self.offsets != self.own

    @property
    def is_cut(self) -> bool:
        """The text may go on: a page takes no more of it."""
        return len(self.text or "") == LONGEST_TEXT


class Knowledge(Struct, frozen=True, kw_only=True):
    """What is known of a document, and what was left out of it."""

    spans: tuple[Known, ...]
    more_spans: int
    more_answers: int


def known_of(answers: Sequence[KeptAnswer], doc_id: str, rev: str) -> Knowledge:
    """What points into this revision of the document, each once, citations first."""
    found = dict.fromkeys(
        one for kept in answers[:MOST_ANSWERS] for one in _in_answer(kept, doc_id, rev)
    )
    # A citation without a quote says no more than one with it, and a chunk no more than either.
    quoted = {(one.id, one.offsets) for one in found if one.quote is not None}
    found = {one: None for one in found if one.quote or (one.id, one.offsets) not in quoted}
    said = {(one.id, one.offsets) for one in found if one.is_cited}
    kept = [one for one in found if one.is_cited or (one.id, one.offsets) not in said]
    ordered = sorted(kept, key=lambda one: not one.is_cited)
    return Knowledge(
        spans=tuple(ordered[:MOST_KNOWN]),
        more_spans=max(0, len(ordered) - MOST_KNOWN),
        more_answers=max(0, len(answers) - MOST_ANSWERS),
    )


def _in_answer(kept: KeptAnswer, doc_id: str, rev: str) -> Iterator[Known]:
    chunks = chunks_of(kept.trace, ())
    for one in without_bare(citations_of(kept.trace, chunks)):
        if _same(one.doc_id, one.rev, doc_id, rev):
            yield Known(
                id=one.id or "",
                is_cited=True,
                offsets=one.offsets,
                own=one.known,
                quote=one.quote,
                text=one.text,
            )
    for chunk in chunks:
        if _same(chunk.doc_id, chunk.rev, doc_id, rev):
            yield Known(
                id=chunk.id or "",
                is_cited=False,
                offsets=chunk.offsets,
                own=chunk.offsets,
                quote=None,
                text=chunk.text,
            )


def _same(theirs: str | None, their_rev: str | None, doc_id: str, rev: str) -> bool:
    return theirs is not None and composed(theirs) == composed(doc_id) and (their_rev or "") == rev


MOST_DIFFERENCES = 20
"""Differences that a page tells."""


class Difference(Struct, frozen=True):
    """A citation whose span is not its chunk's, seen from one of the two."""

    id: str
    says: str
    name: str
    """The other span."""
    href: str | None
    apart: str


def differences_of(
    known: tuple[Known, ...], offsets: Offsets | None, ways: Ways, doc_id: str, rev: str
) -> list[Difference]:
    """Where an answer cites the span and its chunk has another, or the other way round."""
    found = dict[tuple[str, Offsets], Difference]()
    for one in known:
        if one.offsets is None or one.own is None or not one.differs:
            continue
        if offsets == one.offsets or (offsets is None and one.offsets.unit == "token"):
            other, says = one.own, "The answer cites this span, and the chunk it names has"
        elif offsets == one.own:
            other, says = one.offsets, "This is the chunk's own span, and the answer cites"
        else:
            continue
        href = ways.document(doc_id, rev, other) if other.unit == "char" else None
        words = apart(one.offsets, one.own)
        found[one.id, other] = Difference(one.id, says, span_words(other), href, words)
    return list(found.values())[:MOST_DIFFERENCES]


MOST_CHECKS = 20
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
        found = tuple(self._check(what, words, one) for (what, words), one in every[:MOST_CHECKS])
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
