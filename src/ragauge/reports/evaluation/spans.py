"""A text in pieces, with the marks of gold and prediction on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from ragauge.contracts.evaluation import EntityError, ShownSpan
from ragauge.reports.foreign import cut, shown

BESIDE = 60
"""Characters of context on each side."""
LONGEST = 160
GOLD, PREDICTED = "[]", "{}"
"""The brackets around what is marked, where there is no color."""


class Piece(Struct, frozen=True):
    """A stretch of text that lies in the gold span, in the predicted one, in both or in neither."""

    text: str
    gold: bool = False
    predicted: bool = False


def in_context(error: EntityError) -> tuple[Piece, ...]:
    """What stands around an error and in it; the places alone where the file has no text."""
    inside = _overlaid(error.gold, error.predicted) or _apart(error.gold, error.predicted)
    before = Piece(_end(error.before))
    after = Piece(_start(error.after))
    return tuple(piece for piece in (before, *inside, after) if piece.text)


def mention_in(context: str | None, mention: str) -> tuple[Piece, ...]:
    """The context of a mention with its first occurrence marked; the mention alone, if need be."""
    marked = Piece(cut(mention, LONGEST), gold=True)
    before, found, after = (context or "").partition(mention) if mention else ("", "", "")
    if not found:
        tail = f" {cut(context, LONGEST)}" if context else ""
        return (marked, Piece(tail)) if tail else (marked,)
    return tuple(p for p in (Piece(_end(before)), marked, Piece(_start(after))) if p.text)


def bracketed(pieces: Sequence[Piece]) -> Iterator[tuple[str, Piece | None]]:
    """The pieces as safe text on one line, with brackets between them: a bracket has no piece."""
    opened: list[str] = []
    for piece in (*pieces, Piece("")):
        wanted = [mark for mark, on in ((GOLD, piece.gold), (PREDICTED, piece.predicted)) if on]
        closing = [mark for mark in reversed(opened) if mark not in wanted]
        opening = [mark for mark in wanted if mark not in opened]
        if closing or opening:
            yield "".join([*(mark[1] for mark in closing), *(mark[0] for mark in opening)]), None
        if piece.text:
            yield safe(piece.text), piece
        opened = [mark for mark in opened if mark in wanted] + opening


def plain(pieces: Sequence[Piece]) -> str:
    """
    >>> plain([Piece("het "), Piece("Rijks", gold=True), Piece("museum", True, True)])
    'het [Rijks{museum}]'
    """
    return "".join(text for text, _ in bracketed(pieces))


def safe(text: str) -> str:
    """A piece of foreign text on one line, whose outer blanks stay: the next piece follows."""
    inner = shown(text)
    before = " " if text[:1].isspace() else ""
    after = " " if inner and text[-1:].isspace() else ""
    return f"{before}{inner}{after}"


def _overlaid(gold: ShownSpan | None, predicted: ShownSpan | None) -> list[Piece]:
    """The stretches between all ends of both spans; nothing where their texts leave a hole."""
    spans = [span for span in (gold, predicted) if span is not None]
    if any(span.text is None or len(span.text) != span.end - span.start for span in spans):
        return []
    ends = sorted({end for span in spans for end in (span.start, span.end)})
    pieces = []
    for start, end in pairwise(ends):
        holding = [span for span in spans if span.start <= start and end <= span.end]
        if not holding:
            return []
        text = str(holding[0].text)[start - holding[0].start : end - holding[0].start]
        pieces.append(Piece(cut(text, LONGEST), gold in holding, predicted in holding))
    return pieces


def _apart(gold: ShownSpan | None, predicted: ShownSpan | None) -> list[Piece]:
    """Both spans one after the other, with their places where they have no text."""
    marked = [
        Piece(cut(_text(span), LONGEST), span is gold, span is not gold)
        for span in (gold, predicted)
        if span is not None
    ]
    return [marked[0], Piece(" "), *marked[1:]] if len(marked) > 1 else marked


def _text(span: ShownSpan) -> str:
    return span.text if span.text else f"{span.start}–{span.end}"


def _end(text: str) -> str:
    return text if len(text) <= BESIDE else "…" + text[1 - BESIDE :]


def _start(text: str) -> str:
    return text if len(text) <= BESIDE else text[: BESIDE - 1] + "…"
