"""The metric table for a reader: one metric explained, and all of them on a page."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.metric import Metric
from ragauge.metrics.names import typed_name

INTRODUCTION = """# Metrics

Generated from the metric table by `make docs`. A metric is a value, or null with a reason; `n` of
`of` units were scored. Gates name a metric with or without its family.
"""


def described(metric: Metric) -> dict[str, object]:
    return {
        "version": metric.version,
        "better": metric.better,
        "bounds": metric.bounds,
        "unit": metric.unit,
        "columns": metric.columns,
        "reads": sorted(metric.needs),
        "explanation": metric.explanation,
    }


def explained(metric: Metric) -> str:
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
