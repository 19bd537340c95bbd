"""What so many questions can show, and how many would decide."""

from __future__ import annotations

from msgspec import Struct

from ragauge.contracts.comparison import Compared, ComparisonReport
from ragauge.reports.comparison.story import NEVER, judged
from ragauge.reports.numbers import count

TIMES = (1, 2, 4)
"""The multiples of n that the power table is for."""


class Power(Struct, frozen=True, kw_only=True):
    """What a metric can show with this many units, and with more."""

    metric: str
    n: int
    detectable: tuple[float | None, ...]
    """At each of TIMES."""
    needed: str


def power(report: ComparisonReport) -> list[Power]:
    """The smallest differences that would be found with 80 % power."""
    from ragauge.stats.decision import level_of
    from ragauge.stats.power import smallest_seen

    tests = sum(one.tested for one in report.compared.values())

    def level(one: Compared) -> float:
        return level_of(report.alpha, report.correction, tests + (not one.tested))

    return [
        Power(
            metric=id,
            n=one.n,
            detectable=tuple(
                smallest_seen(one.sd, times * one.n, flips=one.flips, alpha=level(one))
                for times in TIMES
            ),
            needed=_needed(one),
        )
        for id, one in judged(report).items()
        if one.sd and one.differs
    ]


def _needed(one: Compared) -> str:
    if one.needed is None:
        return ""
    if one.needed > NEVER:
        return f"> {count(NEVER)}"
    return f"{count(one.needed)} ({count(one.needed - one.n)} more)"


def power_heads() -> list[str]:
    return ["n" if times == 1 else f"{times} n" for times in TIMES]
