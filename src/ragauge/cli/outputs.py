"""Files that a command writes, checked before it begins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ragauge.errors import UsageError


def refuse_overwriting(
    read: Sequence[str | None], written: Sequence[str | Path], docs: str | None = None
) -> None:
    """Raise UsageError where an output is an input, lies among the documents, or stands twice."""
    inputs = {_real(name) for name in read if name and name != "-"}
    outputs = [_real(name) for name in written]
    problems = []
    for name, path in zip(written, outputs, strict=True):
        if path.is_dir() or not Path(name).name:
            problems.append(f"{name}: is a folder; name a file to write")
        elif path in inputs:
            problems.append(f"{name}: is read and would be overwritten; write to another file")
        elif docs is not None and path.is_relative_to(_real(docs)):
            problems.append(f"{name}: lies among the documents of --docs; write it elsewhere")
        elif outputs.count(path) > 1:
            problems.append(f"{name}: is named for two outputs; give each its own file")
    if problems:
        raise UsageError(*dict.fromkeys(problems))


def _real(name: str | Path) -> Path:
    # Not Path.resolve, which raises where links lead to each other.
    return Path(os.path.realpath(name))
