"""What tests of the history start from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragauge.contracts.history import History
from ragauge.store.history import open_history
from tests.store.databases import place, postgres, postgres_server

__all__ = ["history", "place", "postgres", "postgres_server"]


@pytest.fixture
def history(place: str) -> Iterator[History]:
    opened = open_history(place)
    yield opened
    opened.close()
