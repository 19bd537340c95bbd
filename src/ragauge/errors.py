"""Everything Ragauge raises on purpose.

RagaugeError
├── UsageError            exit 2: the command or the configuration is wrong
│   ├── NoHistory         there is no history at the place that was named (contracts.history)
│   └── EmbeddingFailed   an endpoint gave no vectors (models.endpoint_embedder)
├── InputRejected         exit 3: the files given cannot be scored as asked
├── SystemUnreachable     exit 3: the first call showed that the system cannot be called
└── BudgetSpent           exit 3: the next call to a judge could go over the budget

An error names the place, the fact and the remedy. Each carries all the problems that were
found, not the first, and the exit code the command line ends with.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SHOWN = 100
"""Problems that are spelled out; the rest are counted."""
ALIKE = 3
"""Problems of one sort that are listed; of more, the first with the places of some others."""
_PLACE = re.compile(r"^(.*?(?::\d+|: (?:item|row) \d+|: \".*?\"|\[\d+\])): (.*)$", re.DOTALL)
_VARYING = re.compile(r'"(?:[^"\\]|\\.)*"|\d+')


def grouped(problems: Sequence[str]) -> list[str]:
    """The same problems, those of one sort on many lines as one with a count and the first places.

    >>> grouped([f"gold.jsonl:{line}: qid: missing" for line in range(1, 6)])
    ['gold.jsonl:1: qid: missing (and 4 more like this: gold.jsonl:2, gold.jsonl:3, …)']
    """
    sorts: dict[str, list[str]] = {}
    for problem in problems:
        sorts.setdefault(_sort(problem), []).append(problem)
    shown: list[str] = []
    for problem in problems:
        alike = sorts[_sort(problem)]
        places = [found[1] for one in alike[1:ALIKE] if (found := _PLACE.match(one))]
        if len(alike) <= ALIKE or not places:
            shown.append(problem)
        elif problem is alike[0]:
            more = f"and {len(alike) - 1:,} more like this: {', '.join(places)}, …"
            shown.append(f"{problem} ({more})")
    return shown


def _sort(problem: str) -> str:
    """A problem without its place, and without the values that differ from place to place."""
    found = _PLACE.match(problem)
    return _VARYING.sub("…", found[2]) if found else problem


class RagaugeError(Exception):
    """The root: `except RagaugeError` catches whatever Ragauge raises on purpose."""

    exit_code = 3

    def __init__(self, *problems: str, more: int = 0) -> None:
        listed = grouped(problems)
        self.problems: Sequence[str] = tuple(listed[:SHOWN])
        self.more = more + max(0, len(listed) - SHOWN)
        tail = [f"and {self.more:,} more"] if self.more else []
        super().__init__("\n".join([*self.problems, *tail]))


class UsageError(RagaugeError):
    """The command line, a gate rule or the configuration cannot be understood."""

    exit_code = 2


class InputRejected(RagaugeError):
    """A file is unreadable, or holds more bad lines than `--max-bad` allows."""


class SystemUnreachable(RagaugeError):
    """The first call failed in a way that every other call would; no other was made."""


class BudgetSpent(RagaugeError):
    """A judge may not be asked any more; what it has answered is kept."""
