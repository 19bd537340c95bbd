"""How far a piece of work is, for whoever shows it."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with how much is done, and of how much."""


def unseen(done: int, of: int) -> None:
    """Progress that nobody looks at."""
