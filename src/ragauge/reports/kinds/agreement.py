"""The report of `ragauge gold agreement`: how far annotators agree, and where they do not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ragauge.contracts.annotation import AgreementReport, ItemDisagreement, PairAgreement
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.document import Block, Cell, Document, count, names, number
from ragauge.reports.phrasing import ABSENT, pluralize

PER_PAIR = (
    *("kappa_weighted", "kappa", "percent"),
    *("span_f1", "span_f1_partial", "token_kappa", "token_kappa_no_o"),
)
"""The numbers of a pair; pairs are ordered by the first one they have."""
SPANS_SHOWN = 3
SHOWN = 10
"""Pairs, labels and disagreements in a terminal; with as many annotators as there can be, the
comment is still one that GitHub takes."""


def document(report: AgreementReport) -> Document:
    return Document("agreement", list(_blocks(report)))


def table(report: AgreementReport) -> tuple[Sequence[str], Iterable[Iterable[object]]]:
    """One row for each disagreement: what each annotator said, and where, by their letters.

    Of spans also the item's own F1; what is over tokens is of the complete set, not of an item.
    """
    letters = tuple(report.annotators)
    own = () if report.kind == "labels" else ("span_f1", "span_f1_partial")
    heads = ("id", *letters, *own, *(f"where_{letter}" for letter in letters))
    return heads, (
        [
            one.id,
            *(None if (text := _said(one, letter)) == ABSENT else text for letter in letters),
            *(one.scores.get(name) for name in own),
            *(one.where.get(letter) for letter in letters),
        ]
        for one in report.disagreements
    )


def _said(one: ItemDisagreement, letter: str, most: int | None = None) -> str:
    """An annotator's label of an item, or the spans that not all annotators have."""
    if one.labels:
        return one.labels[letter] or ABSENT
    if letter not in one.spans:
        return "not annotated"
    spans = [f"{span.start}–{span.end} {span.type}" for span in one.spans[letter]]
    more = [f"and {len(spans) - most} more"] if most is not None and len(spans) > most else []
    return ", ".join([*spans[:most], *more]) or ABSENT


def _blocks(report: AgreementReport) -> Iterator[Block]:
    covered = report.coverage
    shared = covered.all + covered.some
    agreed = phrasing.n_of(shared - report.disagreement_count, shared)
    weights = report.weights not in (None, "none") and f"{report.weights} weights"
    yield doc.Verdict(
        "PASS" if report.passed else "FAIL",
        f"{len(report.annotators)} annotators agree on {agreed} items"
        if shared
        else "no item was annotated by two",
        [
            *(
                f"{letter} is {one.file}: {pluralize(one.annotated, 'item')}"
                for letter, one in report.annotators.items()
            ),
            f"compared: {doc.listed(report.field, report.level, weights)}",
        ],
    )
    shown_names = phrasing.metric_names(report)
    yield from doc.gates(report.gates, report.metrics, shown_names)
    gated = [gate.metric for gate in report.gates]
    yield doc.scores(report.metrics, shown_names, title="Agreement", unit="items", silent=gated)
    if len(report.pairs) > 1:

        def order(pair: PairAgreement) -> list[tuple[bool, float]]:
            values = (getattr(pair, name) for name in PER_PAIR)
            return [(value is None, value or 0) for value in values]

        def score(name: str) -> Callable[[PairAgreement], Cell]:
            return lambda pair: number(getattr(pair, name))

        pairs = doc.table(
            sorted(report.pairs, key=order),
            {
                "pair": lambda pair: Cell(f"{pair.a} and {pair.b}"),
                "items": lambda pair: count(pair.n),
                **{name: score(name) for name in PER_PAIR},
            },
            note=lambda pair: doc.listed(
                *dict.fromkeys((pair.reason, *pair.token_reasons.values())), sep="; "
            ),
            title="Pairs",
            remark="least agreement first",
            shown=SHOWN,
        )
        yield doc.without_empty_columns(pairs)
    if report.labels:
        kind = "label" if report.kind == "labels" else "type"
        yield doc.table(
            sorted(
                report.labels,
                key=lambda label: 2 if (one := report.labels[label].agreement) is None else one,
            ),
            {
                kind: names,
                "given": lambda label: count(report.labels[label].given),
                "joined": lambda label: count(report.labels[label].joined),
                "agreement": lambda label: number(report.labels[label].agreement),
            },
            title=f"{kind.capitalize()}s",
            remark="how often it was given, and how often another annotator gave it too",
            shown=SHOWN,
        )
    if report.disagreements:

        def said_by(letter: str) -> Callable[[ItemDisagreement], Cell]:
            return lambda one: names(_said(one, letter, SPANS_SHOWN))

        yield doc.table(
            report.disagreements,
            {
                "item": lambda one: names(one.id),
                **{letter: said_by(letter) for letter in report.annotators},
            },
            title="Disagreements",
            remark="" if report.kind == "labels" else "spans that not all have",
            shown=SHOWN,
            total=report.disagreement_count,
        )
    yield doc.findings(report)
    coverage = doc.listed(
        f"{phrasing.count(covered.all)} of {pluralize(covered.items, 'item')} annotated by all",
        covered.some and f"{phrasing.count(covered.some)} by some",
        covered.one and f"{phrasing.count(covered.one)} by one alone",
    )
    yield doc.coverage(coverage)
