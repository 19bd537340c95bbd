"""`ragauge config`: every setting, its value and its origin; which defaults changed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import click
from msgspec import Struct, structs

from ragauge.cli.command import command, say_json, with_origins
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import Printed


class Explaining(Struct, frozen=True, kw_only=True):
    """What is explained."""

    explain_changes: Annotated[
        bool,
        Opt(
            "List the defaults that changed in this version, and what that means for this project."
        ),
    ] = False


@command("text", "json")
def config(options: Explaining, output: Printed) -> None:
    """Print each setting, its value and where it comes from.

    A flag beats RAGAUGE_* in the environment, which beats ragauge.toml or [tool.ragauge] in
    pyproject.toml (the nearest, upwards), which beats the default.

    \b
    Example:
      RAGAUGE_PRESET=ship ragauge config
      ragauge config --explain-changes
    """
    if options.explain_changes:
        _explain_changes(output.format)
        return
    values = with_origins()
    store = values["store"]
    if isinstance(store.value, str):  # without who logs in at a server, and without its options
        bare = re.sub(r"(?<=/)[^/]*(?=@)", "***", store.value)
        bare = bare.partition("?")[0] if "://" in bare else bare
        values = {**values, "store": structs.replace(store, value=bare)}
    if output.format == "json":
        say_json(values)
        return
    shown = {}
    for name, value in values.items():
        text = ", ".join(value.value) or None if isinstance(value.value, tuple) else value.value
        shown[name] = "–" if text is None else str(text)
    name_width, width = max(map(len, shown)), max(map(len, shown.values()))
    for name, value in values.items():
        click.echo(f"{name:<{name_width}}  {shown[name]:<{width}}  {value.origin}")


def _explain_changes(format: str) -> None:
    """Print the changes, first those that show in this project."""
    from ragauge import __version__
    from ragauge.ingest.configuration import written
    from ragauge.runners.changed_defaults import changes

    found = changes(with_origins(), written(Path.cwd(), []).table)
    if format == "json":
        say_json(found)
        return
    here = [one for one in found if one.affects]
    lines = [f"Defaults that changed in Ragauge {__version__}", ""]
    lines += [f"In this project ({len(here)})" if here else "None shows in this configuration.", ""]
    for one in here:
        lines += [f"  {one.what}: {one.affects}"]
        lines += [
            f"    before  {one.before}",
            f"    now     {one.now}",
            f"    keep    {one.keep}",
            "",
        ]
    others = [one for one in found if not one.affects]
    lines += ["Other changes"] if others else []
    lines += [f"  {one.what}: {one.before} → {one.now} (keep: {one.keep})" for one in others]
    click.echo("\n".join(lines))
