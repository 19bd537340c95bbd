"""The answers a recorded run keeps for its readers, read once more from where they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from ragauge.contracts.gold import Gold
from ragauge.contracts.kept import KeptAnswer
from ragauge.ingest.trace_lines import BadLine, can_be_read_again, numbered_lines, whole_trace
from ragauge.runners.join import Join

Answers = Callable[[], Iterable[tuple[str, KeptAnswer]]]
"""Gives each answer with the id of its unit, where somebody wants to keep them."""


def answers_to(gold: Sequence[Gold], names: Sequence[str]) -> Answers | None:
    """What gives the traces of the gold set's questions, those of one in the order they stand.

    None where a file cannot be read twice, such as standard input.
    """
    return partial(_answers, gold, names) if can_be_read_again(names) else None


def _answers(gold: Sequence[Gold], names: Sequence[str]) -> Iterator[tuple[str, KeptAnswer]]:
    join = Join(gold)
    for name in names:
        for where, line in numbered_lines(name):
            try:
                trace = whole_trace(line)
            except BadLine:
                continue  # a finding of the run already
            place = join.place(trace)
            if place is not None:
                yield gold[place].qid, KeptAnswer(trace=trace, where=where)
