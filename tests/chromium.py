"""The real browser of the tests: where it is, how it is started, and where pictures are left."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE, NARROW = (1280, 900), (390, 844)
PICTURES = Path(__file__).parents[1] / "artefacts" / "screenshots"
"""Left for people to look at; nothing is compared with them."""


def _found() -> Path:
    named = os.environ.get("RAGAUGE_CHROMIUM")
    places = [named, *map(shutil.which, NAMES), "/usr/bin/chromium"]
    return Path(next(place for place in places if place))


CHROMIUM = _found()


@contextmanager
def started(*more: str) -> Iterator[Browser]:
    """Chromium without a screen, ended when the context is."""
    if not CHROMIUM.exists():
        pytest.fail(f"{CHROMIUM} is missing: run `make test`, which installs chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, *more])
        yield browser
        browser.close()


def photographed(page: Page, name: str, *, whole: bool = False) -> Path:
    """A picture of the page as it is now, in the folder that CI keeps."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    path = PICTURES / f"{name}.png"
    page.screenshot(path=path, full_page=whole)
    return path
