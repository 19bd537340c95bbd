"""`ragauge history`: a metric over the recorded runs."""

from __future__ import annotations

from ragauge.cli.command import command
from ragauge.cli.run_store import history_at
from ragauge.contracts.comparison import HistoryReport
from ragauge.contracts.options import HistoryOptions, Output, Stored


@command("text", "json", "markdown", "csv")
def history(metric: str, options: HistoryOptions, stored: Stored, output: Output) -> HistoryReport:
    """Show METRIC over the recorded runs, oldest first: its line, its level and where it changed.

    Where the questions of the gold set change, or how the metric is made, the line is cut: levels
    are not compared across. With --gate, the runs since the last such cut must meet the rules: a
    rule that fails, or that has too few runs to be evaluated, ends with 1.

    \b
    Example:
      ragauge history precision_cited --branch main --last 100
      ragauge history precision_cited --gate "cv<=0.05,slope>=-0.001,no-change-point"
    """
    from ragauge.runners.run_history import run_history

    with history_at(stored.store) as kept:
        return run_history(kept, metric, options)
