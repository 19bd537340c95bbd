"""Commands run in this process, and what they print with everything that varies taken out."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

from msgspec import Struct

from ragauge import __version__
from ragauge.cli.main import main
from ragauge.runners.calling import trace_of

NOW = datetime(2026, 1, 28, 3, 4, 5, tzinfo=UTC)
"""The clock of recorded runs: their ids depend on it."""


class Done(Struct, frozen=True):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


def run(arguments: Sequence[str], folder: Path, *, width: int = 100, now: datetime = NOW) -> Done:
    """A command line run in a folder, without a process of its own."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    with in_folder(folder, width, now), redirect_stdout(out), redirect_stderr(err):
        code = _ended(arguments)
    printed = []
    for stream in (out, err):
        stream.flush()
        printed.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return Done(code, *printed)


def _ended(arguments: Sequence[str]) -> int:
    named = mock.patch("click.core._detect_program_name", return_value="ragauge")
    with named, mock.patch.object(sys, "argv", ["ragauge", *arguments]):
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)
    return 0


@contextmanager
def in_folder(folder: Path, width: int = 100, now: datetime = NOW) -> Iterator[None]:
    """This process in a folder, at a fixed time, with a terminal so wide and no settings."""
    before = Path.cwd()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAGAUGE")}
    environment = kept | {"COLUMNS": str(width), "LINES": "24", "NO_COLOR": "1"}
    os.chdir(folder)
    try:
        with (
            mock.patch.dict(os.environ, environment, clear=True),
            mock.patch("ragauge.runners.recording._now", return_value=now),
            mock.patch("ragauge.runners.suite_state.secrets.token_hex", return_value="0" * 16),
            mock.patch("time.perf_counter", return_value=0.0),
            mock.patch("ragauge.runners.calling.trace_of", _at_once),
        ):
            yield
    finally:
        os.chdir(before)


def _at_once(*given: Any, **how: Any) -> Any:
    return trace_of(*given, **how | {"latency_ms": 1.0})


def normalised(text: str, folder: Path) -> str:
    """The text without this version, machine or folder, and without the style sheet of a page.

    >>> normalised("0.31 s in /tmp/x/store", Path("/tmp/x"))
    'SECONDS s in FOLDER/store'
    """
    text = text.replace(str(folder), "FOLDER")
    text = re.sub(rf"(?<![\d.]){re.escape(__version__)}(?![\d.])", "VERSION", text)
    text = re.sub(r"(?<![\w.])\d+\.\d+ s\b", "SECONDS s", text)
    return re.sub(r"<(style|script)\b([^>]*)>.*?</\1>", r"<\1\2>…</\1>", text, flags=re.DOTALL)
