"""Tables of entities, labels and links, and the errors of entities and links in their context."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from msgspec import structs

from ragauge.contracts.evaluation import (
    EntityDetail,
    EntityError,
    EvalReport,
    LabelDetail,
    LinkDetail,
    LinkError,
)
from ragauge.metrics.worst_first import some_of_each
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.document import Bar, Block, Cell, Column, Span, Table, Tone, names, number
from ragauge.text.visible import cut

Measured = Mapping[str, float | None]

SHOWN = 24
"""Rows of a table in a terminal."""
EVERYTHING = "--report FILE.html shows them"
LABELS_IN_TEXT = 30
SCHEMAS = {
    "strict": "the same place and the same type",
    "exact": "the same place, whatever the type",
    "semeval_partial": "an overlap counts half, whatever the type",
    "ent_type": "an overlap of the same type counts in full: the partial F1",
}
RANKS = {"1": "1", "2-5": "2 to 5", "6-10": "6 to 10", "beyond": "beyond 10", "none": "not found"}
COUNTS = (
    *("support", "gold", "predicted", "correct", "incorrect", "partial", "missed", "spurious"),
    *("tp", "fp", "fn", "types", "n", "nil"),
)
RATES = (
    *("precision", "precision_strict", "recall", "recall_strict", "f1", "f1_strict"),
    *("precision_partial", "recall_partial", "f1_partial", "over_prediction"),
)
"""What is measured of a type, a label or a schema, in the order of columns."""
SHORT = {"precision": "P", "recall": "R", "f1": "F1", "nil": "NIL"}
PLOT = Column("", plot=True)


def of_entities(report: EvalReport, detail: EntityDetail) -> Iterator[Block]:
    for layer, schemas in (("", detail.schemas), *sorted(detail.layers.items())):
        known = [name for name in SCHEMAS if name in schemas]
        yield measured_table(
            "schema",
            [(Cell(title_of(name), name), structs.asdict(schemas[name])) for name in known],
            title="Layer" if layer else "Schemas",
            about=layer,
            remark="" if layer else f"matching: {detail.matching}",
            note=None if layer else lambda row: SCHEMAS[row[0].value],
        )
    yield from by_type(report)
    types = sorted(detail.token_types.items(), key=lambda pair: (-pair[1].tp - pair[1].fn, pair[0]))
    total = (Cell("all types"), structs.asdict(detail.tokens))
    yield measured_table(
        "type",
        [total, *((names(type), structs.asdict(one)) for type, one in types)],
        title="Tokens",
        remark="a token counts once for each type it has",
        strong=lambda row: row is total,
    )
    if detail.levels:
        rates = ("types", "f1_strict", "f1_partial")
        yield measured_table(
            "parts of the type",
            [
                (doc.count(one.level), {rate: getattr(one, rate) for rate in rates})
                for one in detail.levels
            ],
            title="Levels",
            remark="types cut to this many parts: at 1, GRP.HER.MUS is GRP",
        )


def confusion(title: str, labels: Sequence[str], counts: Sequence[Sequence[int]]) -> Block:
    """Gold labels as rows, predicted ones as columns, without labels that do not occur.

    A terminal has no room for many labels: there the top confusions replace it.
    """
    totals = [sum(row) for row in counts]
    present = [at for at in range(len(labels)) if totals[at] or any(row[at] for row in counts)]

    def cell(row: int, column: int) -> Cell:
        times = counts[row][column]
        if not times:
            return Cell("·", 0, "dim")
        of_row = f"{phrasing.percent(times, totals[row])} of the row"
        hint = f"gold {labels[row]}, predicted {labels[column]}: {phrasing.count(times)}, {of_row}"
        frequent = times > totals[row] / 10
        tone: Tone = "good" if row == column else "bad" if frequent else "warm"
        return Cell(phrasing.count(times), times, tone, hint=hint)

    absent = phrasing.pluralize(len(labels) - len(present), "label")
    table = doc.table(
        present,
        {
            "gold": lambda row: names(labels[row]),
            **{
                Column(labels[at], right=True, begins=True, foreign=True): partial(cell, column=at)
                for at in present
            },
            "n": lambda row: doc.count(totals[row], "dim"),
        },
        title=title,
        remark="rows are gold, columns predicted; errors over 10 % of their row are highlighted",
        after=f"{absent} neither in gold nor predicted" if len(present) < len(labels) else "",
        part="confusion",
    )
    return table if len(present) <= LABELS_IN_TEXT else doc.on_pages(table, part="confusion")


def of_labels(report: EvalReport, detail: LabelDetail) -> Iterator[Block]:
    if detail.labels:
        yield confusion("Confusion matrix", detail.labels, detail.matrix)
    if detail.categories:
        yield confusion("Categories", detail.categories, detail.category_matrix)
    if detail.confusions:
        most, errors = detail.confusions[0].count, phrasing.pluralize(detail.errors, "error")
        yield doc.table(
            detail.confusions,
            {
                "gold": lambda one: names(one.gold),
                "predicted": lambda one: names(one.predicted),
                "items": lambda one: doc.count(one.count),
                "fraction": lambda one: number(one.share, f"{100 * one.share:.1f} %", "dim"),
                "such as": lambda one: names(" ".join(one.examples)),
                PLOT: lambda one: doc.plot(Bar(one.count / most)),
            },
            title="Top confusions",
            remark=f"{errors}; the fraction is of the gold label's items",
            shown=15,
            total=detail.distinct_confusions,
            everything=EVERYTHING,
            part="tables",
        )
    # Labels that do not occur fill no table; the files for machines list them.
    known = {label: report.per_type[label] for label in label_order(report, detail)}
    if given := [(names(label), one) for label, one in known.items() if any(one.values())]:
        absent = phrasing.pluralize(detail.absent_labels, "label")
        zeros = detail.absent_labels and f"macro_f1_all counts {absent} that do not occur as 0"
        remark = doc.listed(f"label set: {detail.label_set}", zeros, sep="; ")
        yield measured_table("label", given, title="Labels", remark=remark)


def label_order(report: EvalReport, detail: LabelDetail) -> list[str]:
    """The measured labels: in the order of the label set, then the others by name."""
    known = [label for label in detail.labels if label in report.per_type]
    return [*known, *sorted(set(report.per_type) - set(known))]


def of_links(report: EvalReport, detail: LinkDetail) -> Iterator[Block]:
    total, most = sum(detail.ranks.values()), max(detail.ranks.values(), default=0) or 1
    yield doc.table(
        [(RANKS[rank], detail.ranks[rank]) for rank in RANKS if rank in detail.ranks],
        {
            "rank": lambda pair: Cell(pair[0]),
            "mentions": lambda pair: doc.count(pair[1]),
            "fraction": lambda pair: doc.percent(pair[1], total),
            PLOT: lambda pair: doc.plot(Bar(pair[1] / most)),
        },
        title="Ranks",
        remark="of the first correct candidate, for mentions in the knowledge base",
        part="tables",
    )
    yield from by_type(report)
    if detail.kb_pairs:
        yield doc.table(
            sorted(detail.kb_pairs.items(), key=lambda pair: (-pair[1].comparable, pair[0])),
            {
                "pair": lambda pair: names(pair[0]),
                "in both": lambda pair: doc.count(pair[1].of),
                "comparable": lambda pair: doc.count(pair[1].comparable),
                "coverage": lambda pair: doc.percent(pair[1].comparable, pair[1].of),
                "agree": lambda pair: doc.count(pair[1].agree),
                "agreement": lambda pair: number(pair[1].agreement),
                PLOT: lambda pair: quality(pair[1].agreement),
            },
            title="Knowledge bases",
            remark="whether the ids given to one entity in both of them belong together",
            part="tables",
        )


def by_type(report: EvalReport) -> Iterator[Block]:
    found, columns = report.per_type, columns_of(report.per_type.values())
    if found:
        ranked = sorted(found, key=lambda name: (-(found[name].get(columns[0]) or 0.0), name))
        given = [(names(type), found[type]) for type in ranked]
        yield measured_table("type", given, title="Types", remark="the most frequent first")


def measured_table(first: str, given: Sequence[tuple[Cell, Measured]], **about: Any) -> Table:
    """The counts of each thing, then its rates.

    For types and labels, precision and recall have bars; for others, their F1 or accuracy.
    """
    ids = columns_of(measured for _, measured in given)
    strict = "_strict" if "precision_strict" in ids else ""
    drawn = {f"precision{strict}", f"recall{strict}"}
    if first == "schema" or not drawn <= {*ids}:
        drawn = {next((id for id in ("f1_strict", "f1", "accuracy") if id in ids), "")}

    def cell(row: tuple[Cell, Measured], id: str) -> Cell:
        value = row[1].get(id)
        return number(value) if value is None or id not in COUNTS else doc.count(int(value))

    def bar(row: tuple[Cell, Measured], id: str) -> Cell:
        return quality(row[1].get(id))

    columns: dict[str | Column, Callable[[tuple[Cell, Measured]], Cell]] = {
        Column(first): lambda row: row[0]
    }
    for id in ids:
        columns[title_of(id)] = partial(cell, id=id)
        if id in drawn:
            columns[Column("", plot=True, key=id)] = partial(bar, id=id)
    return doc.table(given, columns, shown=SHOWN, everything=EVERYTHING, part="tables", **about)


def title_of(id: str) -> str:
    """The title of a count, a rate, a schema or a kind of error.

    >>> title_of("should_be_nil"), title_of("f1_strict")
    ('should be NIL', 'F1 strict')
    """
    return " ".join(SHORT.get(word, word) for word in id.split("_"))


def columns_of(rows: Iterable[Measured]) -> list[str]:
    """The names of all columns, counts before rates.

    >>> columns_of([{"f1_partial": 1.0, "f1_strict": 1.0, "recall_strict": 1.0, "tp": 1}])
    ['tp', 'recall_strict', 'f1_strict', 'f1_partial']
    """
    found = {name for row in rows for name in row}
    known = [name for name in (*COUNTS, *RATES) if name in found]
    return [*known, *sorted(found.difference(known))]


def quality(value: float | None) -> Cell:
    """The bar of a rate, green where it is good and red where it is not."""
    if value is None:
        return doc.plot(None)
    tone: Tone = "good" if value >= 0.8 else "warm" if value >= 0.5 else "bad"
    return doc.plot(Bar(value, tone))


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
"""What each kind of error means, in the order they are shown; JUnit quotes those of links."""
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
    """The detail of a report with errors; None if its task keeps none, or there are none."""
    match report.detail:
        case (EntityDetail() | LinkDetail()) as detail if any(detail.error_counts.values()):
            return detail
    return None


def kinds_seen(detail: WithErrors) -> list[str]:
    return [kind for kind in KINDS if detail.error_counts.get(kind)]


def unit_of(error: Error) -> str:
    """The document or the mention."""
    return error.key if isinstance(error, LinkError) else error.document


def type_of(error: Error) -> str:
    span = None if isinstance(error, LinkError) else error.gold or error.predicted
    return span.type if span else ""


def facts_of(error: Error) -> dict[str, str]:
    """The gold entity, the predicted one, and the rank of the correct candidate."""
    if isinstance(error, EntityError):
        spans = {"gold": error.gold, "predicted": error.predicted}
        return {name: f"{one.type} {one.start}–{one.end}" for name, one in spans.items() if one}
    known = {}
    for name, ids, none in (("gold", error.gold, "NIL"), ("predicted", error.predicted, "nothing")):
        more = f" and {len(ids) - IDS_SHOWN} more" if len(ids) > IDS_SHOWN else ""
        known[name] = " ".join(ids[:IDS_SHOWN]) + more or none
    return known if error.rank is None else {**known, "at rank": phrasing.count(error.rank)}


def of_errors(detail: WithErrors) -> Iterator[Block]:
    """How many errors there are of each kind, and some of each."""
    yield counts_table(detail)
    groups = [[one for one in detail.errors if one.kind == kind] for kind in kinds_seen(detail)]
    total = sum(detail.error_counts.values())
    for most, forms, everything in (
        (IN_TEXT, {"text"}, EVERYTHING),
        (ON_PAGES, {"html", "markdown"}, "the JSON report has those it keeps"),
    ):
        if some := some_of_each(groups, most):
            table = errors_table(some, total=total, everything=everything)
            yield doc.Only(frozenset(forms), [table], part="errors")


def counts_table(detail: WithErrors) -> Table:
    counts, total = detail.error_counts, sum(detail.error_counts.values())
    return doc.table(
        kinds_seen(detail),
        {
            "kind": lambda kind: Cell(title_of(kind), kind),
            "errors": lambda kind: doc.count(counts[kind]),
            "fraction": lambda kind: doc.percent(counts[kind], total),
            PLOT: lambda kind: doc.plot(Bar(counts[kind] / total)),
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
            "kind": lambda one: Cell(title_of(one.kind), one.kind),
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
    return doc.without_empty_columns(table, always=("gold", "predicted"))


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
