"""The public functions and classes with their signatures, as a person sees them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, get_args, get_origin

import ragauge
from ragauge.contracts.opt import Opt


def plain(shown: inspect.Signature) -> Iterator[inspect.Parameter]:
    """The parameters; of options without their help, which pages of help show."""
    for one in shown.parameters.values():
        kind, *notes = get_args(one.annotation) or (one.annotation,)
        if get_origin(one.annotation) is not Annotated:
            yield one
            continue
        bounds = tuple(note for note in notes if not isinstance(note, Opt))
        yield one.replace(annotation=Annotated[(kind, *bounds)] if bounds else kind)


def signatures(folder: Path) -> str:
    """A line for each name, a parameter a line below it; nothing is written to the folder."""
    lines = []
    for name in sorted(ragauge.__all__):
        thing = getattr(ragauge, name)
        if not callable(thing):
            lines.append(f"{name}: {type(thing).__name__}")
            continue
        shown = inspect.signature(thing)
        parameters = (re.sub(r" at 0x\w+", "", str(one)) for one in plain(shown))
        returned = f" -> {shown.return_annotation}" if inspect.isfunction(thing) else ""
        lines += [f"{name}{returned}", *(f"    {one}" for one in parameters)]
    return "\n".join([*lines, ""])
