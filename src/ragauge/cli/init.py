"""`ragauge init`: a commented file to start from."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import click
from msgspec import Struct

from ragauge.cli.command import command
from ragauge.contracts.opt import Opt
from ragauge.errors import UsageError

CASES = {
    "traces": {"gold.jsonl": "gold.jsonl", "traces.jsonl": "traces.jsonl"},
    "http": {"gold.jsonl": "gold.jsonl"},
    "call": {"gold.jsonl": "gold.jsonl", "my_system.py": "my_system.py.txt"},
}
"""The files each case names, and our examples of them."""
ABOUT = {
    "gold.jsonl": "the questions and what is right, one JSON object a line",
    "traces.jsonl": "what your system answered, one JSON object a line",
    "my_system.py": "a function answer(ask) that asks your system",
}


class Starting(Struct, frozen=True, kw_only=True):
    """What to start with."""

    case: Annotated[
        Literal["traces", "http", "call"],
        Opt("What you have: traces, an HTTP endpoint, or a Python function to call."),
    ] = "traces"
    into: Annotated[str, Opt("The folder to write to.", metavar="DIR")] = "."
    example: Annotated[bool, Opt("Also write examples of the files it names.")] = False
    force: Annotated[bool, Opt("Overwrite a ragauge.toml that is there.")] = False


@command()
def init(options: Starting) -> None:
    """Write a ragauge.toml with comments, for `ragauge run` to read.

    What else stands in the folder is never overwritten.

    \b
    Example:
      ragauge init --case http
      ragauge run
    """
    from ragauge.store.files import write_whole

    case, folder = options.case, Path(options.into)
    target = folder / "ragauge.toml"
    if target.exists() and not options.force:
        raise UsageError(f"{target}: is there already; --force overwrites it")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(target, _starting(f"{case}.toml"))
    click.echo(f"wrote {target}")
    absent = [name for name in CASES[case] if not (folder / name).exists()]
    if options.example:
        for name in absent:
            write_whole(folder / name, _starting(CASES[case][name]))
            click.echo(f"wrote {folder / name}, an example")
        absent = []
    for name in absent:
        click.echo(f"missing {folder / name}: {ABOUT[name]}")
    click.echo(f"next: {', then '.join(_steps(case, folder, absent))}")


def _starting(name: str) -> bytes:
    return (files("ragauge.cli") / "starting_files" / name).read_bytes()


def _steps(case: str, folder: Path, absent: list[str]) -> Iterator[str]:
    """What is left to do: a run without the files could not measure anything."""
    if absent:
        names = " and ".join(str(folder / name) for name in absent)
        yield f"write {names} (--example --force writes examples to look at)"
    if case == "http":
        yield f"name your endpoint in {folder / 'ragauge.toml'}"
    yield "ragauge run" if folder == Path() else f"cd {shlex.quote(str(folder))} && ragauge run"
