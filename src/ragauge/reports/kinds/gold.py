"""The reports of `ragauge gold`: lint, diff, split, sample, convert, and lint with a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragauge.contracts.gold_parts import ConvertReport, PlanReport, SampleReport, SplitReport
from ragauge.contracts.gold_report import AnchorChunks, DiffReport, GoldReport, LintReport
from ragauge.contracts.kinds import KINDS
from ragauge.reports import document as doc
from ragauge.reports.document import Block, Cell, Column, Document, Facts, foreign, names
from ragauge.reports.phrasing import ABSENT, count, findings_by_code, n_of, pluralize, verdict_word

NAMES_SHOWN = 8  # values or questions in a line
ANCHORS_SHOWN = 20
IN_THE_TABLE = ("missing_part", "short_of_plan")
"""Findings of a plan that its table shows already."""


def document(report: GoldReport) -> Document:
    severity = {one.code: one.severity for one in report.findings}
    by_code = findings_by_code(report.findings, report.finding_counts)
    findings = [
        (f"{severity[code]} {code}", times, first)
        for code, times, first in sorted(by_code, key=lambda one: severity[one[0]])
        if not (isinstance(report, PlanReport) and code in IN_THE_TABLE)
    ]
    everything = doc.Findings(findings, everything="see --format json")
    return Document(KINDS[type(report)].command, [*_blocks(report), everything])


def _some(texts: Sequence[str]) -> str:
    """The first texts, and how many there are beyond them."""
    more = len(texts) > NAMES_SHOWN and f"{count(len(texts) - NAMES_SHOWN)} more"
    return doc.listed(", ".join(texts[:NAMES_SHOWN]), more, sep=", and ")


def _lint(report: LintReport) -> Iterator[Block]:
    in_values = report.summary
    todo = doc.listed(
        report.errors and pluralize(report.errors, "error"),
        report.warnings and pluralize(report.warnings, "warning"),
        sep=" and ",
    )
    ready = f"Ready: {f'check {todo}' if todo else 'nothing to fix'}."
    text = doc.listed(
        f"{pluralize(report.counts['gold'], 'question')}: {count(in_values.answerable)} answerable",
        f"{count(in_values.unanswerable)} unanswerable",
        f"{count(in_values.with_citations)} with gold citations",
        f"{count(in_values.with_paraphrases)} with paraphrases",
        f"{count(in_values.with_constraints)} with constraints",
    )
    meaning = ready if report.passed else f"Not ready: fix {todo}."
    yield doc.Verdict(verdict_word(report.passed, ()), text, meaning=[meaning])

    def values(stratum: str) -> Cell:
        ranked = sorted(in_values.strata[stratum].items(), key=lambda pair: (-pair[1], pair[0]))
        return names(_some([f"{value} {count(times)}" for value, times in ranked]))

    if in_values.strata:
        yield doc.table(
            in_values.strata, {"stratum": names, "questions by value": values}, title="Strata"
        )
    if report.locks:
        yield doc.table(
            report.locks.items(),
            {"question": lambda pair: names(pair[0]), "lock": lambda pair: names(pair[1])},
            title="Constraint locks",
        )
    if not report.anchors:
        return

    def inside(one: AnchorChunks) -> Cell:
        if one.chunks is not None:
            return names(one.inside or "no single chunk")
        return Cell("cut by the window" if one.cut else ABSENT)

    known = [one for one in report.anchors if one.chunks is not None]
    windows = [one.cut for one in report.anchors if one.cut is not None]
    mean = sum(len(one.chunks or ()) for one in known) / max(1, len(known))
    in_one = n_of(sum(one.inside is not None for one in known), len(known))
    yield doc.table(
        report.anchors,
        {
            "question": lambda one: names(one.qid),
            "span": lambda one: Cell(one.span),
            Column("characters", right=True): lambda one: doc.count(one.end - one.start),
            "chunks": lambda one: names(
                ABSENT if one.chunks is None else _some(one.chunks) or "none"
            ),
            "inside": inside,
        },
        title="Anchors",
        shown=ANCHORS_SHOWN,
        after=doc.listed(
            bool(known) and f"{mean:.2f} chunks per anchor; {in_one} are inside one chunk",
            bool(windows) and f"windows cut {n_of(sum(windows), len(windows))} anchors",
            sep="; ",
        ),
    )


def _blocks(report: GoldReport) -> Iterator[Block]:
    covered, word = report.counts, verdict_word(report.passed, ())
    match report:
        case LintReport():
            yield from _lint(report)
        case DiffReport():
            counts = (
                f"{pluralize(covered['old'], 'question')} before, {count(covered['gold'])} after"
            )
            text = doc.listed(
                f"{counts}: {count(len(report.added))} added",
                f"{count(len(report.removed))} removed",
                f"{count(len(report.changed))} changed",
                f"{count(len(report.edited))} edited",
                f"{count(covered['same'])} the same",
            )
            meaning = "Still the same set: every question that is left means what it meant."
            if not report.passed:
                errors = pluralize(report.errors, "error")
                meaning = f"Not the same set: fix {errors}, then compare again."
            yield doc.Verdict(word, text, meaning=[meaning])
            edited = [f"{one.qid} ({', '.join(one.fields)})" for one in report.edited]
            given = [("added", report.added), ("edited", edited)]
            yield Facts([(label, foreign(_some(texts))) for label, texts in given])
        case SplitReport():
            parts = {part.name: part.questions for part in report.parts}
            yield doc.Verdict(
                "",
                f"{count(covered['gold'])} {report.units} in {len(parts)} parts by {_by(report)}",
                [f"{part.file}: {count(part.questions)}" for part in report.parts],
                meaning=[
                    f"No value is more than {report.largest_deviation:.2f} {report.units} "
                    "above or below its target."
                ],
            )
            sizes = {"all": covered["gold"], **parts}
            yield _balance(
                report, sizes, lambda found: [sum(found.values()), *map(found.get, parts)]
            )
        case SampleReport():
            sampled, gold = covered["sampled"], covered["gold"]
            weights = [cell.weight for cell in report.cells if cell.weight is not None]
            yield doc.Verdict(
                "",
                f"{n_of(sampled, gold)} {report.units}, {report.allocation} by {_by(report)}",
                [f"{report.file}: {count(sampled)}"],
                meaning=[
                    f"It represents {report.weight_sum:,.6g} {report.units}; "
                    f"weights from {min(weights):.4g} to {max(weights):.4g}."
                ],
            )
            yield _balance(report, {"all": gold, "sample": sampled})
        case ConvertReport():
            total, answerable = covered["gold"], covered["answerable"]
            yield doc.Verdict(
                "",
                f"{pluralize(total, 'question')} from {report.read}: "
                f"{count(answerable)} answerable, {count(total - answerable)} unanswerable",
                [f"{report.file}: {count(total)}"],
            )
            kept = [f"{key} ({count(times)})" for key, times in report.extra.items()]
            yield Facts([("kept as they are", foreign(", ".join(kept)))])
        case PlanReport():
            ready = "Meets" if report.passed else "Does not meet"
            met = f"{covered['met']} of {covered['demands']} lines are met"
            yield doc.Verdict(word, f"{ready} the plan: {met}")
            yield doc.table(
                report.demands,
                {
                    "part": lambda one: names(one.part),
                    "what": lambda one: names(one.what),
                    "wanted": lambda one: names(one.wanted),
                    "found": lambda one: names(one.found),
                    "verdict": lambda one: (
                        Cell("ok", True, "good")
                        if one.ok
                        else Cell(
                            f"short by {count(one.short)}" if one.short else "not met", False, "bad"
                        )
                    ),
                },
                strong=lambda one: not one.ok,
                title="Plan",
            )


def _by(report: SplitReport | SampleReport) -> str:
    cells = f"({count(report.counts['cells'])} cells)"
    return f"{', '.join(report.factors) or 'chance'} {cells}, seed {report.seed}"


def _balance(
    report: SplitReport | SampleReport,
    sizes: Mapping[str, int],
    counts: Callable[[Any], Iterable[int]] = tuple,
) -> doc.Table:
    """How many of each value are in each part; `counts` takes them from an entry of `balance`."""
    rows: list[tuple[str, Iterable[int]]] = [(report.units, sizes.values())]
    for factor, values in report.balance.items():
        rows += [(f"{factor} {value}", counts(found)) for value, found in values.items()]
    return doc.Table(
        title="Balance",
        columns=[Column(""), *(Column(name, right=True, foreign=True) for name in sizes)],
        rows=[doc.Row((names(name), *map(doc.count, row))) for name, row in rows],
    )
