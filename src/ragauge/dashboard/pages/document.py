"""The page of a document: a frozen text, opened at the span that a citation points to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.citations.fuzzy_match import differences, fuzzy_match, nearest_exact
from ragauge.citations.offsets import Place, Unresolved, resolve, ruler_of
from ragauge.contracts.citation import Offsets
from ragauge.contracts.documents import FrozenDocument
from ragauge.contracts.kept import KeptAnswer
from ragauge.dashboard import parts
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Links, Page, run_names
from ragauge.dashboard.pages.question_trace import (
    LONGEST_TEXT,
    Answer,
    Chunk,
    Cited,
    offset_reading,
    reader_of,
    span_words,
)
from ragauge.dashboard.parts import Mark, marked
from ragauge.dashboard.query import Query
from ragauge.dashboard.unit_list import SHORT, QuestionLinks
from ragauge.metrics.facts import Reader
from ragauge.reports import document as doc
from ragauge.reports.document import Block, Facts, Inline, Section, Span, Text
from ragauge.reports.phrasing import count, pluralize
from ragauge.text.canonical import composed
from ragauge.text.marks import Differing
from ragauge.text.visible import cut, readable

if TYPE_CHECKING:
    from markupsafe import Markup

IN_TOKENS = (
    "The citation counts its offsets in tokens. Without the tokenizer they cannot be located in "
    "the text, so nothing is marked."
)
NO_OFFSETS = "The citation has no offsets that can be read, so nothing is marked."
NOT_KEPT = (
    "An audit with the documents keeps those that answers and gold point into; the dashboard finds "
    "others in the folder that you name."
)
COMMANDS = "ragauge audit traces.jsonl --docs documents/ --record\nragauge serve --docs documents/"
PROVEN = "proven: it is the hash of this text, or identifies where it is kept"
UNPROVEN = "unproven: nothing shows that the text is of this revision, it may be a later one"
MOST_ANSWERS = 200
"""Answers to a question that are searched for what they cite of the document."""
MOST_KNOWN = 100
"""Spans of the document, cited or retrieved, that a page looks at."""
MOST_CHECKS = 20
"""Texts that are compared for a page."""
AROUND = 20_000
"""Characters before and after the span that are shown with it."""
LONGEST = 60_000
"""Characters of a part, however long the span is."""
TO_LINE = 2_000
"""How far a part reaches back to begin with a line."""


def page(material: Material, links: Links, query: Query) -> Page:
    """The document that the address names; without it, what the answers know of its text."""
    run, unit = material.run(query.needed("run")), query.exact("unit")
    doc_id, rev, offsets = query.needed("doc"), query.exact("rev"), None
    if query.text("start") or query.text("end"):
        offsets = Offsets(query.number("start"), query.number("end"))
    begin = query.number("from") if query.text("from") else None
    answers = (material.answers(run, unit) or ()) if unit else ()
    every = pointers(answers[:MOST_ANSWERS], reader_of(run), doc_id, rev)
    known, question_links = every[:MOST_KNOWN], QuestionLinks(run, unit, links, {})
    document, back = material.document(run, doc_id, rev), links.question(run.id, unit)
    eyebrow = [Span("document in "), *doc.foreign(run_names(run))]
    if unit:
        eyebrow += [Span(", cited for "), Span(cut(unit, SHORT), foreign=True, href=back or "")]
    facts: list[tuple[str, Inline]] = [("revision", doc.foreign(rev) or "not given")]
    if document:
        length = pluralize(len(document.text), "character")
        facts += [("proof", PROVEN if document.proven else UNPROVEN), ("length", length)]
    if offsets:
        facts.append(("span", f"characters {offsets.start}–{offsets.end} (end not included)"))
    more_answers, more = len(answers) - MOST_ANSWERS, len(every) - MOST_KNOWN
    left_out = doc.listed(
        more_answers > 0 and f"{pluralize(more_answers, 'answer')} after the first {MOST_ANSWERS}",
        more > 0 and f"{pluralize(more, 'span')} after the first {MOST_KNOWN}",
    )
    facts.append(("not included", left_out))
    blocks: list[Block] = [parts.header(doc.foreign(doc_id), eyebrow=eyebrow), Facts(facts)]
    if document:
        blocks += _text(document, offsets, known, question_links, begin)
    else:
        blocks.append(parts.empty("The document is not kept", NOT_KEPT, COMMANDS))
        texts = [
            (
                span_words(one.offsets) if one.offsets else "no offsets",
                [Span(one.text, foreign=True, marked=bool(offsets) and one.offsets == offsets)],
            )
            for one in known
            if one.text
        ]
        title = "Chunks, which may differ from the document"
        blocks += [Section(title=title, blocks=[Facts(texts)])] if texts else []
    crumbs = (
        ("Runs", links.runs()),
        (run_names(run), links.run(run.id)),
        *(((unit, back),) if unit else ()),
        (doc_id, None),
    )
    title = f"{cut(doc_id, SHORT)} · document"
    return Page(title=title, here="runs", blocks=blocks, links=links, crumbs=crumbs)


def pointers(
    answers: Sequence[KeptAnswer], reader: Reader, doc_id: str, rev: str
) -> list[Cited | Chunk]:
    """What points into this revision of the document, each once, citations first."""
    found: list[Cited | Chunk] = []
    for kept in answers:
        answer = Answer(kept, reader)
        found += [*answer.pointing, *answer.chunks]
    # A citation without a quote says no more than one with it, and a chunk no more than either.
    found.sort(key=lambda one: (isinstance(one, Chunk), one.quote is None))
    known = dict[tuple[object, ...], Cited | Chunk]()
    seen = set[tuple[object, ...]]()
    for one in found:
        key = (one.id, one.offsets, one.text)
        is_here = (composed(one.doc_id or ""), one.rev or "") == (composed(doc_id), rev)
        if is_here and (one.quote or key not in seen):
            known.setdefault((*key, one.quote), one)
            seen.add(key)
    return list(known.values())


def _text(
    document: FrozenDocument,
    offsets: Offsets | None,
    known: Sequence[Cited | Chunk],
    question_links: QuestionLinks,
    begin: int | None,
) -> Iterator[Block]:
    """Whether the document has what citations say, then its text with the span marked."""
    text, reading = document.text, offset_reading(question_links.run)
    found = resolve(offsets, text, reading) if offsets else None
    place = found if isinstance(found, Place) else None
    if isinstance(found, Unresolved):
        yield Text(f"Nothing is marked: {found.reason}.", "warm")
    elif not offsets and any(one.offsets and one.offsets.unit == "token" for one in known):
        yield Text(IN_TOKENS, "warm")
    elif not offsets and any(one.offsets is None for one in known):
        yield Text(NO_OFFSETS, "warm")
    if checks := list(_checks(document, place, offsets, known, question_links)):
        yield Section(title="Cited text compared with the document", blocks=checks)
    if not text:
        yield Text("The document is empty.", "soft")
        return
    spread = dict.fromkeys(span for one in known for span in (one.offsets, one.known))
    resolved = (resolve(span, text, reading) for span in spread if span and span != offsets)
    others = [Mark(one, "cited other") for one in resolved if isinstance(one, Place)]
    marks = [Mark(place, "cited", id="cited"), *others] if place else others
    window, lines = opened(text, place, marks, begin)
    about: list[Span] = []
    if place and window.start <= place.start and place.end <= window.end:
        about = [Span("The span is "), Span("marked", to=("here", "cited")), Span(". ")]
    elif place:
        about = [Span("The span is not completely in the part that is shown. ", "warm")]
    if others:
        many = pluralize(len(others), "other cited or retrieved span")
        about.append(Span(f"{many} marked more lightly.", "soft"))
    here = (question_links.document(document.doc_id, document.rev, offsets) or "").partition("#")[0]
    earlier = f"{here}&from={max(0, window.start - LONGEST)}" if window.start else ""
    later = f"{here}&from={window.end}" if window.end < len(text) else ""
    shown = f"characters {count(window.start)}–{count(window.end)} of {count(len(text))}"
    turns = (earlier or later) and parts.served("turns", earlier, shown, later)
    yield parts.section("Text", Text(about), turns, parts.macro("lines", lines))


def _checks(
    document: FrozenDocument,
    place: Place | None,
    offsets: Offsets | None,
    known: Sequence[Cited | Chunk],
    question_links: QuestionLinks,
) -> Iterator[Block]:
    """Each different text once: those of chunks, then what is quoted of them.

    Only what points to the very span; without a span, what has no place in the text.
    """
    text, differing = document.text, Differing()
    there = "" if place is None else text[slice(*place)]
    said: dict[tuple[bool, str], str] = {}
    for one in known:
        is_placeless = one.offsets is None or one.offsets.unit == "token"
        if is_placeless if offsets is None else one.offsets == offsets:
            for is_quote, words in ((False, one.text), (True, one.quote)):
                if words is not None and words.strip():
                    said.setdefault((is_quote, words), one.id or "")
    for (is_quote, words), id in sorted(said.items(), key=lambda each: each[0][0])[:MOST_CHECKS]:
        what = "The quote" if is_quote else "The chunk's text"
        aside = Span(f" {cut(id, SHORT)}", "soft", foreign=True)
        # The text of a chunk may go on: a page takes no more of it.
        is_cut = not is_quote and len(words) == LONGEST_TEXT
        shown = there[: len(words)] if is_cut else there
        same = words == shown or (is_quote and words in shown)
        but_for = () if same or not shown else differences(words, shown, within=is_quote)
        if same or but_for:
            how = f"except for {', '.join(but_for)}" if but_for else "exactly"
            yield Text([Span(f"{what} matches the document {how}.", "good"), aside])
            continue
        near = place.start if place else 0
        start = nearest_exact(text, words, near)
        found = (
            fuzzy_match(text, words, near) if start is None else Place(start, start + len(words))
        )
        link = Span("not found in the document")
        if found:
            # In the unit of the run's offsets.
            ruler = ruler_of(text, "char", offset_reading(question_links.run))
            span = Offsets(*(found if isinstance(ruler, Unresolved) else ruler.measured(found)))
            href = question_links.document(document.doc_id, document.rev, span) or ""
            link = Span(f"at {span.start}–{span.end}", href=href)
        says = f"{what} {'is not at this place' if place else 'has no place of its own'}; it is "
        yield Text([Span(says, "bad"), link, aside])
        if there:
            pairs = (("cited", words, there), ("document", there, words))
            yield Facts([(name, doc.marked(differing(*texts))) for name, *texts in pairs])


Line = tuple[int, bool, list[tuple["Markup", str, str, str]]]
"""Its number, whether it is a heading, and its pieces; see `marked`."""


def opened(
    text: str, span: Place | None, marks: Sequence[Mark], begin: int | None
) -> tuple[Place, list[Line]]:
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
    lines: list[Line] = []
    number = text.count("\n", 0, start) + 1
    while start < window.end:
        at = text.find("\n", start, window.end)
        end = window.end if at < 0 else at + 1
        here = [
            one._replace(place=Place(one.place.start - start, one.place.end - start))
            for one in marks
            if one.place.start < end and start < one.place.end
        ]
        pieces = [(letter_for_letter(one[0]), *one[1:]) for one in marked(text[start:end], here)]
        lines.append((number, text.startswith("#", start), pieces))
        start, number = end, number + 1
    return window, lines


def letter_for_letter(text: str) -> Markup:
    """The text as a page takes it without losing a character: CRLF stays CRLF.

    A browser reads a bare CR as the end of a line, so that it is written as a reference. Other
    unseen characters are spelled out, as everywhere.
    """
    from markupsafe import Markup, escape

    return Markup("&#13;\n").join(escape(readable(part)) for part in text.split("\r\n"))
