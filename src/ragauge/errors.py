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

from collections.abc import Sequence


class RagaugeError(Exception):
    """The root: `except RagaugeError` catches whatever Ragauge raises on purpose."""

    exit_code = 3

    def __init__(self, *problems: str, more: int = 0) -> None:
        self.problems: Sequence[str] = problems
        self.more = more
        tail = [f"and {more:,} more"] if more else []
        super().__init__("\n".join([*problems, *tail]))


class UsageError(RagaugeError):
    """The command line, a gate rule or the configuration cannot be understood."""

    exit_code = 2


class InputRejected(RagaugeError):
    """A file is unreadable, or holds more bad lines than `--max-bad` allows."""


class SystemUnreachable(RagaugeError):
    """The first call failed in a way that every other call would; no other was made."""


class BudgetSpent(RagaugeError):
    """A judge may not be asked any more; what it has answered is kept."""
