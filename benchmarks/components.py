"""Components beside the field's own tools: rankings, entities and labels, then a million queries.

Every case runs in a process of its own with one thread, and checks that both tools come to the
same number. A share of the size as the first argument tries it out: then nothing is written down.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

from benchmarks import measure
from benchmarks.component_cases import CASES, Case
from benchmarks.component_files import write_rankings
from benchmarks.results import table, write_section

REPEATS = 5
ONE_THREAD = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
QUERIES, DEPTH = 1_000_000, 20
GROWTH = (100_000, 300_000, 1_000_000)


class Cost(NamedTuple):
    """What a tool took, at best, and the number it came to."""

    cpu_s: float
    number: float


def main() -> None:
    if len(sys.argv) == 4 and sys.argv[1] == "case":
        print(*timed(CASES[sys.argv[2]], float(sys.argv[3])))
        return
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    parts = [
        "Single thread, CPU seconds without imports, best of "
        f"{REPEATS}; both tools get the same input and come to the same number.",
        table(
            ["case", "ragauge s", "peer s", "faster by", "wanted"],
            [row(name, share) for name in CASES],
        ),
        *streamed(share),
    ]
    if share == 1.0:
        write_section("Components", parts)
    print(*parts, sep="\n\n")


def row(name: str, share: float) -> list[object]:
    """A case, measured in a process where every library has one thread."""
    env = {**os.environ, **ONE_THREAD}
    command = [sys.executable, "-m", "benchmarks.components", "case", name, str(share)]
    ours, theirs = map(float, measure.run(command, env=env).stdout.split())
    wanted = CASES[name].wanted
    return [name, f"{ours:.3f}", f"{theirs:.3f}", f"{theirs / ours:.1f}", wanted or ""]


def timed(case: Case, share: float) -> tuple[float, float]:
    """The CPU seconds of Ragauge and of the peer."""
    with TemporaryDirectory() as folder:
        given = case.prepare(Path(folder), share)
        ours, theirs = best(case.ours, given), best(case.peer, given)
    if abs(ours.number - theirs.number) > 1e-6:
        raise SystemExit(f"the tools disagree: {ours.number} and {theirs.number}")
    return ours.cpu_s, theirs.cpu_s


def best(tool: Callable[[Any], float], given: Any) -> Cost:
    costs = []
    for _ in range(REPEATS):
        started = process_time()
        number = tool(given)
        costs.append(Cost(process_time() - started, number))
    return min(costs)


def streamed(share: float) -> list[str]:
    """A million queries of twenty results from files: time and memory of the whole command."""
    rows = []
    with TemporaryDirectory() as folder:
        for queries in GROWTH:
            rows.append(command_row(Path(folder), round(queries * share)))
    header = ["queries × 20", "file MB", "wall s", "CPU s", "peak MiB", "peak MiB, one worker"]
    about = (
        "`ragauge eval retrieval` from TREC files grouped by query, default measures with "
        "intervals. Memory is the peak of the whole process tree."
    )
    return [about, table(header, rows)]


def command_row(folder: Path, queries: int) -> list[object]:
    qrels, run = write_rankings(folder, queries, DEPTH)
    size = (qrels.stat().st_size + run.stat().st_size) / 1e6
    command = [Path(sys.executable).with_name("ragauge"), "eval", "retrieval", qrels, run]
    command += ["--format", "json", "--quiet", "--workers"]
    cost = measure.run([*map(str, command), "2"], accept=(0, 1))
    both = measure.run([*map(str, command), "2"], accept=(0, 1), memory=True)
    one = measure.run([*map(str, command), "1"], accept=(0, 1), memory=True)
    return [
        f"{queries:,}",
        f"{size:.0f}",
        f"{cost.wall_s:.1f}",
        f"{cost.cpu_s:.1f}",
        f"{both.peak_mib:.0f}",
        f"{one.peak_mib:.0f}",
    ]


if __name__ == "__main__":
    main()
