"""A person at a browser, and the addresses they may go to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Browser, Dialog, Page

from ragauge.contracts.history import Run
from ragauge.dashboard.page import DocumentPlace, Links
from tests.chromium import WIDE

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", e => violations.push(e.violatedDirective));
"""
SETTLED = "() => new Promise(done => requestIdleCallback(() => requestAnimationFrame(done)))"
"""Scripts have run and the page is drawn: quicker than half a second without a request."""
REVISION = "b4e9238142d1"
"""Of the demo's document about the Rijksmuseum."""


class Reader:
    """Where a person is, and all that the pages said, asked for or tried."""

    def __init__(
        self, browser: Browser, url: str, size: tuple[int, int] = WIDE, **options: Any
    ) -> None:
        width, height = size
        self.url = url
        self._scripts = options.get("java_script_enabled", True)
        self.context = browser.new_context(viewport={"width": width, "height": height}, **options)
        self.page: Page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.dialogs: list[str] = []
        self.page.add_init_script(WATCH)
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", self._dismiss)

    def goes(self, path: str) -> Page:
        """The page at an address, once it is made and its scripts have run."""
        self.page.goto(self.url + path)
        self.page.locator("meta[http-equiv=refresh]").wait_for(state="detached", timeout=60_000)
        if self._scripts:  # without them no callback is ever called
            self.page.evaluate(SETTLED)
        return self.page

    def elsewhere(self) -> list[str]:
        """Requests to anybody but the dashboard."""
        return [url for url in self.asked if not url.startswith((f"{self.url}/", "data:"))]

    def _dismiss(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()


def addresses(
    runs: Mapping[str, Run], unit: str = "h003", document: str = "rijksmuseum"
) -> list[str]:
    """An address of every page; the tabs of runs have tests of their own."""
    to, before, after = Links(), runs["a"].id, runs["c"].id
    return [
        to.runs(),
        to.runs(q="nothing is called so"),
        to.history(),
        to.history("quality.precision_cited", by="model"),
        to.compare(),
        to.compare(before, after),
        to.gold(),
        to.gold(runs["a"].record.gold_sha256 or ""),
        to.run(runs["c"].id),
        to.run(runs["stability"].id, "heat-map"),
        *(to.question(runs[run].id, unit) for run in ("c", "stability", "audit", "eval qa")),
        to.document(runs["audit"].id, DocumentPlace(document, REVISION, 74, 385)),
        to.run("nothing"),
    ]
