"""The text of an answer in parts: sentences by their support, citations that lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ragauge.contracts.trace import Trace
from ragauge.dashboard.pages.cited_text import Stretch, parted, spans_of
from ragauge.dashboard.pages.question_citations import Named
from ragauge.dashboard.pages.question_support import Sentence, Support
from ragauge.reports.kinds.evaluation_answers import marked_words
from ragauge.text.citations import list_spans

MOST_LINKS = 500
"""Citations in a text that become links."""


class TextPiece(Struct, frozen=True):
    """A piece of the answer's text."""

    text: str
    is_gold: bool
    """A phrase that a right claim contains."""
    href: str | None
    """The retrieved chunk that a citation names."""


class Part(Struct, frozen=True):
    """A sentence, or what stands between two."""

    level: str | None
    """How far it is supported; None where it is no sentence that was scored."""
    href: str | None
    """Its evidence; None where it has none, or a citation in it leads elsewhere."""
    says: str
    pieces: tuple[TextPiece, ...]


def text_parts(
    text: str, trace: Trace, support: Support, phrases: Sequence[str], prefix: str
) -> tuple[Part, ...]:
    """The answer's text, in parts that follow each other and lose nothing."""
    links = dict(_links(text, trace, prefix))
    golden = spans_of(marked_words(text, phrases)) if phrases else []
    whole, scored = Stretch(0, len(text)), {one.stretch: one for one in support.sentences}
    return tuple(
        _part(text, stretch, scored.get(stretch), golden, links)
        for stretch in parted(whole, scored)
    )


def _part(
    text: str,
    stretch: Stretch,
    sentence: Sentence | None,
    golden: Sequence[Stretch],
    links: dict[Stretch, str],
) -> Part:
    pieces = tuple(
        TextPiece(
            text[piece.start : piece.end],
            any(mark.holds(piece) for mark in golden),
            next((href for mark, href in links.items() if mark.holds(piece)), None),
        )
        for piece in parted(stretch, [*_within(golden, stretch), *_within(list(links), stretch)])
    )
    if sentence is None:
        return Part(None, None, "", pieces)
    leads = any(piece.href for piece in pieces)
    href = f"#{sentence.anchor}" if sentence.anchor and not leads else None
    checked = sentence.checked
    says = f"{checked.level.words} {checked.value}".strip()
    return Part(checked.level.name, href, says, pieces)


def _within(marks: Sequence[Stretch], stretch: Stretch) -> list[Stretch]:
    return [mark for mark in marks if mark.start < stretch.end and stretch.start < mark.end]


def _links(text: str, trace: Trace, prefix: str) -> Iterator[tuple[Stretch, str]]:
    """Where the text names a retrieved chunk, by a marker or in its list, and the chunk's place."""
    named = Named(trace)
    for marker in named.markers(text)[:MOST_LINKS]:
        place = next(filter(None, map(named.place, marker.names)), None)
        if place is not None:
            yield Stretch(marker.start, marker.end), f"#{prefix}chunk-{place}"
    lists = list_spans(text) if named.ids else []
    if not lists:
        return
    longest_first = sorted(named.ids, key=lambda name: (-len(name), name))[:MOST_LINKS]
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    for start, end in lists:
        for match in pattern.finditer(text, start, end):
            yield Stretch(*match.span()), f"#{prefix}chunk-{named.place(match[0])}"
