"""How two runs are compared: what a user may say, and what is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from ragauge.contracts.comparison import Correction
from ragauge.errors import UsageError
from ragauge.gates.regression import Gate
from ragauge.runners.metric_change import Method

Allowance = Literal["gold", "versions", "no-baseline"]
ALLOWANCES = get_args(Allowance)


class CompareOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to compare; the defaults are the command's."""

    metrics: tuple[str, ...] = ()
    margins: tuple[str, ...] = ()
    """`precision_cited=0.02` for one metric, `0.02` for all others."""
    slices: tuple[str, ...] = ()
    correction: Correction = "holm"
    method: Method = "auto"
    gate: Gate | None = None
    allow: tuple[Allowance, ...] = ()
    alpha: Annotated[float, Meta(gt=0, lt=1)] = 0.05
    seed: Annotated[int, Meta(ge=0)] = 0


def options_of(given: Mapping[str, Any]) -> CompareOptions:
    """The options of a call, each of the kind it should be; raises UsageError otherwise."""
    try:
        return msgspec.convert(dict(given), CompareOptions)
    except msgspec.ValidationError as error:
        raise UsageError(f"compare: {error}") from None


def margins_of(texts: tuple[str, ...], ids: list[str]) -> dict[str, float]:
    """The margin of each metric; one without a name holds for those that have none."""
    problems: list[str] = []
    common: float | None = None
    own: dict[str, float] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        margin = _margin(number)
        matching = [id for id in ids if name.strip() in (id, id.partition(".")[2])]
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
    return (dict.fromkeys(ids, common) if common is not None else {}) | own


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


def demand_margins(gate: Gate | None, ids: list[str], margins: Mapping[str, float]) -> None:
    """Raise UsageError where a gate needs a margin that nobody gave."""
    lacking = [id for id in ids if not margins.get(id)] if gate == "not-worse" else []
    if lacking:
        raise UsageError(
            f"--gate not-worse needs a margin above 0 for {', '.join(lacking)}: "
            "say --margin 0.02 for all, or name what matters with --metric"
        )
