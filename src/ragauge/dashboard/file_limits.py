"""How much the one-file report holds."""

from __future__ import annotations

from msgspec import Struct

ROWS, WHOLE = 2_000, 100
DOCUMENTS, LONGEST_DOCUMENTS = 150, 1_500_000
"""Documents opened at a span, and the characters of all of them; those asked for later are left
out."""
LINES = 3
"""Headline metrics whose history is drawn."""


class Limits(Struct, frozen=True, kw_only=True):
    """What the user may set."""

    rows: int = ROWS
    """Questions in the table."""
    whole: int = WHOLE
    """Questions with a view of their own."""
