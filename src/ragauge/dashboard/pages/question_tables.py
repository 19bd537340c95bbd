"""The tables of a question's page as data to keep."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.question_answers import ShownAnswer
from ragauge.dashboard.pages.question_chunks import Score
from ragauge.dashboard.pages.question_history import PastRuns, claim_of
from ragauge.dashboard.pages.question_runs import SideBySide
from ragauge.dashboard.pages.question_values import UnitValue


def value_figures(values: Sequence[UnitValue]) -> Figures:
    """The metrics of the unit."""
    rows = [(one.id, one.value, one.counts, one.reason) for one in values]
    return Figures(("metric", "value", "counts", "reason"), rows)


def chunk_figures(shown: ShownAnswer) -> Figures:
    """What was retrieved, a column for each score."""
    names = list(dict.fromkeys(score.name for one in shown.chunks for score in one.one.scores))
    head = ("rank", "k_pos", "k_final", "id", "doc_id", "rev", "start", "end", "gold", "cited")
    rows = []
    for chunk in shown.chunks:
        one, scores = chunk.one, {score.name: _figure(score) for score in chunk.one.scores}
        span = (one.offsets.start, one.offsets.end) if one.offsets else (None, None)
        known = (one.rank, one.k_pos, one.k_final, one.id, one.doc_id, one.rev, *span)
        rows.append((*known, one.gold, chunk.cited, *(scores.get(name) for name in names)))
    return Figures((*head, *names), rows)


def _figure(score: Score) -> float | str:
    """The score as the trace has it, not as it is rounded for the page."""
    return score.written if score.value is None else score.value


def run_figures(together: SideBySide) -> Figures:
    """The answers side by side, one a row."""
    head = ("run_id", "varied", "outcome", "asked", "said", "cited", "latency_ms")
    rows = [
        (
            one.run_id,
            one.varied,
            one.outcome,
            one.asked,
            one.said,
            " ".join(one.cited),
            one.latency_ms,
        )
        for one in together.runs
    ]
    return Figures(head, rows)


def history_figures(past: PastRuns) -> Figures:
    """The unit in each of the last runs."""
    head = ("recorded_at", "run", "name", "label", "right", "claim", "cited")
    rows = [
        (
            one.run.record.recorded_at,
            one.run.id,
            one.run.record.name,
            one.row.label,
            one.row.right,
            claim_of(one.row),
            " ".join(one.cited),
        )
        for one in past.rows
    ]
    return Figures(head, rows)
