"""`ragauge import`: traces of other tools as traces of ours."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from ragauge.cli.command import command, say
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import Printed


class Options(Struct, frozen=True, kw_only=True):
    """What is read, and what is written."""

    out: Annotated[str, Opt("Where to write the traces.", flag="-o/--out", metavar="FILE")]
    envelope: Annotated[
        str, Opt("What the files are", flag="--as", metavar="TOOL", shown="seen from the content")
    ] = "auto"


@command("text", "json", name="import")
def import_(files: tuple[str, ...], options: Options, output: Printed) -> int:
    """Write the traces in FILES of another tool as traces that every command reads.

    FILES are what OpenTelemetry, Phoenix, Langfuse, LangSmith, MLflow, TruLens, Braintrust or Weave
    write or export.
    A manifest next to the traces says which field became what, and what is missing.

    \b
    Example:
      ragauge import spans.jsonl -o traces.jsonl
      ragauge import traces.json observations.json --as langfuse -o traces.jsonl
    """
    from ragauge.runners.importing import import_traces

    made = import_traces(files, options.out, envelope=options.envelope)
    lines = [f"{made.envelope}: {made.rows:,} traces from {made.spans:,} spans, in {options.out}"]
    lines += [f"  {name:<10} from {where}" for name, where in made.taken.items()]
    lines += [
        f"  without {name.replace('_', ' ')}: {times:,}" for name, times in made.without.items()
    ]
    say(made, lines, output.format)
    return 0
