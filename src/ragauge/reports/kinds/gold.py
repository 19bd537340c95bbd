"""The reports of `ragauge gold`: lint, diff, split, sample, convert, and lint with a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ragauge.contracts.gold_parts import ConvertReport, PlanReport, SampleReport, SplitReport
from ragauge.contracts.gold_report import AnchorChunks, DiffReport, GoldReport, LintReport
from ragauge.reports import document as doc
from ragauge.reports.document import Block, Cell, Column, Document, Facts, Row, Span, Table, Text
from ragauge.reports.document import names as theirs
from ragauge.reports.envelope import PLACES_SHOWN, verdict_word
from ragauge.reports.numbers import ABSENT, count, counted, n_of

VALUES_SHOWN = 5
ANCHORS_SHOWN = 20
QIDS_SHOWN = 8
IN_THE_TABLE = ("missing_part", "short_of_plan")
"""Findings of a plan that its table shows already."""


def document(report: GoldReport) -> Document:
    name, blocks = KINDS[type(report)]
    return Document(f"gold {name}", [*blocks(report), _findings(report)])


def _findings(report: GoldReport) -> doc.Findings:
    """By code, errors before warnings."""
    severities = {one.code: one.severity for one in report.findings}
    shown_above = IN_THE_TABLE if isinstance(report, PlanReport) else ()
    return doc.Findings(
        [
            (
                f"{severity} {code}",
                report.finding_counts[code],
                [one for one in report.findings if one.code == code][:PLACES_SHOWN],
            )
            for severity, code in sorted((severity, code) for code, severity in severities.items())
            if code not in shown_above
        ],
        everything="see --format json",
    )


def _verdict(report: GoldReport, text: str, *meaning: str) -> doc.Verdict:
    return doc.Verdict(verdict_word(report.passed, ()), text, meaning=meaning)


def _listed(label: str, texts: Iterable[str], most: int) -> tuple[str, Sequence[Span]]:
    """A fact with the first texts, and how many there are beyond them."""
    every = list(texts)
    more = f", and {count(len(every) - most)} more" if len(every) > most else ""
    shown = Span(", ".join(every[:most]), foreign=True)
    return "", [Span(f"{label}: ", "dim"), shown, Span(more)]


def _lint(report: LintReport) -> Iterator[Block]:
    held = report.summary
    yield _verdict(
        report,
        f"{counted(report.coverage['gold'], 'question')}: "
        f"{count(held.answerable)} answerable, {count(held.unanswerable)} unanswerable",
        _readiness(report),
    )
    yield Text(
        f"with gold citations {count(held.with_citations)}, with paraphrases "
        f"{count(held.with_paraphrases)}, with constraints {count(held.with_constraints)}"
    )
    by_frequency = {
        key: sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))
        for key, values in held.strata.items()
    }
    yield Facts(
        [
            _listed(f"by {key}", (f"{value} {count(n)}" for value, n in ranked), VALUES_SHOWN)
            for key, ranked in by_frequency.items()
        ]
    )
    if report.locks:
        yield Table(
            title="Constraint locks",
            columns=doc.columns("question", "lock"),
            rows=doc.rows([theirs(qid), theirs(lock)] for qid, lock in report.locks.items()),
        )
    if report.anchors:
        yield _anchors(report.anchors)


def _readiness(report: LintReport) -> str:
    warnings = counted(report.warnings, "warning")
    if report.errors:
        later = f"; {warnings} can wait" if report.warnings else ""
        return f"Not ready: fix {counted(report.errors, 'error')} before you score with it{later}."
    if not report.warnings:
        return "Ready: nothing to fix."
    if report.passed:
        return f"Ready: no errors. Check {warnings}; --strict would fail here."
    return f"Not ready: fix {warnings}, which --strict does not allow."


def _anchors(anchors: tuple[AnchorChunks, ...]) -> Table:
    rows, remarks = [], []
    for one in anchors:
        cut = ABSENT if one.cut is None else "cut by the window" if one.cut else "in one window"
        inside = cut if one.chunks is None else one.inside or "no single chunk"
        _, chunks = _listed("", one.chunks or ["none"], VALUES_SHOWN)
        ids = ABSENT if one.chunks is None else doc.plain(chunks[1:])
        size = doc.count(one.end - one.start)
        rows.append(Row((theirs(one.qid), Cell(one.span), size, theirs(ids), theirs(inside))))
    known = [one for one in anchors if one.chunks is not None]
    if known:
        mean = sum(len(one.chunks or ()) for one in known) / len(known)
        inside = n_of(sum(one.inside is not None for one in known), len(known))
        remarks.append(f"{mean:.2f} chunks per anchor; {inside} are inside one chunk")
    windows = [one for one in anchors if one.cut is not None]
    if windows:
        times = n_of(sum(one.cut is True for one in windows), len(windows))
        remarks.append(f"windows from the beginning of the document cut {times} anchors")
    return Table(
        title="Anchors",
        columns=doc.columns(
            *("question", "span", "characters", "chunks", "inside"), right=("characters",)
        ),
        rows=rows,
        shown=ANCHORS_SHOWN,
        after="; ".join(remarks),
    )


def _diff(report: DiffReport) -> Iterator[Block]:
    covered = report.coverage
    yield _verdict(
        report,
        f"{counted(covered['old'], 'question')} before, {count(covered['gold'])} after: "
        f"{count(len(report.added))} added, {count(len(report.removed))} removed, "
        f"{count(len(report.changed))} changed, {count(len(report.edited))} edited, "
        f"{count(covered['same'])} the same",
        "Still the same set: every question that is left means what it meant."
        if report.passed
        else f"Not the same set: fix {counted(report.errors, 'error')}, then compare again.",
    )
    edited = (f"{one.qid} ({', '.join(one.fields)})" for one in report.edited)
    facts = [("added", report.added), ("edited", edited)]
    shown = [_listed(label, texts, QIDS_SHOWN) for label, texts in facts]
    yield Facts([fact for fact in shown if fact[1][1].text])


def _split(report: SplitReport) -> Iterator[Block]:
    covered, parts = report.coverage, [part.name for part in report.parts]
    yield doc.Verdict(
        "",
        f"{count(covered['gold'])} {report.units} in {len(parts)} parts by "
        f"{', '.join(report.factors) or 'chance'} ({count(covered['cells'])} cells), "
        f"seed {report.seed}",
        [_file(part.file, part.questions) for part in report.parts],
        meaning=[
            f"No value is more than {report.largest_deviation:.2f} {report.units} "
            "above or below its target."
        ],
    )
    sizes = {part.name: part.questions for part in report.parts}
    yield _balance(
        report, ("all", *parts), sizes, lambda found: [sum(found.values()), *map(found.get, parts)]
    )


def _sample(report: SampleReport) -> Iterator[Block]:
    covered = report.coverage
    weights = [cell.weight for cell in report.cells if cell.weight is not None]
    yield doc.Verdict(
        "",
        f"{count(covered['sampled'])} of {count(covered['gold'])} {report.units}, "
        f"{report.allocation} by {', '.join(report.factors) or 'chance'} "
        f"({count(covered['cells'])} cells), seed {report.seed}",
        [_file(report.file, covered["sampled"])],
        meaning=[
            f"It represents {report.weight_sum:,.6g} {report.units}; "
            f"weights from {min(weights):.4g} to {max(weights):.4g}."
        ],
    )
    yield _balance(report, ("all", "sample"), (covered["gold"], covered["sampled"]), list)


def _balance(
    report: SplitReport | SampleReport,
    parts: Sequence[str],
    sizes: Any,
    counts: Callable[[Any], Sequence[int]],
) -> Table:
    """How many of each value are in each part; `counts` takes them from an entry of `balance`."""
    values = [
        (f"{factor} {value}", found)
        for factor, by_value in report.balance.items()
        for value, found in by_value.items()
    ]
    return Table(
        title="Balance",
        columns=[Column(""), *(Column(name, right=True, foreign=True) for name in parts)],
        rows=doc.rows(
            [theirs(name), *map(doc.count, counts(found))]
            for name, found in [(report.units, sizes), *values]
        ),
    )


def _file(path: str, questions: int) -> str:
    return f"{path}: {count(questions)}"


def _convert(report: ConvertReport) -> Iterator[Block]:
    total, answerable = report.coverage["gold"], report.coverage["answerable"]
    yield doc.Verdict(
        "",
        f"{counted(total, 'question')} from {report.read}: "
        f"{count(answerable)} answerable, {count(total - answerable)} unanswerable",
        [_file(report.file, total)],
    )
    if report.extra:
        kept = [f"{key} ({count(times)})" for key, times in report.extra.items()]
        yield Facts([_listed("kept as they are", kept, len(kept))])


def _plan(report: PlanReport) -> Iterator[Block]:
    covered, rows = report.coverage, []
    ready = "Meets the plan" if report.passed else "Does not meet the plan"
    yield _verdict(report, f"{ready}: {covered['met']} of {covered['demands']} lines are met")
    for one in report.demands:
        short = f"short by {count(one.short)}" if one.short else "not met"
        word = Cell("ok" if one.ok else short, one.ok, "good" if one.ok else "bad")
        cells = map(theirs, (one.part, one.what, one.wanted, one.found))
        rows.append(Row((*cells, word), strong=not one.ok))
    columns = doc.columns("part", "what", "wanted", "found", "verdict")
    yield Table(title="Plan", columns=columns, rows=rows)


KINDS: dict[type[GoldReport], tuple[str, Callable[[Any], Iterable[Block]]]] = {
    LintReport: ("lint", _lint),
    DiffReport: ("diff", _diff),
    SplitReport: ("split", _split),
    SampleReport: ("sample", _sample),
    ConvertReport: ("convert", _convert),
    PlanReport: ("plan", _plan),
}
"""What each is called, and its blocks."""
