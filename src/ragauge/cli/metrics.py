"""`ragauge metrics`: the metric table, for a reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ragauge.cli.command import command, say_json
from ragauge.contracts.options import Printed
from ragauge.metrics.names import typed_name

if TYPE_CHECKING:
    from ragauge.contracts.metric import Metric


INTRODUCTION = """# Metrics

Generated from the metric table by `make docs`. A metric is a value, or null with a reason; `n` of
`of` units were scored. Gates name a metric with or without its family.
"""


@command("text", "json", "markdown")
def metrics(name: str | None = None, *, output: Printed) -> None:
    """List every metric, or explain the one called NAME.

    \b
    Example:
      ragauge metrics precision_strict
    """
    from ragauge.metrics.table import find, table

    chosen = [find(name)] if name else list(table().values())
    if output.format == "json":
        say_json({metric.id: _described(metric) for metric in chosen})
    elif output.format == "markdown":
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
            *([f"also     {also}"] if (also := typed_name(metric.id)) else []),
            f"gate it  --gates '{metric.name}{'>=' if metric.better == 'higher' else '<='}…'",
        ]
    )


def page(metrics: Sequence[Metric]) -> str:
    """Every metric on one Markdown page, as in `docs/reference/metrics.md`."""
    rows = ["| metric | better | summary |", "|---|---|---|"]
    rows += [f"| [`{m.id}`](#{_anchor(m.id)}) | {m.better} | {m.summary} |" for m in metrics]
    return "\n".join([INTRODUCTION, *rows, "", *(_section(m) for m in metrics)])


def _section(metric: Metric) -> str:
    low, high = metric.bounds
    facts = [
        *([f"also called `{also}`"] if (also := typed_name(metric.id)) else []),
        f"version {metric.version}",
        f"{metric.better} is better",
        f"from {low:g} to {'any value' if high is None else format(high, 'g')}",
        f"counted per {metric.unit}",
        f"columns {', '.join(metric.columns)}",
        f"reads {', '.join(f'`{need}`' for need in sorted(metric.needs))}",
    ]
    return f"## {metric.id}\n\n{metric.explanation}\n\n{'; '.join(facts)}.\n"


def _anchor(id: str) -> str:
    """The anchor GitHub gives a heading."""
    return "".join(c for c in id.lower() if c.isalnum() or c in "-_ ").replace(" ", "-")
