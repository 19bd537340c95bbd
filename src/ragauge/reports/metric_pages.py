"""The metric table as a page: `docs/reference/metrics.md` is made by this."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.metric import Metric

INTRODUCTION = """# Metrics

Generated from the metric table by `make docs`. A metric is a value, or null with a reason; `n` of
`of` units were scored. Gates name a metric with or without its family.
"""


def page(metrics: Sequence[Metric]) -> str:
    """Every metric on one Markdown page: a table, then a section each."""
    rows = ["| metric | better | summary |", "|---|---|---|"]
    rows += [f"| [`{m.id}`](#{_anchor(m.id)}) | {m.better} | {m.summary} |" for m in metrics]
    return "\n".join([INTRODUCTION, *rows, "", *(_section(m) for m in metrics)])


def _section(metric: Metric) -> str:
    low, high = metric.bounds
    facts = [
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
