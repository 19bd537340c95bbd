"""What an evaluation of entities has of its own: schemas, types, layers and errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragauge.contracts.evaluation import (
    EntityDetail,
    EntityError,
    EvalReport,
    MatchCounts,
    ShownSpan,
    TokenCounts,
)
from ragauge.reports import numbers
from ragauge.reports.evaluation.errors import Browser, ToldError
from ragauge.reports.evaluation.spans import in_context
from ragauge.reports.evaluation.tables import (
    Cell,
    Row,
    Table,
    counted,
    named,
    number,
    numeric,
    per_type,
)

SCHEMAS = {
    "strict": "the same place and the same type",
    "exact": "the same place, whatever the type",
    "semeval_partial": "an overlap counts half, whatever the type",
    "ent_type": "an overlap of the same type counts in full: the partial F1",
}
KINDS = {
    "missed": "in gold, and nothing was predicted there",
    "spurious": "predicted where gold has nothing",
    "boundary": "the right type, in the wrong place",
    "type": "the right place, with the wrong type",
    "boundary_and_type": "an overlap, with the wrong type",
}
COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")
RATES = ("precision", "recall", "f1")


def tables(report: EvalReport, detail: EntityDetail) -> Iterator[Table]:
    """The tables of the task, what matters most first."""
    yield _schemas("Schemas", f"matching: {detail.matching}", detail.schemas)
    if report.per_type:
        yield per_type("Types", "the most frequent first", "type", report.per_type)
    yield _tokens(detail)
    if detail.levels:
        yield _levels(detail)
    for layer, schemas in sorted(detail.layers.items()):
        yield _schemas("Layer", "", schemas, layer=layer)
    if detail.distribution:
        yield _distribution(detail)


def browser(detail: EntityDetail) -> Browser:
    return Browser(
        kinds=KINDS,
        counts=detail.error_counts,
        errors=tuple(map(_told, detail.errors)),
        predicted=True,
    )


def _told(error: EntityError) -> ToldError:
    spans = (("gold", error.gold), ("predicted", error.predicted))
    facts = [(side, _place(span)) for side, span in spans if span is not None]
    typed = error.gold or error.predicted
    return ToldError(
        kind=error.kind,
        name=error.document,
        facts=tuple(facts),
        pieces=in_context(error),
        type=typed.type if typed else "",
        where=error.where,
    )


def _place(span: ShownSpan) -> str:
    return f"{span.type} {span.start}–{span.end}"


def _schemas(title: str, about: str, schemas: Mapping[str, MatchCounts], layer: str = "") -> Table:
    heads = ("schema", *COUNTS, "P", "R", "F1")
    known = [name for name in SCHEMAS if name in schemas]
    rows = tuple(
        Row(
            (Cell(name.replace("_", " ")), *_matched(schemas[name])),
            note="" if layer else SCHEMAS[name],
        )
        for name in known
    )
    return Table(
        title=title,
        name=layer,
        about=about,
        heads=heads,
        rows=rows,
        right=numeric(heads),
        breaks=frozenset({1, 1 + len(COUNTS)}),
    )


def _matched(one: MatchCounts) -> tuple[Cell, ...]:
    return (
        *(counted(getattr(one, name)) for name in COUNTS),
        *(number(getattr(one, name)) for name in RATES),
    )


def _tokens(detail: EntityDetail) -> Table:
    heads = ("type", "tp", "fp", "fn", "P", "R", "F1")
    types = sorted(detail.token_types.items(), key=lambda pair: (-pair[1].tp - pair[1].fn, pair[0]))
    rows = [Row((Cell("all types"), *_token(detail.tokens)), detail.tokens.f1, strong=True)]
    rows += [Row((named(type), *_token(one)), one.f1) for type, one in types]
    return Table(
        title="Tokens",
        about="a token counts once for each type it holds",
        heads=heads,
        rows=tuple(rows),
        right=numeric(heads),
        bar="F1",
    )


def _token(one: TokenCounts) -> tuple[Cell, ...]:
    return (
        *(counted(times) for times in (one.tp, one.fp, one.fn)),
        *(number(getattr(one, name)) for name in RATES),
    )


def _levels(detail: EntityDetail) -> Table:
    heads = ("parts of the type", "types", "strict F1", "partial F1")
    rows = tuple(
        Row((counted(one.level), counted(one.types), number(one.f1_strict), number(one.f1_partial)))
        for one in detail.levels
    )
    about = "types cut to so many parts: at 1, GRP.HER.MUS is GRP"
    return Table(title="Levels", about=about, heads=heads, rows=rows, right=numeric(heads, 0))


def _distribution(detail: EntityDetail) -> Table:
    heads = ("type", "gold", "predicted", "over_prediction")
    shares = sorted(detail.distribution.items(), key=lambda pair: (-pair[1].gold, pair[0]))
    most = max(max(one.gold, one.predicted) for _, one in shares) or 1
    gold, predicted = (sum(getattr(one, of) for _, one in shares) for of in ("gold", "predicted"))
    ratio = f"{predicted / gold:.2f}" if gold else numbers.ABSENT
    total = Row(
        (Cell("all types"), counted(gold), counted(predicted), Cell(ratio, tone="soft")),
        strong=True,
    )
    rows = tuple(
        Row(
            (
                named(type),
                counted(one.gold),
                counted(one.predicted),
                Cell(numbers.ABSENT if one.ratio is None else f"{one.ratio:.2f}", tone="soft"),
            ),
            share=one.predicted / most,
            mark=one.gold / most,
        )
        for type, one in shares
    )
    return Table(
        title="Type distribution",
        about="over_prediction: predicted over gold; the bar shows predicted, the mark gold",
        heads=heads,
        rows=(total, *rows),
        right=numeric(heads),
        bar="predicted",
        whole=True,
    )
