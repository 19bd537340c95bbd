"""Suites killed at random moments, and around each recording; prints what came of it as JSON.

Run as a program: it imports everything once and forks, so that many kills take seconds.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import polars  # noqa: F401  (imported before the fork, used only after it)

from ragauge.contracts.history import NewRun, Run, RunFilter
from ragauge.contracts.suite import PipelineUnderTest
from ragauge.contracts.system import Ask
from ragauge.ingest.suite import read_suite
from ragauge.runners.suite import run_suite
from ragauge.store.history import open_history

KILLS, TRIES = 8, 60
CALL_S = 0.002
FILE = """
[datasets.recorded]
gold = "gold.jsonl"
traces = "traces.jsonl"

[datasets.asked]
gold = "gold.jsonl"

[pipeline]
call = "system:answer"

[tasks.traces]
kind = "score"
dataset = "recorded"

[tasks.once]
kind = "score"
dataset = "asked"
sweep = { concurrency = 2 }

[tasks.often]
kind = "stability"
dataset = "asked"
sweep = { seeds = [0, 1, 2], temperatures = [0], jitters = ["none", "ws"], concurrency = 2 }
"""
TASKS = ["often", "once", "traces"]


class Answering:
    """A system that takes its time, always answers the same, and writes down who asked."""

    def __init__(self, log: Path) -> None:
        self.identity = {"kind": "answering"}
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def ask(self, ask: Ask) -> dict[str, object]:
        os.write(self._log, f"{ask.q}|{ask.seed}|{ask.jitter}\n".encode())
        await asyncio.sleep(CALL_S)
        return {"answer_json": {"claim": "a number", "citations": ["p1"]}, "retrieved_ids": ["p1"]}

    async def close(self) -> None:
        os.close(self._log)


class Killing:
    """A history that ends the process around its n-th recording."""

    def __init__(self, history: Any, number: int, *, after: bool) -> None:
        self._history, self._left, self._after = history, number, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._history, name)

    def record(self, run: NewRun) -> Run:
        self._left -= 1
        if not self._left and not self._after:
            os.kill(os.getpid(), signal.SIGKILL)
        kept: Run = self._history.record(run)
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)
        return kept


def suite(folder: Path, wrapped: Callable[[Any], Any] = lambda history: history) -> None:
    history = wrapped(open_history(str(folder / "store")))
    file = read_suite(None, folder, {})

    def system_of(pipeline: PipelineUnderTest, concurrency: int) -> Answering:
        return Answering(folder / "log")

    def deliver(report: Any) -> None:
        (folder / "reports").open("a").write(f"{report.exit_code}\n")

    run_suite(file.suite, history, folder=folder, system_of=system_of, deliver=deliver)


def in_a_child(work: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    finally:
        os._exit(1)


def to_the_end(folder: Path) -> float:
    begun = time.monotonic()
    _, status = os.waitpid(in_a_child(lambda: suite(folder)), 0)
    assert status == 0, status
    return time.monotonic() - begun


def write_files(folder: Path) -> None:
    questions = [
        {"qid": f"q{n}", "question": f"What is, {n}?", "answerable": True,
         "gold_claim_substr": ["number"], "gold_citations": ["p1"]}
        for n in range(12)
    ]  # fmt: skip
    traces = [
        {"qid": q["qid"], "retrieved_ids": ["p1"],
         "answer_json": {"claim": "a number", "citations": ["p1"]}}
        for q in questions
    ]  # fmt: skip
    for name, rows in (("gold.jsonl", questions), ("traces.jsonl", traces)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "ragauge.toml").write_text(FILE)


def main(folder: Path) -> None:
    write_files(folder)
    whole_s = to_the_end(folder)
    random = Random(11)
    killed = 0
    for _ in range(TRIES):
        child = in_a_child(lambda: suite(folder))
        time.sleep(random.uniform(0, whole_s))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        killed += os.WIFSIGNALED(status)
        # One that had ended by itself: on a busy machine the first run was slower than it.
        whole_s *= 1.0 if os.WIFSIGNALED(status) else 0.7
        if killed == KILLS:
            break
    to_the_end(folder)
    for number in (1, 2, 3):
        for after in (False, True):

            def ending(history: Any, number: int = number, after: bool = after) -> Any:
                return Killing(history, number, after=after)

            _, status = os.waitpid(in_a_child(lambda: suite(folder, ending)), 0)
            assert os.WIFSIGNALED(status)
            before = (folder / "log").read_text().count("\n")
            to_the_end(folder)
            if (number, after) == (3, True):
                assert (folder / "log").read_text().count("\n") == before, "nothing was left to ask"
    history = open_history(str(folder / "store"))
    sessions: dict[str, list[str]] = {}
    for run in history.runs(RunFilter()):
        labels = run.record.labels
        sessions.setdefault(labels["session"], []).append(labels["task"])
    checked = history.verify()
    print(  # noqa: T201 (the result)
        json.dumps(
            {
                "killed": killed,
                "sessions": len(sessions),
                "each_task_once": all(sorted(tasks) == TASKS for tasks in sessions.values()),
                "odd": [tasks for tasks in sessions.values() if sorted(tasks) != TASKS],
                "faults": len(checked.faults),
                "reports": Counter((folder / "reports").read_text().split()),
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
