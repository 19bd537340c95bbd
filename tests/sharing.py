"""Folders that take long to fill, filled once for all processes of the tests."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest


def shared(temporary: pytest.TempPathFactory, name: str, build: Callable[[Path], object]) -> Path:
    """A folder that the first process of the tests fills, and the others read."""
    own = temporary.getbasetemp()
    root = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder, whole = root / name, root / f"{name}.whole"
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            folder.mkdir()
            # In a thread of its own: a sweep needs one without the loop of a started browser.
            with ThreadPoolExecutor(1) as apart:
                apart.submit(build, folder).result()
            whole.touch()
    return folder
