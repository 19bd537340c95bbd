"""Folds over sources: what is tested was never fitted to, nor was anything of its source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragauge.stats.draws import below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Places = NDArray[np.int64]

FOLDS = 10
ROUNDS = 3
"""Times the sources are dealt anew: what a row comes to is the mean over them."""


def held_out(sources: Sequence[str]) -> Iterator[Flags]:
    """Which rows are held out, fold after fold; every row is, once a round."""
    for fold in dealt(sources):
        for place in range(int(fold.max(initial=-1)) + 1):
            yield fold == place


def dealt(sources: Sequence[str]) -> Iterator[Places]:
    """The fold of each row, round after round; rows of one source are in one fold."""
    names = sorted(set(sources))
    folds = min(FOLDS, len(names))
    for turn in range(ROUNDS):
        marks = below(turn, 1 << 32, (len(names),)).tolist()
        order = sorted(range(len(names)), key=lambda place: (marks[place], place))
        fold = {names[place]: rank % folds for rank, place in enumerate(order)}
        yield np.array([fold[source] for source in sources], dtype=np.int64)
