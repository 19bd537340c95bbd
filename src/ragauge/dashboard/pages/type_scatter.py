"""Precision and recall of each type as points in a square, drawn by the server."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from msgspec import Struct

from ragauge.reports import numbers
from ragauge.reports.foreign import cut

SIDE = 300
"""Of the square from 0 to 1."""
SMALLEST, LARGEST = 3.5, 11.0
"""Radii: the area of a point grows with how often its type is in the gold."""
NAMED = 14
"""Points that have a name beside them, the most frequent; all have it in their words."""
LONGEST = 24
CLOSE = 20
"""Points in the same of so many parts of a side have one text for all."""
CURVES = (0.2, 0.4, 0.6, 0.8)
STEPS = 40
PAIRS = (("precision_strict", "recall_strict"), ("precision", "recall"))
WEIGHTS = ("gold", "support")

Measured = Mapping[str, float | None]


class TypePoint(Struct, frozen=True):
    """A type in the square."""

    name: str
    label: str
    """Beside the point; empty where there is no room."""
    x: float
    y: float
    radius: float
    words: str


class Scatter(Struct, frozen=True, kw_only=True):
    """The square with its points and the curves of equal F1."""

    points: tuple[TypePoint, ...]
    curves: tuple[tuple[str, str], ...]
    """The F1 of a curve, and its path."""
    left_out: tuple[str, ...]
    """Types that lack a precision or a recall."""
    side: int = SIDE

    @property
    def words(self) -> str:
        """The picture in a sentence, for who cannot see it."""
        return "; ".join(point.words for point in self.points)


def scatter(per_type: Mapping[str, Measured]) -> Scatter | None:
    """The types that have both numbers; None where fewer than two do: there is nothing to see."""
    names = next((pair for pair in PAIRS if any(pair[0] in one for one in per_type.values())), None)
    if names is None:
        return None
    ranked = sorted(per_type.items(), key=lambda pair: (-_weight(pair[1]), pair[0]))
    most = max((_weight(one) for _, one in ranked), default=1.0) or 1.0
    both = {
        type: (precision, recall, _weight(one) / most)
        for type, one in ranked
        if (precision := one.get(names[0])) is not None
        and (recall := one.get(names[1])) is not None
    }
    if len(both) < 2:
        return None
    labels = _labels({type: (p, r) for type, (p, r, _) in both.items()})
    points = (_point(type, labels.get(type, ""), *one) for type, one in both.items())
    left_out = tuple(type for type, _ in ranked if type not in both)
    curves = tuple((f"{f1:g}", _curve(f1)) for f1 in CURVES)
    return Scatter(points=tuple(points), curves=curves, left_out=left_out)


def _labels(places: Mapping[str, tuple[float, float]]) -> dict[str, str]:
    """What stands beside the points, the most frequent types first: one text where several lie.

    >>> _labels({"AGT": (0.5, 0.5), "TOP": (0.51, 0.5), "TMP": (1.0, 0.5)})
    {'AGT': 'AGT, TOP', 'TMP': 'TMP'}
    """
    found: dict[tuple[int, int], list[str]] = {}
    for type, (precision, recall) in places.items():
        found.setdefault((int(precision * CLOSE), int(recall * CLOSE)), []).append(type)
    named = list(found.values())[:NAMED]
    return {types[0]: cut(", ".join(types), LONGEST) for types in named}


def _weight(one: Measured) -> float:
    return next((weight for name in WEIGHTS if (weight := one.get(name)) is not None), 0.0)


def _point(type: str, label: str, precision: float, recall: float, share: float) -> TypePoint:
    return TypePoint(
        name=type,
        label=label,
        x=round(SIDE * recall, 1),
        y=round(SIDE * (1 - precision), 1),
        radius=round(SMALLEST + (LARGEST - SMALLEST) * sqrt(share), 1),
        words=f"{type}: precision {numbers.value(precision)}, recall {numbers.value(recall)}",
    )


def _curve(f1: float) -> str:
    """Where precision and recall have this F1: p = f r / (2 r - f), from r = f / (2 - f) on."""
    first = f1 / (2 - f1)
    recalls = [first + (1 - first) * step / STEPS for step in range(STEPS + 1)]
    places = [(SIDE * r, SIDE * (1 - f1 * r / (2 * r - f1))) for r in recalls]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
