"""What a validator costs for each of the sample answers, printed the same way for every one."""

import json
import sys
import timeit
import tracemalloc
from collections.abc import Callable
from time import process_time
from typing import Any

from benchmarks.peers.sample_citations import cases

SECONDS_A_ROUND = 0.02
"""Long enough for the clock, short enough to fall between what else the machine does."""
ROUNDS = 15
WARM_UP = 20

Validate = Callable[[Any, list[dict[str, Any]] | None], str]


def print_costs(name: str, validate: Validate) -> None:
    """One line of JSON: the verdict, CPU microseconds and the most bytes held, by answer.

    A wrong verdict ends it: a fast wrong one is worth nothing.
    """
    costs = {}
    for case, (answer, retrieved, code) in cases().items():

        def call(answer: Any = answer, retrieved: Any = retrieved) -> str:
            return validate(answer, retrieved)

        for _ in range(WARM_UP):
            found = call()
        if found != code:
            sys.exit(f"{name}: {case}: says {found}, expected {code}")
        costs[case] = {"us": best_us(call), "peak_bytes": peak_bytes(call)}
    print(json.dumps({"name": name, "costs": costs}))


def best_us(call: Callable[[], str]) -> float:
    """The best of some rounds, garbage collected as in any program."""
    timer = timeit.Timer(call, "gc.enable()", timer=process_time)
    once = timer.timeit(WARM_UP) / WARM_UP
    number = max(int(SECONDS_A_ROUND / once), WARM_UP)
    return min(timer.repeat(ROUNDS, number)) / number * 1e6


def peak_bytes(call: Callable[[], str]) -> int:
    """The most memory that a call holds beside what was there before, in a call of its own."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak - before
