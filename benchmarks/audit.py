"""Audits at scale: `ragauge audit` over many traces, beside a loop written by hand.

python -m benchmarks.audit

The validator of the serving path is measured too, by `benchmarks.validator`. A smaller number of
traces as the first argument tries it out: then nothing is written down.
"""

import json
import math
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks import validator
from benchmarks.audit_corpus import DOCUMENTS, make_corpus, write_corpus
from benchmarks.audit_faults import FAULTS, NOWHERE, Fault, planted
from benchmarks.audit_traces import write_traces
from benchmarks.measure import Measured, run
from benchmarks.peers.environments import ROOT, ignore_folder
from benchmarks.results import table, write_section

FOLDER = ROOT / ".bench"
TRACES = 100_000
SHARES = (0.1, 0.3, 1)
"""The sizes that growth is seen over, as shares of the largest."""
DEPTHS = ("payload", "text")
REPEATS = 2
MORE_DOCUMENTS = 4


class Job(NamedTuple):
    """One audit to measure: of what, how deep, by how many."""

    traces: int
    depth: str
    workers: int = 1
    documents: int = DOCUMENTS
    faults: tuple[Fault, ...] = FAULTS

    @property
    def folder(self) -> Path:
        return FOLDER / f"audit-{self.documents}"

    @property
    def file(self) -> Path:
        kind = "nowhere" if self.faults is NOWHERE else "traces"
        return self.folder / f"{kind}-{self.traces}.jsonl"


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else TRACES
    parts = [*validator.measure(), *measure(most)]
    print(*parts, sep="\n\n")
    if most == TRACES:
        write_section("Audits of citations", parts)


def measure(most: int) -> list[str]:
    """The parts of the section that are about audits of files."""
    sizes = [int(share * most) for share in SHARES]
    jobs = [Job(size, depth, workers) for depth in DEPTHS for workers in (1, 2) for size in sizes]
    lost = [Job(size, "text", faults=NOWHERE) for size in sizes[:2]]
    lost.append(Job(sizes[0], "text", 1, DOCUMENTS * MORE_DOCUMENTS, NOWHERE))
    write_inputs([*jobs, *lost])
    say("auditing ...")
    costs = best_of([*jobs, *lost])
    say("the loop by hand ...")
    loops = {depth: hand_loop(Job(sizes[1], depth)) for depth in DEPTHS}
    say("memory ...")
    watched = [Job(size, "text", 2) for size in (sizes[0], sizes[-1])]
    peaks = {job: audit(job, memory=True).peak_mib for job in watched}
    return [
        about(jobs[0]),
        cost_table(jobs, costs),
        growth_table(sizes, costs),
        loop_table(sizes[1], costs, loops),
        memory_table(peaks),
        nowhere_table(lost, costs),
    ]


def write_inputs(jobs: list[Job]) -> None:
    """Documents, manifest and traces, made once and kept."""
    ignore_folder(FOLDER)
    for documents in {job.documents for job in jobs}:
        missing = [job for job in jobs if job.documents == documents and not job.file.exists()]
        if not missing:
            continue
        say(f"generating traces that cite {documents} documents ...")
        corpus = make_corpus(documents)
        write_corpus(corpus, missing[0].folder)
        for job in {job.file: job for job in missing}.values():
            write_traces(job.traces, corpus, job.file, job.faults)


def best_of(jobs: list[Job]) -> dict[Job, Measured]:
    """The best run of each, in rounds: a busy moment of the machine then spoils no job for good."""
    rounds = [[audit(job) for job in jobs] for _ in range(REPEATS)]
    runs = zip(jobs, zip(*rounds, strict=True), strict=True)
    return {job: min(each, key=lambda cost: cost.cpu_s) for job, each in runs}


def audit(job: Job, memory: bool = False) -> Measured:
    """The cost of the whole command; stops where it finds something else than was planted."""
    ragauge = Path(sys.executable).with_name("ragauge")
    command: list[str | Path] = [ragauge, "audit", job.file, "--depth", job.depth]
    command += ["--manifest", job.folder / "index.json", "--docs", job.folder / "documents"]
    command += ["--workers", str(job.workers), "--format", "json", "--quiet"]
    cost = run(command, accept=(0, 1), memory=memory)
    codes = {entry["code"]: entry["answers"] for entry in json.loads(cost.stdout)["codes"]}
    for code, answers in planted(job.traces, job.depth, job.faults).items():
        if codes.get(code) != answers:
            sys.exit(f"{job.file}: {code}: {answers} planted, {codes.get(code)} found")
    return cost


def hand_loop(job: Job) -> Measured:
    command: list[str | Path] = [sys.executable, "-m", "benchmarks.audit_loop", job.file]
    command += [job.folder / "index.json"]
    command += [job.folder / "documents"] if job.depth == "text" else []
    cost = min((run(command, cwd=ROOT) for _ in range(REPEATS)), key=lambda cost: cost.cpu_s)
    wrong = planted(job.traces, job.depth).total()
    if int(cost.stdout) != wrong:
        sys.exit(f"{job.file}: {wrong} answers are wrong, the loop finds {cost.stdout}")
    return cost


def about(job: Job) -> str:
    size = job.file.stat().st_size / job.traces / 1e3
    return (
        f"`ragauge audit` over generated traces of about {size:.1f} KB: five retrieved payloads "
        "with their texts, two citations, half of the replies raw text, a third of the lists in a "
        "reranker's order, one answer in five in segments, one in twenty a refusal, 3 % faulty in "
        f"{len(FAULTS)} ways. {job.documents} frozen documents of about 16,000 characters. "
        "The whole command, JSON report included, which must count every planted fault. Best of "
        f"{REPEATS} runs; memory, in a run of its own, is the peak of the whole process tree."
    )


def cost_table(jobs: list[Job], costs: dict[Job, Measured]) -> str:
    rows = [
        [
            f"{job.depth}, {job.traces:,}",
            job.workers,
            f"{costs[job].wall_s:.2f}",
            f"{costs[job].cpu_s:.2f}",
            f"{costs[job].cpu_s / job.traces * 1e6:.0f}",
        ]
        for job in jobs
    ]
    header = ["depth, traces", "workers", "wall s", "CPU s", "CPU µs a trace, start-up included"]
    return table(header, rows)


def growth_table(sizes: list[int], costs: dict[Job, Measured]) -> str:
    """What one more trace costs, which leaves out start-up and all else that is done once."""
    rows = []
    for depth in DEPTHS:
        cpu_s = [costs[Job(size, depth)].cpu_s for size in sizes]
        more = [(cpu_s[at + 1] - cpu_s[at]) / (sizes[at + 1] - sizes[at]) * 1e6 for at in range(2)]
        power = growth(sizes, cpu_s)
        cells = [*(f"{each:.0f}" for each in more), f"{more[1] / more[0]:.2f}", f"{power:.2f}"]
        rows.append([depth, *cells])
    low, middle, high = (f"{size:,}" for size in sizes)
    header = ["one worker, CPU µs for each trace more", f"{low} to {middle}", f"{middle} to {high}"]
    return table([*header, "ratio", "time grows by the power"], rows)


def growth(sizes: list[int], cpu_s: list[float]) -> float:
    """The p of a + b · sizeᵖ that goes through three points; nan where none does."""
    step = (cpu_s[2] - cpu_s[1]) / (cpu_s[1] - cpu_s[0])
    low, high = 0.01, 10.0
    for _ in range(50):
        p = (low + high) / 2
        first, second, third = (size**p for size in sizes)
        low, high = (p, high) if (third - second) / (second - first) < step else (low, p)
    return low if 0.02 < low < 9.9 else math.nan


def loop_table(size: int, costs: dict[Job, Measured], loops: dict[str, Measured]) -> str:
    rows = []
    for depth, loop in loops.items():
        ours = costs[Job(size, depth)].cpu_s
        two = costs[Job(size, depth, 2)].wall_s
        loop_s = f"{loop.cpu_s:.2f}"
        rows.append([depth, f"{ours:.2f}", loop_s, f"{loop.cpu_s / ours:.2f}", f"{two:.2f}"])
    header = [f"{size:,} traces", "ragauge, CPU s", "loop, CPU s", "ragauge is faster by"]
    note = (
        "The loop is json and rules by hand: it stops at the first rule an answer breaks and "
        "counts it. ragauge also checks each line strictly, finds every fault with its place and "
        "next step, says where words really stand, measures, decides gates and writes the report."
    )
    return table([*header, "ragauge, two workers, wall s"], rows) + f"\n\n{note}"


def memory_table(peaks: dict[Job, float]) -> str:
    rows = [[f"{job.traces:,}", f"{peak:.0f}"] for job, peak in peaks.items()]
    return table(["traces, depth text, two workers", "peak MiB"], rows)


def nowhere_table(jobs: list[Job], costs: dict[Job, Measured]) -> str:
    rows = []
    for job in jobs:
        cpu_s, faulty = costs[job].cpu_s, planted(job.traces, "text", NOWHERE).total()
        usual = costs[Job(job.traces, "text")].cpu_s
        more = (cpu_s - usual) / (2 * faulty) * 1e3
        cells = [f"{cpu_s:.2f}", f"{cpu_s / job.traces * 1e6:.0f}", f"{cpu_s / usual:.2f}"]
        rows.append([f"{job.traces:,}", job.documents, *cells, f"{more:.1f}"])
    header = ["3 % of the cited snippets stand nowhere, traces", "documents", "CPU s"]
    header += ["CPU µs a trace", "times the usual faults", "ms a snippet, beyond the usual"]
    note = (
        "The worst case of depth text, one worker: every document is searched for sentences that "
        "are known but stand in no document in that order."
    )
    return table(header, rows) + f"\n\n{note}"


def say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    main()
