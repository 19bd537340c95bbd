"""A few questions of a gold set that stand for all of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ragauge.contracts.gold import Gold, fingerprint, metadata_of
from ragauge.contracts.gold_parts import CELLS_KEPT, DrawnCell, SampleReport, Units
from ragauge.contracts.gold_report import Severity, judged
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import UsageError
from ragauge.runners.gold_convert import encoded, form_of, write_new
from ragauge.runners.gold_split import factors_of, key_of, value_or_none, words_of
from ragauge.stats.sampling import Allocation
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
    whole = len(questions)
    if not 0 < n <= whole:
        raise UsageError(f"-n: {n} of {whole} {units} cannot be drawn")
    form = form_of(out)

    def few(factors: tuple[str, ...]) -> bool:
        return len({key_of(question, factors) for question in questions}) <= n

    factors = factors_of(questions, by, few, units)
    keys = {question.qid: key_of(question, factors) for question in questions}
    made = sample_units(keys, n, allocation, seed)
    drawn = [
        replace(question, weight=(question.weight or 1.0) * made.weights[question.qid])
        for question in questions
        if question.qid in made.weights
    ]
    # As a reader of the file has them: a weight of one is none, and an entry has none.
    as_read = [
        replace(one, weight=None) if one.weight == 1 or units == "entries" else one for one in drawn
    ]
    write_new({out: encoded(drawn, form, units, metadata_of(questions))}, force)
    balance: dict[str, dict[str, tuple[int, int]]] = {}
    for factor in factors:
        of_all = Counter(value_or_none(question, factor) for question in questions)
        of_drawn = Counter(value_or_none(question, factor) for question in drawn)
        balance[factor] = {value: (of_all[value], of_drawn[value]) for value in sorted(of_all)}
    # What is measured says nothing about cells that no question was drawn from.
    fact = f"of {whole} {units}, none drawn, so the sample does not stand for them; draw"
    remedy = f"{len(made.cells)} or more, or name fewer factors with --by"
    found = Findings(
        Finding("cell_without_sample", words_of(cell.key, factors), f"{cell.size} {fact} {remedy}")
        for cell in made.cells
        if not cell.taken
    )
    return SampleReport(
        **judged(found, SEVERITIES),
        coverage={
            "gold": whole,
            "sampled": len(drawn),
            "cells": len(made.cells),
            "represented": sum(cell.size for cell in made.cells if cell.taken),
        },
        gold=fingerprint(questions),
        sample=fingerprint(as_read),
        file=str(out),
        seed=seed,
        allocation=allocation,
        factors=factors,
        balance=balance,
        weight_sum=math.fsum(question.weight or 0.0 for question in drawn),
        cells=tuple(
            DrawnCell(
                values=dict(zip(factors, cell.key, strict=True)),
                questions=cell.size,
                taken=cell.taken,
                weight=cell.weight,
            )
            for cell in made.cells[:CELLS_KEPT]
        ),
        units=units,
    )
