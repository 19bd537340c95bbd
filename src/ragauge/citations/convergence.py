"""λ: whether the runs of a question agree, and at which step they diverge if they do not.

Runs are compared by kind and, if they are answers, by the ids that they cite. All arithmetic is in
integers and fractions, so that one half is exactly one half.
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

MIN_RUNS = 2
"""λ needs two runs to compare."""


class LambdaRun(Struct, frozen=True, kw_only=True):
    """What λ needs to know about a run."""

    kind: Kind
    cited: tuple[str, ...] = ()
    retrieved: tuple[str, ...] | None = None
    """None if the run does not record it."""


class _Content(NamedTuple):
    """What makes two runs the same; its order breaks ties between medoids."""

    kind: Kind
    ids: tuple[str, ...] = ()
    """Sorted, each once; only an answer has any."""


_FAILED = _Content("error")


def answer_state(runs: Sequence[LambdaRun], planned: int) -> LambdaState | None:
    """λ of the outcomes of the runs; None if fewer than two were planned.

    An answer is its citations. Two refusals agree, and so do two answers that cite nothing.
    """
    contents = [
        _content_of(run.cited) if run.kind == "answer" else _Content(run.kind) for run in runs
    ]
    return _state(contents, planned)


def retrieval_state(runs: Sequence[LambdaRun], planned: int) -> LambdaState | None:
    """λ of what the runs retrieved; None if no finished run records it.

    A run that retrieved nothing is of its own kind. If only some runs record it, the question is
    incomplete, because what is not recorded cannot be compared.
    """
    finished = [run for run in runs if run.kind != "error"]
    if finished and all(run.retrieved is None for run in finished):
        return None
    contents = [
        _FAILED if run.kind == "error" or run.retrieved is None else _content_of(run.retrieved)
        for run in runs
    ]
    return _state(contents, planned)


def broken_step(retrieval: LambdaState | None, answer: LambdaState | None) -> Broken | None:
    """The step at which the runs diverge; None if they do not, or if it is unknown.

    >>> broken_step("convergent", "chaotic"), broken_step("divergent", "convergent")
    ('after retrieval', 'retrieval')
    """
    if retrieval in (None, "incomplete"):
        return None
    if retrieval != "convergent":
        return "retrieval"
    return None if answer in (None, "incomplete", "convergent") else "after retrieval"


def _content_of(ids: Iterable[str]) -> _Content:
    found = tuple(sorted(set(map(composed, ids))))
    return _Content("answer", found) if found else _Content("uncited")


def _state(runs: list[_Content], planned: int) -> LambdaState | None:
    if max(planned, len(runs)) < MIN_RUNS:
        return None
    if len(runs) < planned or _FAILED in runs:
        return "incomplete"
    counts = Counter(runs)
    contents = sorted(counts)

    def similarity(one: _Content) -> Fraction:
        similarities = (counts[other] * Fraction(*_overlap(one, other)) for other in contents)
        return sum(similarities, Fraction())

    medoid = max(contents, key=similarity)  # most similar to the runs; the first of equals
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
    """The similarity of two runs as a fraction: 0 if their kinds differ, else Jaccard's."""
    if one == other:
        return 1, 1
    shared = len(set(one.ids).intersection(other.ids)) if one.kind == other.kind else 0
    return shared, max(1, len(one.ids) + len(other.ids) - shared)
