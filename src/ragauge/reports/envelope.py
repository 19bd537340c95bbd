"""What every kind of report has: metrics, gates, findings, advice, in words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragauge.contracts.report import Finding, Report, Verdict
from ragauge.gates.rules import is_quality
from ragauge.metrics.names import short_name
from ragauge.reports import numbers
from ragauge.reports.numbers import count, counted, restriction
from ragauge.reports.words import wording

PLACES_SHOWN = 3
PER_QUESTION = "per question"  # what the restriction of a rule for each question begins with
CHANGES = {"no-regression": "beyond noise", "not-worse": "at worst"}
"""What a gate on a change compares with its bound: the part that chance does not explain, or the
worst end of the interval."""


def gate_word(gate: Verdict, language: str = "en") -> str:
    """A gate's verdict, in capitals where it stops the run."""
    word = wording(language).gate_verdicts[gate.verdict]
    return word if gate.holds else word.upper()


def gate_words(gate: Verdict, name: str) -> str:
    """A gate in a sentence: what it found, what it demands, and why it was not evaluated."""
    rest, bound, found = restriction(gate), numbers.bound(gate), gate.value
    if found is not None and rest.startswith(PER_QUESTION):
        holding = numbers.n_of(round(found * gate.n), gate.n)
        facts = f"{name} {bound} holds for {holding}"
    elif rest in CHANGES:
        change = f"{numbers.signed(found)} {numbers.signed_interval(gate.ci)}".rstrip()
        facts = f"change of {name} {CHANGES[rest]} is {change}, must be {bound}"
    else:
        value = f"{numbers.value_beside(found, gate.bound)} {numbers.interval(gate.ci)}".rstrip()
        facts = f"{name} is {value} over {count(gate.n)}, must be {bound}"
    note = gate_note(gate)
    return f"{gate_word(gate)}: {facts}{f' ({note})' if note else ''}"


def verdict_word(passed: bool | None, gates: Iterable[Verdict]) -> str:
    """PASS or FAIL; where nothing was demanded of the quality, that."""
    if passed is None:
        return f"No quality gate {'evaluated' if any(map(is_quality, gates)) else 'set'}"
    return "PASS" if passed else "FAIL"


def gate_counts(report: Report) -> str:
    """What the gates did: `1 of 3 gates failed, 1 not evaluated`; nothing without gates."""
    if not report.gates:
        return ""
    total = counted(len(report.gates), "gate")
    times = Counter(gate.verdict for gate in report.gates)
    if times["fail"]:
        words = f"{count(times['fail'])} of {total} failed"
    else:
        words = f"{count(times['pass'])} of {total} {'holds' if len(report.gates) == 1 else 'hold'}"
    others = {"not evaluated": times["not_evaluated"], "not applicable": times["not_applicable"]}
    return ", ".join([words, *(f"{count(n)} {name}" for name, n in others.items() if n)])


def how_to_gate(passed: bool | None, example: str) -> str:
    """How to set a quality gate, where there is none."""
    return "" if passed is not None else f"Set one with {example}; --require-gates demands one."


def gate_note(gate: Verdict) -> str:
    """What a gate has no column for: its restriction, its reason, that it may be absent."""
    optional = "optional" if gate.optional and gate.verdict == "not_evaluated" else ""
    return "; ".join(filter(None, (restriction(gate), optional, gate.reason)))


def short_names(ids: Iterable[str]) -> dict[str, str]:
    """Metric ids by the names to show: without the family, unless two would be the same.

    >>> list(short_names(["quality.errors", "quality.coverage", "labels.coverage"]).values())
    ['errors', 'quality.coverage', 'labels.coverage']
    """
    short = {id: short_name(id) for id in ids}
    times = Counter(short.values())
    return {id: name if times[name] == 1 else id for id, name in short.items()}


def metric_names(report: Report, *others: str) -> dict[str, str]:
    """The metrics of a report, also those of its gates, and others, by the names to show."""
    gated = (gate.metric for gate in report.gates)
    return short_names(dict.fromkeys((*report.metrics, *gated, *others)))


def findings_by_code(
    findings: Sequence[Finding], counts: Mapping[str, int]
) -> list[tuple[str, int, Sequence[Finding]]]:
    """Each code with its count and its first places; the most frequent code first."""
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [
        (code, times, [one for one in findings if one.code == code][:PLACES_SHOWN])
        for code, times in ranked
    ]


def finding_text(finding: Finding) -> str:
    """The message with its place, once."""
    if not finding.where or finding.message.startswith(f"{finding.where}:"):
        return finding.message
    return f"{finding.where}: {finding.message}"


def identity_words(identity: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What makes a run comparable, a line each: names with dots for what is inside.

    >>> identity_words({"command": "score", "gold": {"sha256": "2f7d", "rows": 4}})
    [('command', 'score'), ('gold.rows', '4'), ('gold.sha256', '2f7d')]
    """
    found: list[tuple[str, str]] = []
    for name, value in sorted(identity.items()):
        if isinstance(value, Mapping):
            found += [(f"{name}.{inner}", told) for inner, told in identity_words(value)]
        else:
            text = json.dumps(value, ensure_ascii=False, sort_keys=True)
            found.append((name, value if isinstance(value, str) else text))
    return found
