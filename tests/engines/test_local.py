"""Work in processes comes back in order, and a death among them ends in words."""

from __future__ import annotations

import os

import pytest

from ragauge.engines.local import ordered
from ragauge.errors import RagaugeError


class Squares:
    def __init__(self, deadly: int | None) -> None:
        self._deadly = deadly

    def __call__(self, number: int) -> int:
        if number == self._deadly:
            os._exit(9)
        return number * number


@pytest.mark.parametrize("workers", [1, 3])
def test_results_come_in_the_order_of_the_work(workers):
    assert list(ordered(Squares, (None,), range(20), workers)) == [n * n for n in range(20)]


def test_a_worker_that_dies_ends_the_run_in_words():
    with pytest.raises(RagaugeError, match="a worker process was killed"):
        list(ordered(Squares, (7,), range(20), 2))
