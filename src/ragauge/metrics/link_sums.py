"""Rows of a document's mentions, summed: what intervals resample is the document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ragauge.contracts.links import LinkedMention
from ragauge.contracts.metric import Absent, Metric, NotApplicable
from ragauge.metrics.link_shapes import NOT_IN_GOLD
from ragauge.metrics.sums import Sums

_SPURIOUS = LinkedMention(
    in_gold=False,
    answered=True,
    linked=True,
    relaxed=True,
    placed=True,
    crosswalk=True,
    pairs={"wikidata-viaf": True},
)
"""A mention that was only predicted, and lacks nothing else that a metric could miss."""


def mention_sums(metric: Metric, documents: Sequence[Sequence[LinkedMention]]) -> Sums:
    """The metric's sums for each document, with how many of its mentions were scored.

    What was only predicted is no unit of a metric that speaks of gold mentions alone.
    """
    if of_gold_alone(metric):
        documents = [[one for one in mentions if one.in_gold] for mentions in documents]
    sums = np.zeros((len(documents), len(metric.columns)), dtype=np.int64)
    scored = np.zeros(len(documents), dtype=np.int64)
    units = np.array([len(mentions) for mentions in documents], dtype=np.int64)
    absent: Counter[Absent] = Counter()
    for place, mentions in enumerate(documents):
        for mention in mentions:
            row = metric(mention)
            if isinstance(row, Absent):
                absent[row] += 1
                units[place] -= isinstance(row, NotApplicable)
            else:
                sums[place] += row.counts
                scored[place] += 1
    return Sums(metric, sums, scored, units, absent)


def of_gold_alone(metric: Metric) -> bool:
    """Whether a mention that gold does not have is nothing to the metric, whatever else it has."""
    return metric(_SPURIOUS) == NOT_IN_GOLD
