"""The public functions and classes with their signatures, as a person sees them."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import ragauge


def signatures(folder: Path) -> str:
    """A line for each name, a parameter a line below it; nothing is written to the folder."""
    lines = []
    for name in sorted(ragauge.__all__):
        thing = getattr(ragauge, name)
        if not callable(thing):
            lines.append(f"{name}: {type(thing).__name__}")
            continue
        shown = inspect.signature(thing)
        parameters = (re.sub(r" at 0x\w+", "", str(one)) for one in shown.parameters.values())
        returned = f" -> {shown.return_annotation}" if inspect.isfunction(thing) else ""
        lines += [f"{name}{returned}", *(f"    {one}" for one in parameters)]
    return "\n".join([*lines, ""])
