"""A run beside other runs, metric by metric, paired on the queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec import structs

from ragauge.contracts.comparison import Correction
from ragauge.contracts.evaluation import ComparedMetric
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.metric import Metric
from ragauge.ingest.fields import quoted
from ragauge.runners.components.retrieval_gather import RunScores
from ragauge.runners.numbers import values_of
from ragauge.stats.differences import Paired, Pairs
from ragauge.stats.multiplicity import adjusted
from ragauge.stats.paired import compared

Test = Literal["auto", "t", "wilcoxon", "randomisation", "bootstrap", "mcnemar"]


def compared_runs(
    run: RunScores,
    others: Sequence[RunScores],
    ids: Sequence[str],
    test: Test,
    correction: Correction,
    seed: int,
) -> tuple[ComparedMetric, ...]:
    """Each metric of the run beside each other run's; p is corrected over all of them.

    A query that one of the two does not have is 0 there, as in the run's own number.
    """
    made = [
        _compared(run, other, sums.metric, test, seed)
        for other in others
        for sums in map(run.sums.__getitem__, ids)
        if "judged" in sums.metric.needs  # the others say how far to trust a number
    ]
    ps = adjusted([one.p for one in made], correction)
    return tuple(structs.replace(one, p_adjusted=p) for one, p in zip(made, ps, strict=True))


def _compared(
    run: RunScores, other: RunScores, metric: Metric, test: Test, seed: int
) -> ComparedMetric:
    now, then = values_of(run.sums[metric.id]), values_of(other.sums[metric.id])
    both = ~(np.isnan(now) | np.isnan(then))
    now, then = now[both], then[both]
    found = _tested(now, then, test, seed)
    leans = Pairs.of(now, then).whole * (1 if metric.better == "higher" else -1)
    return ComparedMetric(
        run=other.name,
        metric=metric.id,
        value=float(now.mean()) if len(now) else None,
        other=float(then.mean()) if len(then) else None,
        estimate=found.estimate if len(now) else None,
        ci=found.ci,
        p=found.p,
        p_adjusted=None,
        n=found.n,
        n_zero=found.n_zero,
        method=found.method,
        seed=found.seed,
        effect=found.effect,
        better=int((leans > 0).sum()),
        worse=int((leans < 0).sum()),
        reason=found.reason if len(now) else "no query was scored in both runs",
        statistic=found.statistic,
    )


def _tested(now: np.ndarray, then: np.ndarray, test: Test, seed: int) -> Paired:
    """What the test finds; McNemar's is only of 0 and 1, and of others it says so."""
    method = None if test == "auto" else test
    if method != "mcnemar" or np.isin(np.append(now, then), (0, 1)).all():
        return compared(now, then, method=method, seed=seed)
    plain = compared(now, then, method="t")
    reason = "McNemar's test is of 0 and 1, and these are not; choose randomisation"
    return structs.replace(
        plain, ci=None, p=None, effect=None, method="McNemar", reason=reason, statistic=None
    )


def note_unpaired(run: RunScores, other: RunScores, findings: Findings) -> None:
    """Say which queries only one of two runs has."""
    for at in np.flatnonzero(run.facts.missing != other.facts.missing):
        lacks = run.name if run.facts.missing[at] else other.name
        message = f"{quoted(run.queries[at])}: {lacks} does not have it; it is 0 there"
        findings.add(Finding("unpaired_query", other.name, message))
