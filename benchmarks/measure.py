"""What a command costs: wall time, CPU time and memory of its whole process tree (Linux)."""

import os
import resource
import subprocess
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

SAMPLE_EVERY_S = 0.02


class Measured(NamedTuple):
    """The cost of one run, and what it printed."""

    wall_s: float
    cpu_s: float
    peak_mib: float
    stdout: str


def run(
    command: Sequence[str | Path],
    *,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    accept: Collection[int] = (0,),
    memory: bool = False,
) -> Measured:
    """The cost of a command; CalledProcessError where its exit code is not an accepted one.

    Looking at memory every few milliseconds slows what is looked at, so a run is either timed or
    watched: without `memory` the peak is 0.

    CPU time is that of all children this process has waited for meanwhile, so only one `run` may
    be under way at a time. A failed gate is exit code 1: pass `accept=(0, 1)`.
    """
    env = dict(os.environ) if env is None else env
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # compiled once and kept, as on a user's machine
    cpu_before = children_cpu_s()
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=cwd) as process:
        sampler = MemorySampler(process.pid)
        if memory:
            sampler.start()
        stdout, _ = process.communicate()
        wall_s = time.perf_counter() - started
        if memory:
            sampler.stop()
    if process.returncode not in accept:
        raise subprocess.CalledProcessError(process.returncode, list(map(str, command)), stdout)
    return Measured(wall_s, children_cpu_s() - cpu_before, sampler.peak_kib / 1024, stdout)


def children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class MemorySampler(threading.Thread):
    """Keeps the highest memory of a process tree seen while it ran.

    A peak shorter than the 20 ms between two samples can be missed.
    """

    def __init__(self, root_pid: int) -> None:
        super().__init__(daemon=True)
        self.root_pid = root_pid
        self.peak_kib = 0
        self._stopped = threading.Event()

    def run(self) -> None:
        while not self._stopped.is_set():
            self.peak_kib = max(self.peak_kib, tree_pss_kib(self.root_pid))
            self._stopped.wait(SAMPLE_EVERY_S)

    def stop(self) -> None:
        self._stopped.set()
        self.join()


def tree_pss_kib(root_pid: int) -> int:
    """The resident memory of a process and its descendants, shared pages counted once."""
    return sum(pss_kib(pid) for pid in tree(root_pid))


def tree(pid: int) -> Iterator[int]:
    yield pid
    for child in children(pid):
        yield from tree(child)


def children(pid: int) -> list[int]:
    """The children of all threads of a process; none where it has ended."""
    found: list[int] = []
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    except OSError:
        # A process or thread may end between being listed and being read.
        return found
    return found


def pss_kib(pid: int) -> int:
    """The proportional set size of a process; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
