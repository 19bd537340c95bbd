"""Sweeps killed at random moments and started again; prints what came of it as JSON.

Run as a program: it imports everything once and forks, so that fifty kills take seconds.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path
from random import Random

from ragauge.contracts.run import Grid
from ragauge.contracts.system import Ask
from ragauge.runners.sweep import sweep

GRID = Grid(seeds=(0, 1, 2, 3, 4), temperatures=(0.0, 0.2), jitters=("none", "ws", "punct"))
KILLS = 50
CALL_S = 0.01
MOST_CALLS, LONGEST_MORE_S = 24, 0.02
"""A sweep lives until it has made some number of calls, and then some time longer."""


class Answering:
    """A system that takes its time, always answers the same, and writes down who asked."""

    def __init__(self, log: Path) -> None:
        self.identity = {"kind": "answering"}
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def ask(self, ask: Ask) -> dict[str, object]:
        key = f"{ask.q}|{ask.seed}|{ask.temperature:g}|{ask.jitter}"
        os.write(self._log, f"{key}\n".encode())
        await asyncio.sleep(CALL_S)
        return {"answer_json": {"claim": f"answer to {key}", "citations": ["p1#1"]}}

    async def close(self) -> None:
        os.close(self._log)


def swept(folder: Path, out: str, log: str) -> None:
    sweep(folder / "gold.jsonl", Answering(folder / log), folder / out, grid=GRID, concurrency=8)


def in_a_child(folder: Path, out: str, log: str) -> int:
    child = os.fork()
    if child:
        return child
    swept(folder, out, log)
    os._exit(0)


def wait_for_calls(log: Path, calls: int, child: int) -> None:
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if not calls or (log.exists() and log.read_bytes().count(b"\n") >= calls):
            return
        time.sleep(0.001)


def finished(journal: Path) -> dict[str, str]:
    """The runs whose line is whole, with who asked."""
    text = journal.read_text() if journal.exists() else ""
    lines = text.split("\n")[:-1]  # what a kill left of a last line is no line
    return {run["run_id"]: run["answer_json"]["claim"] for run in map(json.loads, lines)}


def main(folder: Path) -> None:
    questions = [
        {"qid": f"q{n}", "question": f"What, of these, is {n}: a number?", "answerable": True,
         "gold_claim_substr": ["answer"]}
        for n in range(30)
    ]  # fmt: skip
    (folder / "gold.jsonl").write_text("".join(json.dumps(q) + "\n" for q in questions))
    random = Random(7)
    called_again, parts = [], 0
    for number in range(KILLS):
        before = set(finished(folder / "killed.jsonl").values())
        child = in_a_child(folder, "killed.jsonl", f"log{number}")
        wait_for_calls(folder / f"log{number}", random.randint(0, MOST_CALLS), child)
        time.sleep(random.uniform(0, LONGEST_MORE_S))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        log = folder / f"log{number}"
        asked = {f"answer to {key}" for key in log.read_text().split("\n")} if log.exists() else ()
        called_again += sorted(before.intersection(asked))
        parts += bool(asked)
    left = len(finished(folder / "killed.jsonl"))
    swept(folder, "killed.jsonl", "log-last")
    swept(folder, "whole.jsonl", "log-whole")
    killed, whole = (finished(folder / name) for name in ("killed.jsonl", "whole.jsonl"))
    print(  # noqa: T201 (the result)
        json.dumps(
            {
                "called_again": called_again,
                "parts_that_called": parts,
                "done_by_killed_parts": left,
                "runs": len(whole),
                "same": killed == whole,
                "lines": len((folder / "killed.jsonl").read_text().splitlines()),
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
