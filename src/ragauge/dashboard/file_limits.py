"""How much the one-file report holds."""

from __future__ import annotations

from msgspec import Struct

ROWS, WHOLE = 2_000, 100


class Limits(Struct, frozen=True, kw_only=True):
    """What the user may set."""

    rows: int = ROWS
    """Questions in the table."""
    whole: int = WHOLE
    """Questions with a view of their own."""
