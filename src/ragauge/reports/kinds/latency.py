"""The report of `ragauge latency`: speed and quality under load, and what to choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ragauge.contracts.latency import (
    Cell,
    Front,
    LatencyReport,
    shown_change,
    shown_ms,
    shown_points,
)
from ragauge.contracts.verdict import Verdict as Gate
from ragauge.reports import document as blocks
from ragauge.reports import numbers
from ragauge.reports.document import (
    Block,
    Coverage,
    Document,
    Figure,
    Heading,
    Row,
    Table,
    Text,
    Verdict,
    columns,
    findings,
    names,
    number,
    rows,
)
from ragauge.reports.figures import scatter
from ragauge.reports.numbers import ABSENT, counted

PERCENTILES = {"P50": "p50_ms", "P90": "p90_ms", "P95": "p95_ms", "P99": "p99_ms"}
OTHERS = ("P99/P50", "answers/s", "failed", "precision", "under-refusal")
UNSURE = "*"
ON_FRONT = "●"
_ERRORS, _P95, _PRECISION = "latency.errors", "latency.p95_increase", "latency.precision_drop"
PLAIN = (
    *("config", "rate", "planned", "sent", "answered", "errors", "complete", *PERCENTILES.values()),
    *("tail_ratio", "achieved_rate", "kept_up", "growth", "open_at_end", "late_ms"),
)
SCORES = ("precision", "under_refusal")
COLUMNS = (
    *PLAIN,
    *(f"{name}{part}" for name in SCORES for part in ("", "_low", "_high", "_n")),
    *("on_front", "unsure", "error_kinds", "reason"),
)


def document(report: LatencyReport) -> Document:
    return Document("latency", list(_blocks(report)))


def table(report: LatencyReport) -> tuple[tuple[str, ...], Iterable[Iterable[object]]]:
    """One row for each cell."""
    fronts = {front.rate: front.configs for front in report.fronts}
    return COLUMNS, (_row(cell, cell.config in fronts.get(cell.rate, ())) for cell in report.cells)


def _row(cell: Cell, on_front: bool) -> Iterator[object]:
    for name in PLAIN:
        yield getattr(cell, name)
    for score in (cell.precision, cell.under_refusal):
        yield score.value
        yield from score.ci or (None, None)
        yield score.n
    yield on_front
    yield tuple(cell.unsure)
    yield "; ".join(f"{kind} {times}" for kind, times in cell.error_kinds.items())
    yield cell.reason


def _blocks(report: LatencyReport) -> Iterator[Block]:
    yield Verdict("PASS" if report.passed else "FAIL", _verdict(report))
    yield from _guard(report)
    for rate, cells, front in _by_rate(report):
        yield _rate(rate, cells, front)
        starred = [
            title for title, name in PERCENTILES.items() if any(name in c.unsure for c in cells)
        ]
        if starred:
            named = ", ".join(starred)
            yield Text(f"{UNSURE} {named}: too few answers; a longer load would settle it", "dim")
    yield from _front(report)
    yield findings(report)
    yield Coverage(_coverage(report))


def _verdict(report: LatencyReport) -> str:
    covered = report.coverage
    if report.partial:
        done = f"{numbers.count(covered.complete)} of {counted(covered.cells, 'cell')} measured"
        sent = f"{numbers.count(covered.sent)} of {numbers.count(covered.planned)} calls sent"
        return f"interrupted: {done}, {sent}"
    if not covered.answered:
        return f"none of {counted(covered.sent, 'call')} was answered"
    failing = {_place(gate)[1] for gate in report.gates if not gate.holds}
    stopped = [config for config in report.knobs if config in failing]
    rates = len({cell.rate for cell in report.cells})
    size = f"{counted(len(report.knobs), 'configuration')} at {counted(rates, 'rate')}"
    if not stopped:
        return f"{size}: every gate passes"
    return f"{size}: {', '.join(stopped)} {'does' if len(stopped) == 1 else 'do'} not pass"


def _by_rate(report: LatencyReport) -> Iterator[tuple[float, list[Cell], Front | None]]:
    """The cells of each rate, with its front where there is one."""
    fronts = {front.rate: front for front in report.fronts}
    for rate in dict.fromkeys(cell.rate for cell in report.cells):
        yield rate, [cell for cell in report.cells if cell.rate == rate], fronts.get(rate)


def _rate(rate: float, cells: Sequence[Cell], front: Front | None) -> Table:
    def row(cell: Cell) -> Row:
        chosen = front is not None and cell.config in front.configs
        figures = {
            "P99/P50": number(cell.tail_ratio, _figure(cell.tail_ratio)),
            "answers/s": number(cell.achieved_rate, _figure(cell.achieved_rate)),
            "failed": number(cell.errors, numbers.share(cell.errors, cell.sent)),
            "precision": number(cell.precision.value),
            "under-refusal": number(cell.under_refusal.value),
        }
        behind = f"fell behind: {counted(cell.open_at_end, 'call')} open when the last was sent"
        kinds = ", ".join(f"{kind} {times:,}" for kind, times in cell.error_kinds.items())
        notes = [
            cell.reason,
            kinds and not cell.reason and f"failed: {kinds}",
            cell.kept_up is False and behind,
        ]
        return Row(
            (
                blocks.Cell(ON_FRONT if chosen else "", chosen, "good"),
                names(cell.config),
                *(_latency(cell, name) for name in PERCENTILES.values()),
                *(figures[title] for title in OTHERS),
            ),
            "; ".join(note for note in notes if note),
        )

    return Table(
        title=f"At {rate:g} per second",
        remark="latencies in ms, from when a call was due",
        columns=columns(
            *("", "config", *PERCENTILES, *OTHERS),
            right=(*PERCENTILES, *OTHERS),
            spare=("under-refusal", "answers/s", "P99/P50", "P90", "P99"),
        ),
        rows=[row(cell) for cell in cells],
    )


def _latency(cell: Cell, name: str) -> blocks.Cell:
    value: float | None = getattr(cell, name)
    if value is None:
        return blocks.Cell(ABSENT)
    unsure = UNSURE if name in cell.unsure else ""
    return number(value, shown_ms(value).removesuffix(" ms") + unsure)


def _figure(value: float | None) -> str:
    return ABSENT if value is None else f"{value:,.{1 if value >= 10 else 2}f}"


def _guard(report: LatencyReport) -> Iterator[Table]:
    """The cells that are held against the baseline, and whatever else a gate stops."""
    gates = {_place(gate): gate for gate in report.gates}
    order = ("fail", "not_evaluated", "pass", "not_applicable")

    def change(gate: Gate | None, shown: Callable[[float], str]) -> blocks.Cell:
        if gate is None or gate.value is None:
            return blocks.Cell(ABSENT, tone="" if gate is None or gate.holds else "bad")
        return number(gate.value, shown(gate.value), "" if gate.holds else "bad")

    told: list[Row] = []
    for (id, config, rate), errors in gates.items():
        if id != _ERRORS:
            continue
        p95, precision = gates.get((_P95, config, rate)), gates.get((_PRECISION, config, rate))
        own = [gate for gate in (errors, p95, precision) if gate]
        stopping = [gate for gate in own if not gate.holds]
        if not p95 and not stopping:
            continue
        failed = [gate for gate in stopping if gate.verdict == "fail"]
        cells = (
            names(config, "strong" if stopping else ""),
            blocks.Cell(f"{rate}/s"),
            change(errors, lambda share: f"{100 * share:.1f} %"),
            change(p95, shown_change),
            change(precision, lambda drop: shown_points(-drop)),
            blocks.gate_word(min(own, key=lambda gate: order.index(gate.verdict))),
        )
        # What failed, else what could not be evaluated.
        reasons = dict.fromkeys(gate.reason or "" for gate in failed or stopping)
        told.append(Row(cells, "; ".join(reasons)))
    if not told:
        return
    bounds = {_place(gate)[0]: 100 * gate.bound for gate in report.gates}
    allowed = f"{bounds[_ERRORS]:.4g} % failed"
    if _P95 in bounds:
        allowed += f", P95 +{bounds[_P95]:.4g} %, precision -{bounds[_PRECISION]:.4g} points"
    yield Table(
        title="Rollback guard",
        remark=f"against {report.baseline}; allowed: {allowed}",
        columns=columns(
            *("config", "rate", "failed", "P95", "precision", "verdict"),
            right=("rate", "failed", "P95", "precision"),
        ),
        rows=told,
    )


def _place(gate: Gate) -> tuple[str, str, str]:
    """A gate's metric id, configuration and rate.

    >>> metric = "latency.errors[a[1],b,20]"
    >>> _place(Gate(rule="", metric=metric, op="<=", bound=0, value=0, n=1, ci=None,
    ...             verdict="pass", reason=None))
    ('latency.errors', 'a[1],b', '20')
    """
    id, _, place = gate.metric.partition("[")
    config, _, rate = place.removesuffix("]").rpartition(",")
    return id, config, rate


def _front(report: LatencyReport) -> Iterator[Block]:
    """The front of the highest rate with the most configurations that can be placed."""
    if not report.fronts:
        return
    drawn = [
        (front, [cell for cell in cells if cell.config not in front.left_out])
        for _, cells, front in _by_rate(report)
        if front
    ]
    most = max((len(cells) for _, cells in drawn), default=0)
    plot = next((one for one in reversed(drawn) if len(one[1]) == most > 1), None)
    yield Heading("Pareto front", f"{ON_FRONT} no other is faster and more precise")
    if plot is None:
        yield Text("fewer than two configurations have both a P95 and a precision", "dim")
        return
    front, cells = plot
    at = f"at {front.rate:g} per second"
    yield Text(f"precision over P95 (logarithmic) {at}; capitals are on the front", "dim")
    yield Figure(lambda width: scatter.drawn(cells, front.configs, width))
    marks = scatter.marks(cells, front.configs)
    yield Table(
        columns=columns(
            *("", "configuration", "P95", "precision", "95 % interval"), right=("P95", "precision")
        ),
        rows=rows(
            [
                blocks.Cell(mark, tone="good" if mark.isupper() else ""),
                names(cell.config),
                number(cell.p95_ms, shown_ms(cell.p95_ms or 0.0)),
                number(cell.precision.value),
                blocks.Cell(numbers.interval(cell.precision.ci), cell.precision.ci, "dim"),
            ]
            for cell in cells
            for mark in (marks[cell.config],)
        ),
    )
    first, last = front.configs[0], front.configs[-1]
    if len(front.configs) == 1:
        yield Text(f"{first} is the fastest and the most precise")
    else:
        yield Text(f"the fastest is {first}, the most precise {last}")
    if front.left_out:
        left = "; ".join(f"{config} is left out: {why}" for config, why in front.left_out.items())
        yield Text(left, "dim")


def _coverage(report: LatencyReport) -> str:
    covered = report.coverage
    asked = counted(covered.asked, "question")
    if covered.gold is not None:
        asked = f"{numbers.count(covered.asked)} of {counted(covered.gold, 'gold question')}"
    unfinished = covered.sent - covered.answered - covered.errors
    parts = [
        f"{numbers.count(covered.answered)} of {counted(covered.planned, 'call')} answered",
        covered.errors and f"{numbers.count(covered.errors)} failed",
        unfinished and f"{numbers.count(unfinished)} cut off",
        covered.planned - covered.sent
        and f"{numbers.count(covered.planned - covered.sent)} never sent",
        f"{asked} asked",
    ]
    return ", ".join(part for part in parts if part)
