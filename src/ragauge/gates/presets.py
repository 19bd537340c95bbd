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


def preset(name: str) -> tuple[Rule, ...]:
    if name not in _PRESETS:
        raise UsageError(f'there is no preset "{name}"; there are {", ".join(PRESETS)}')
    return tuple(_rule(text) for text in _PRESETS[name])


def _rule(text: str) -> Rule:
    metric, op, bound = text.split()
    assert op in get_args(Op), text
    return Rule(metric=metric, op=op, bound=float(bound))  # type: ignore[arg-type]
