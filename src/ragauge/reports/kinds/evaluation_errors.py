"""The errors of an evaluation of entities or links: by kind, each in its context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from ragauge.contracts.evaluation import (
    EntityDetail,
    EntityError,
    EvalReport,
    LinkDetail,
    LinkError,
)
from ragauge.reports import document as doc
from ragauge.reports import envelope, numbers
from ragauge.reports.document import Block, Cell, Column, Only, Span, Table, Tone, names
from ragauge.reports.foreign import cut

KINDS = {
    "missed": "in gold, but nothing was predicted there",
    "spurious": "predicted where gold has nothing",
    "boundary": "the correct type, in the wrong place",
    "type": "the correct place, with the wrong type",
    "boundary_and_type": "an overlap, with the wrong type",
    "wrong": "the right one is not among the candidates",
    "ranked_low": "the right one is among the candidates, but not first",
    "not_linked": "called NIL, though it is in the knowledge base",
    "should_be_nil": "linked, though it is in no knowledge base",
    "missing": "nothing was predicted for it",
}
"""What each kind of error is, in a reader's order; JUnit files have those of links word by word."""
CONTEXT = 60
"""Characters of context on each side."""
LONGEST = 160
IDS_SHOWN = 5
IN_TEXT, ON_PAGES = 12, 400
"""Errors in a terminal, and on a page: a longer one is slow."""
TONES: dict[str, Tone] = {"": "", "[": "good", "{": "bad", "[{": "warm"}
CLOSING = {"[": "]", "{": "}"}

Error = EntityError | LinkError
WithErrors = EntityDetail | LinkDetail


def errors_of(report: EvalReport) -> WithErrors | None:
    """What the report keeps of its errors; None where its task keeps none, or there are none."""
    match report.detail:
        case (EntityDetail() | LinkDetail()) as detail if any(detail.error_counts.values()):
            return detail
    return None


def kind_word(kind: str) -> str:
    """
    >>> kind_word("should_be_nil")
    'should be NIL'
    """
    return kind.replace("_", " ").replace("nil", "NIL")


def kinds_seen(detail: WithErrors) -> list[str]:
    return [kind for kind in KINDS if detail.error_counts.get(kind)]


def unit_of(error: Error) -> str:
    """The document or the mention."""
    return error.key if isinstance(error, LinkError) else error.document


def type_of(error: Error) -> str:
    span = None if isinstance(error, LinkError) else error.gold or error.predicted
    return span.type if span else ""


def facts_of(error: Error) -> dict[str, str]:
    """What gold has, what was predicted, and the rank of the correct candidate."""
    if isinstance(error, EntityError):
        spans = {"gold": error.gold, "predicted": error.predicted}
        return {name: f"{one.type} {one.start}–{one.end}" for name, one in spans.items() if one}
    known = {}
    for name, ids, none in (("gold", error.gold, "NIL"), ("predicted", error.predicted, "nothing")):
        more = f" and {len(ids) - IDS_SHOWN} more" if len(ids) > IDS_SHOWN else ""
        known[name] = " ".join(ids[:IDS_SHOWN]) + more or none
    return known if error.rank is None else {**known, "at rank": numbers.count(error.rank)}


def blocks(detail: WithErrors) -> Iterator[Block]:
    """How many errors there are of each kind, and some of each."""
    yield counts_table(detail)
    groups = [[one for one in detail.errors if one.kind == kind] for kind in kinds_seen(detail)]
    total = sum(detail.error_counts.values())
    for most, forms, everything in (
        (IN_TEXT, {"text"}, "--report FILE.html shows them"),
        (ON_PAGES, {"html", "markdown"}, "the JSON report has those it keeps"),
    ):
        if some := envelope.some_of_each(groups, most):
            table = errors_table(some, total=total, everything=everything)
            yield Only(frozenset(forms), [table], part="errors")


def counts_table(detail: WithErrors) -> Table:
    counts, total = detail.error_counts, sum(detail.error_counts.values())
    return doc.table(
        kinds_seen(detail),
        {
            "kind": lambda kind: Cell(kind_word(kind), kind),
            "errors": lambda kind: doc.count(counts[kind]),
            "fraction": lambda kind: doc.share(counts[kind], total),
            "": lambda kind: doc.plot(doc.Bar(counts[kind] / total)),
        },
        note=lambda kind: KINDS[kind],
        title="Errors",
        part="errors",
    )


def errors_table(errors: Sequence[Error], **about: Any) -> Table:
    """Errors as rows, each with its text below it."""
    marks = "[mention]" if isinstance(errors[0], LinkError) else "[gold] {predicted}"
    table = doc.table(
        errors,
        {
            "kind": lambda one: Cell(kind_word(one.kind), one.kind),
            "in": lambda one: names(unit_of(one), to=("question", unit_of(one))),
            Column("gold", spare=1): lambda one: names(facts_of(one).get("gold", "")),
            Column("predicted", spare=2): lambda one: names(facts_of(one).get("predicted", "")),
            "at rank": lambda one: doc.count(one.rank if isinstance(one, LinkError) else None),
            Column("where", spare=3): lambda one: names(one.where, "dim"),
        },
        note=text_of,
        title="Errors one by one",
        remark=f"marked in the text: {marks}",
        part="errors",
        **about,
    )
    return doc.filled(table, always=("gold", "predicted"))


def text_of(error: Error) -> list[Span]:
    """The text of an error with its context; gold is in square brackets, predicted in curly ones.

    The brackets are words of ours, the rest is foreign.
    """
    found: list[Span] = []
    opened = ""
    for text, marks in [*_pieces(error), ("", "")]:
        closing = "".join(CLOSING[mark] for mark in reversed(opened) if mark not in marks)
        opening = "".join(mark for mark in marks if mark not in opened)
        opened = "".join(mark for mark in opened if mark in marks) + opening
        if closing or opening:
            found.append(Span(closing + opening, "dim"))
        if text:
            found.append(Span(text, TONES[marks], foreign=True, marked=bool(marks)))
    return found


def _pieces(error: Error) -> list[tuple[str, str]]:
    """Stretches of text, each with the opening brackets of the spans that it is in."""
    if isinstance(error, LinkError):
        context, mention = error.context or "", error.mention
        if not mention or mention not in context:
            apart = f" {cut(context, LONGEST)}" if context else ""
            return [(cut(mention, LONGEST), "["), (apart, "")]
        before, _, after = context.partition(mention)
        inside = [(cut(mention, LONGEST), "[")]
    else:
        before, after = error.before, error.after
        sides = (("[", error.gold), ("{", error.predicted))
        spans = {mark: (one, one.text or "") for mark, one in sides if one}
        inside = []
        ends = {end for one, _ in spans.values() for end in (one.start, one.end)}
        for start, end in pairwise(sorted(ends)):
            marks, text = "", ""
            for mark, (one, its) in spans.items():
                if one.start <= start and end <= one.end:
                    marks, text = marks + mark, text or its[start - one.start : end - one.start]
            inside.append((cut(text, LONGEST), marks))
        complete = all(len(text) == one.end - one.start for one, text in spans.values())
        if not complete or not inside or not all(marks for _, marks in inside):
            # The places alone where the file has no text, or a part of it is missing.
            inside = [
                (cut(text or f"{one.start}–{one.end}", LONGEST), mark)
                for mark, (one, text) in spans.items()
            ]
            inside[1:1] = [(" ", "")] * (len(inside) - 1)
    before = before if len(before) <= CONTEXT else "…" + before[1 - CONTEXT :]
    after = after if len(after) <= CONTEXT else after[: CONTEXT - 1] + "…"
    return [(before, ""), *inside, (after, "")]
