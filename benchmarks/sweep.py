"""Sweeps and their scores: calls in flight, memory, and edit distances beside the textbook's."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import median

from benchmarks.measure import Measured, run
from benchmarks.peers.environments import ROOT
from benchmarks.results import table, write_section
from benchmarks.score import say

FOLDER = ROOT / ".bench"
RAGAUGE = Path(sys.executable).with_name("ragauge")

ANSWER_S, IN_FLIGHT = 0.05, 160
QUESTIONS, RUNS = 100, 200
WIDE = (200, (50, 200))
"""Questions, and runs of each, between which memory should not grow."""
SCORED_QUESTIONS, SCORED_RUNS, CLAIM_LENGTH = 1_000, 20, 300
TEXTBOOK_QUESTIONS = 20
REPEATS = 3


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    say("20,000 runs at 160 in flight ...")
    swept = min((sweep(QUESTIONS, RUNS) for _ in range(REPEATS)), key=lambda cost: cost.wall_s)
    say("memory ...")
    questions, counts = WIDE
    sweeping = {runs: sweep(questions, runs, memory=True) for runs in counts}
    scoring = {runs: score(*journal(questions, runs), memory=True) for runs in counts}
    say("edit distances ...")
    files = journal(SCORED_QUESTIONS, SCORED_RUNS)
    scored = min((score(*files) for _ in range(REPEATS)), key=lambda cost: cost.wall_s)
    textbook_s = textbook(files[1]) * SCORED_QUESTIONS / TEXTBOOK_QUESTIONS
    write_section(
        "Sweeps and stability",
        [
            calls_table(swept),
            memory_table(questions, sweeping, scoring),
            distance_table(scored, textbook_s),
        ],
    )


def sweep(questions: int, runs: int, *, memory: bool = False) -> Measured:
    """A whole sweep as a command, start-up and fsync included, from an endpoint of its own."""
    out = FOLDER / "sweep.jsonl"
    for old in FOLDER.glob("sweep.jsonl*"):
        old.unlink()
    gold, _ = journal(questions, 2)
    with endpoint() as port:
        command = [RAGAUGE, "sweep", gold, "--http", f"http://127.0.0.1:{port}/qa"]
        command += ["--seeds", ",".join(map(str, range(runs))), "--temperatures", "0"]
        command += ["--jitters", "none", "--concurrency", str(IN_FLIGHT), "--out", out, "--quiet"]
        return run([*map(str, command)], memory=memory)


@contextmanager
def endpoint() -> Iterator[int]:
    """The port of a local endpoint in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.endpoint", str(ANSWER_S)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def score(gold: Path, runs: Path, *, memory: bool = False) -> Measured:
    command = [RAGAUGE, "stability", gold, runs, "--format", "json"]
    return run(command, accept=(0, 1), memory=memory)


def journal(questions: int, runs: int) -> tuple[Path, Path]:
    """A gold set, and runs whose claims are reworded here and there, made once."""
    gold, out = (FOLDER / f"{name}-{questions}x{runs}.jsonl" for name in ("gold", "runs"))
    if not out.exists():
        random = Random(f"{questions}x{runs}")
        with gold.open("w") as golds, out.open("w") as lines:
            for number in range(questions):
                claim = sentence(random)
                golds.write(json.dumps(question(number, claim)) + "\n")
                for seed in range(runs):
                    lines.write(json.dumps(answered(number, seed, reworded(claim, random))) + "\n")
    return gold, out


def question(number: int, claim: str) -> dict[str, object]:
    return {
        "qid": f"q{number}",
        "question": f"What is said of the matter {number}?",
        "answerable": True,
        "gold_claim_substr": [claim[:20]],
        "gold_citations": ["p1#1"],
    }


def answered(number: int, seed: int, claim: str) -> dict[str, object]:
    return {
        "qid": f"q{number}",
        "run_id": f"q{number}#seed={seed};t=0;j=none;p=0",
        "seed": seed,
        "temperature": 0.0,
        "jitter": "none",
        "paraphrase": 0,
        "status": "ok",
        "answer_json": {"claim": claim, "citations": ["p1#1"]},
        "retrieved_ids": ["p1#1", "p1#2"],
    }


def sentence(random: Random) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(random.choices(letters, k=random.randint(2, 10))) for _ in range(60)]
    return " ".join(words)[:CLAIM_LENGTH]


def reworded(claim: str, random: Random) -> str:
    """The claim with some words replaced: no two runs say quite the same."""
    words = claim.split()
    for _ in range(8):
        words[random.randrange(len(words))] = "".join(random.choices("aeiou", k=5))
    return " ".join(words)


def textbook(runs: Path) -> float:
    """Seconds a dynamic-programming scorer takes for the median distances of a few questions."""
    claims: dict[str, list[str]] = {}
    for line in runs.read_text().splitlines():
        record = json.loads(line)
        claims.setdefault(record["qid"], []).append(record["answer_json"]["claim"])
    started = time.perf_counter()
    for qid in list(claims)[:TEXTBOOK_QUESTIONS]:
        pairs = combinations(claims[qid], 2)
        median(distance(one, other) / max(len(one), len(other)) for one, other in pairs)
    return time.perf_counter() - started


def distance(one: str, other: str) -> int:
    """Levenshtein's distance by the table that every textbook draws."""
    above = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
        above = row
    return above[-1]


def calls_table(cost: Measured) -> str:
    calls = QUESTIONS * RUNS
    ideal_s = calls * ANSWER_S / IN_FLIGHT
    rows = [
        ["ideal: no cost but the endpoint's", f"{ideal_s:.2f}", "", "1.00"],
        [
            "ragauge sweep",
            f"{cost.wall_s:.2f}",
            f"{cost.cpu_s:.2f}",
            f"{cost.wall_s / ideal_s:.2f}",
        ],
    ]
    note = (
        f"A local endpoint that answers in {1000 * ANSWER_S:.0f} ms, {IN_FLIGHT} calls in flight: "
        "the whole command, from its start to the last line on the disk. Best of three."
    )
    return table([f"{calls:,} runs", "wall s", "CPU s", "times the ideal"], rows) + f"\n\n{note}"


def memory_table(
    questions: int, sweeping: dict[int, Measured], scoring: dict[int, Measured]
) -> str:
    rows = [
        [f"{questions} × {runs}", f"{sweeping[runs].peak_mib:.0f}", f"{scoring[runs].peak_mib:.0f}"]
        for runs in sweeping
    ]
    return table(["questions × runs", "sweep, peak MiB", "stability, peak MiB"], rows)


def distance_table(scored: Measured, textbook_s: float) -> str:
    rows = [
        ["ragauge stability, all metrics", f"{scored.wall_s:.2f}", "1.00"],
        [
            f"textbook table, from {TEXTBOOK_QUESTIONS} questions",
            f"{textbook_s:.0f}",
            f"{textbook_s / scored.wall_s:.0f}",
        ],
    ]
    head = f"{SCORED_QUESTIONS:,} questions × {SCORED_RUNS} runs, {CLAIM_LENGTH} characters"
    note = (
        "The textbook scorer computes the median edit distances alone; ragauge reads the file, "
        "judges every gate and writes the report. Best of three."
    )
    return table([head, "wall s", "ragauge is faster by"], rows) + f"\n\n{note}"


if __name__ == "__main__":
    main()
