"""Commands run in this process, and what they print with everything that varies taken out."""

from __future__ import annotations

import asyncio
import re
import selectors
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

from ragauge import __version__
from ragauge.runners.calling import trace_of
from tests.cli.command import ragauge

NOW = datetime(2026, 1, 28, 3, 4, 5, tzinfo=UTC)
"""The clock of recorded runs: their ids depend on it."""


def run(
    arguments: Sequence[str], folder: Path, *, width: int = 100, now: datetime = NOW
) -> subprocess.CompletedProcess[bytes]:
    """A command line run in a folder, as far as possible without this machine and moment."""
    with steady(now), virtual_time() if arguments[0] == "latency" else nullcontext():
        return ragauge(*arguments, cwd=folder, COLUMNS=str(width), LINES="24", NO_COLOR="1")


@contextmanager
def steady(now: datetime = NOW) -> Iterator[None]:
    """A fixed time, calls that take none, and no random session."""
    with (
        mock.patch("ragauge.runners.recording.datetime", mock.Mock(now=lambda zone: now)),
        mock.patch("ragauge.runners.suite_state.secrets.token_hex", return_value="0" * 16),
        mock.patch("time.perf_counter", return_value=0.0),
        mock.patch("ragauge.runners.calling.trace_of", _at_once),
    ):
        yield


@contextmanager
def virtual_time() -> Iterator[None]:
    """A clock that moves only while everybody waits, and the demo's pipeline behind every URL."""
    from ragauge.demo.pipeline import Pipeline

    pipeline = Pipeline.of()

    async def ask(_: object, asked: Any) -> Any:
        await asyncio.sleep(0.025)
        return await pipeline.ask(asked)

    with (
        mock.patch("asyncio.events.new_event_loop", _VirtualLoop),
        mock.patch("ragauge.pipelines.http.HttpSystem.ask", ask),
    ):
        yield


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        super().__init__(_Waits(self))
        self.passed_s = 0.0

    def time(self) -> float:
        return self.passed_s


class _Waits(selectors.SelectSelector):
    """Where the loop would sleep, its clock is set forward."""

    def __init__(self, loop: _VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        self._loop.passed_s += timeout or 0.0
        return super().select(0)


def _at_once(*given: Any, **how: Any) -> Any:
    return trace_of(*given, **how | {"latency_ms": 1.0})


def normalised(text: str, folder: Path) -> str:
    """The text without this version, machine or folder, and without styles and scripts.

    >>> normalised("0.31 s in /tmp/x/store", Path("/tmp/x"))
    'SECONDS s in FOLDER/store'
    """
    text = text.replace(str(folder), "FOLDER")
    text = re.sub(rf"(?<![\d.]){re.escape(__version__)}(?![\d.])", "VERSION", text)
    text = re.sub(r"(?<![\w.])\d+\.\d+ s\b", "SECONDS s", text)
    text = re.sub(r"sha256-[A-Za-z0-9+/]{43}=", "sha256-HASH", text)
    text = re.sub(r"(/static/\w+)\.[0-9a-f]{12}\.", r"\1.HASH.", text)
    return re.sub(r"<(style|script)\b([^>]*)>.*?</\1>", r"<\1\2>…</\1>", text, flags=re.DOTALL)
