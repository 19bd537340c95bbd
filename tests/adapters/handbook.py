"""The document that all frameworks are given, and vectors that need no model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ragauge.citations.adapters import Projection

DOC_ID = "handbook"
TEXT = """# Keys

Keys are kept in the safe. The safe opens at nine.

# Loans

A loan lasts four weeks. It may be renewed once at the desk. A late loan costs one euro a day. \
The fee is paid before the next loan. Nobody is asked for the reason.

# Visits

Keys are kept in the safe. Visitors wait at the desk. 🏛 is on the door.
"""
TEXTS = {DOC_ID: TEXT}
WORDS = ("keys", "safe", "loan", "fee", "desk", "visitors")


def vector(text: str) -> list[float]:
    """How often the handbook's words occur; never all zero, so that it has a direction."""
    words = re.findall(r"\w+", text.lower())
    return [1e-3 + words.count(word) for word in WORDS]


def assert_in_place(projections: Iterable[Projection], text: str = TEXT) -> None:
    """Each has offsets, and its text stands there."""
    checked = 0
    for one in projections:
        offsets: dict[str, Any] = one.payload["offsets"]
        assert text[offsets["start"] : offsets["end"]] == one.text
        checked += 1
    assert checked
