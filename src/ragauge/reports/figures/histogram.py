"""How many units have a value in each tenth from 0 to 1: bars as characters and as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from ragauge.reports.document import Figure, Span, Words
from ragauge.reports.numbers import count, counted
from ragauge.reports.terminal import GAP, bar

if TYPE_CHECKING:
    from markupsafe import Markup

TENTHS = 10
WIDEST = 40
COLUMN, HIGHEST, LEFT = 40, 120, 10
"""Of the SVG: the width of a column, the height of the highest, and where the first begins."""


class Tenth(Struct, frozen=True):
    """How many queries have a value from `low` up to `high`."""

    low: float
    high: float
    queries: int

    @property
    def name(self) -> str:
        return f"{self.low:.1f} to {self.high:.1f}"


def tenths_of(values: Iterable[float]) -> list[Tenth]:
    """How many of the values are in each tenth; nothing where there are none."""
    counts = [0] * TENTHS
    for one in values:
        # 0.3 * 10 is 3.0000000000000004 in some sums: what is within rounding counts as there.
        counts[min(TENTHS - 1, max(0, int(round(one * TENTHS, 9))))] += 1
    if not any(counts):
        return []
    return [Tenth(n / TENTHS, (n + 1) / TENTHS, times) for n, times in enumerate(counts)]


def figure(metric: str, tenths: Sequence[Tenth]) -> Figure:
    return Figure(
        title=f"{metric}, query by query",
        remark="how many queries are in each tenth",
        drawn=lambda width: lines(tenths, width),
        svg=lambda links: svg(tenths),
        part="spread",
    )


def lines(tenths: Sequence[Tenth], width: int) -> list[Words]:
    most = max(one.queries for one in tenths)
    digits = len(count(most))
    room = min(WIDEST, width - len(tenths[0].name) - digits - 2 * GAP)
    gap = " " * GAP
    return [
        [
            Span(f"{one.name}{gap}{count(one.queries):>{digits}}{gap}"),
            Span(bar(one.queries / most, room) if one.queries else "", "plain"),
        ]
        for one in tenths
    ]


def svg(tenths: Sequence[Tenth]) -> Markup:
    from markupsafe import Markup

    most = max(one.queries for one in tenths)
    words = [f"{one.name}: {counted(one.queries, 'query', 'queries')}" for one in tenths]
    drawn = Markup("")
    for place, one in enumerate(tenths):
        x, high = LEFT + COLUMN * place, round(HIGHEST * one.queries / most, 1)
        top = round(HIGHEST - high, 1)
        column = '<rect class="plain" x="{}" y="{}" width="36" height="{}"><title>{}</title></rect>'
        drawn += Markup(column).format(x + 2, top, high, words[place])
        if one.queries:
            text = Markup('<text class="count" x="{}" y="{}">{}</text>')
            drawn += text.format(x + 20, round(top - 5, 1), count(one.queries))
        drawn += Markup('<text x="{}" y="138">{:.1f}</text>\n').format(x, one.low)
    return Markup(
        '<svg class="histogram" viewBox="0 -20 424 172" role="img" aria-label="{}">\n'
        '<path class="axis" d="M10 120.5H410"/>\n{}<text x="410" y="138">1.0</text>\n</svg>\n'
    ).format("; ".join(words), drawn)
