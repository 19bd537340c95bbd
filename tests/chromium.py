"""The real browser of the tests: where it is, how it is started, and where pictures are left."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, sync_playwright

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
    "--hide-scrollbars",
    "--force-color-profile=srgb",
)
PATIENCE_MS = 5_000
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
    """Chromium without a screen: the one of this process, or one of its own with more arguments.

    The driver ends with the context: while it runs, this thread has a running event loop.
    """
    if not CHROMIUM.exists():
        pytest.fail(f"{CHROMIUM} is missing: run `make test`, which installs chromium")
    with sync_playwright() as driver:
        if more:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, *more])
        else:
            try:
                browser = driver.chromium.connect_over_cdp(_shared(), timeout=PATIENCE_MS)
            except Error:  # it hangs: a fresh one does not
                _shared.cache_clear()
                browser = driver.chromium.connect_over_cdp(_shared())
        yield browser
        browser.close()


@cache
def _shared() -> str:
    """The address of a Chromium that ends with this process."""
    profile = tempfile.mkdtemp(prefix="chromium-")
    process = subprocess.Popen(
        [CHROMIUM, *ARGUMENTS, "--remote-debugging-port=0", f"--user-data-dir={profile}"],
        stderr=subprocess.PIPE,
        text=True,
    )

    def end() -> None:
        process.kill()
        process.wait()
        shutil.rmtree(profile, ignore_errors=True)

    atexit.register(end)
    assert process.stderr is not None
    found = next(line for line in process.stderr if line.startswith("DevTools listening on "))
    # Nobody reads what it says later: a full pipe would stop it.
    threading.Thread(target=process.stderr.read, daemon=True).start()
    return found.removeprefix("DevTools listening on ").strip()


def photographed(page: Page, name: str, *, whole: bool = False) -> Path:
    """A picture of the page as it is now, in the folder that CI keeps."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    path = PICTURES / f"{name}.png"
    page.screenshot(path=path, full_page=whole)
    return path
