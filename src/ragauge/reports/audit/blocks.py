"""Blocks of a comment that reports of `ragauge eval` share: verdict, gates and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragauge.contracts.report import Score
from ragauge.contracts.verdict import Verdict
from ragauge.reports import comment, envelope, numbers
from ragauge.reports.comment import code, prose, without_empty


def verdict(command: str, headline: tuple[str, str], beside: str = "") -> Iterator[str]:
    word, told = headline
    yield f"## Ragauge {command}: {word}"
    yield " ".join(comment.sentence(prose(text)) for text in (told, beside) if text)


def gates(
    given: Sequence[Verdict], metrics: Mapping[str, Score], names: Mapping[str, str]
) -> Iterator[str]:
    if not given:
        return
    interval = envelope.interval_title(given)
    heads = ("gate", "value", interval, "scored", "bound", "verdict", "note")
    rows = [
        [
            code(names[gate.metric]),
            numbers.value_beside(gate.value, gate.bound),
            numbers.interval(gate.ci),
            numbers.n_of(gate.n, envelope.scored_of(metrics, gate)),
            code(numbers.bound(gate)),
            comment.gate_verdict(gate),
            code(note) if (note := envelope.gate_note(gate)) else "",
        ]
        for gate in given
    ]
    yield without_empty(heads, rows, right={1, 3})


def metrics(
    told: Sequence[tuple[str, Score]], names: Mapping[str, str], title: str
) -> Iterator[str]:
    if told:
        yield f"### {title}"
        rows = [comment.metric_cells(names[id], score) for id, score in told]
        yield without_empty(("metric", "value", "95 % interval", "scored", "note"), rows, {1, 3})
