"""Rows of a document's mentions, summed: what intervals resample is the document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ragauge.contracts.links import LinkedMention
from ragauge.contracts.metric import Absent, Metric
from ragauge.metrics.sums import QuestionSums


def mention_sums(metric: Metric, documents: Sequence[Sequence[LinkedMention]]) -> QuestionSums:
    """The metric's sums for each document, with how many of its mentions were scored."""
    sums = np.zeros((len(documents), len(metric.columns)), dtype=np.int64)
    scored = np.zeros(len(documents), dtype=np.int64)
    units = np.array([len(mentions) for mentions in documents], dtype=np.int64)
    absent: Counter[str] = Counter()
    for place, mentions in enumerate(documents):
        for mention in mentions:
            row = metric(mention)
            if isinstance(row, Absent):
                absent[row.reason] += 1
            else:
                sums[place] += row.counts
                scored[place] += 1
    return QuestionSums(metric, sums, scored, units, dict(sorted(absent.items())))
