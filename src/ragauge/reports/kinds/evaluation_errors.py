"""The errors of an evaluation of entities or links: by kind, each in its context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from ragauge.contracts.evaluation import (
    EntityDetail,
    EntityError,
    EvalReport,
    LinkDetail,
    LinkError,
    ShownSpan,
)
from ragauge.reports import document as doc
from ragauge.reports import envelope, numbers
from ragauge.reports.document import Block, Cell, Column, Only, Row, Span, Table, Tone, names
from ragauge.reports.foreign import cut

ENTITY_KINDS = {
    "missed": "in gold, but nothing was predicted there",
    "spurious": "predicted where gold has nothing",
    "boundary": "the correct type, in the wrong place",
    "type": "the correct place, with the wrong type",
    "boundary_and_type": "an overlap, with the wrong type",
}
LINK_KINDS = {
    "wrong": "the right one is not among the candidates",
    "ranked_low": "the right one is among the candidates, but not first",
    "not_linked": "called NIL, though it is in the knowledge base",
    "should_be_nil": "linked, though it is in no knowledge base",
    "missing": "nothing was predicted for it",
}
"""What a kind of errors is; those of links are in JUnit files, word by word."""
CONTEXT = 60
"""Characters of context on each side."""
LONGEST = 160
IDS_SHOWN = 5
IN_TEXT, OF_A_KIND, ON_PAGES = 15, 4, 400
"""Errors in a terminal, at most of one kind there, and on a page: a longer one is slow."""


class Piece(Struct, frozen=True):
    """A stretch of text that is in the gold span, in the predicted one, in both or in neither."""

    text: str
    gold: bool = False
    predicted: bool = False


class ShownError(Struct, frozen=True, kw_only=True):
    """One error: what happened where, and the text with its marks."""

    kind: str
    name: str
    """The document or the mention."""
    gold: str = ""
    predicted: str = ""
    rank: int | None = None
    """Of the right candidate."""
    pieces: tuple[Piece, ...]
    type: str = ""
    """What it can be filtered by, besides its kind."""
    where: str

    @property
    def facts(self) -> list[tuple[str, str]]:
        rank = "" if self.rank is None else numbers.count(self.rank)
        known = (("gold", self.gold), ("predicted", self.predicted), ("at rank", rank))
        return [(name, text) for name, text in known if text]


class Errors(Struct, frozen=True, kw_only=True):
    """All errors that are kept, with their counts."""

    kinds: Mapping[str, str]
    """The kinds in a reader's order, and what each is."""
    counts: Mapping[str, int]
    """Of every kind, also of the errors that are not kept."""
    kept: Sequence[ShownError]
    marks: str
    """How the brackets are explained."""

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def kinds_seen(self) -> list[str]:
        return [kind for kind in self.kinds if self.counts.get(kind)]

    def some(self, most: int, each: int | None = None) -> list[ShownError]:
        """At most so many errors, some of each kind, and no more than `each` of one."""
        groups = [[one for one in self.kept if one.kind == kind][:each] for kind in self.kinds]
        return envelope.some_of_each(groups, most)


def errors_of(report: EvalReport) -> Errors | None:
    """The errors to go through; None where the task keeps none, or there are none."""
    match report.detail:
        case EntityDetail() as detail:
            found = Errors(
                kinds=ENTITY_KINDS,
                counts=detail.error_counts,
                kept=tuple(map(_of_entity, detail.errors)),
                marks="[gold] {predicted}",
            )
        case LinkDetail() as detail:
            found = Errors(
                kinds=LINK_KINDS,
                counts=detail.error_counts,
                kept=tuple(map(_of_link, detail.errors)),
                marks="[mention]",
            )
        case _:
            return None
    return found if found.total else None


def _of_entity(error: EntityError) -> ShownError:
    typed = error.gold or error.predicted
    gold, predicted = (
        f"{span.type} {span.start}–{span.end}" if span else ""
        for span in (error.gold, error.predicted)
    )
    return ShownError(
        kind=error.kind,
        name=error.document,
        gold=gold,
        predicted=predicted,
        pieces=in_context(error),
        type=typed.type if typed else "",
        where=error.where,
    )


def _of_link(error: LinkError) -> ShownError:
    def listed(ids: tuple[str, ...]) -> str:
        more = len(ids) - IDS_SHOWN
        return " ".join(ids[:IDS_SHOWN]) + (f" and {more} more" if more > 0 else "")

    return ShownError(
        kind=error.kind,
        name=error.key,
        gold=listed(error.gold) or "NIL",
        predicted=listed(error.predicted) or "nothing",
        rank=error.rank,
        pieces=_mention_in(error.context, error.mention),
        where=error.where,
    )


def kind_word(kind: str) -> str:
    """
    >>> kind_word("should_be_nil")
    'should be NIL'
    """
    return kind.replace("_", " ").replace("nil", "NIL")


def blocks(errors: Errors) -> Iterator[Block]:
    """How many errors there are of each kind, and the errors: in a terminal some of each kind."""
    yield counts_table(errors)
    some = errors.some(IN_TEXT, OF_A_KIND)
    yield doc.in_text(errors_table(errors, some, "--report FILE.html shows them"))
    kept = errors_table(errors, errors.some(ON_PAGES), "the JSON report has those it keeps")
    yield Only(frozenset({"html", "markdown"}), [kept], part="errors")


def counts_table(errors: Errors) -> Table:
    most = max(errors.counts.values())
    return Table(
        title="Errors",
        part="errors",
        columns=doc.columns(
            *("kind", "errors", "fraction", "plot"), right=("errors", "fraction"), plots=("plot",)
        ),
        rows=doc.rows(
            (
                [
                    Cell(kind_word(kind), kind),
                    doc.count(errors.counts[kind]),
                    doc.share(errors.counts[kind], errors.total),
                    doc.plot(doc.Bar(errors.counts[kind] / most)),
                ]
                for kind in errors.kinds_seen
            ),
            [errors.kinds[kind] for kind in errors.kinds_seen],
        ),
    )


def errors_table(errors: Errors, shown: Sequence[ShownError], everything: str = "") -> Table:
    """Errors as rows, each with its text below it."""
    ranked = any(one.rank is not None for one in shown)
    return Table(
        title="Errors one by one",
        part="errors",
        remark=f"marked in the text: {errors.marks}",
        columns=[
            Column("kind"),
            Column("in"),
            Column("gold"),
            Column("predicted"),
            *([Column("at rank", right=True)] if ranked else []),
            Column("where", spare=1),
        ],
        rows=[
            Row(
                (
                    Cell(kind_word(one.kind), one.kind),
                    names(one.name, to=("question", one.name)),
                    names(one.gold),
                    names(one.predicted),
                    *([doc.count(one.rank)] if ranked else []),
                    names(one.where, "dim"),
                ),
                marked(one.pieces),
            )
            for one in shown
        ],
        total=errors.total if everything else len(shown),
        everything=everything,
        below=False,
    )


def marked(pieces: Sequence[Piece]) -> list[Span]:
    """The pieces in color, with brackets between them."""
    made: list[Span] = []
    for bracket, piece in _bracketed(pieces):
        if bracket:
            made.append(Span(bracket, "dim"))
        tone: Tone = "" if not piece.gold else "warm" if piece.predicted else "good"
        tone = "bad" if piece.predicted and not piece.gold else tone
        if piece.text:
            made.append(Span(piece.text, tone, foreign=True, marked=piece.gold or piece.predicted))
    return made


def plain(pieces: Sequence[Piece]) -> str:
    """
    >>> plain([Piece("het "), Piece("Rijks", gold=True), Piece("museum", True, True)])
    'het [Rijks{museum}]'
    """
    return "".join(bracket + piece.text for bracket, piece in _bracketed(pieces))


def _bracketed(pieces: Sequence[Piece]) -> Iterator[tuple[str, Piece]]:
    """Each piece with the brackets before it: square ones are gold, curly ones predicted."""
    opened: list[str] = []
    for piece in (*pieces, Piece("")):
        wanted = [mark for mark, on in (("[]", piece.gold), ("{}", piece.predicted)) if on]
        closing = [mark[1] for mark in reversed(opened) if mark not in wanted]
        opening = [mark for mark in wanted if mark not in opened]
        yield "".join([*closing, *(mark[0] for mark in opening)]), piece
        opened = [mark for mark in opened if mark in wanted] + opening


def in_context(error: EntityError) -> tuple[Piece, ...]:
    """The text around an error and in it; the places alone where the file has no text."""
    inside = _overlaid(error.gold, error.predicted)
    if not inside:
        given = [span for span in (error.gold, error.predicted) if span is not None]
        for span in given:
            text = span.text or f"{span.start}–{span.end}"
            inside.append(Piece(cut(text, LONGEST), span is error.gold, span is not error.gold))
        inside[1:1] = [Piece(" ")] * (len(given) - 1)
    return tuple(
        piece
        for piece in (Piece(_end(error.before)), *inside, Piece(_start(error.after)))
        if piece.text
    )


def _overlaid(gold: ShownSpan | None, predicted: ShownSpan | None) -> list[Piece]:
    """The stretches between all ends of both spans; nothing where their texts leave a hole."""
    spans = [span for span in (gold, predicted) if span is not None]
    if any(span.text is None or len(span.text) != span.end - span.start for span in spans):
        return []
    pieces = []
    for start, end in pairwise(sorted({end for span in spans for end in (span.start, span.end)})):
        holding = [span for span in spans if span.start <= start and end <= span.end]
        if not holding:
            return []
        text = str(holding[0].text)[start - holding[0].start : end - holding[0].start]
        pieces.append(Piece(cut(text, LONGEST), gold in holding, predicted in holding))
    return pieces


def _mention_in(context: str | None, mention: str) -> tuple[Piece, ...]:
    """The context of a mention with its first occurrence marked; the mention alone, if need be."""
    found_mention = Piece(cut(mention, LONGEST), gold=True)
    before, found, after = (context or "").partition(mention) if mention else ("", "", "")
    if not found:
        tail = f" {cut(context, LONGEST)}" if context else ""
        return (found_mention, Piece(tail)) if tail else (found_mention,)
    pieces = (Piece(_end(before)), found_mention, Piece(_start(after)))
    return tuple(piece for piece in pieces if piece.text)


def _end(text: str) -> str:
    return text if len(text) <= CONTEXT else "…" + text[1 - CONTEXT :]


def _start(text: str) -> str:
    return text if len(text) <= CONTEXT else text[: CONTEXT - 1] + "…"
