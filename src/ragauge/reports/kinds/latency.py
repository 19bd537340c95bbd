"""The report of `ragauge latency`: speed and quality under load, and what to choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from string import ascii_lowercase

from ragauge.contracts.latency import Cell, LatencyReport, shown_ms
from ragauge.contracts.report import Verdict as Gate
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.document import Block, Column, Document, Figure, Table, Text, names, number
from ragauge.reports.figures import scatter
from ragauge.reports.phrasing import ABSENT, count, pluralize

SCORES = ("precision", "under_refusal")
PLAIN = tuple(
    one for one in Cell.__struct_fields__ if one not in (*SCORES, "unsure", "error_kinds", "reason")
)
COLUMNS = (
    *PLAIN,
    *(f"{name}{part}" for name in SCORES for part in ("", "_low", "_high", "_n")),
    *("on_front", "unsure", "error_kinds", "reason"),
)
DECIDES = ("fail", "not_evaluated", "pass", "not_applicable")
LIMITS = {
    "latency.errors": "{} % failed",
    "latency.p95_increase": "P95 +{} %",
    "latency.precision_drop": "precision -{} points",
}


def document(report: LatencyReport) -> Document:
    return Document("latency", list(_blocks(report)))


def table(report: LatencyReport) -> tuple[tuple[str, ...], Iterable[Iterable[object]]]:
    """One row for each cell."""

    def row(cell: Cell) -> Iterator[object]:
        yield from attrgetter(*PLAIN)(cell)
        for score in attrgetter(*SCORES)(cell):
            yield score.value
            yield from score.ci or (None, None)
            yield score.n
        yield _is_on_front(report, cell)
        yield tuple(cell.unsure)
        yield "; ".join(f"{kind} {times}" for kind, times in cell.error_kinds.items())
        yield cell.reason

    return COLUMNS, map(row, report.cells)


def _is_on_front(report: LatencyReport, cell: Cell) -> bool:
    return any(front.rate == cell.rate and cell.config in front.configs for front in report.fronts)


def _mark(report: LatencyReport, cell: Cell) -> str:
    """The letter of a configuration, a capital if it is on the front; none without a front."""
    letters = [*ascii_lowercase, *"*" * len(report.knobs)]
    mark = letters[list(report.knobs).index(cell.config)] if report.fronts else ""
    return mark.upper() if _is_on_front(report, cell) else mark


def _gates(report: LatencyReport, cell: Cell) -> list[Gate]:
    """Those of a cell, the one that decides first."""
    own = [gate for gate in report.gates if gate.metric.endswith(f"[{cell.name}]")]
    return sorted(own, key=lambda gate: DECIDES.index(gate.verdict))


def _blocks(report: LatencyReport) -> Iterator[Block]:
    covered, rates = report.coverage, len({cell.rate for cell in report.cells})
    failed = dict.fromkeys(
        cell.config for cell in report.cells if not all(one.holds for one in _gates(report, cell))
    )
    text = f"{pluralize(len(report.knobs), 'configuration')} at {pluralize(rates, 'rate')}: "
    text += f"{', '.join(failed)} failed" if failed else "every gate passes"
    if report.partial:
        text = f"interrupted: {phrasing.n_of(covered.complete, covered.cells)} cells measured"
    elif not covered.answered:
        text = f"none of {pluralize(covered.sent, 'call')} was answered"
    yield doc.Verdict("PASS" if report.passed else "FAIL", text)
    yield _cells(report)
    if report.fronts:
        # The highest rate with the most configurations that can be placed.
        front = max(report.fronts, key=lambda one: (-len(one.left_out), one.rate))
        at_rate = (one for one in report.cells if one.rate == front.rate)
        placed = [one for one in at_rate if one.config not in front.left_out]
        marks = {one.config: _mark(report, one) for one in placed}
        if len(placed) > 1:
            yield Figure(
                drawn=lambda width: scatter.draw_scatter(placed, marks, front.configs, width),
                title="Pareto front",
                remark=f"precision over P95 (logarithmic) at {front.rate:g} per second; capitals: "
                "no other is faster and more precise",
            )
        for config, why in front.left_out.items():
            yield Text(f"{config} is not on the Pareto front: {why}", "dim")
    yield doc.findings(report)
    unfinished = covered.planned - covered.answered - covered.errors
    questions = pluralize(covered.asked, "question")
    if covered.gold is not None:
        questions = f"{count(covered.asked)} of {pluralize(covered.gold, 'gold question')}"
    coverage = doc.listed(
        f"{count(covered.answered)} of {pluralize(covered.planned, 'call')} answered",
        covered.errors and f"{count(covered.errors)} failed",
        unfinished and f"{count(unfinished)} not finished",
        f"{questions} used",
    )
    yield doc.coverage(coverage)


def _cells(report: LatencyReport) -> Table:
    """Each configuration at each rate, with its gates."""

    def latency(name: str) -> Callable[[Cell], doc.Cell]:
        def cell(one: Cell) -> doc.Cell:
            value: float | None = getattr(one, name)
            if value is None:
                return doc.Cell(ABSENT)
            unsure = "*" if name in one.unsure else ""
            return number(value, shown_ms(value).removesuffix(" ms") + unsure)

        return cell

    def note(one: Cell) -> str:
        failed = (gate.reason for gate in _gates(report, one) if not gate.holds)
        reasons = dict.fromkeys((one.reason, *failed))
        behind = f"fell behind: {pluralize(one.open_at_end, 'call')} open when the last was sent"
        return doc.listed(*reasons, one.kept_up is False and behind, sep="; ")

    bounds = {gate.metric.partition("[")[0]: f"{100 * gate.bound:.4g}" for gate in report.gates}
    limits = ", ".join(LIMITS[id].format(bound) for id, bound in bounds.items())
    return doc.table(
        report.cells,
        {
            "rate": lambda one: number(one.rate, f"{one.rate:g}/s"),
            "": lambda one: doc.Cell(_mark(report, one)),
            "config": lambda one: names(one.config),
            "P50": latency("p50_ms"),
            Column("P90", right=True, spare=2): latency("p90_ms"),
            "P95": latency("p95_ms"),
            Column("P99", right=True, spare=1): latency("p99_ms"),
            Column("answers/s", right=True, spare=3): lambda one: number(one.achieved_rate),
            "failed": lambda one: number(one.errors, phrasing.percent(one.errors, one.sent)),
            "precision": lambda one: number(one.precision.value),
            Column("under-refusal", right=True, spare=4): lambda one: number(
                one.under_refusal.value
            ),
            "verdict": lambda one: doc.gate_word(_gates(report, one)[0]),
        },
        note=note,
        title="Configurations",
        remark=f"latencies in ms, from when a call was due; allowed against {report.baseline}: "
        f"{limits}",
        after="* too few answers: a longer load would make it certain"
        if any(cell.unsure for cell in report.cells)
        else "",
    )
