"""On which scale a metric of answers stands, and whether its total is a mean of answers."""

from __future__ import annotations

from ragauge.contracts.metric import Metric
from ragauge.errors import UsageError
from ragauge.metrics.table import find


def share_of(id: str, value: float | None) -> float | None:
    """How much of its scale a value fills; None where there is no bar to draw.

    A cosine is drawn from 0 on: below it there is nothing to be seen.

    >>> share_of("answers.rubric", 3.0), share_of("answers.rubric", 1.0)
    (0.5, 0.0)
    >>> share_of("answers.relevance", 0.25), share_of("answers.relevance", -0.5)
    (0.25, None)
    """
    metric = _known(id)
    least, most = (0, 1) if metric is None else metric.bounds
    low = max(0, least)
    if value is None or most is None or not low <= value <= most:
        return None
    return (value - low) / (most - low)


def is_pooled(id: str) -> bool:
    """Whether a total counts what is in the answers, so that one with more weighs more.

    >>> is_pooled("answers.number_agreement"), is_pooled("answers.token_f1")
    (True, False)
    >>> is_pooled("answers.containment")  # an answer has it or not
    False
    """
    metric = _known(id)
    return metric is not None and not metric.rate and metric.columns[0] != "value"


def _known(id: str) -> Metric | None:
    try:
        return find(id, "answers")
    except UsageError:  # a report outlives the plug-in that made its numbers
        return None
