"""Natural order: h2 comes before h10."""

from __future__ import annotations

import re
from typing import Any

_DIGITS = re.compile(r"([0-9]+)")


def natural(text: str) -> tuple[Any, ...]:
    """A key that puts h2 before h10 and ignores case.

    >>> sorted(["h10", "H2", "h1"], key=natural)
    ['h1', 'H2', 'h10']
    """
    pieces = _DIGITS.split(text.casefold())
    digits = [(len(run.lstrip("0")), run.lstrip("0")) for run in pieces[1::2]]
    return (pieces[0], *(part for pair in zip(digits, pieces[2::2], strict=True) for part in pair))
