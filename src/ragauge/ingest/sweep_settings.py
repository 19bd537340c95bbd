"""The settings of a sweep as a user writes them: presets, the grid, the rate."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ragauge.contracts.run import ORIGINAL, Grid
from ragauge.errors import UsageError

PRESETS: dict[str, dict[str, Any]] = {
    "pr": {"seeds": ("0", "1", "2"), "jitters": ("none", "ws", "syn")},
    "daily": {
        "seeds": ("0", "1", "2", "3", "4"),
        "jitters": ("none", "ws", "punct", "syn", "order", "case", "quote", "polite", "typo"),
    },
    "trace": {"seeds": ("0", "1"), "jitters": ("none",), "temperatures": ("0",)},
}
TRACE_PARAPHRASES = (1, 2, 3)
"""What the preset `trace` asks instead of the question itself."""

_SECONDS = {"s": 1, "sec": 1, "min": 60, "h": 3600}

Named = Callable[[str], str]
"""How the user calls a setting: `--seeds`, or `tasks.repeats.sweep.seeds`."""


def with_preset(chosen: Mapping[str, Any], given: Collection[str]) -> dict[str, Any]:
    """The settings, where a preset stands for the parts of the grid that were not given.

    >>> with_preset({"preset": "pr", "seeds": ("7",), "jitters": ("none",)}, ["seeds"])
    {'preset': 'pr', 'seeds': ('7',), 'jitters': ('none', 'ws', 'syn')}
    """
    preset = PRESETS.get(chosen["preset"] or "", {})
    return {**chosen, **{name: value for name, value in preset.items() if name not in given}}


def grid_of(chosen: Mapping[str, Any], named: Named) -> Grid:
    """The grid; raises UsageError where a number is none."""
    return Grid(
        seeds=_numbers(named("seeds"), chosen["seeds"], int),
        temperatures=_numbers(named("temperatures"), chosen["temperatures"], float),
        jitters=chosen["jitters"],
        paraphrases=TRACE_PARAPHRASES if chosen["preset"] == "trace" else (ORIGINAL,),
        repeats=chosen["repeats"],
        profile=chosen["jitter_profile"],
    )


def call_options(chosen: Mapping[str, Any], named: Named) -> dict[str, Any]:
    """How calls are made, whatever the grid."""
    return {
        "concurrency": chosen["concurrency"],
        "timeout_s": chosen["timeout"],
        "retries": chosen["retries"],
        "max_wait_s": chosen["max_wait"],
        "rate_per_s": rate_of(chosen["rate"], named),
        "error_budget": chosen["error_budget"],
    }


def rate_of(text: str | None, named: Named) -> float | None:
    """Calls a second.

    >>> rate_of("10/s", str), rate_of("300/min", str), rate_of(None, str)
    (10.0, 5.0, None)
    """
    if text is None:
        return None
    written = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:/\s*(s|sec|min|h))?\s*", text, re.ASCII)
    if not written or float(written[1]) == 0:
        raise UsageError(f'{named("rate")}: "{text}" is no rate; write 10/s or 300/min')
    return float(written[1]) / _SECONDS[written[2] or "s"]


def _numbers(place: str, words: tuple[str, ...], kind: type) -> tuple[Any, ...]:
    try:
        return tuple(kind(word) for word in words)
    except ValueError:
        wanted = "whole numbers" if kind is int else "numbers"
        raise UsageError(f"{place}: expected {wanted}, got {', '.join(words)}") from None
