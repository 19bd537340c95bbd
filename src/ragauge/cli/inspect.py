"""`ragauge inspect`: what a file holds, as Ragauge reads it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from ragauge.cli.command import NOT_MEASURED, command, show
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import Mapped


class Options(Struct, frozen=True, kw_only=True):
    """How the file is read."""

    kind: Annotated[
        str | None,
        Opt(
            "What its records are, where it is not seen: trace, answer, …",
            flag="--as",
            metavar="KIND",
        ),
    ] = None
    format: Annotated[str, Opt("What standard output gets.")] = "text"


@command("text", "json", "markdown")
def inspect(file: str, options: Options, mapped: Mapped) -> int:
    """Show what FILE holds: its form, which column feeds which field, the first rows, which
    metrics can be computed and what is missing for the others.

    \b
    Example:
      ragauge inspect traces.jsonl
      ragauge inspect answers.csv --map answer=output --map contexts=docs
    """
    from ragauge.runners.inspection import inspect as run

    report = run(file, columns=mapped.columns, kind=options.kind)
    show(report, options.format)
    return 0 if report.kind else NOT_MEASURED
