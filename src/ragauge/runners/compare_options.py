"""How two runs are compared: what a user may say, and what is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import get_args

from msgspec import Struct

from ragauge.contracts.options import Allowance, CompareOptions
from ragauge.errors import UsageError
from ragauge.metrics.names import short_name

ALLOWANCES = get_args(Allowance)


class Margins(Struct, frozen=True, kw_only=True):
    """The losses a user accepts."""

    common: float | None
    own: dict[str, float]

    def of(self, ids: Sequence[str]) -> dict[str, float]:
        """The margin of each of these metrics; one without a name is for those that have none."""
        shared = {} if self.common is None else dict.fromkeys(ids, self.common)
        return shared | {id: margin for id, margin in self.own.items() if id in ids}


def margins_of(texts: tuple[str, ...], ids: Sequence[str]) -> Margins:
    """The margins a user gave, of these metrics; raises UsageError with all that is wrong."""
    problems: list[str] = []
    common: float | None = None
    own: dict[str, float] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        margin = _margin(number)
        matching = [id for id in ids if name.strip() in (id, short_name(id))]
        if margin is None:
            problems.append(f'--margin "{text}": write 0.02, or precision_cited=0.02')
        elif not equals:
            common = margin
        elif not matching:
            problems.append(f'--margin "{text}": "{name.strip()}" is not compared')
        else:
            own |= dict.fromkeys(matching, margin)
    if problems:
        raise UsageError(*problems)
    return Margins(common=common, own=own)


def _margin(text: str) -> float | None:
    """
    >>> _margin("0.02"), _margin("2%"), _margin("-1")
    (0.02, 0.02, None)
    """
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        return None
    number /= 100 if text.strip().endswith("%") else 1
    return number if math.isfinite(number) and number >= 0 else None


def gated_metrics(
    options: CompareOptions, family: Sequence[str], margins: Mapping[str, float]
) -> list[str]:
    """The metrics that the gate is on: the family; of `not-worse`, those with a margin.

    Raises UsageError where that gate could decide nothing.
    """
    if options.gate != "not-worse":
        return list(family) if options.gate else []
    if options.method == "wilcoxon":
        raise UsageError(
            "--gate not-worse: a margin is a loss of the mean, and --method wilcoxon has an "
            "interval of the median; leave the method out"
        )
    nothing = [id for id in family if margins.get(id) == 0]
    if nothing or not margins:
        named = f" for {', '.join(nothing)}" if nothing else ""
        raise UsageError(
            f"--gate not-worse needs a margin above 0{named}: say --margin 0.02 for all metrics, "
            "or --margin precision_cited=0.02 for one"
        )
    return [id for id in family if id in margins]
