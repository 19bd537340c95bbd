"""The report of `ragauge gold agreement`: how far annotators agree, and where they do not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ragauge.contracts.annotation import AgreementReport, ItemDisagreement, PairAgreement
from ragauge.metrics.names import short_name
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Block, Cell, Document, Table, count, names, number
from ragauge.reports.numbers import ABSENT, counted

PER_PAIR = ("percent", "kappa", "kappa_weighted")
PER_PAIR_OF_SPANS = ("span_f1", "span_f1_partial", "token_kappa", "token_kappa_no_o")
SIGNS = {
    "agreement.kappa": "κ",
    "agreement.kappa_weighted": "weighted κ",
    "agreement.alpha": "α",
    "agreement.span_f1": "span F1",
    "agreement.span_f1_partial": "partial F1",
}
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


def _blocks(report: AgreementReport) -> Iterator[Block]:
    level = f", {report.level}" if report.level else ""
    weights = f", {report.weights} weights" if report.weights not in (None, "none") else ""
    yield doc.Verdict(
        "PASS" if report.passed else "FAIL",
        _verdict(report),
        [
            *(
                f"{letter} is {one.file}: {counted(one.annotated, 'item')}"
                for letter, one in report.annotators.items()
            ),
            f"compared: {report.field}{level}{weights}",
        ],
    )
    shown_names = {id: short_name(id) for id in report.metrics}
    yield from doc.gates(report.gates, report.metrics, shown_names)
    gated = [gate.metric for gate in report.gates]
    yield doc.scores(report.metrics, shown_names, title="Agreement", unit="items", silent=gated)
    if len(report.pairs) > 1:
        yield _pairs(report)
    if report.labels:
        ranked = sorted(
            report.labels.items(),
            key=lambda pair: (pair[1].agreement is None, pair[1].agreement or 0, pair[0]),
        )
        yield doc.table(
            ranked,
            {
                "label" if report.kind == "labels" else "type": lambda pair: names(pair[0]),
                "given": lambda pair: count(pair[1].given),
                "joined": lambda pair: count(pair[1].joined),
                "agreement": lambda pair: number(pair[1].agreement),
            },
            title="Labels" if report.kind == "labels" else "Types",
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
    covered = report.coverage
    coverage = doc.listed(
        f"{numbers.count(covered.all)} of {counted(covered.items, 'item')} annotated by all",
        covered.some and f"{numbers.count(covered.some)} by some",
        covered.one and f"{numbers.count(covered.one)} by one alone",
    )
    yield doc.Coverage(coverage)


def _verdict(report: AgreementReport) -> str:
    shared = report.coverage.all + report.coverage.some
    if not shared:
        return "no item was annotated by two"
    agreed = f"{numbers.count(shared - report.disagreement_count)} of {counted(shared, 'item')}"
    values = [
        f"{sign} {numbers.value(report.metrics[id].value)}"
        for id, sign in SIGNS.items()
        if id in report.metrics
    ]
    return f"{len(report.annotators)} annotators agree on {agreed}; {', '.join(values)}"


def _pairs(report: AgreementReport) -> Table:
    """The pair that agrees least is the one to talk to; a pair without a number comes last."""
    known = PER_PAIR if report.kind == "labels" else PER_PAIR_OF_SPANS
    there = [
        name for name in known if any(getattr(pair, name) is not None for pair in report.pairs)
    ]
    main = "n" if not there else there[-1] if report.kind == "labels" else there[0]

    def rank(pair: PairAgreement) -> tuple[bool, float]:
        value = getattr(pair, main)
        return value is None, value or 0

    def why_absent(pair: PairAgreement) -> str:
        reasons = [pair.reason, *(pair.token_reasons.get(name) for name in there)]
        return "; ".join(dict.fromkeys(reason for reason in reasons if reason))

    def score(name: str) -> Callable[[PairAgreement], Cell]:
        return lambda pair: number(getattr(pair, name))

    return doc.table(
        sorted(report.pairs, key=rank),
        {
            "pair": lambda pair: Cell(f"{pair.a} and {pair.b}"),
            "items": lambda pair: count(pair.n),
            **{name: score(name) for name in there},
        },
        note=why_absent,
        title="Pairs",
        remark="least agreement first",
        shown=SHOWN,
    )


def _said(one: ItemDisagreement, name: str, most: int | None = None) -> str:
    """What an annotator said of an item: a label, or the spans that not all have."""
    if one.labels:
        return one.labels[name] or ABSENT
    if name not in one.spans:
        return "not annotated"
    spans = [f"{span.start}–{span.end} {span.type}" for span in one.spans[name]]
    more = [f"and {len(spans) - most} more"] if most is not None and len(spans) > most else []
    return ", ".join([*spans[:most], *more]) or ABSENT
