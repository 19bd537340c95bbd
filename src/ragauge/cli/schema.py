"""`ragauge schema`: what each record looks like, for programs."""

from __future__ import annotations

from typing import Annotated

import click

from ragauge.cli.command import command, say_json
from ragauge.contracts.schemas import RECORDS
from ragauge.contracts.schemas import schema as schema_of

NAMES = tuple(sorted(RECORDS))


@command()
def schema(name: Annotated[str, click.Choice(NAMES)]) -> None:
    """Print the JSON Schema (draft 2020-12) of a record, generated from the code.

    \b
    Example:
      ragauge schema gold > gold.schema.json
    """
    say_json(schema_of(name))
