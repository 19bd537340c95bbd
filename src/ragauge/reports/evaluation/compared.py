"""This run beside others, metric by metric: better, worse, the same, or nobody can tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ragauge.contracts.evaluation import ComparedMetric, RankingDetail
from ragauge.errors import UsageError
from ragauge.reports import numbers
from ragauge.reports.evaluation.tables import Cell, Row, Table, number
from ragauge.reports.kinds.comparison import CORRECTIONS, NAMES, TONES, p_value
from ragauge.stats.decision import outlook

if TYPE_CHECKING:
    from ragauge.contracts.metric import Better

THE_SAME = "the same"


def compared(detail: RankingDetail) -> Iterator[Table]:
    """A table for each other run, in the order the user named them."""
    heads = ("metric", "this", "other", "change", "interval", "p", "adjusted p", "verdict")
    for run in dict.fromkeys(one.run for one in detail.compared):
        rows = tuple(_row(one) for one in detail.compared if one.run == run)
        yield Table(
            title="Against",
            name=run,
            about=_correction(detail),
            heads=heads,
            rows=rows,
            right=frozenset({1, 2, 3, 5, 6}),
            spare=(4, 5),
        )


def _correction(detail: RankingDetail) -> str:
    known = CORRECTIONS.get(detail.correction or "none", f"p adjusted: {detail.correction}")
    methods = tests_words(one.method for one in detail.compared if one.method)
    return f"{methods}; {known}" if methods else known


def tests_words(methods: Iterable[str]) -> str:
    """The tests, each named once with the ways it was done.

    >>> tests_words(["randomisation, exact", "McNemar, exact", "randomisation, 10,000 draws"])
    'randomisation (exact or 10,000 draws), McNemar (exact)'
    """
    ways: dict[str, list[str]] = {}
    for method in dict.fromkeys(methods):
        test, _, way = method.partition(", ")
        ways.setdefault(test, []).extend([way] if way else [])
    return ", ".join(
        f"{test} ({' or '.join(told)})" if told else test for test, told in ways.items()
    )


def _row(one: ComparedMetric) -> Row:
    word = word_of(one)
    return Row(
        (
            Cell(one.metric.partition(".")[2] or one.metric),
            number(one.value),
            number(one.other),
            Cell(numbers.signed(one.estimate)),
            Cell(numbers.signed_interval(one.ci), tone="soft"),
            Cell(p_value(one.p)),
            Cell(p_value(one.p_adjusted)),
            Cell(word, tone=TONES.get(word, "soft")),
        ),
        note=_note(one),
        strong=word in TONES,
    )


def word_of(one: ComparedMetric) -> str:
    """better, worse, the same, or that nobody can tell."""
    if one.n and one.n == one.n_zero:
        return THE_SAME
    p = one.p if one.p_adjusted is None else one.p_adjusted
    return NAMES[outlook(one.estimate, one.ci, p, _better(one.metric))]


def _note(one: ComparedMetric) -> str:
    """On how many queries it rests, and why it has no number."""
    sides = f"{numbers.count(one.better)} better, {numbers.count(one.worse)} worse"
    told = [f"{numbers.counted(one.n, 'query', 'queries')}: {sides}"]
    if one.effect is not None:
        told.append(f"effect {numbers.signed(one.effect)}")
    return "; ".join([*told, one.reason] if one.reason else told)


def _better(id: str) -> Better:
    from ragauge.metrics.table import find

    try:
        return find(id).better
    except UsageError:  # a report outlives the plug-in that made its numbers
        return "higher"
