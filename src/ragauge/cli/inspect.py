"""`ragauge inspect`: what a file holds, as Ragauge reads it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from ragauge.cli.command import command
from ragauge.contracts.inspection import InspectionReport
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import Mapped, Printed


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


@command("text", "json", "markdown")
def inspect(file: str, options: Options, mapped: Mapped, output: Printed) -> InspectionReport:
    """Show what FILE holds: its form, which column feeds which field, the first rows, which
    metrics can be computed and what is missing for the others.

    \b
    Example:
      ragauge inspect traces.jsonl
      ragauge inspect answers.csv --map answer=output --map contexts=docs
    """
    from ragauge.runners.inspection import inspect as run

    return run(file, columns=mapped.columns, kind=options.kind)
