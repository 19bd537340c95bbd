"""What tests of the dashboard start from: a history, a real server of it, a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.chromium import started
from tests.dashboard.demo_history import DemoHistory
from tests.dashboard.runs_of_every_kind import Recorder
from tests.dashboard.served import Served, serving
from tests.dashboard.small_history import small_history
from tests.sharing import shared


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoHistory:
    """A history with runs of every command; nothing may be written to it."""
    return DemoHistory(shared(tmp_path_factory, "demo", lambda to: DemoHistory(to).build())).found()


@pytest.fixture(scope="session")
def every(tmp_path_factory: pytest.TempPathFactory) -> Recorder:
    """A history with a run of every kind of report; nothing may be written to it."""
    return Recorder(shared(tmp_path_factory, "every", lambda folder: Recorder(folder).all()))


@pytest.fixture(scope="session")
def served(demo: DemoHistory) -> Iterator[Served]:
    """The dashboard of that history: `served.url`, `served.history`."""
    with serving(demo.place) as made:
        yield made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for one module: two at a time cannot be driven from one thread."""
    with started() as made:
        yield made


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The place of a history of two small runs; nothing may be written to it."""
    return small_history(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def guarded(small: str) -> Iterator[Served]:
    """The dashboard of the small history, for tests of what stands before the pages."""
    with serving(small) as made:
        yield made
