"""The `ragauge` command: in this process, which is quick, or in one of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import invalidate_caches
from pathlib import Path
from unittest import mock

RAGAUGE = Path(sys.executable).with_name("ragauge")
ON_PATH = {"PATH": f"{RAGAUGE.parent}{os.pathsep}{os.environ['PATH']}"}
"""For the demo, which prints commands as the user would type them."""
OURS = (Path(sys.prefix).resolve(), Path(os.__file__).resolve().parent, Path(__file__).parents[2])
"""Where Python, what is installed and this repository are: modules from there stay imported."""
QUIET_ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("RAGAUGE", "NO_COLOR"))
}


def ragauge(
    *arguments: object, stdin: bytes = b"", cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """What the command prints, and how it ends, without a process of its own."""
    from ragauge.cli.main import main

    command = ["ragauge", *map(str, arguments)]
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    given = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    code = 0
    with (
        as_in_a_process(cwd or Path.cwd(), QUIET_ENVIRONMENT | environment),
        mock.patch.object(sys, "argv", command),
        mock.patch.object(sys, "stdin", given),
        mock.patch("click.core._detect_program_name", return_value="ragauge"),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return subprocess.CompletedProcess(command, code, _written(out), _written(err))


def in_a_process(
    *arguments: object, stdin: bytes = b"", cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """The same in a real process, for what one process cannot do to itself."""
    return subprocess.run(
        [RAGAUGE, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=QUIET_ENVIRONMENT | environment,
        check=False,
        timeout=120,
    )


@contextmanager
def as_in_a_process(folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """This process in a folder and an environment; modules of users are forgotten."""
    before, modules, path = Path.cwd(), set(sys.modules), list(sys.path)
    os.chdir(folder)
    invalidate_caches()
    try:
        with mock.patch.dict(os.environ, environment, clear=True):
            yield
    finally:
        os.chdir(before)
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            file = getattr(sys.modules[name], "__file__", None)
            if file and not any(place in Path(file).resolve().parents for place in OURS):
                del sys.modules[name]


def _written(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    content: bytes = stream.buffer.getvalue()  # type: ignore[attr-defined]
    return content
