"""`ragauge metrics`: the metric table, for a reader."""

from __future__ import annotations

import click

from ragauge.cli.command import command, say_json
from ragauge.contracts.options import Printed


@command("text", "json", "markdown")
def metrics(name: str | None = None, *, output: Printed) -> None:
    """List every metric, or explain the one called NAME.

    \b
    Example:
      ragauge metrics precision_strict
    """
    from ragauge.metrics.table import find, table
    from ragauge.reports.metric_table import described, explained, page

    chosen = [find(name)] if name else list(table().values())
    if output.format == "json":
        say_json({metric.id: described(metric) for metric in chosen})
    elif output.format == "markdown":
        click.echo(page(chosen), nl=False)
    elif name:
        click.echo(explained(chosen[0]))
    else:
        width = max(len(metric.id) for metric in chosen)
        for metric in chosen:
            click.echo(f"{metric.id:<{width}}  {metric.better:<6}  {metric.summary}")
