"""Fixtures of the runners' tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragauge.contracts.history import History
from ragauge.store.history import open_history


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    """An empty history in a real store."""
    opened = open_history(str(tmp_path / "store"))
    yield opened
    opened.close()
