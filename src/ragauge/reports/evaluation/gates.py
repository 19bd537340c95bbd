"""The gates of an evaluation as a table, each with what it demands and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragauge.contracts.report import Score
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope, numbers
from ragauge.reports.evaluation.tables import Cell, Row, Table


def gates_table(
    gates: Sequence[Verdict],
    metrics: Mapping[str, Score],
    names: Mapping[str, str],
    about: str = "",
) -> Table | None:
    """A row for each gate; None where there are none."""
    if not gates:
        return None
    rows = tuple(
        Row(
            (
                Cell(name),
                Cell(numbers.value_beside(gate.value, gate.bound)),
                Cell(numbers.interval(gate.ci), tone="soft"),
                Cell(scored, tone="soft"),
                Cell(numbers.bound(gate)),
                Cell(word, tone=tone(gate)),
            ),
            note=told,
            strong=not gate.holds,
        )
        for gate, name, scored, word, told in envelope.bounds(gates, metrics, names)
    )
    return Table(
        title="Gates",
        about=about,
        heads=("metric", "value", envelope.interval_title(gates), "scored", "bound", "verdict"),
        rows=rows,
        right=frozenset({1, 3}),
        spare=(2, 3),
    )


def tone(gate: Verdict) -> str:
    """good where it passed, bad where it stops the run, and else soft."""
    return "good" if gate.verdict == "pass" else "soft" if gate.holds else "bad"
