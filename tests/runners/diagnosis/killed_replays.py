"""Replays killed at random moments and started again; prints what came of it as JSON.

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
from typing import Any

from ragauge.contracts.diagnosis import Replay
from ragauge.contracts.sweep import Progress
from ragauge.contracts.system import Ask
from tests.runners.diagnosis.replaying import Shelf, encoded, questions, replayed

QUESTIONS = questions(150)
KILLS = 50
CALL_S = 0.01
MOST_CALLS, LONGEST_MORE_S = 24, 0.02
"""A replay lives until it has made some number of calls, and then some time longer."""


class Slow(Shelf):
    """A shelf that takes its time, and writes down what it was asked."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def ask(self, ask: Ask) -> Any:
        os.write(self._log, f"{key_of(ask)}\n".encode())
        await asyncio.sleep(CALL_S)
        return await super().ask(ask)


def key_of(ask: Ask) -> str:
    return json.dumps([ask.q, ask.temperature, *ask.knobs])


def made(folder: Path, journal: str, log: str) -> Replay:
    def watch(progress: Progress) -> None:
        (folder / f"{log}.done").write_text(str(progress.done))

    return replayed(QUESTIONS, Slow(folder / log), folder / journal, watch=watch)


def in_a_child(folder: Path, journal: str, log: str) -> int:
    child = os.fork()
    if child:
        return child
    made(folder, journal, log)
    os._exit(0)


def wait_for_calls(log: Path, calls: int, child: int) -> None:
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if not calls or (log.exists() and log.read_bytes().count(b"\n") >= calls):
            return
        time.sleep(0.001)


def finished(journal: Path) -> set[str]:
    """What the journal holds whole, by what was asked."""
    text = journal.read_text() if journal.exists() else ""
    lines = text.split("\n")[1:-1]  # the first is no call; what a kill left of a last is no line
    return {_asked(json.loads(line)) for line in lines}


def _asked(line: dict[str, Any]) -> str:
    knob = {"gold_in": "put_in", "noise_out": "take_out", "top_k_doubled": "top_k"}
    turned = [knob[line["intervention"]]] if line["intervention"] in knob else []
    return json.dumps([line["trace"]["question_sent"], line["trace"]["temperature"], *turned])


def main(folder: Path) -> None:
    random = Random(7)
    killed = folder / "killed.jsonl"
    called_again, lost, parts = [], [], 0
    for number in range(KILLS):
        before = finished(killed)
        log = folder / f"log{number}"
        child = in_a_child(folder, killed.name, log.name)
        wait_for_calls(log, random.randint(0, MOST_CALLS), child)
        time.sleep(random.uniform(0, LONGEST_MORE_S))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        asked = set(log.read_text().split("\n")) if log.exists() else set()
        called_again += sorted(before & asked)
        reported = Path(f"{log}.done")
        told = reported.read_text() if reported.exists() else ""
        if told and int(told) > len(finished(killed)):
            lost.append(number)
        parts += bool(asked)
    left = len(finished(killed))
    results = [made(folder, name, f"log-{name}") for name in (killed.name, "whole.jsonl")]
    same = {json.dumps({**json.loads(encoded(one)), "resumed": 0}) for one in results}
    print(  # noqa: T201 (the result)
        json.dumps(
            {
                "called_again": called_again,
                "lost": lost,
                "parts_that_called": parts,
                "done_by_killed_parts": left,
                "calls": results[1].calls,
                "same": len(same) == 1,
                "lines": len(killed.read_text().splitlines()) - 1,
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
