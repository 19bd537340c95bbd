"""λ: whether the runs of a question come together, and where they part if they do not.

A run is told apart by its kind and, where it is an answer, by the ids it stands on. All is counted
in whole numbers and fractions of them, so that one half is one half.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from msgspec import Struct

from ragauge.contracts.audit import Kind, LambdaState
from ragauge.contracts.trace_eval import Broken
from ragauge.text.canonical import composed

FEWEST = 2
"""A single run agrees with nothing, and so says nothing about λ."""


class RunSeen(Struct, frozen=True, kw_only=True):
    """A run as λ sees it."""

    kind: Kind
    cited: tuple[str, ...] = ()
    retrieved: tuple[str, ...] | None = None
    """None where the run does not tell."""


class _Content(NamedTuple):
    """What makes two runs the same; its order breaks ties between medoids."""

    kind: Kind
    ids: tuple[str, ...] = ()
    """Sorted, each once; only an answer has any."""


_FAILED = _Content("error")


def answer_state(runs: Sequence[RunSeen], planned: int) -> LambdaState | None:
    """λ of what the runs came to; None where fewer than two were planned.

    An answer is its citations. Two refusals agree, and so do two answers that cite nothing.
    """
    seen = [_standing_on(run.cited) if run.kind == "answer" else _Content(run.kind) for run in runs]
    return _state(seen, planned)


def retrieval_state(runs: Sequence[RunSeen], planned: int) -> LambdaState | None:
    """λ of what the runs retrieved; None where none of those that finished tells it.

    A run that retrieved nothing is of its own kind. Where some tell and others do not, the question
    is incomplete: what is not told cannot be said to agree.
    """
    finished = [run for run in runs if run.kind != "error"]
    if finished and all(run.retrieved is None for run in finished):
        return None
    seen = [
        _FAILED if run.kind == "error" or run.retrieved is None else _standing_on(run.retrieved)
        for run in runs
    ]
    return _state(seen, planned)


def located(retrieval: LambdaState | None, answer: LambdaState | None) -> Broken | None:
    """Where the runs part; None where they do not, or where it cannot be said.

    >>> located("convergent", "chaotic"), located("divergent", "convergent")
    ('after retrieval', 'retrieval')
    """
    if retrieval in (None, "incomplete"):
        return None
    if retrieval != "convergent":
        return "retrieval"
    return None if answer in (None, "incomplete", "convergent") else "after retrieval"


def _standing_on(ids: Iterable[str]) -> _Content:
    found = tuple(sorted(set(map(composed, ids))))
    return _Content("answer", found) if found else _Content("uncited")


def _state(runs: list[_Content], planned: int) -> LambdaState | None:
    if max(planned, len(runs)) < FEWEST:
        return None
    if len(runs) < planned or _FAILED in runs:
        return "incomplete"
    times = Counter(runs)
    contents = sorted(times)

    def likeness(one: _Content) -> Fraction:
        alike = (times[other] * Fraction(*_overlap(one, other)) for other in contents)
        return sum(alike, Fraction())

    medoid = max(contents, key=likeness)  # most like the runs; of equals the first in order
    outside = [content for content in contents if not _agree(medoid, content)]
    if not outside:
        return "convergent"
    if len(contents) == len(runs) and not any(_agree(*pair) for pair in combinations(contents, 2)):
        return "chaotic"
    if all(_agree(*pair) for pair in combinations(outside, 2)):
        return "recursive"
    return "divergent"


def _agree(one: _Content, other: _Content) -> bool:
    shared, either = _overlap(one, other)
    return 2 * shared >= either


def _overlap(one: _Content, other: _Content) -> tuple[int, int]:
    """How alike two runs are, as a fraction: 0 if their kinds differ, else Jaccard's."""
    if one == other:
        return 1, 1
    shared = len(set(one.ids).intersection(other.ids)) if one.kind == other.kind else 0
    return shared, max(1, len(one.ids) + len(other.ids) - shared)
