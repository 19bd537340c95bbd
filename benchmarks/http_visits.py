"""Visits to a server over one connection: how long each takes and how much it brings."""

from __future__ import annotations

import http.client
import os
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from benchmarks.measure import tree, tree_pss_kib

STARTING_S = 120
"""How long a server may take to answer for the first time."""
WAITING_S = 600
STEP_S = 0.1
NOT_YET = b'http-equiv="refresh"'
"""In a page that is still being made."""


class Visit(NamedTuple):
    """One answer of a server."""

    ms: float
    body: bytes


class Visits(NamedTuple):
    """The answers to several addresses of one view, the first told apart."""

    first_ms: float
    ms: list[float]
    bytes: list[int]

    @property
    def median_ms(self) -> float:
        return statistics.median(self.ms)

    @property
    def worst_ms(self) -> float:
        return max(self.ms)

    @property
    def median_bytes(self) -> float:
        return statistics.median(self.bytes)


class Visitor:
    """A reader with one connection that stays open, as a browser's does."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=WAITING_S)

    def connect(self) -> None:
        """Begin a new connection."""
        self._connection.close()  # the next request opens it again

    def visit(self, path: str, posted: bytes | None = None) -> Visit:
        """The whole answer; an error where it is not what was asked for."""
        method, headers = ("POST", {"Content-Type": "application/json"}) if posted else ("GET", {})
        started = time.perf_counter()
        self._connection.request(method, path, posted, headers)
        response = self._connection.getresponse()
        body = response.read()
        ms = (time.perf_counter() - started) * 1e3
        if response.status != http.HTTPStatus.OK:
            raise RuntimeError(f"{path}: {response.status}: {body[-2_000:].decode()}")
        return Visit(ms, body)

    def visits(self, paths: Sequence[str], shows: str, posted: bytes | None = None) -> Visits:
        """One after another; an error where an answer does not hold the text it should show."""
        found = []
        for path in paths:
            found.append(self.visit(path, posted))
            if shows.encode() not in found[-1].body:
                raise RuntimeError(f'{path}: has no "{shows}"')
        first, *others = found
        return Visits(first.ms, [one.ms for one in others], [len(one.body) for one in others])

    def finished(self, path: str) -> tuple[Visit, float | None]:
        """The first answer, and the seconds until the page was made; None where it was at once."""
        started = time.perf_counter()
        first = self.visit(path)
        if NOT_YET not in first.body:
            return first, None
        while NOT_YET in self.visit(path).body:
            if time.perf_counter() - started > WAITING_S:
                raise RuntimeError(f"{path}: is still being made after {WAITING_S} s")
            time.sleep(STEP_S)
        return first, time.perf_counter() - started


class Memory(NamedTuple):
    """Of a server and its children, in MiB."""

    pss: float
    peak: float
    """The sum of what each process ever held, shared pages counted in each."""


class Server(NamedTuple):
    """A server that runs."""

    process: subprocess.Popen[str]
    address: str

    def memory(self) -> Memory:
        pids = [*tree(self.process.pid)]
        return Memory(tree_pss_kib(self.process.pid) / 1024, sum(map(_peak_kib, pids)) / 1024)


@contextmanager
def serving(
    command: Sequence[str | Path],
    log: Path,
    listens: Callable[[str], str | None],
    env: dict[str, str] | None = None,
) -> Iterator[Server]:
    """A server and its address, until the context ends; its children end with it.

    `listens` gives the address from what it has written so far, None where it is not there yet.
    """
    with log.open("w") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=out, text=True, env=env, start_new_session=True
        )
    try:
        yield Server(process, _address(process, log, listens))
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def _address(
    process: subprocess.Popen[str], log: Path, listens: Callable[[str], str | None]
) -> str:
    until = time.perf_counter() + STARTING_S
    while time.perf_counter() < until and process.poll() is None:
        if found := listens(log.read_text("utf-8")):
            return found
        time.sleep(STEP_S)
    raise RuntimeError(f"{process.args}: does not serve: {log.read_text('utf-8')[-2_000:]}")


def _peak_kib(pid: int) -> int:
    """The most a process ever held; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
