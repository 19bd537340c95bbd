"""`ragauge gold agreement`: whether annotators agree well enough to call their labels gold."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ragauge.cli.exit_codes import NOT_MEASURED
from ragauge.cli.settings import formats

if TYPE_CHECKING:
    from ragauge.contracts.annotation import AgreementReport, ItemDisagreement
    from ragauge.contracts.verdict import Verdict

LEVELS = ("nominal", "ordinal", "interval")
WEIGHTS = ("none", "linear", "quadratic")
SHOWN = 10
"""Pairs, labels and disagreements that are spelled out for a person; the JSON has more."""
SPANS_SHOWN = 3
GATES = "Gates"


@click.command(short_help="Say whether annotators agree well enough.")
@click.argument("files", metavar="A B [C...]", nargs=-1, required=True)
@click.option(
    "--field",
    metavar="NAME",
    help="What to compare: a field, or a path such as a.b.  [label, ner_annotations or spans]",
)
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    help="What labels are.  [nominal, with weights or an order: ordinal]",
)
@click.option(
    "--weights",
    type=click.Choice(WEIGHTS),
    default="none",
    help="Let near labels agree in part: weighted κ.",
)
@click.option("--order", metavar="a,b,c", help="The labels, lowest first, where no numbers are.")
@click.option(
    "--gates", metavar="RULES", multiple=True, help="In place of the default: alpha>=0.8."
)
@formats("text", "json")
@click.pass_context
def agreement(ctx: click.Context, /, **given: Any) -> None:
    """Compare the annotations of the same items by two annotators or more.

    Files are JSON Lines, a JSON array, CSV or TSV, an item a record: id or qid, and a label, or
    spans as [{start, end, type}]. One of them may be -, which is stdin. κ and span F1 of more
    than two annotators are means over pairs.

    Without other gates kappa>0.85 must hold; with weights, kappa_weighted>0.85; at interval level,
    alpha>0.85; for spans, span_f1>=0.85. Every item must be annotated by all.

    \b
    Example:
      ragauge gold agreement anna.jsonl ben.csv --field type --gates 'kappa>0.8'
      ragauge gold agreement a.csv b.csv c.csv --order low,middle,high --weights quadratic
    """
    from ragauge.runners.gold_agreement import agreement as run
    from ragauge.runners.label_agreement import Options

    order = tuple(label.strip() for label in (given["order"] or "").split(",") if label.strip())
    report = run(
        given["files"],
        field=given["field"],
        options=Options(level=given["level"], weights=given["weights"], order=order),
        gates=",".join(given["gates"]) if given["gates"] else None,
    )
    _show(report, given["format"])
    covered = report.coverage
    if not covered.all + covered.some:
        ctx.exit(NOT_MEASURED)
    ctx.exit(0 if report.passed else 1)


def _show(report: AgreementReport, format: str | None) -> None:
    if format == "json":
        from ragauge.reports.json import render

        click.echo(render(report), nl=False)
        return
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    width = shutil.get_terminal_size((100, 24)).columns
    click.echo(_page(report, color, width), nl=False, color=color)


class _Section(NamedTuple):
    """A titled table in words; a row may have a note below it."""

    title: str
    beside: str
    rows: list[list[str]]
    """The first one names the columns."""
    right: range
    notes: list[str]
    more: int = 0
    """Rows that are not shown."""


def _page(report: AgreementReport, color: bool, width: int) -> str:
    from ragauge.reports import envelope, terminal
    from ragauge.reports.terminal import GAP, MARGIN, Page, head, note, styled, words

    page = Page(color, width)
    verdict = "PASS" if report.passed else "FAIL"
    indent = len(verdict) + GAP
    page.paragraph(words(_verdict(report), "bold"), indent, styled(verdict).append(" " * GAP))
    for annotator in _annotators(report):
        page.paragraph(note(annotator), indent)
    for section in _sections(report):
        page.section(section.title, note(section.beside))
        names, *rows = section.rows
        shown = styled if section.title == GATES else words  # what is ours, and what is not
        cells = [head(*names), *([shown(cell) for cell in row] for row in rows)]
        page.table(cells, right=section.right, notes=[note(one) for one in ["", *section.notes]])
        if section.more:
            page.paragraph(note(f"and {section.more:,} more; see --format json"), MARGIN)
    found = envelope.findings_by_code(report.findings, report.finding_counts)
    terminal.findings(page, found)
    terminal.coverage(page, _coverage(report))
    return page.text()


def _verdict(report: AgreementReport) -> str:
    """How far they agree: `3 annotators agree on 45 of 50 items, κ 0.81, α 0.80`."""
    from ragauge.reports.numbers import count, counted, value

    shared = report.coverage.all + report.coverage.some
    if not shared:
        return "no item was annotated by two"
    agreed = f"{count(shared - report.disagreement_count)} of {counted(shared, 'item')}"
    signs = {
        "agreement.kappa": "κ",
        "agreement.kappa_weighted": "weighted κ",
        "agreement.alpha": "α",
        "agreement.span_f1": "span F1",
    }
    numbers = [
        f"{sign} {value(report.metrics[id].value)}"
        for id, sign in signs.items()
        if id in report.metrics
    ]
    return f"{len(report.annotators)} annotators agree on {agreed}; {', '.join(numbers)}"


def _annotators(report: AgreementReport) -> Iterator[str]:
    from ragauge.reports.numbers import counted

    for letter, one in report.annotators.items():
        yield f"{letter} is {one.file}: {counted(one.annotated, 'item')}"
    level = f", {report.level}" if report.level else ""
    weights = f", {report.weights} weights" if report.weights not in (None, "none") else ""
    yield f"compared: {report.field}{level}{weights}"


def _sections(report: AgreementReport) -> Iterator[_Section]:
    yield _gates(report)
    yield _metrics(report)
    if len(report.pairs) > 1:
        yield _pairs(report)
    if report.labels:
        yield _labels(report)
    if report.disagreements:
        yield _disagreements(report)


def _gates(report: AgreementReport) -> _Section:
    from ragauge.reports import envelope, numbers

    rows = [["metric", "value", "bound", "verdict"]]
    rows += [
        [
            _short(gate.metric),
            numbers.value_beside(gate.value, gate.bound),
            numbers.bound(gate),
            envelope.gate_word(gate),
        ]
        for gate in report.gates
    ]
    return _Section(GATES, "", rows, range(1, 2), [_gate_note(gate) for gate in report.gates])


def _gate_note(gate: Verdict) -> str:
    from ragauge.reports import envelope

    return envelope.gate_note(gate)


def _metrics(report: AgreementReport) -> _Section:
    from ragauge.reports import numbers

    rows = [["metric", "value", "95 % interval", "items"]]
    rows += [
        [
            _short(id),
            numbers.value(score.value),
            numbers.interval(score.ci),
            numbers.n_of(score.n, score.of),
        ]
        for id, score in report.metrics.items()
    ]
    told = {gate.metric for gate in report.gates}
    notes = ["" if id in told else score.reason or "" for id, score in report.metrics.items()]
    return _Section("Agreement", "", rows, range(1, 2), notes)


def _pairs(report: AgreementReport) -> _Section:
    from ragauge.reports import numbers

    names = [
        name
        for name in ("percent", "kappa", "kappa_weighted", "span_f1")
        if any(getattr(pair, name) is not None for pair in report.pairs)
    ]
    # The pair that agrees least is the one to talk to; a pair without a number comes last.
    last = names[-1] if names else "n"
    ranked = sorted(
        report.pairs, key=lambda pair: (getattr(pair, last) is None, getattr(pair, last) or 0)
    )
    rows = [["pair", "items", *names]]
    rows += [
        [f"{p.a} and {p.b}", numbers.count(p.n), *(numbers.value(getattr(p, n)) for n in names)]
        for p in ranked[:SHOWN]
    ]
    notes = [pair.reason or "" for pair in ranked[:SHOWN]]
    more = max(0, len(ranked) - SHOWN)
    return _Section("Pairs", "least agreement first", rows, range(1, 9), notes, more)


def _labels(report: AgreementReport) -> _Section:
    from ragauge.reports import numbers

    ranked = sorted(
        report.labels.items(),
        key=lambda pair: (pair[1].agreement is None, pair[1].agreement or 0, pair[0]),
    )
    title = "Labels" if report.kind == "labels" else "Types"
    rows = [[title.lower()[:-1], "given", "joined", "agreement"]]
    rows += [
        [label, *map(numbers.count, (one.given, one.joined)), numbers.value(one.agreement)]
        for label, one in ranked[:SHOWN]
    ]
    beside = "of its givings, the share another annotator joined"
    notes = [""] * (len(rows) - 1)
    return _Section(title, beside, rows, range(1, 4), notes, max(0, len(ranked) - SHOWN))


def _disagreements(report: AgreementReport) -> _Section:
    told = report.disagreements[:SHOWN]
    rows = [["item", *report.annotators]]
    rows += [[one.id, *(_said(one, name) for name in report.annotators)] for one in told]
    beside = "" if report.kind == "labels" else "spans that not all have"
    more = report.disagreement_count - len(told)
    return _Section("Disagreements", beside, rows, range(0), [""] * len(told), more)


def _said(one: ItemDisagreement, name: str) -> str:
    from ragauge.reports.numbers import ABSENT

    if one.labels:
        return one.labels[name] or ABSENT
    if name not in one.spans:
        return "not annotated"
    spans = [f"{span.start}–{span.end} {span.type}" for span in one.spans[name]]
    more = [f"and {len(spans) - SPANS_SHOWN} more"] if len(spans) > SPANS_SHOWN else []
    return ", ".join([*spans[:SPANS_SHOWN], *more]) or ABSENT


def _coverage(report: AgreementReport) -> str:
    from ragauge.reports.numbers import count, counted

    covered = report.coverage
    parts = [
        f"{count(covered.all)} of {counted(covered.items, 'item')} annotated by all",
        covered.some and f"{count(covered.some)} by some",
        covered.one and f"{count(covered.one)} by one alone",
    ]
    return ", ".join(part for part in parts if part)


def _short(metric: str) -> str:
    return metric.partition(".")[2]
