"""Intervals of many paired scores: how quick and how near, beside scipy's bootstrap."""

import math
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter
from typing import NamedTuple, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.stats import bootstrap

from benchmarks.machine import usable_cores
from benchmarks.results import table, write_section
from ragauge.stats.bootstrap import Bootstrap, mean_interval

PAIRS = 100_000
RESAMPLES = 9_999
"""What scipy draws unless it is told."""
REFERENCE_DRAWS = 1_000_000
REFERENCE_PIECES = 100
BATCH = 50
"""Resamples that scipy holds at once: all of them would take 8 GB."""
OUR_REPEATS, THEIR_REPEATS = 20, 3
SEED = 4

Floats = NDArray[np.float64]
Ends = tuple[float, float]
Made = TypeVar("Made")


class Timed(NamedTuple):
    """The best time of some runs, and the ends they gave."""

    seconds: float
    ends: Ends
    method: str


def main() -> None:
    parts = measure(PAIRS, RESAMPLES, REFERENCE_DRAWS)
    print("\n\n".join(parts))
    write_section("Statistics: intervals", parts)


def measure(pairs: int, resamples: int, reference_draws: int) -> list[str]:
    """The parts of the section; small numbers make a quick trial."""
    changes = paired_scores(pairs)
    say("ragauge and scipy, side by side ...")
    timed = {name: (ours(values), scipys(values, resamples)) for name, values in changes.items()}
    say(f"{reference_draws:,} draws of {pairs:,} pairs, plainly; this takes minutes ...")
    truth = {name: plain_draws(values, reference_draws) for name, values in changes.items()}
    return [
        about(pairs, resamples),
        speed_table(timed),
        error_table(changes, timed, truth),
        on_errors(resamples, reference_draws),
    ]


def paired_scores(pairs: int) -> dict[str, Floats]:
    """Differences of two runs' scores on the same questions."""
    random = np.random.default_rng(SEED)
    ease = random.beta(2, 2, pairs)
    graded = [np.clip(ease + random.normal(shift, 0.15, pairs), 0, 1) for shift in (0.01, 0)]
    right = [(random.random(pairs) < ease**power).astype(np.float64) for power in (0.97, 1)]
    return {"scores in [0, 1]": graded[0] - graded[1], "0/1 scores": right[0] - right[1]}


def ours(values: Floats) -> Timed:
    def once() -> Bootstrap:
        return mean_interval(values)

    seconds, made = best(once, OUR_REPEATS)
    if made.ci is None:
        sys.exit(f"no interval: {made.reason}")
    return Timed(seconds, made.ci, made.method)


def scipys(values: Floats, resamples: int) -> Timed:
    def once() -> Ends:
        found = bootstrap(
            (values,),
            np.mean,
            n_resamples=resamples,
            batch=BATCH,
            method="percentile",
            rng=np.random.default_rng(SEED),
        )
        return float(found.confidence_interval.low), float(found.confidence_interval.high)

    return Timed(*best(once, THEIR_REPEATS), "draws")


def best(once: Callable[[], Made], repeats: int) -> tuple[float, Made]:
    """The shortest of the times, and what came out, which is the same each time."""
    seconds = []
    for _ in range(repeats):
        started = perf_counter()
        made = once()
        seconds.append(perf_counter() - started)
    return min(seconds), made


def plain_draws(values: Floats, draws: int) -> Ends:
    """The percentiles of means of units drawn one by one, by numpy's own generator."""
    seeds = np.random.SeedSequence(SEED).spawn(REFERENCE_PIECES)
    share = -(-draws // REFERENCE_PIECES)
    with ProcessPoolExecutor(usable_cores()) as pool:
        pieces = pool.map(some_means, [values] * len(seeds), seeds, [share] * len(seeds))
        low, high = np.percentile(np.concatenate(list(pieces)), [2.5, 97.5])
    return float(low), float(high)


def some_means(values: Floats, seed: np.random.SeedSequence, draws: int) -> Floats:
    """Means of drawn units; of counts of distinct values where there are no more than three."""
    random, size = np.random.default_rng(seed), len(values)
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= 3:
        return np.array(random.multinomial(size, counts / size, draws) @ distinct / size)
    return np.array(
        [values[random.integers(size, size=size, dtype=np.uint32)].mean() for _ in range(draws)]
    )


def about(pairs: int, resamples: int) -> str:
    return (
        f"A 95 % interval of the mean difference of two runs over {pairs:,} questions. ragauge: "
        "`mean_interval` as it comes. scipy: `scipy.stats.bootstrap` by percentiles with its "
        f"default of {resamples:,} resamples, {BATCH} at a time to bound its memory. In one "
        f"process, best of {OUR_REPEATS} and of {THEIR_REPEATS} runs."
    )


def speed_table(timed: dict[str, tuple[Timed, Timed]]) -> str:
    rows = [
        [
            name,
            mine.method,
            f"{mine.seconds * 1e3:.1f}",
            f"{theirs.seconds * 1e3:,.0f}",
            f"{theirs.seconds / mine.seconds:,.0f}",
        ]
        for name, (mine, theirs) in timed.items()
    ]
    header = ["pairs of", "method", "ragauge ms", f"scipy {scipy.__version__} ms"]
    return table([*header, "ragauge is faster by"], rows)


def error_table(
    changes: dict[str, Floats], timed: dict[str, tuple[Timed, Timed]], truth: dict[str, Ends]
) -> str:
    rows = [
        [f"{name}, {tool}", *off_by(one.ends, truth[name], changes[name])]
        for name, both in timed.items()
        for tool, one in zip(("ragauge", "scipy"), both, strict=True)
    ]
    return table(["off the plain draws, in standard errors", "lower end", "upper end"], rows)


def off_by(ends: Ends, truth: Ends, values: Floats) -> list[str]:
    error = float(values.std()) / math.sqrt(len(values))
    return [f"{(end - true) / error:+.4f}" for end, true in zip(ends, truth, strict=True)]


def on_errors(resamples: int, draws: int) -> str:
    """How far chance alone takes the percentiles of draws: √(pq / draws) over the density."""
    at_end = math.sqrt(0.025 * 0.975) / (math.exp(-(1.959964**2) / 2) / math.sqrt(2 * math.pi))
    return (
        f"The plain draws are {draws:,} resamples by numpy, unit by unit for scores in [0, 1] and "
        "by multinomial counts for 0/1 scores. Chance alone moves an end of theirs by "
        f"{at_end / math.sqrt(draws):.4f} standard errors, and an end of {resamples:,} resamples "
        f"by {at_end / math.sqrt(resamples):.4f}."
    )


def say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    main()
