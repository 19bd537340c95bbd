"""The gates of a component's evaluation."""

from __future__ import annotations

from collections.abc import Callable

from ragauge.contracts.evaluation import Task
from ragauge.contracts.verdict import Rule
from ragauge.errors import UsageError
from ragauge.gates.rules import merged, parse_rules

INTEGRITY: dict[Task, str] = {
    "ner": "entities.coverage = 1",
    "types": "labels.coverage = 1",
    "linking": "linking.coverage = 1",
    "retrieval": "retrieval.coverage = 1",
}
"""What holds with every preset: a number over half the gold set is no number."""

_PRESETS: dict[str, dict[Task, str]] = {
    "integrity": {},
    "heritage": {
        "ner": "entities.f1_strict >= 0.85, entities.f1_partial >= 0.90",
        "types": "labels.accuracy >= 0.80, labels.macro_f1 >= 0.75",
        "linking": "linking.hits@1 >= 0.70, linking.mrr >= 0.75, linking.nil_f1 >= 0.65",
        "retrieval": "retrieval.ndcg_exp@10 >= 0.60, retrieval.rr >= 0.55",
    },
}
PRESETS = tuple(_PRESETS)
DEFAULT = "integrity"


def component_rules(
    task: Task, preset: str | None, own: str | None, metric_id: Callable[[str], str]
) -> tuple[Rule, ...]:
    """The gates of a task under a preset, with the user's in place or beside."""
    name = preset or DEFAULT
    if name not in _PRESETS:
        raise UsageError(f'there is no preset "{name}"; `eval` has {", ".join(PRESETS)}')
    texts = [*filter(None, [_PRESETS[name].get(task)]), INTEGRITY[task]]
    known = parse_rules(",".join(texts), str)
    return merged(known, parse_rules(own, metric_id) if own else ())
