"""A few questions of a gold set that stand for all of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from ragauge.contracts.gold import Gold, fingerprint, metadata_of
from ragauge.contracts.gold_parts import CELLS_KEPT, DrawnCell, SampleReport, Units
from ragauge.contracts.gold_report import Severity, judged
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import UsageError
from ragauge.runners.gold_convert import encoded, form_of, write_new
from ragauge.runners.gold_split import factors_of, key_of, value_or_none, words_of
from ragauge.stats.sampling import Allocation, SampleCell
from ragauge.stats.sampling import sample as sample_units

SEVERITIES: dict[str, Severity] = {"cell_without_sample": "warning"}


def sample(
    questions: Sequence[Gold],
    n: int,
    out: Path,
    *,
    by: Sequence[str] | None = None,
    allocation: Allocation = "proportional",
    seed: int = 0,
    force: bool = False,
    units: Units = "questions",
) -> SampleReport:
    """Which questions were drawn into a file, in the set's order, each with its weight.

    Without `by`, it is drawn by answerable and by the strata, fewest values first, that leave no
    more cells than questions to draw. A set that is itself a sample keeps what its questions
    stood for: weights multiply. Heritage entries are written as they are: what an entry stands for
    is in the report, by cell.
    """
    if not 0 < n <= len(questions):
        raise UsageError(f"-n: {n} of {len(questions)} {units} cannot be drawn")
    form = form_of(out)
    factors = factors_of(questions, by, _cells_within(questions, n), units)
    keys = {question.qid: key_of(question, factors) for question in questions}
    made = sample_units(keys, n, allocation, seed)
    drawn = _drawn(questions, made.weights)
    write_new({out: encoded(drawn, form, units, metadata_of(questions))}, force)
    return SampleReport(
        **judged(_found(made.cells, factors, len(questions), units), SEVERITIES),
        coverage=_coverage(questions, drawn, made.cells),
        gold=fingerprint(questions),
        sample=fingerprint([_as_read(question, units) for question in drawn]),
        file=str(out),
        seed=seed,
        allocation=allocation,
        factors=factors,
        balance=_balance(questions, drawn, factors),
        weight_sum=math.fsum(question.weight or 0.0 for question in drawn),
        cells=tuple(_told(cell, factors) for cell in made.cells[:CELLS_KEPT]),
        units=units,
    )


def _drawn(questions: Sequence[Gold], weights: Mapping[str, float]) -> list[Gold]:
    """The questions that were drawn, each with what it stands for."""
    return [
        replace(question, weight=(question.weight or 1.0) * weights[question.qid])
        for question in questions
        if question.qid in weights
    ]


def _coverage(
    questions: Sequence[Gold], drawn: Sequence[Gold], cells: Sequence[SampleCell]
) -> dict[str, int]:
    return {
        "gold": len(questions),
        "sampled": len(drawn),
        "cells": len(cells),
        "represented": sum(cell.size for cell in cells if cell.taken),
    }


def _as_read(question: Gold, units: Units) -> Gold:
    """The question as a reader of the file has it: a weight of one is none, an entry has none."""
    unweighted = question.weight == 1 or units == "entries"
    return replace(question, weight=None) if unweighted else question


def _cells_within(questions: Sequence[Gold], n: int) -> Callable[[tuple[str, ...]], bool]:
    return lambda factors: len({key_of(question, factors) for question in questions}) <= n


def _found(
    cells: Sequence[SampleCell], factors: Sequence[str], whole: int, units: Units
) -> Findings:
    found = Findings()
    for finding in _unreached(cells, factors, whole, units):
        found.add(finding)
    return found


def _unreached(
    cells: Sequence[SampleCell], factors: Sequence[str], whole: int, units: Units
) -> Iterator[Finding]:
    """Cells no question was drawn from: what is measured says nothing about them."""
    for cell in cells:
        if not cell.taken:
            share = f"{cell.size} of {whole}"
            fact = f"{share} {units}, none drawn, so the sample does not stand for them; draw "
            remedy = f"{len(cells)} or more, or name fewer factors with --by"
            yield Finding("cell_without_sample", words_of(cell.key, factors), fact + remedy)


def _balance(
    questions: Sequence[Gold], drawn: Sequence[Gold], factors: Sequence[str]
) -> dict[str, dict[str, tuple[int, int]]]:
    balance: dict[str, dict[str, tuple[int, int]]] = {}
    for factor in factors:
        of_all = Counter(value_or_none(question, factor) for question in questions)
        of_drawn = Counter(value_or_none(question, factor) for question in drawn)
        balance[factor] = {value: (of_all[value], of_drawn[value]) for value in sorted(of_all)}
    return balance


def _told(cell: SampleCell, factors: Sequence[str]) -> DrawnCell:
    return DrawnCell(
        values=dict(zip(factors, cell.key, strict=True)),
        questions=cell.size,
        taken=cell.taken,
        weight=cell.weight,
    )
