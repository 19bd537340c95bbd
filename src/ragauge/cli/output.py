"""What commands end with: reports and lines on stdout, remarks on stderr, files, an exit code."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragauge.errors import UsageError

if TYPE_CHECKING:
    from ragauge.contracts.report import Report

# docs/decisions/0003-exit-codes.md says why.
USAGE = 2
NOT_MEASURED = 3
INTERRUPTED = 130
BROKEN_PIPE = 141


def verdict_code(passed: bool | None, require_gates: bool = False) -> int:
    """0 where a run passed, and where no gate is on quality, unless one is required."""
    return 1 if passed is False or (passed is None and require_gates) else 0


def remark(text: str, quiet: bool) -> None:
    """Talk, for a person, on stderr."""
    if not quiet:
        click.echo(text, err=True)


def screen() -> tuple[bool, int]:
    """Whether stdout has colour, and how wide it is."""
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return color, shutil.get_terminal_size((100, 24)).columns


def show(report: Report, form: str | None, *, brief: bool = False) -> None:
    """Print a report on stdout, in colour only where a person looks at it."""
    from ragauge.reports.forms import render

    color, width = screen()
    text = render(report, form or "text", color=color, width=width, brief=brief)
    click.echo(text, nl=False, color=color)


def say(record: Any, lines: Iterable[str], format: str | None) -> None:
    """Print what a command did: the record for a program, or lines for a person."""
    if format == "json":
        from ragauge.reports.json import render

        click.echo(render(record), nl=False)
        return
    from ragauge.text.visible import shown

    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        click.echo(indent + shown(line))


def say_json(value: Any, *, sort: bool = True) -> None:
    """Print a value that is no report as JSON, for a program."""
    import msgspec

    encoded = msgspec.json.encode(value, order="sorted" if sort else None)
    click.echo(msgspec.json.format(encoded).decode())


def forms_of(reports: Iterable[str], kind: type | None = None) -> dict[Path, str]:
    """The files to write and their forms, known before any work is done."""
    from ragauge.reports.forms import form_of

    return {Path(name): form_of(Path(name), kind) for name in reports}


def write_reports(report: Report, forms: dict[Path, str], quiet: bool) -> None:
    from ragauge.reports.forms import render

    for path, form in forms.items():
        write_file(path, render(report, form).encode(), quiet)


def write_file(path: str | Path, content: bytes, quiet: bool) -> None:
    """Write a file that the user named, and say so."""
    from ragauge.store.files import write_whole

    write_whole(Path(path), content)
    remark(f"wrote {path}", quiet)


def refuse_overwriting(
    read: Sequence[str | None], written: Sequence[str | Path | None], docs: str | None = None
) -> None:
    """Raise UsageError where an output is an input, is among the documents, or is named twice."""

    def real(name: str | Path) -> Path:
        # Not Path.resolve, which raises where links lead to each other.
        return Path(os.path.realpath(name))

    inputs = {real(name) for name in read if name and name != "-"}
    outputs = [(name, real(name)) for name in written if name is not None]
    problems = []
    for name, path in outputs:
        if path.is_dir() or not Path(name).name:
            problems.append(f"{name}: is a folder; name a file to write")
        elif path in inputs:
            problems.append(f"{name}: is read and would be overwritten; write to another file")
        elif docs is not None and path.is_relative_to(real(docs)):
            problems.append(f"{name}: lies among the documents of --docs; write it elsewhere")
        elif sum(path == other for _, other in outputs) > 1:
            problems.append(f"{name}: is named for two outputs; give each its own file")
    if problems:
        raise UsageError(*dict.fromkeys(problems))
