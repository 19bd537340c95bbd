"""Krippendorff's α of many units, beside the package `krippendorff`: time, memory, difference.

A smaller number of units as the first argument tries it out: then nothing is written down.
"""

import sys
import tracemalloc
from collections.abc import Callable
from time import process_time
from typing import NamedTuple

import krippendorff
import numpy as np
from numpy.typing import NDArray

from benchmarks.results import table, write_section
from ragauge.stats.krippendorff import Level, alpha

UNITS = 100_000
RATERS = 3
MISSING = 0.1
KEPT = 0.8
"""How often a rater gives what the others see."""
REPEATS = 7
SEED = 0

Floats = NDArray[np.float64]


class Case(NamedTuple):
    """Ratings of one kind: what they are, their level, and the values they take."""

    name: str
    level: Level
    values: Floats


CASES = (
    Case("nominal, 5 labels", "nominal", np.arange(5.0)),
    Case("ordinal, 5 labels", "ordinal", np.arange(5.0)),
    Case("interval, 5 whole numbers", "interval", np.arange(5.0)),
    Case("interval, 21 numbers from 0 to 1", "interval", np.linspace(0, 1, 21)),
)


class Cost(NamedTuple):
    """What one call takes: the best CPU time of some, and the most memory held beside the input."""

    value: float
    cpu_s: float
    peak_mib: float


def main() -> None:
    units = int(sys.argv[1]) if len(sys.argv) > 1 else UNITS
    rows = [row(case, units) for case in CASES]
    header = ["ratings", "ours, CPU ms", "package, CPU ms", "faster by"]
    header += ["ours, MiB", "package, MiB", "less memory by", "difference"]
    parts = [about(units), table(header, rows)]
    if units == UNITS:
        write_section("Krippendorff's α", parts)
    print(*parts, sep="\n\n")


def row(case: Case, units: int) -> list[object]:
    ratings = drawn(case.values, units)
    ours = cost(lambda: alpha(ratings, case.level).value)
    theirs = cost(
        lambda: krippendorff.alpha(reliability_data=ratings, level_of_measurement=case.level)
    )
    return [
        case.name,
        f"{ours.cpu_s * 1e3:.2f}",
        f"{theirs.cpu_s * 1e3:.2f}",
        f"{theirs.cpu_s / ours.cpu_s:.0f}",
        f"{ours.peak_mib:.2f}",
        f"{theirs.peak_mib:.2f}",
        f"{theirs.peak_mib / ours.peak_mib:.0f}",
        f"{abs(ours.value - theirs.value):.0e}",
    ]


def drawn(values: Floats, units: int) -> Floats:
    """Raters who mostly see the same, some of their ratings missing."""
    rng = np.random.default_rng(SEED)
    truth = rng.choice(values, units)
    ratings = np.where(
        rng.random((RATERS, units)) < KEPT, truth, rng.choice(values, (RATERS, units))
    )
    ratings[rng.random(ratings.shape) < MISSING] = np.nan
    return ratings


def cost(call: Callable[[], float | None]) -> Cost:
    """Time and memory in runs of their own: looking at memory slows what is looked at."""
    best = float("inf")
    for _ in range(REPEATS):
        started = process_time()
        value = call()
        best = min(best, process_time() - started)
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert value is not None
    return Cost(float(value), best, peak / 2**20)


def about(units: int) -> str:
    return (
        f"{units:,} units, {RATERS} raters, {MISSING:.0%} of the ratings missing; both are given "
        f"the same array of numbers. Best of {REPEATS} calls each, in one process; memory is the "
        "most that Python and numpy held beside that array, in a call of its own. `difference` "
        "is that of the two values of α."
    )


if __name__ == "__main__":
    main()
