"""The gates of a component's evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import structs

from ragauge.contracts.evaluation import Task
from ragauge.contracts.metric import Metric
from ragauge.contracts.score import Score
from ragauge.contracts.verdict import Decision, Rule, Verdict
from ragauge.errors import UsageError
from ragauge.gates.decide import decide
from ragauge.gates.rules import Gated, known_rules, merged, parse_rules, without

INTEGRITY: dict[Task, str] = {
    "ner": "entities.coverage = 1",
    "types": "labels.coverage = 1",
    "linking": "linking.coverage = 1",
    "retrieval": "retrieval.coverage = 1",
    "qa": "answers.coverage = 1",
    "answers": "answers.coverage = 1",
}
"""What holds with every preset: a number over half the gold set is no number."""

_HERITAGE_ANSWERS = "answers.faithfulness >= 0.80, answers.relevance >= 0.75"
_PRESETS: dict[str, dict[Task, str]] = {
    "integrity": {},
    "heritage": {
        "ner": "entities.f1_strict >= 0.85, entities.f1_partial >= 0.90",
        "types": "labels.accuracy >= 0.80, labels.macro_f1 >= 0.75",
        "linking": "linking.hits@1 >= 0.70, linking.mrr >= 0.75, linking.nil_f1 >= 0.65",
        "retrieval": "retrieval.ndcg_exp@10 >= 0.60, retrieval.rr >= 0.55",
        "qa": _HERITAGE_ANSWERS,
        "answers": _HERITAGE_ANSWERS,
    },
}
PRESETS = tuple(_PRESETS)
DEFAULT = "integrity"


def demanded(rules: Sequence[Rule], task: Task) -> list[Rule]:
    """The rules that somebody asked for, by a preset or himself: what always holds left out."""
    always = known_rules(INTEGRITY[task])
    return [rule for rule in rules if rule not in always]


def any_value(metric: Metric) -> Rule:
    """The rule that every value of a metric satisfies, for a gate that demands one at all."""
    return Rule(metric=metric.id, op=">=", bound=metric.bounds[0])


def undecided(rule: Rule, verdict: Decision, reason: str) -> Verdict:
    """The verdict on a rule whose metric nobody measured."""
    told = decide(rule, Score(value=None, n=0, of=0, reason=reason))
    return structs.replace(told, verdict=verdict)


def component_rules(
    task: Task,
    preset: str | None,
    own: str | None,
    find: Callable[[str], Gated],
    *,
    judged: bool = False,
) -> tuple[Rule, ...]:
    """The gates of a task under a preset, with the user's in their place or added.

    Where no judge is asked, a user's gate on `lexical_faithfulness` takes the place of the
    preset's on `faithfulness`, and so with every metric that has such a twin.
    """
    name = preset or DEFAULT
    if name not in _PRESETS:
        raise UsageError(f'there is no preset "{name}"; `eval` has {", ".join(PRESETS)}')
    texts = [*filter(None, [_PRESETS[name].get(task)]), INTEGRITY[task]]
    known, rules = known_rules(",".join(texts)), parse_rules(own, find) if own else ()
    if not judged:
        twins = [structs.replace(r, metric=r.metric.replace(".lexical_", ".")) for r in rules]
        known = without(known, twins)
    return merged(known, rules)
