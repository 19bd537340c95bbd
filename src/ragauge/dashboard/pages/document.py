"""The page `document`: a frozen document, opened at the span that a citation points to."""

from __future__ import annotations

from ragauge.citations.offsets import Place, Unresolved, resolve
from ragauge.contracts.citation import Offsets
from ragauge.contracts.documents import FrozenDocument
from ragauge.contracts.history import Run
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.links import Links, run_names
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Figures, Page
from ragauge.dashboard.pages.document_checks import MOST, Check, Checker
from ragauge.dashboard.pages.document_differences import differences_of
from ragauge.dashboard.pages.document_known import (
    MOST_ANSWERS,
    MOST_KNOWN,
    Knowledge,
    Known,
    known_of,
)
from ragauge.dashboard.pages.document_text import Opened, opened
from ragauge.dashboard.pages.question_reading import offset_reading
from ragauge.dashboard.pages.question_ways import SHORT, Ways
from ragauge.dashboard.rendering import render
from ragauge.reports.foreign import cut
from ragauge.reports.numbers import counted

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
        (more_checks, "text", "of chunks and quotes", f"{MOST:,} of them"),
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
