"""The search for slices beside what a user would write: group_by over all pairs, scipy a cell.

Every case runs in a process of its own with one thread, and checks that both find the planted
slice. A share of the size as the first argument tries it out: then nothing is written down.
"""

import os
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from benchmarks import measure
from benchmarks.component_cases import Case
from benchmarks.components import ONE_THREAD, REPEATS, timed
from benchmarks.results import table, write_section

PLANTED, ELSEWHERE = 0.6, 0.1
"""Shares that went wrong: where two features both have their second value, and else."""
SKEW = 1.5
"""The commonest value is so steeply ahead: the n-th has a share of n to the power of minus this."""
FEWEST, ONE_IN = 5, 50
SMALLEST = 1_000
"""With fewer samples the planted slice is too small to be found."""
SEED = 7


class Given(NamedTuple):
    """Samples as a file of them is read: what to slice by, the value, and whether it is bad."""

    features: list[dict[str, str]]
    wrong: list[bool]
    values: list[float]


def main() -> None:
    if len(sys.argv) == 4 and sys.argv[1] == "case":
        print(*timed(CASES[sys.argv[2]], float(sys.argv[3])))
        return
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    about = (
        "Samples with features of two values up to the number given, the first of them common and "
        f"the last rare; {ELSEWHERE:.0%} went wrong, and {PLANTED:.0%} where two features have "
        "their second values. Both start from dictionaries of text. The peer makes a polars frame "
        "of them, groups it by each feature and each pair of them, and calls "
        "`scipy.stats.fisher_exact` for every cell with samples enough. Ragauge also holds each "
        "pair against either condition alone, corrects for all that it looked at, and merges what "
        f"is the same. Single thread, CPU without imports, best of {REPEATS}; both find the "
        "planted slice first."
    )
    header = ["samples × features × values", "ragauge s", "peer s", "faster by"]
    parts = [about, table(header, [row(name, share) for name in CASES])]
    if share == 1.0:
        write_section("Slices", parts)
    print(*parts, sep="\n\n")


def row(name: str, share: float) -> list[object]:
    """A case, measured in a process of its own."""
    env = {**os.environ, **ONE_THREAD}
    command = [sys.executable, "-m", "benchmarks.slices", "case", name, str(share)]
    ours, theirs = map(float, measure.run(command, env=env).stdout.split())
    return [name, f"{ours:.3f}", f"{theirs:.3f}", f"{theirs / ours:.1f}"]


def made(samples: int, features: int, most: int) -> Callable[[Path, float], Given]:
    def prepare(folder: Path, share: float) -> Given:
        import numpy as np

        n = max(SMALLEST, round(samples * share))
        rng = np.random.default_rng(SEED)
        columns = []
        for at in range(features):
            values = most if at < 2 else int(rng.integers(2, most + 1))
            weights = np.arange(1, values + 1) ** -SKEW
            columns.append(rng.choice(values, n, p=weights / weights.sum()))
        planted = (columns[0] == 1) & (columns[1] == 1)
        wrong = rng.random(n) < np.where(planted, PLANTED, ELSEWHERE)
        names = [f"feature_{at}" for at in range(features)]
        texts = [[f"value_{code}" for code in column.tolist()] for column in columns]
        return Given(
            features=[dict(zip(names, each, strict=True)) for each in zip(*texts, strict=True)],
            wrong=wrong.tolist(),
            values=np.where(wrong, 0.3, 0.9).tolist(),
        )

    return prepare


def ragauge_slices(given: Given) -> float:
    """The samples gone wrong in the strongest slice."""
    from ragauge.diagnosis.slices import worst_slices

    found = worst_slices("faithfulness", given.values, given.wrong, "higher", given.features)
    return found[0].beyond


def grouped_cells(given: Given) -> float:
    """The same of the cell with the smallest probability."""
    import polars as pl
    from scipy.stats import fisher_exact

    frame = pl.DataFrame(given.features)
    names = frame.columns
    frame = frame.with_columns(wrong=pl.Series(given.wrong))
    of, all_wrong = frame.height, sum(given.wrong)
    enough = pl.col("n").is_between(max(FEWEST, -(-of // ONE_IN)), of - FEWEST)
    strongest = (1.0, 0)
    for chosen in [*combinations(names, 1), *combinations(names, 2)]:
        counted = frame.group_by(chosen).agg(n=pl.len(), wrong=pl.col("wrong").sum())
        for n, wrong in counted.filter(enough).select("n", "wrong").iter_rows():
            rest = all_wrong - wrong
            cells = [[wrong, n - wrong], [rest, of - n - rest]]
            strongest = min(strongest, (fisher_exact(cells, alternative="greater").pvalue, wrong))
    return strongest[1]


CASES = {
    f"{samples:,} × {features} × {most}": Case(
        made(samples, features, most), ragauge_slices, grouped_cells, ""
    )
    for samples, features, most in ((1_000, 12, 5), (10_000, 12, 10), (100_000, 12, 20))
}


if __name__ == "__main__":
    main()
