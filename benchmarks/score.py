"""`ragauge score` at scale: speed, memory and growth, beside a hand-written loop and the peers."""

import json
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.generate import generate
from benchmarks.measure import Measured, run
from benchmarks.peers.environments import ROOT, python_of
from benchmarks.results import table, write_section

FOLDER = ROOT / ".bench"
GOLD = FOLDER / "gold.jsonl"
QUESTIONS = 2_000
SIZES = (10_000, 100_000, 1_000_000)
PEER_CALLS = (
    ("ragas", "evaluate", 2_000),
    ("deepeval", "evaluate", 200),  # its cost a sample grows with their number: 2,000 take minutes
    ("deepeval", "tuned", 2_000),
    ("deepeval", "measure", 2_000),
)
REPEATS = 5
ROWS_OUT = ("--workers", "2", "--out", str(FOLDER / "rows.parquet"))
MEMORY_COPIES = 4


class Rate(NamedTuple):
    """Samples a tool scores in a second of CPU time."""

    name: str
    per_cpu_s: float


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    files = {size: traces_of(size) for size in SIZES}
    largest = files[SIZES[-1]]
    say("scoring, five times, beside the stdlib loop ...")
    ours = best([score(largest) for _ in range(REPEATS)])
    loop = best([stdlib_loop(largest) for _ in range(REPEATS)])
    say("growth and memory ...")
    growth = {size: best([score(path) for _ in range(REPEATS)]) for size, path in files.items()}
    once = score(largest, memory=True)
    fourfold = score(copies(largest, MEMORY_COPIES), memory=True)
    say("peers ...")
    mine = peer_cost("ragauge", "score", largest, SIZES[-1], Path(sys.executable))
    peers = [
        peer_cost(peer, call, files[SIZES[0]], samples, python_of(peer))
        for peer, call, samples in PEER_CALLS
    ]
    write_section(
        "Quality from finished traces",
        [
            about(largest),
            speed_table(largest, ours, loop),
            memory_table(largest, once, fourfold),
            growth_table(files, growth),
            peer_table(mine, peers),
        ],
    )
    check_same_numbers(largest, loop)


def traces_of(size: int) -> Path:
    """Generated traces, made once; the gold set is the same for every size."""
    path = FOLDER / f"traces-{size}.jsonl"
    if not path.exists():
        say(f"generating {size:,} traces ...")
        generate(size, QUESTIONS, GOLD, path)
    return path


def copies(path: Path, times: int) -> Path:
    many = path.with_stem(f"{path.stem}-x{times}")
    if not many.exists():
        with many.open("wb") as out:
            for _ in range(times):
                with path.open("rb") as one:
                    shutil.copyfileobj(one, out, 1 << 20)
    return many


def score(traces: Path, *more: object, memory: bool = False) -> Measured:
    """The whole job: JSONL in, report and a row for every trace out, every rule on."""
    command = [
        Path(sys.executable).with_name("ragauge"),
        "score",
        GOLD,
        traces,
        "--refusal",
        "exact",
    ]
    command += ["--each", "trace", "--preset", "ship", "--format", "json", "--quiet"]
    return run([*command, *map(str, more or ROWS_OUT)], accept=(0, 1), memory=memory)


def stdlib_loop(traces: Path) -> Measured:
    return run([sys.executable, "-m", "benchmarks.stdlib_loop", GOLD, traces], cwd=ROOT)


def best(runs: list[Measured]) -> Measured:
    return min(runs, key=lambda measured: measured.wall_s)


def peer_cost(peer: str, call: str, traces: Path, limit: int, python: Path) -> Rate:
    """The best of the runs of a tool on its nearest equivalent, in its own environment."""
    command = [python, "-m", f"benchmarks.peers.{peer}_rows", "--gold", GOLD]
    command += ["--traces", traces, "--limit", str(limit), "--call", call]
    costs = [json.loads(run(command, cwd=ROOT).stdout) for _ in range(REPEATS)]
    best_rate = max(cost["samples_per_cpu_s"] for cost in costs)
    return Rate(f"{peer} {costs[0]['version']} `{call}`, {limit:,} samples", best_rate)


def about(traces: Path) -> str:
    return (
        f"Generated traces of about 1 KB in two dialects over {QUESTIONS:,} questions, scored with "
        "`--each trace --preset ship --workers 2 --out rows.parquet`: every line checked strictly, "
        "every metric, every gate, a row for each trace in Parquet. Best of five runs; memory, in "
        "a run of its own, is the peak of the whole process tree, shared pages counted once."
    )


def speed_table(traces: Path, ours: Measured, loop: Measured) -> str:
    size = traces.stat().st_size / 1e6
    rows = [
        row("ragauge score, two workers", size, ours, loop),
        row("stdlib json loop, same numbers", size, loop, loop),
    ]
    return table(["1,000,000 traces", "wall s", "CPU s", "MB/s", "times the loop"], rows)


def row(name: str, megabytes: float, cost: Measured, loop: Measured) -> list[object]:
    return [
        name,
        f"{cost.wall_s:.1f}",
        f"{cost.cpu_s:.1f}",
        f"{megabytes / cost.wall_s:.0f}",
        f"{loop.wall_s / cost.wall_s:.2f}",
    ]


def memory_table(traces: Path, once: Measured, fourfold: Measured) -> str:
    size = traces.stat().st_size / 1e9
    rows = [
        [f"{size:.1f} GB", f"{once.peak_mib:.0f}"],
        [f"{size * MEMORY_COPIES:.1f} GB", f"{fourfold.peak_mib:.0f}"],
    ]
    return table(["file", "peak MiB"], rows)


def growth_table(files: dict[int, Path], growth: dict[int, Measured]) -> str:
    rows = [
        [f"{size:,}", f"{cost.wall_s:.2f}", f"{cost.cpu_s / size * 1e6:.1f}"]
        for size, cost in growth.items()
    ]
    return table(["traces", "wall s", "CPU µs a trace, start-up included"], rows)


def peer_table(mine: Rate, peers: list[Rate]) -> str:
    rows = [
        [rate.name, f"{rate.per_cpu_s:,.0f}", f"{mine.per_cpu_s / rate.per_cpu_s:.2f}"]
        for rate in (mine, *peers)
    ]
    note = (
        "Peers run their nearest equivalent without a model. Of every tool only the call is timed, "
        "in one process, without imports; the call of ragauge also reads the files, checks each "
        "line, computes all its metrics and decides gates, while the peers get samples built "
        "before. ragas computes two string metrics; deepeval runs one trivial custom metric: "
        "`evaluate` as it comes, `tuned` with the cheapest settings found, `measure` the bare "
        "function in a loop, without the library around it. Best of five runs each."
    )
    return table(["tool", "samples per CPU s", "ragauge is faster by"], rows) + f"\n\n{note}"


def check_same_numbers(traces: Path, loop: Measured) -> None:
    """Stop where the loop and ragauge disagree: a fast wrong number is worth nothing."""
    report = json.loads(score(traces).stdout)
    for name, (yes, of) in json.loads(loop.stdout).items():
        ours = report["metrics"][f"quality.{name}"]
        if ours["n"] != of or abs(ours["value"] * of - yes) > 0.5:
            sys.exit(f"{name}: the loop has {yes} of {of}, ragauge {ours['value']} of {ours['n']}")


def say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    main()
