"""`ragauge metrics`: the metric table, for a reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragauge.cli.output import say_json
from ragauge.cli.settings import formats

if TYPE_CHECKING:
    from ragauge.contracts.metric import Metric


@click.command()
@click.argument("name", required=False)
@formats("text", "json", "markdown")
def metrics(name: str | None, format: str | None) -> None:
    """List every metric, or explain the one called NAME.

    \b
    Example:
      ragauge metrics precision_strict
    """
    from ragauge.metrics.table import find, table
    from ragauge.reports.metric_pages import page

    chosen = [find(name)] if name else list(table().values())
    if format == "json":
        say_json({metric.id: _described(metric) for metric in chosen})
    elif format == "markdown":
        click.echo(page(chosen), nl=False)
    elif name:
        click.echo(_explained(chosen[0]))
    else:
        width = max(len(metric.id) for metric in chosen)
        for metric in chosen:
            click.echo(f"{metric.id:<{width}}  {metric.better:<6}  {metric.summary}")


def _described(metric: Metric) -> dict[str, object]:
    return {
        "version": metric.version,
        "better": metric.better,
        "bounds": metric.bounds,
        "unit": metric.unit,
        "columns": metric.columns,
        "reads": sorted(metric.needs),
        "explanation": metric.explanation,
    }


def _explained(metric: Metric) -> str:
    low, high = metric.bounds
    return "\n".join(
        [
            f"{metric.id}  (version {metric.version})",
            "",
            metric.explanation,
            "",
            f"better   {metric.better}",
            f"bounds   {low:g} to {'any' if high is None else format(high, 'g')}",
            f"unit     {metric.unit}",
            f"columns  {', '.join(metric.columns)}",
            f"reads    {', '.join(sorted(metric.needs))}",
            f"gate it  --gates '{metric.name}{'>=' if metric.better == 'higher' else '<='}…'",
        ]
    )
