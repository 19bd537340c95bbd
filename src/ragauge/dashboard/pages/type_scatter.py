"""Precision and recall of each type as points in a square."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from ragauge.dashboard import parts
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.foreign import cut

SIDE = 300
"""Of the square from 0 to 1."""
SMALLEST, LARGEST = 3.5, 11.0
"""Radii: the area of a point grows with how often its type is in the gold."""
NAMED = 14
"""Points that have a name next to them, the most frequent; all have it in their words."""
LONGEST = 24
CLOSE = 20
"""Points in the same of so many parts of a side have one text for all."""
CURVES = (0.2, 0.4, 0.6, 0.8)
STEPS = 40
PAIRS = (("precision_strict", "recall_strict"), ("precision", "recall"))
WEIGHTS = ("gold", "support")

Measured = Mapping[str, float | None]


def scatter(per_type: Mapping[str, Measured]) -> doc.Section | None:
    """The types that have both numbers; None where fewer than two do: there is nothing to see."""
    names = next((pair for pair in PAIRS if any(pair[0] in one for one in per_type.values())), None)
    if names is None:
        return None
    weights = {
        type: next((weight for name in WEIGHTS if (weight := one.get(name)) is not None), 0.0)
        for type, one in per_type.items()
    }
    ranked = sorted(per_type, key=lambda name: (-weights[name], name))
    most = max(weights.values()) or 1.0
    both = {
        type: (precision, recall)
        for type in ranked
        if (precision := per_type[type].get(names[0])) is not None
        and (recall := per_type[type].get(names[1])) is not None
    }
    if len(both) < 2:
        return None
    labels = named(both)
    points = [
        (
            round(SIDE * recall, 1),
            round(SIDE * (1 - precision), 1),
            round(SMALLEST + (LARGEST - SMALLEST) * sqrt(weights[type] / most), 1),
            f"{type}: precision {numbers.value(precision)}, recall {numbers.value(recall)}",
            labels.get(type, ""),
        )
        for type, (precision, recall) in both.items()
    ]
    about = "The larger a point, the more of its type in the gold; a curve joins equal F1."
    words = [doc.Span(about, "soft")]
    if left_out := ", ".join(type for type in ranked if type not in both):
        words += [doc.Span(" Not drawn, as one of the two is not known: ", "soft")]
        words += doc.theirs(left_out)
    curves = [(f"{f1:g}", _curve(f1), f"{SIDE * (1 - f1 / (2 - f1)) + 4:.1f}") for f1 in CURVES]
    return doc.Section(
        title="Precision and recall by type",
        blocks=[doc.Text(words), parts.macro("scatter", points, curves, SIDE)],
        part="by-type",
    )


def named(places: Mapping[str, tuple[float, float]]) -> dict[str, str]:
    """What is next to the points, the most frequent types first: one text where several lie.

    >>> named({"AGT": (0.5, 0.5), "TOP": (0.51, 0.5), "TMP": (1.0, 0.5)})
    {'AGT': 'AGT, TOP', 'TMP': 'TMP'}
    """
    found: dict[tuple[int, int], list[str]] = {}
    for type, (precision, recall) in places.items():
        found.setdefault((int(precision * CLOSE), int(recall * CLOSE)), []).append(type)
    return {types[0]: cut(", ".join(types), LONGEST) for types in list(found.values())[:NAMED]}


def _curve(f1: float) -> str:
    """Where precision and recall have this F1: p = f r / (2 r - f), from r = f / (2 - f) on."""
    first = f1 / (2 - f1)
    recalls = [first + (1 - first) * step / STEPS for step in range(STEPS + 1)]
    places = [(SIDE * r, SIDE * (1 - f1 * r / (2 * r - f1))) for r in recalls]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
