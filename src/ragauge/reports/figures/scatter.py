"""Scatter plots: precision over P95 in characters, precision over recall as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ragauge.contracts.latency import Cell, shown_ms
from ragauge.reports import document as doc
from ragauge.reports import numbers, templating
from ragauge.reports.figures import framed, margin, place
from ragauge.text.visible import cut

if TYPE_CHECKING:
    from markupsafe import Markup

HEIGHT, NARROWEST, WIDEST = 9, 20, 60
STEP = "·"
SHORTEST_MS = 0.001
SIDE = 300
"""Of the square from 0 to 1, in the SVG."""
SMALLEST, LARGEST = 3.5, 11.0
"""Radii: the area of a point grows with how often its type is in gold."""
NAMED, LONGEST = 14, 24
"""Labels next to points, for the most frequent, and their characters; all have a hint."""
CLOSE = 20
"""Points in the same of so many parts of a side have one label."""


def drawn(
    cells: Sequence[Cell], marks: Mapping[str, str], front: Sequence[str], width: int
) -> list[str]:
    """Lines with the P95 across and the precision upwards; the front's steps are dotted.

    `marks` has a letter for each configuration. The P95 is on a logarithmic scale: twice as slow is
    as far from one second as from ten.
    """
    across = [math.log(max(cell.p95_ms or 0.0, SHORTEST_MS)) for cell in cells]
    up = [cell.precision.value or 0.0 for cell in cells]
    columns = max(NARROWEST, min(WIDEST, width - margin(up) - 1))
    places = {
        cell.config: (place(x, across, columns), HEIGHT - 1 - place(y, up, HEIGHT))
        for cell, x, y in zip(cells, across, up, strict=True)
    }
    grid = [[" "] * columns for _ in range(HEIGHT)]
    # From each point of the front to the right, then up to the next.
    for (column, row), (next_column, next_row) in pairwise(places[config] for config in front):
        for at in range(column, next_column + 1):
            grid[row][at] = STEP
        for at in range(next_row, row + 1):
            grid[at][next_column] = STEP
    for config, (column, row) in places.items():
        # Two points may fall on one place: the nearest one that is free.
        order = sorted(range(columns), key=lambda at: (abs(at - column), at))
        free = (at for at in order if grid[row][at] in (" ", STEP))
        grid[row][next(free, column)] = marks[config]
    left, right = (shown_ms(math.exp(end)) for end in (min(across), max(across)))
    ends = left + right.rjust(columns - len(left))
    return framed(grid, up, [ends if max(across) > min(across) else left.center(columns)])


def by_type(per_type: Mapping[str, Mapping[str, float | None]]) -> Iterator[doc.Figure]:
    """Each type as a point; nothing where fewer than two have both precision and recall."""
    strict = "_strict" if any("precision_strict" in one for one in per_type.values()) else ""
    known: dict[str, tuple[float, float, float]] = {}
    left_out = []
    for type, one in per_type.items():
        precision, recall = one.get(f"precision{strict}"), one.get(f"recall{strict}")
        if precision is not None and recall is not None:
            known[type] = precision, recall, one.get("gold") or one.get("support") or 0.0
        elif precision is not None or recall is not None:
            left_out.append(type)
    if len(known) < 2:
        return
    ranked = sorted(known.items(), key=lambda pair: (-pair[1][2], pair[0]))
    most = ranked[0][1][2] or 1.0
    close: dict[tuple[int, int], list[str]] = {}
    for type, (precision, recall, _) in ranked:
        close.setdefault((int(CLOSE * precision), int(CLOSE * recall)), []).append(type)
    labels = {types[0]: cut(", ".join(types), LONGEST) for types in list(close.values())[:NAMED]}
    points = [
        (
            round(SIDE * recall, 1),
            round(SIDE * (1 - precision), 1),
            round(SMALLEST + (LARGEST - SMALLEST) * math.sqrt(times / most), 1),
            f"{type}: precision {numbers.value(precision)}, recall {numbers.value(recall)}",
            labels.get(type, ""),
        )
        for type, (precision, recall, times) in ranked
    ]

    def curve(f1: float) -> str:
        """Where precision and recall have this F1: p = f r / (2 r - f), from r = f / (2 - f) on."""
        first = f1 / (2 - f1)
        recalls = [first + (1 - first) * step / 40 for step in range(41)]
        places = [(SIDE * r, SIDE * (1 - f1 * r / (2 * r - f1))) for r in recalls]
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)

    def svg(links: doc.Links) -> Markup:
        from markupsafe import Markup

        made = templating.own().get_template("scatter.html")
        curves = [(f1, curve(f1), SIDE * (1 - f1 / (2 - f1)) + 4) for f1 in (0.2, 0.4, 0.6, 0.8)]
        return Markup(made.render(points=points, curves=curves, side=SIDE))  # escaped as made

    remark = "the larger a point, the more of its type in gold; a curve joins equal F1"
    if left_out:
        remark += f"; not drawn, as one of the two is not known: {', '.join(left_out)}"
    title = "Precision and recall by type"
    yield doc.Figure(drawn=lambda width: [], title=title, remark=remark, page=svg, part="by-type")
