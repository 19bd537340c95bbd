"""Fast or right: the configurations worth having, and those to be rolled back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from ragauge.contracts.latency import (
    Cell,
    Front,
    Guard,
    shown_change,
    shown_ms,
    shown_points,
)
from ragauge.contracts.report import Rule, Score, Verdict
from ragauge.gates.rules import decide
from ragauge.runners.cells import NO_GOLD, PRECISION, UNDER_REFUSAL
from ragauge.stats.intervals import wilson

P95, ERRORS = "latency.p95_ms", "latency.errors"
P95_INCREASE, PRECISION_DROP = "latency.p95_increase", "latency.precision_drop"
INTERRUPTED = "interrupted"


def pareto(points: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """The names of the points that no other beats: lower first, higher second; the lowest first.

    Of equal points each is on the front; ties in order are broken by name.

    >>> pareto({"fast": (10, 0.7), "slow": (90, 0.7), "good": (50, 0.9)})
    ('fast', 'good')
    """
    front = []
    highest = float("-inf")
    last: tuple[float, float] | None = None
    for name in sorted(points, key=lambda name: (points[name][0], -points[name][1], name)):
        if points[name][1] > highest or points[name] == last:
            front.append(name)
            highest, last = points[name][1], points[name]
    return tuple(front)


def fronts(cells: Sequence[Cell], guard: Guard) -> tuple[Front, ...]:
    """The Pareto front of P95 and precision at each rate."""
    found = []
    for rate in dict.fromkeys(cell.rate for cell in cells):
        placed = {cell.config: _point(cell, guard) for cell in cells if cell.rate == rate}
        points = {config: at for config, at in placed.items() if not isinstance(at, str)}
        left_out = {config: why for config, why in placed.items() if isinstance(why, str)}
        found.append(Front(rate=rate, configs=pareto(points), left_out=left_out))
    return tuple(found)


def _point(cell: Cell, guard: Guard) -> tuple[float, float] | str:
    """Where a cell stands, or why it stands nowhere."""
    if cell.reason or cell.p95_ms is None:
        return cell.reason or "no answer"
    if cell.errors > guard.max_errors * cell.sent:
        return f"{cell.errors} of {cell.sent} calls failed"
    if cell.precision.value is None:
        return f"no precision: {cell.precision.reason}"
    return cell.p95_ms, cell.precision.value


def verdicts(cells: Sequence[Cell], baseline: str, guard: Guard) -> tuple[Verdict, ...]:
    """The share of failed calls in every cell, then the guard of all but the baseline's."""
    found = [_decided(ERRORS, guard.max_errors, cell, error_share(cell)) for cell in cells]
    bases = {cell.rate: cell for cell in cells if cell.config == baseline}
    for cell in cells:
        if cell.config != baseline:
            found += _guarded(cell, bases[cell.rate], guard)
    return tuple(found)


def _guarded(cell: Cell, base: Cell, guard: Guard) -> Iterator[Verdict]:
    slower, worse = p95_increase(cell, base), precision_drop(cell, base)
    yield _decided(P95_INCREASE, guard.max_p95_increase, cell, slower)
    verdict = _decided(PRECISION_DROP, guard.max_precision_drop, cell, worse)
    if worse.reason == NO_GOLD:
        # Nobody asked how right the answers are: that is a choice, not a measurement that failed.
        verdict = structs.replace(verdict, verdict="not_applicable")
    yield verdict


def _decided(id: str, bound: float, cell: Cell, score: Score) -> Verdict:
    rule = Rule(metric=f"{id}[{cell.name}]", op="<=", bound=bound)
    return structs.replace(decide(rule, score), reason=score.reason)


def error_share(cell: Cell) -> Score:
    """The share of the calls that brought no answer."""
    if not cell.complete:
        return Score(value=None, n=cell.sent, of=cell.planned, reason=INTERRUPTED)
    share = cell.errors / cell.sent
    kinds = ", ".join(f"{kind} {times}" for kind, times in cell.error_kinds.items())
    return Score(
        value=share,
        n=cell.sent,
        of=cell.planned,
        ci=wilson(share, cell.sent),
        reason=f"{cell.errors} of {cell.sent} calls failed: {kinds}" if kinds else None,
        signature=f"{ERRORS}|v1|n:{cell.sent}",
    )


def p95_increase(cell: Cell, base: Cell) -> Score:
    """By what share P95 is above the baseline's; below 0 where it is faster."""
    n, of = cell.answered, cell.planned
    if not (cell.complete and base.complete):
        return Score(value=None, n=n, of=of, reason=INTERRUPTED)
    if cell.p95_ms is None or base.p95_ms is None:
        missing = cell if cell.p95_ms is None else base
        return Score(value=None, n=n, of=of, reason=f"{missing.config}: {missing.reason}")
    change = cell.p95_ms / base.p95_ms - 1
    told = f"P95 {shown_ms(cell.p95_ms)} against {shown_ms(base.p95_ms)}: {shown_change(change)}"
    unsure = cell.unsure.get("p95_ms") or base.unsure.get("p95_ms")
    return Score(value=change, n=n, of=of, reason=f"{told}; {unsure}" if unsure else told)


def precision_drop(cell: Cell, base: Cell) -> Score:
    """By how much precision is below the baseline's; below 0 where it is better."""
    now, before = cell.precision, base.precision
    if not (cell.complete and base.complete):
        return Score(value=None, n=now.n, of=now.of, reason=INTERRUPTED)
    if now.value is None or before.value is None:
        missing, name = (now, cell.config) if now.value is None else (before, base.config)
        reason = NO_GOLD if missing.reason == NO_GOLD else f"{name}: {missing.reason}"
        return Score(value=None, n=now.n, of=now.of, reason=reason)
    drop = before.value - now.value
    told = f"precision {now.value:.3f} against {before.value:.3f}: {shown_points(-drop)}"
    return Score(value=drop, n=now.n, of=now.of, reason=told)


def metrics_of(cells: Sequence[Cell], baseline: str) -> dict[str, Score]:
    """The numbers of every cell that gates or readers speak of, by id and cell."""
    found: dict[str, Score] = {}
    bases = {cell.rate: cell for cell in cells if cell.config == baseline}
    for cell in cells:
        scores = {
            ERRORS: error_share(cell),
            P95: _p95(cell),
            PRECISION: cell.precision,
            UNDER_REFUSAL: cell.under_refusal,
        }
        if cell.config != baseline:
            scores[P95_INCREASE] = p95_increase(cell, bases[cell.rate])
            scores[PRECISION_DROP] = precision_drop(cell, bases[cell.rate])
        found |= {f"{id}[{cell.name}]": score for id, score in scores.items()}
    return dict(sorted(found.items()))


def _p95(cell: Cell) -> Score:
    return Score(
        value=cell.p95_ms,
        n=cell.answered,
        of=cell.planned,
        reason=cell.reason or cell.unsure.get("p95_ms"),
        signature=f"{P95}|v1|linear|n:{cell.answered}",
    )
