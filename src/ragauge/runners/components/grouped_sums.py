"""Units that belong together, summed before they are resampled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragauge.metrics.sums import QuestionSums

if TYPE_CHECKING:
    from ragauge.metrics.sums import Ints
    from ragauge.runners.numbers import Mask


def grouped(sums: QuestionSums, groups: Sequence[str], mask: Mask | None = None) -> QuestionSums:
    """The sums of each group of units, by the groups' names; of those in the mask alone.

    Whoever resamples them then resamples groups, as it must be where units of one group are
    alike: about one source, or in one conversation.
    """
    kept = np.flatnonzero(np.ones(len(groups), dtype=bool) if mask is None else mask)
    names = np.array([groups[place] for place in kept.tolist()], dtype=object)
    known, group = np.unique(names, return_inverse=True) if len(names) else (names, kept)

    def added(column: Ints) -> Ints:
        total = np.zeros((len(known), *column.shape[1:]), dtype=column.dtype)
        np.add.at(total, group, column[kept])
        return total

    return QuestionSums(
        sums.metric, added(sums.sums), added(sums.scored), added(sums.units), sums.absent
    )
