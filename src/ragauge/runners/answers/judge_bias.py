"""What else than an answer's worth moves a judge: how long it is, and where it stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragauge.contracts.answer_calibration import Bias
from ragauge.runners.answers.agreement import DIGITS, SEED
from ragauge.runners.answers.labelled import POSITION, Labelled
from ragauge.stats.discrimination import interval_over_groups, rank_correlation, value_of
from ragauge.stats.intervals import clustered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

BY_ORDER = "by_order"
"""Whether the order decided, as the comparison of two answers tells."""
PREFERRED, SWAPPED = "preferred", "preferred_swapped"
"""Which place was preferred, as asked, and with the two answers swapped."""
PLACES = ("first", "second", "tie")
NO_POSITIONS = (
    "no row tells of positions: give `by_order`, or `preferred` and `preferred_swapped` "
    "(first, second or tie), or an answer twice with another `position`"
)


def length_bias(shares: Floats, rows: Sequence[Labelled]) -> Bias:
    """Spearman's ρ of judge minus people with the words of the answer.

    Above 0, long answers are judged better than people judge them. `shares` are the judge's
    scores from 0 to 1.
    """
    if not len(rows):
        return Bias(name="length", value=None, ci=None, n=0, reason="no answer is judged")
    apart = shares - np.array([float(one.good) for one in rows])
    statistic = rank_correlation(np.round(apart, DIGITS), [float(one.words) for one in rows])
    value = value_of(statistic, len(rows))
    if value is None:
        same = "judge and people differ by the same everywhere, or all answers are as long"
        return Bias(name="length", value=None, ci=None, n=len(rows), reason=same)
    sources = [one.source for one in rows]
    spread = interval_over_groups(statistic, sources, share=False, seed=SEED)
    ci = spread.ci and (round(spread.ci[0], DIGITS), round(spread.ci[1], DIGITS))
    return Bias(name="length", value=round(value, DIGITS), ci=ci, n=len(rows), reason=spread.reason)


def position_flips(said: Flags | None, rows: Sequence[Labelled]) -> Bias:
    """The share of verdicts that name another answer when the two change places.

    `said` is which rows are called good, for answers that stand there once a position.
    """
    flips = [*_compared(rows), *_judged_twice(said, rows)]
    if not flips:
        return Bias(name="position", value=None, ci=None, n=0, reason=NO_POSITIONS)
    by_source: dict[str, list[bool]] = defaultdict(list)
    for source, flipped in flips:
        by_source[source].append(flipped)
    yes = np.array([sum(each) for each in by_source.values()])
    of = np.array([len(each) for each in by_source.values()])
    low, high = clustered(yes, of)
    return Bias(
        name="position",
        value=round(float(yes.sum() / of.sum()), DIGITS),
        ci=(round(low, DIGITS), round(high, DIGITS)),
        n=len(flips),
        reason=None,
    )


def _compared(rows: Sequence[Labelled]) -> Iterator[tuple[str, bool]]:
    """Whether the order decided, of rows that are comparisons of two answers."""
    for one in rows:
        by_order = one.record.get(BY_ORDER)
        places = _place(one.record.get(PREFERRED)), _place(one.record.get(SWAPPED))
        if isinstance(by_order, bool):
            yield one.source, by_order
        elif None not in places:
            # The same place in both orders is another answer each time.
            yield one.source, places[0] == places[1] != "tie"


def _place(value: Any) -> str | None:
    word = value.strip().casefold() if isinstance(value, str) else None
    return {"a": "first", "b": "second"}.get(word or "", word) if word in _KNOWN else None


_KNOWN = {*PLACES, "a", "b"}


def _judged_twice(said: Flags | None, rows: Sequence[Labelled]) -> Iterator[tuple[str, bool]]:
    """Whether the verdict on one answer differs between its positions."""
    if said is None:
        return
    verdicts: dict[str, dict[str, bool]] = defaultdict(dict)
    sources: dict[str, str] = {}
    for one, good in zip(rows, said.tolist(), strict=True):
        position = one.record.get(POSITION)
        if position is not None:
            verdicts[one.given][str(position)] = good
            sources[one.given] = one.source
    for id, by_position in sorted(verdicts.items()):
        if len(by_position) > 1:
            yield sources[id], len(set(by_position.values())) > 1
