"""Presets: named sets of gates for scores, components, audits and traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import structs

from ragauge.contracts.calibration import Calibration
from ragauge.contracts.evaluation import Task
from ragauge.contracts.metric import Metric
from ragauge.contracts.report import Decision, Rule, Score, Verdict
from ragauge.errors import UsageError
from ragauge.gates.rules import Gated, decide, known_rules, merged, parse_rules, without

_INTEGRITY = ("quality.coverage = 1", "quality.errors = 0")
"""Every preset has these: a number from half of the questions means nothing."""

_PRESETS = {
    "example08": (
        "quality.precision_cited >= 0.80",
        "quality.under_refusal <= 0.05",
        "quality.over_refusal <= 0.25",
        "quality.citation_hit_rate >= 0.75",
        "quality.compliance >= 0.98",
        *_INTEGRITY,
    ),
    "ship": (
        "quality.precision_strict >= 0.80",
        "quality.under_refusal <= 0.05",
        "quality.over_refusal <= 0.10",
        "quality.citation_hit_rate >= 0.75",
        "quality.compliance >= 0.98",
        "quality.out_of_scope = 0",
        *_INTEGRITY,
    ),
    "integrity": _INTEGRITY,
}

PRESETS = tuple(_PRESETS)
DEFAULT = "integrity"
"""The preset without any requested gates, so that no run passes without a check."""


BRIEF = "example08"
"""The preset with the gates, labels and names of the quality brief."""
BRIEF_NAMES = {
    "G1": "quality.precision_cited",
    "G2": "quality.under_refusal",
    "G3": "quality.over_refusal",
    "G4": "quality.citation_hit_rate",
    "G5": "quality.compliance",
    "CHR": "quality.citation_hit_rate",
}
"""The metrics by the quality brief's own gate names, which its preset understands."""


def brief_name(name: str, chosen: str | None) -> str:
    """The metric of one of the brief's gate names; else the name as written."""
    metric = BRIEF_NAMES.get(name.upper())
    if metric and chosen != BRIEF:
        raise UsageError(
            f'gate "{name}" is the quality brief\'s name for {metric}; '
            f"write {metric.removeprefix('quality.')}, or add --preset {BRIEF}"
        )
    return metric or name


def preset(name: str) -> tuple[Rule, ...]:
    """The gates of a score's preset."""
    if name not in _PRESETS:
        raise UsageError(f'there is no preset "{name}"; there are {", ".join(PRESETS)}')
    return known_rules(",".join(_PRESETS[name]))


INTEGRITY: dict[Task, str] = {
    "ner": "entities.coverage = 1",
    "types": "labels.coverage = 1",
    "linking": "linking.coverage = 1",
    "retrieval": "retrieval.coverage = 1",
    "qa": "answers.coverage = 1",
    "answers": "answers.coverage = 1",
}
"""Gates of every preset: a number from half of the gold set means nothing."""

_HERITAGE_ANSWERS = "answers.faithfulness >= 0.80, answers.relevance >= 0.75"
COMPONENT_PRESETS: dict[str, dict[Task, str]] = {
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


def demanded_rules(rules: Sequence[Rule], task: Task) -> list[Rule]:
    """The rules requested by a preset or the user, without those that always apply."""
    always = known_rules(INTEGRITY[task])
    return [rule for rule in rules if rule not in always]


def any_value(metric: Metric) -> Rule:
    """The rule that every value of a metric satisfies, for a gate that only needs a value."""
    return Rule(metric=metric.id, op=">=", bound=metric.bounds[0])


def undecided(rule: Rule, verdict: Decision, reason: str) -> Verdict:
    """The verdict on a rule whose metric was not measured."""
    verdict_without_value = decide(rule, Score(value=None, n=0, of=0, reason=reason))
    return structs.replace(verdict_without_value, verdict=verdict)


def component_rules(
    task: Task,
    preset: str | None,
    own: str | None,
    find: Callable[[str], Gated],
    *,
    judged: bool = False,
) -> tuple[Rule, ...]:
    """The gates of a task under a preset, replaced or extended by the user's.

    Without a judge, a user's gate on `lexical_faithfulness` takes the place of the
    preset's on `faithfulness`, and so with every metric that has such a twin.
    """
    name = preset or DEFAULT
    if name not in COMPONENT_PRESETS:
        raise UsageError(f'there is no preset "{name}"; `eval` has {", ".join(COMPONENT_PRESETS)}')
    texts = [*filter(None, [COMPONENT_PRESETS[name].get(task)]), INTEGRITY[task]]
    known, rules = known_rules(",".join(texts)), parse_rules(own, find) if own else ()
    if not judged:
        twins = [structs.replace(r, metric=r.metric.replace(".lexical_", ".")) for r in rules]
        known = without(known, twins)
    return merged(known, rules)


AUDIT = "traceability.valid = 1, traceability.checked = 1, traceability.unanswered = 0"
"""Every citation is valid; all could be checked; and no trace lacks an answer."""
WITH_GOLD = "traceability.match_rate >= 0.95"
WITH_TARGETS = "traceability.coverage >= 0.70"
WITH_RANKS = "traceability.rank_rho >= 0.9"
"""The brief's bound for two indexes that are to rank alike."""
CHECKED = "traceability.checked = 1"
TRACE_EVAL = """
    traceability.answer_convergent >= 0.80,
    traceability.answer_chaotic <= 0,
    traceability.answer_recursive <= 0.10
"""
STRICT = "traceability.answer_convergent = 1"

BRIEF_THRESHOLD = 0.45
DELTAS = "traceability.deltaS_"
"""The prefix of the ids of ΔS metrics."""
RANKS = "traceability.rank_"
"""The prefix of the ids of metrics that compare with other traces."""
GATED_DELTAS = f"{DELTAS}chunk"
"""The nearest chunk: thresholds are fitted on single spans, not on joined contexts."""


def audit_rules(
    gold: bool,
    targets: bool,
    own: str | None,
    find: Callable[[str], Gated],
    *,
    ranked: bool = False,
) -> tuple[Rule, ...]:
    """The gates of an audit, replaced or extended by the user's.

    Gates that need a gold set apply with one, coverage if a question has a target, and the rank
    correlation if there are other traces to compare with.
    """
    joined = {AUDIT: True, WITH_GOLD: gold, WITH_TARGETS: targets, WITH_RANKS: ranked}
    known = known_rules(",".join(text for text, applies in joined.items() if applies))
    return merged(known, parse_rules(own, find) if own else ())


def trace_eval_rules(
    strict: bool, targets: bool, own: str | None, find: Callable[[str], Gated]
) -> tuple[Rule, ...]:
    """The gates of a trace evaluation: match rate, coverage and λ; strict wants all convergent.

    An invalid citation does not match, so `valid` has no gate of its own here. λ is gated on
    answers; for retrieval it shows where to look, and is gated only on request.
    """
    texts = [WITH_GOLD, *([WITH_TARGETS] if targets else []), CHECKED, TRACE_EVAL]
    known = known_rules(",".join(texts))
    known = merged(known, known_rules(STRICT)) if strict else known
    return merged(known, parse_rules(own, find) if own else ())


def deltas_rule(threshold: float | None) -> Rule:
    """The gate of a calibration: the nearest chunk is within its threshold.

    If none could be fitted, it has the brief's threshold and is not evaluated.
    """
    bound = BRIEF_THRESHOLD if threshold is None else threshold
    return Rule(metric=GATED_DELTAS, op="<=", bound=bound)


def with_deltas(rules: tuple[Rule, ...], calibration: Calibration | None) -> tuple[Rule, ...]:
    """The rules with the calibration's, unless they have one for the same metric."""
    if calibration is None or any(rule.metric == GATED_DELTAS for rule in rules):
        return rules
    return (*rules, deltas_rule(calibration.threshold))


def about_deltas(rule: Rule) -> bool:
    """Whether a rule is about a ΔS, and so needs a calibration."""
    return rule.metric.startswith(DELTAS)


def uncalibrated(rule: Rule, of: int, reason: str) -> Verdict:
    """The verdict on a rule about ΔS without a calibration to rely on: not evaluated, and why."""
    return decide(rule, Score(value=None, n=0, of=of, reason=reason))
