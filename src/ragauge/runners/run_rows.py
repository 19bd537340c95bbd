"""Per-run rows of a sweep: what each run varied, what it answered and what that came to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragauge.metrics.facts import error_reason
from ragauge.runners.question_stability import JudgedQuestion, Run, said
from ragauge.store.rows import parquet_rows

HELD = 4_096
"""Rows that are gathered before they are written."""

_FACTS = ("refused", "claim_right", "citations_right", "echoed")
_VARIED = ("seed", "temperature", "jitter", "paraphrase", "repeat")


@contextmanager
def run_rows(path: str | None) -> Iterator[Callable[[JudgedQuestion], None]]:
    """A function that writes one question's runs, to a Parquet file or nowhere."""
    if path is None:
        yield lambda one: None
        return
    import polars as pl

    schema = _schema()
    held: list[dict[str, Any]] = []
    with parquet_rows(Path(path)) as writer:

        def add(one: JudgedQuestion) -> None:
            held.extend(_row(one, run) for run in one.runs)
            if len(held) >= HELD:
                writer.add(pl.DataFrame(held, schema=schema))
                held.clear()

        yield add
        writer.add(pl.DataFrame(held, schema=schema))


def _row(one: JudgedQuestion, run: Run) -> dict[str, Any]:
    trace, facts = run.trace, run.facts
    return {
        "qid": one.gold.qid,
        "run_id": trace.run_id or f"{one.gold.qid}#{run.variation}",
        **{name: getattr(run.variation, name) for name in _VARIED},
        "question_sent": trace.question_sent or one.gold.question,
        "cell": one.cells[run.variation],
        "answer": said(run),
        "cited": sorted(facts.cited) if facts else [],
        "retrieved": list(trace.retrieved_ids) if trace.retrieved_ids is not None else None,
        **{name: getattr(facts, name, None) for name in _FACTS},
        "latency_ms": trace.latency_ms,
        "error": None if facts else error_reason(trace),
    }


def _schema() -> dict[str, Any]:
    import polars as pl

    return {
        "qid": pl.String,
        "run_id": pl.String,
        "seed": pl.Int64,
        "temperature": pl.Float64,
        "jitter": pl.String,
        "paraphrase": pl.Int64,
        "repeat": pl.Int64,
        "question_sent": pl.String,
        "cell": pl.String,
        "answer": pl.String,
        "cited": pl.List(pl.String),
        "retrieved": pl.List(pl.String),
        "refused": pl.Boolean,
        "claim_right": pl.Boolean,
        "citations_right": pl.Boolean,
        "echoed": pl.Boolean,
        "latency_ms": pl.Float64,
        "error": pl.String,
    }
