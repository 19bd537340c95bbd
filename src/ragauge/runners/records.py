"""Per-trace rows: each trace's place, what it was found to be, and its value of each metric."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Absent, Metric, Pattern, pattern_facts
from ragauge.metrics.quality import label, triage
from ragauge.runners.score import Record

_FACTS = (
    "status",
    "refusal",
    "answered",
    "hit",
    "in_scope",
    "contained",
    "compliant",
    "gold_depth",
)


class RecordFrames:
    """Makes frames of records; what a pattern means is looked up once a pattern."""

    def __init__(self, gold: list[Gold], metrics: tuple[Metric, ...], *, brief: bool) -> None:
        self._brief = brief
        self._qids = pl.Series("qid", [question.qid for question in gold])
        self._by_pattern = [metric for metric in metrics if metric.by_pattern]
        self._beyond = [metric for metric in metrics if not metric.by_pattern]
        self._known = pl.DataFrame(schema=self._schema())

    def frame(self, record: Record, patterns: dict[Pattern, int]) -> pl.DataFrame:
        if self._known.height < len(patterns):
            self._known = pl.DataFrame(
                [self._described(pattern) for pattern in patterns], schema=self._schema()
            )
        places = pl.DataFrame(
            {
                "file": pl.Series([record.file], dtype=pl.String).new_from_index(
                    0, len(record.line)
                ),
                "line": record.line,
                "qid": self._qids.gather(record.question),
            }
        )
        beyond = [
            pl.Series(m.id, record.measured[m.id].sums(m).values(), dtype=pl.Float64).fill_nan(None)
            for m in self._beyond
        ]
        return places.hstack(self._known[record.pattern]).hstack(beyond)

    def _described(self, pattern: Pattern) -> dict[str, Any]:
        facts = pattern_facts(pattern)
        known: dict[str, Any] = {"label": label(facts, brief=self._brief), "triage": triage(facts)}
        known |= {name: getattr(facts, name) for name in _FACTS}
        for metric in self._by_pattern:
            row = metric(facts)
            value = None if isinstance(row, Absent) else metric.finish(np.array(row.counts))
            known[metric.id] = None if value is None else float(value)
        return known

    def _schema(self) -> dict[str, Any]:
        texts = dict.fromkeys(("label", "triage", "status", "refusal"), pl.String)
        facts = {name: texts.get(name, pl.Boolean) for name in _FACTS} | {"gold_depth": pl.Int32}
        values = {metric.id: pl.Float32 for metric in self._by_pattern}
        return {"label": pl.String, "triage": pl.String, **facts, **values}
