"""Presets: gates that belong together, under a name."""

from __future__ import annotations

from typing import get_args

from ragauge.contracts.verdict import Op, Rule
from ragauge.errors import UsageError

_INTEGRITY = ("quality.coverage = 1", "quality.errors = 0")
"""Every preset has these: a number over half the questions is no number."""

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
"""What holds where nobody asked for gates, so that no run passes without a check."""


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
    """The metric's name, where a gate may use one of the brief's; else the name as written."""
    metric = BRIEF_NAMES.get(name.upper())
    if metric and chosen != BRIEF:
        raise UsageError(
            f'gate "{name}" is the quality brief\'s name for {metric}; '
            f"write {metric.removeprefix('quality.')}, or add --preset {BRIEF}"
        )
    return metric or name


def preset(name: str) -> tuple[Rule, ...]:
    if name not in _PRESETS:
        raise UsageError(f'there is no preset "{name}"; there are {", ".join(PRESETS)}')
    return tuple(_rule(text) for text in _PRESETS[name])


def _rule(text: str) -> Rule:
    metric, op, bound = text.split()
    assert op in get_args(Op), text
    return Rule(metric=metric, op=op, bound=float(bound))  # type: ignore[arg-type]
