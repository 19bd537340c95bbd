"""Foreign text in every field of every kind of run, in the real browser: it stays text."""

from __future__ import annotations

from zlib import crc32

import pytest
from playwright.sync_api import Browser

from tests.chromium import NARROW
from tests.dashboard.demo_history import DemoHistory
from tests.dashboard.hostile_run import TEXTS
from tests.dashboard.poisoned import Poison, poisoned
from tests.dashboard.reader import Reader, addresses
from tests.dashboard.served import serving

SHORT = [text for text in TEXTS if len(text) < 1_000]


def all_at_once(text: str) -> str:
    """Every payload after the other."""
    return " ".join([text, *SHORT])


def one_each(text: str) -> str:
    """Another payload for every text, so that none can hide behind what another began."""
    return text + TEXTS[crc32(text.encode()) % len(TEXTS)]


@pytest.mark.parametrize("payload", [all_at_once, one_each])
def test_no_page_obeys_it_and_none_breaks(
    payload: Poison, browser: Browser, demo: DemoHistory, tmp_path
) -> None:
    place = str(tmp_path / "store")
    runs = poisoned(demo.place, place, payload)
    now = {name: runs[run.id] for name, run in demo.runs.items()}
    with serving(place) as served:
        reader = Reader(browser, served.url, size=NARROW)
        faults = {}
        for path in addresses(now, unit=payload("h003"), document=payload("rijksmuseum")):
            page = reader.goes(path)
            page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            aside = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            seen = (page.evaluate("window.hit"), aside > 0, page.evaluate("violations"))
            if seen != (None, False, []):
                faults[path] = seen
        assert faults == {}
        assert (reader.elsewhere(), reader.dialogs) == ([], [])
        assert [said for said in reader.said if "404" not in said] == []
        reader.context.close()
