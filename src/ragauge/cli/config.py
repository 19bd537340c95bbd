"""`ragauge config`: every setting, its value and its origin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from ragauge.cli.settings import formats, with_origins

if TYPE_CHECKING:
    from ragauge.ingest.configuration import Value


@click.command(short_help="Show every setting, its value and where it comes from.")
@formats("text", "json")
def config(format: str | None) -> None:
    """Print each setting, its value and where it comes from.

    A flag beats RAGAUGE_* in the environment, which beats ragauge.toml or [tool.ragauge] in
    pyproject.toml (the nearest, upwards), which beats the default.

    \b
    Example:
      RAGAUGE_PRESET=ship ragauge config
    """
    values = _without_secrets(with_origins())
    if format == "json":
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(values, order="sorted")).decode())
        return
    shown = {name: _shown(value.value) for name, value in values.items()}
    name_width, width = max(map(len, shown)), max(map(len, shown.values()))
    for name, value in values.items():
        click.echo(f"{name:<{name_width}}  {shown[name]:<{width}}  {value.origin}")


def _without_secrets(values: dict[str, Value]) -> dict[str, Value]:
    """The settings, where a URL has lost who logs in, and its options."""
    from msgspec import structs

    store = values["store"]
    if not isinstance(store.value, str):
        return values
    bare = re.sub(r"(?<=/)[^/]*(?=@)", "***", store.value)
    if "://" in bare:
        bare = bare.partition("?")[0]
    return {**values, "store": structs.replace(store, value=bare)}


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        value = ", ".join(value) or None
    return "–" if value is None else str(value)
