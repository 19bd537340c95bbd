"""What a latency report tells, in the order it is told; the forms only write it down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from ragauge.contracts.finding import Finding
from ragauge.contracts.latency import (
    Cell,
    Front,
    LatencyCoverage,
    LatencyReport,
    shown_change,
    shown_ms,
    shown_points,
)
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope, numbers
from ragauge.reports.numbers import ABSENT, count, counted

HEADS = (
    "config",
    "P50",
    "P90",
    "P95",
    "P99",
    "P99/P50",
    "answers/s",
    "failed",
    "precision",
    "under-refusal",
)
ESSENTIAL = ("config", "P50", "P95", "failed", "precision")
"""What is left of HEADS where there is little room."""
UNSURE = "*"
ON_FRONT = "●"
_PERCENTILES = ("p50_ms", "p90_ms", "p95_ms", "p99_ms")
_ERRORS, _P95, _PRECISION = "latency.errors", "latency.p95_increase", "latency.precision_drop"


def verdict_words(report: LatencyReport) -> tuple[str, str]:
    """PASS or FAIL, and the one thing a reader must know."""
    word, told = ("PASS" if report.passed else "FAIL"), report.coverage
    if report.partial:
        done = f"{count(told.complete)} of {counted(told.cells, 'cell')} measured"
        return word, f"interrupted: {done}, {count(told.sent)} of {count(told.planned)} calls sent"
    if not told.answered:
        return word, f"none of {counted(told.sent, 'call')} was answered"
    stopped = stopped_configs(report)
    size = f"{counted(len(report.knobs), 'configuration')} at {counted(_rates(report), 'rate')}"
    if not stopped:
        return word, f"{size}: every gate holds"
    return word, f"{size}: {', '.join(stopped)} {'does' if len(stopped) == 1 else 'do'} not pass"


def stopped_configs(report: LatencyReport) -> list[str]:
    """The configurations that some gate stops, in their order."""
    stopped = {gate_place(gate)[1] for gate in report.gates if not gate.holds}
    return [config for config in report.knobs if config in stopped]


def _rates(report: LatencyReport) -> int:
    return len({cell.rate for cell in report.cells})


def by_rate(report: LatencyReport) -> Iterator[tuple[float, list[Cell], Front | None]]:
    """The cells of each rate, with its front where there is one."""
    fronts = {front.rate: front for front in report.fronts}
    for rate in dict.fromkeys(cell.rate for cell in report.cells):
        yield rate, [cell for cell in report.cells if cell.rate == rate], fronts.get(rate)


def cell_texts(cell: Cell) -> list[str]:
    """A cell under HEADS."""
    return [
        cell.config,
        *(_latency(cell, name) for name in _PERCENTILES),
        _figure(cell.tail_ratio),
        _figure(cell.achieved_rate),
        numbers.share(cell.errors, cell.sent),
        numbers.value(cell.precision.value),
        numbers.value(cell.under_refusal.value),
    ]


def _latency(cell: Cell, name: str) -> str:
    value: float | None = getattr(cell, name)
    if value is None:
        return ABSENT
    return shown_ms(value).removesuffix(" ms") + (UNSURE if name in cell.unsure else "")


def _figure(number: float | None) -> str:
    return ABSENT if number is None else f"{number:,.{1 if number >= 10 else 2}f}"


def cell_note(cell: Cell) -> str:
    """What a cell has no column for."""
    behind = f"fell behind: {counted(cell.open_at_end, 'call')} open when the last was sent"
    kinds = ", ".join(f"{kind} {count(times)}" for kind, times in cell.error_kinds.items())
    parts = [
        cell.reason,
        kinds and not cell.reason and f"failed: {kinds}",
        cell.kept_up is False and behind,
    ]
    return "; ".join(part for part in parts if part)


def unsure_words(cells: Sequence[Cell]) -> str | None:
    """What the star beside a percentile means; None where there is none."""
    starred = {name for cell in cells for name in cell.unsure}
    if not starred:
        return None
    named = ", ".join(name.removesuffix("_ms").upper() for name in _PERCENTILES if name in starred)
    return f"{UNSURE} {named}: too few answers to carry it; a longer load would tell"


class Guarded(Struct, frozen=True, kw_only=True):
    """A cell and its gates."""

    config: str
    rate: str
    errors: Verdict
    p95: Verdict | None
    """None for the baseline."""
    precision: Verdict | None

    @property
    def gates(self) -> list[Verdict]:
        return [gate for gate in (self.errors, self.p95, self.precision) if gate]

    @property
    def holds(self) -> bool:
        return all(gate.holds for gate in self.gates)

    @property
    def word(self) -> str:
        """The worst of the verdicts."""
        order = ("fail", "not_evaluated", "pass", "not_applicable")
        return envelope.gate_word(min(self.gates, key=lambda gate: order.index(gate.verdict)))

    @property
    def note(self) -> str:
        """Why it does not pass: what failed, else what could not be told."""
        stopping = [gate for gate in self.gates if not gate.holds]
        failed = [gate for gate in stopping if gate.verdict == "fail"]
        return "; ".join(dict.fromkeys(gate.reason or "" for gate in failed or stopping))


GUARD_HEADS = ("config", "rate", "failed", "P95", "precision", "verdict")


def guarded(report: LatencyReport) -> list[Guarded]:
    """The cells that are held against the baseline, and whatever else a gate stops."""
    gates = {gate_place(gate): gate for gate in report.gates}
    found = [
        Guarded(
            config=config,
            rate=rate,
            errors=gate,
            p95=gates.get((_P95, config, rate)),
            precision=gates.get((_PRECISION, config, rate)),
        )
        for (id, config, rate), gate in gates.items()
        if id == _ERRORS
    ]
    return [one for one in found if one.p95 or not one.holds]


def guard_texts(one: Guarded) -> list[tuple[str, bool]]:
    """Failed calls, the change of P95 and that of precision; each with whether it is allowed."""
    return [
        _found(one.errors, lambda share: f"{100 * share:.1f} %"),
        _found(one.p95, shown_change),
        _found(one.precision, lambda drop: shown_points(-drop)),
    ]


def _found(gate: Verdict | None, shown: Callable[[float], str]) -> tuple[str, bool]:
    if gate is None or gate.value is None:
        return ABSENT, gate is None or gate.holds
    return shown(gate.value), gate.holds


def guard_words(report: LatencyReport) -> str:
    """What is allowed: `against base; allowed: 0 % failed, P95 +15 %, precision -2 points`."""
    bounds = {gate_place(gate)[0]: 100 * gate.bound for gate in report.gates}
    allowed = f"{bounds[_ERRORS]:.4g} % failed"
    if _P95 in bounds:
        allowed += f", P95 +{bounds[_P95]:.4g} %, precision -{bounds[_PRECISION]:.4g} points"
    return f"against {report.baseline}; allowed: {allowed}"


def gate_place(gate: Verdict) -> tuple[str, str, str]:
    """A gate's metric id, configuration and rate.

    >>> from ragauge.contracts.verdict import Rule
    >>> metric = "latency.errors[a[1],b,20]"
    >>> gate_place(Verdict(rule="", metric=metric, op="<=", bound=0, value=0, n=1, ci=None,
    ...                    verdict="pass", reason=None))
    ('latency.errors', 'a[1],b', '20')
    """
    id, _, place = gate.metric.partition("[")
    config, _, rate = place.removesuffix("]").rpartition(",")
    return id, config, rate


def plotted(report: LatencyReport) -> tuple[Front, list[Cell]] | None:
    """The front to draw: of the highest rate with the most configurations that can be placed."""
    drawn = [
        (front, [cell for cell in cells if cell.config not in front.left_out])
        for _, cells, front in by_rate(report)
        if front
    ]
    most = max((len(cells) for _, cells in drawn), default=0)
    return next((one for one in reversed(drawn) if len(one[1]) == most > 1), None)


def plot_words(front: Front) -> str:
    at = f"at {front.rate:g} a second"
    return f"precision over P95 (logarithmic) {at}; capitals are on the front"


def choice_words(front: Front) -> str:
    """Which of the front to take."""
    if len(front.configs) == 1:
        return f"{front.configs[0]} is the fastest and the most precise"
    return f"the fastest is {front.configs[0]}, the most precise {front.configs[-1]}"


def left_out_words(front: Front) -> str:
    return "; ".join(f"{config} is left out: {why}" for config, why in front.left_out.items())


def coverage_words(coverage: LatencyCoverage) -> str:
    asked = counted(coverage.asked, "question")
    if coverage.gold is not None:
        asked = f"{count(coverage.asked)} of {counted(coverage.gold, 'gold question')}"
    unfinished = coverage.sent - coverage.answered - coverage.errors
    parts = [
        f"{count(coverage.answered)} of {counted(coverage.planned, 'call')} answered",
        coverage.errors and f"{count(coverage.errors)} failed",
        unfinished and f"{count(unfinished)} cut off",
        coverage.planned - coverage.sent
        and f"{count(coverage.planned - coverage.sent)} never sent",
        f"{asked} asked",
    ]
    return ", ".join(part for part in parts if part)


def findings(report: LatencyReport) -> list[tuple[str, int, Sequence[Finding]]]:
    return envelope.findings_by_code(report.findings, report.finding_counts)
