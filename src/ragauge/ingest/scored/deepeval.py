"""Results of deepeval: test cases, each with what its metrics came to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.ingest.scored.cells import Failed
from ragauge.ingest.scored.samples import TEXTS, Parts, sample_id

MEASURED = ("metricsData", "metrics_data", "metricsMetadata", "metrics_metadata")
"""Where a test case keeps its metrics; the last two in old versions."""
_TOLD = ("metadata", "additional_metadata", "additionalMetadata")
_BOOKKEEPING = frozenset(
    (
        *(*MEASURED, *_TOLD, "name", "success", "order", "index", "conversational", "flaky"),
        *("runDuration", "evaluationCost", "tokenCost", "inputTokenCount", "outputTokenCount"),
        *("completionTime", "token_cost", "completion_time", "run_duration", "evaluation_cost"),
        *("trace", "traceStack"),
    )
)
"""Fields of a test case that tell of the run, not of the sample."""


def is_deepeval(record: Mapping[str, Any]) -> bool:
    return any(isinstance(record.get(name), list) for name in MEASURED)


def deepeval_sample(place: str, case: Mapping[str, Any]) -> Parts:
    """The sample of a test case; a metric that failed is there with its error."""
    scores: dict[str, list[Any]] = {}
    measured: list[Any] = next(
        (case[name] for name in MEASURED if isinstance(case.get(name), list)), []
    )
    for metric in measured:
        if isinstance(metric, Mapping):
            name = metric.get("name") or metric.get("metric")
            scores.setdefault(str(name or "unnamed"), []).append(_score(metric))
    fields = {name: value for name, value in case.items() if name in TEXTS}
    told: Mapping[str, Any] = next(
        (case[name] for name in _TOLD if isinstance(case.get(name), Mapping)), {}
    )
    beside = {name: value for name, value in case.items() if name not in _BOOKKEEPING}
    name = case.get("name")
    return Parts(
        place=place,
        fields={**{key: told[key] for key in told if key in TEXTS}, **fields},
        scores=scores,
        others={name: one for name, one in {**beside, **told}.items() if name not in TEXTS},
        id=sample_id(fields) or sample_id(told) or (name if isinstance(name, str) else None),
    )


def _score(metric: Mapping[str, Any]) -> Any:
    error = metric.get("error")
    if isinstance(error, str) and error.strip():
        return Failed(error)
    return metric.get("score")
