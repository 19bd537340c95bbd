"""The retrieval metrics of many queries at once, from flat arrays of grades.

Every number equals that of the plain function of `metrics.retrieval` to the last bit: sums are
taken in rank order, and logarithms and powers come from the same functions. The order of a run, and
its repeated documents, are the business of `metrics.retrieval_order`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ragauge.contracts.metric import SCALE, Metric, NotApplicable
from ragauge.contracts.rankings import Rankings
from ragauge.metrics.retrieval import KINDS, NoRelevant, zeroed
from ragauge.metrics.retrieval_columns import VALUES
from ragauge.metrics.retrieval_flat import Grades
from ragauge.metrics.retrieval_names import parsed
from ragauge.metrics.sums import Sums


def retrieval_sums(
    metrics: Iterable[Metric], rankings: Rankings, no_rel: NoRelevant = "exclude"
) -> dict[str, Sums]:
    """The rows of each metric for every query, by metric id.

    The metrics are those of `metrics.retrieval` and `retrieval_names.named`. A query without a
    relevant document is absent, or zero with `no_rel="zero"`, as in the metrics' own `measure`.
    """
    grades = Grades(rankings)
    return {metric.id: _sums(metric, grades, no_rel) for metric in metrics}


def _sums(metric: Metric, grades: Grades, no_rel: NoRelevant) -> Sums:
    name, at = parsed(metric.id)
    kind = KINDS[name]
    values, applies = VALUES[name](grades, at)
    scored = np.ones(grades.queries, dtype=bool) if zeroed(kind, no_rel) else applies
    sums = np.zeros((grades.queries, 2), dtype=np.int64)
    sums[:, 0] = np.rint(np.where(applies, values, 0.0) * (1 if kind.rate else SCALE))
    sums[:, 1] = scored
    absent = grades.queries - int(np.count_nonzero(scored))
    due = scored if isinstance(kind.absent, NotApplicable) else np.ones_like(scored)
    return Sums(
        metric,
        sums,
        scored.astype(np.int64),
        due.astype(np.int64),
        {kind.absent: absent} if absent else {},
    )
