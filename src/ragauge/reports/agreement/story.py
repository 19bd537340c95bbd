"""What an agreement report tells, in the order it is told; the forms only write it down."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from ragauge.contracts.annotation import AgreementReport, ItemDisagreement, PairAgreement
from ragauge.contracts.finding import Finding
from ragauge.metrics.names import short_name
from ragauge.reports import envelope, numbers
from ragauge.reports.numbers import ABSENT, count, counted, value

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


class Section(Struct, frozen=True, kw_only=True):
    """A titled table in words; a row may have a note."""

    title: str
    beside: str = ""
    heads: tuple[str, ...]
    rows: list[list[str]]
    notes: list[str]
    right: Collection[int] = ()
    """Columns of numbers."""
    verbatim: Collection[int] = ()
    """Columns of names, bounds and other people's words."""
    more: int = 0
    """Rows that are not among these."""


def verdict_words(report: AgreementReport) -> tuple[str, str]:
    """PASS or FAIL, and how far they agree: `3 annotators agree on 45 of 50 items, κ 0.81`."""
    word = "PASS" if report.passed else "FAIL"
    shared = report.coverage.all + report.coverage.some
    if not shared:
        return word, "no item was annotated by two"
    agreed = f"{count(shared - report.disagreement_count)} of {counted(shared, 'item')}"
    told = [
        f"{sign} {value(report.metrics[id].value)}"
        for id, sign in SIGNS.items()
        if id in report.metrics
    ]
    return word, f"{len(report.annotators)} annotators agree on {agreed}; {', '.join(told)}"


def annotator_words(report: AgreementReport) -> list[str]:
    """Who the annotators are, and what of theirs was compared."""
    level = f", {report.level}" if report.level else ""
    weights = f", {report.weights} weights" if report.weights not in (None, "none") else ""
    return [
        *(
            f"{letter} is {one.file}: {counted(one.annotated, 'item')}"
            for letter, one in report.annotators.items()
        ),
        f"compared: {report.field}{level}{weights}",
    ]


def sections(report: AgreementReport, most: int) -> Iterator[Section]:
    """The tables that have rows, each with at most so many where a row is a thing compared."""
    yield _gates(report)
    yield _metrics(report)
    if len(report.pairs) > 1:
        yield _pairs(report, most)
    if report.labels:
        yield _labels(report, most)
    if report.disagreements:
        yield _disagreements(report, most)


def _gates(report: AgreementReport) -> Section:
    rows = [
        [
            short_name(gate.metric),
            numbers.value_beside(gate.value, gate.bound),
            numbers.bound(gate),
            envelope.gate_word(gate),
        ]
        for gate in report.gates
    ]
    return Section(
        title="Gates",
        heads=("metric", "value", "bound", "verdict"),
        rows=rows,
        notes=[envelope.gate_note(gate) for gate in report.gates],
        right={1},
        verbatim={0, 2},
    )


def _metrics(report: AgreementReport) -> Section:
    rows = [
        [
            short_name(id),
            value(score.value),
            numbers.interval(score.ci),
            numbers.n_of(score.n, score.of),
        ]
        for id, score in report.metrics.items()
    ]
    told = {gate.metric for gate in report.gates}
    return Section(
        title="Agreement",
        heads=("metric", "value", "95 % interval", "items"),
        rows=rows,
        notes=["" if id in told else one.reason or "" for id, one in report.metrics.items()],
        right={1},
        verbatim={0},
    )


def _pairs(report: AgreementReport, most: int) -> Section:
    known = PER_PAIR if report.kind == "labels" else PER_PAIR_OF_SPANS
    names = [
        name for name in known if any(getattr(pair, name) is not None for pair in report.pairs)
    ]
    # The pair that agrees least is the one to talk to; a pair without a number comes last.
    main = "n" if not names else names[-1] if report.kind == "labels" else names[0]
    ranked = sorted(
        report.pairs, key=lambda pair: (getattr(pair, main) is None, getattr(pair, main) or 0)
    )
    told = ranked[:most]
    return Section(
        title="Pairs",
        beside="least agreement first",
        heads=("pair", "items", *names),
        rows=[
            [f"{pair.a} and {pair.b}", count(pair.n), *(value(getattr(pair, n)) for n in names)]
            for pair in told
        ],
        notes=[_why_absent(pair, names) for pair in told],
        right=range(1, len(names) + 2),
        more=len(ranked) - len(told),
    )


def _why_absent(pair: PairAgreement, names: Collection[str]) -> str:
    """Why numbers are missing in the columns that are there."""
    told = [pair.reason, *(pair.token_reasons.get(name) for name in names)]
    return "; ".join(dict.fromkeys(reason for reason in told if reason))


def _labels(report: AgreementReport, most: int) -> Section:
    ranked = sorted(
        report.labels.items(),
        key=lambda pair: (pair[1].agreement is None, pair[1].agreement or 0, pair[0]),
    )
    told = ranked[:most]
    title = "Labels" if report.kind == "labels" else "Types"
    return Section(
        title=title,
        beside="of its givings, the share another annotator joined",
        heads=(title.lower()[:-1], "given", "joined", "agreement"),
        rows=[
            [label, count(one.given), count(one.joined), value(one.agreement)]
            for label, one in told
        ],
        notes=[""] * len(told),
        right=range(1, 4),
        verbatim={0},
        more=len(ranked) - len(told),
    )


def _disagreements(report: AgreementReport, most: int) -> Section:
    told = report.disagreements[:most]
    names = tuple(report.annotators)
    return Section(
        title="Disagreements",
        beside="" if report.kind == "labels" else "spans that not all have",
        heads=("item", *names),
        rows=[[one.id, *(said(one, name, SPANS_SHOWN) for name in names)] for one in told],
        notes=[""] * len(told),
        verbatim=range(len(names) + 1),
        more=report.disagreement_count - len(told),
    )


def said(one: ItemDisagreement, name: str, most: int | None = None) -> str:
    """What an annotator said of an item: a label, or the spans that not all have."""
    if one.labels:
        return one.labels[name] or ABSENT
    if name not in one.spans:
        return "not annotated"
    spans = [f"{span.start}–{span.end} {span.type}" for span in one.spans[name]]
    more = [f"and {len(spans) - most} more"] if most is not None and len(spans) > most else []
    return ", ".join([*spans[:most], *more]) or ABSENT


def coverage_words(report: AgreementReport) -> str:
    covered = report.coverage
    parts = [
        f"{count(covered.all)} of {counted(covered.items, 'item')} annotated by all",
        covered.some and f"{count(covered.some)} by some",
        covered.one and f"{count(covered.one)} by one alone",
    ]
    return ", ".join(part for part in parts if part)


def findings(report: AgreementReport) -> list[tuple[str, int, Sequence[Finding]]]:
    return envelope.findings_by_code(report.findings, report.finding_counts)
