"""The HTML report in a real browser: opened from disk, alone, and never obeying foreign text."""

from __future__ import annotations

import shutil
from subprocess import run

import pytest

from ragauge.reports.rendering import render
from tests.chromium import NARROW, WIDE, started
from tests.reports import sweeps
from tests.reports.test_diagnosis import telling as diagnosed

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", e => violations.push(e.violatedDirective));
"""


@pytest.fixture(scope="module")
def browser():
    with started() as browser:
        yield browser


class Opened:
    """A page opened from disk, with everything it said, asked for or tried."""

    def __init__(self, browser, file, size, scheme):
        width, height = size
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        self.said, self.asked, self.dialogs = [], [], []
        self.page = self.context.new_page()
        self.page.add_init_script(WATCH)
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", self._dismiss)
        self.page.goto(file.as_uri())

    def _dismiss(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def overflow(self):
        return self.page.evaluate("document.documentElement.scrollWidth - innerWidth")

    def quiet(self, file):
        """Whether nothing was said, asked of anybody, or tried and refused."""
        elsewhere = [url for url in self.asked if url not in (file.as_uri(), "data:,")]
        tried = self.page.evaluate("violations")
        return (self.said, elsewhere, self.dialogs, tried) == ([], [], [], [])


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a report; the context is closed when the test ends."""
    contexts = []

    def made(report, size=WIDE, scheme="light", change=str):
        file = tmp_path / f"{len(contexts)}.html"
        file.write_bytes(change(render(report, "html")).encode())
        one = Opened(browser, file, size, scheme)
        contexts.append(one.context)
        return one, file

    yield made
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def telling():
    return sweeps.telling()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_page_opens_from_disk_in_silence_and_fits(size, opened, telling, plain):
    for report in (telling, sweeps.steady(), sweeps.large(60), plain):
        page, file = opened(report, size)
        assert page.quiet(file)
        assert page.overflow() <= 0


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_heat_map_is_seen_and_its_labels_stay(size, opened, telling):
    page, _ = opened(sweeps.large(60) if size == WIDE else telling, size)
    cells, label = page.page.locator(".map table"), page.page.locator(".map th a").first
    cells.scroll_into_view_if_needed()
    assert cells.bounding_box()["height"] > 200
    before = label.bounding_box()["x"]
    page.page.evaluate("document.querySelector('.map').scrollLeft = 300")
    assert abs(label.bounding_box()["x"] - before) < 1
    assert before < size[0] / 2


def test_a_cell_can_be_pointed_at(opened, telling):
    page, _ = opened(telling)
    failed = page.page.locator(".map td.c-failed")
    failed.scroll_into_view_if_needed()
    cell = failed.bounding_box()
    at = cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2
    title = page.page.evaluate("([x, y]) => document.elementFromPoint(x, y).title", at)
    assert title == "h049#seed=2;t=0;j=ws;p=0: failed"


def test_a_label_leads_to_its_question_and_opens_it(opened, telling):
    page, _ = opened(telling)
    page.page.get_by_role("link", name="h013").click()
    page.page.wait_for_function("location.hash === '#question-4'")
    marked = page.page.locator("#question-4 mark", has_text="Mauritshuis")
    marked.wait_for(state="visible")
    assert page.page.locator("#question-4").bounding_box()["y"] < WIDE[1]


def test_dark_and_light_follow_the_reader(opened, telling):
    def brightness(scheme):
        page, file = opened(telling, scheme=scheme)
        assert page.quiet(file)
        color = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, color.removeprefix("rgb(").removesuffix(")").split(",")))

    assert brightness("light") > 700
    assert brightness("dark") < 100


def test_on_paper_every_question_is_open(opened, telling):
    page, _ = opened(telling)
    hidden = page.page.locator(".question .body").last
    assert not hidden.is_visible()
    page.page.emulate_media(media="print")
    assert hidden.is_visible()


def test_the_policy_would_stop_what_escaping_missed(opened, telling):
    script = "<script>window.hit=1</script><img src=http://127.0.0.1:9/x.png></body>"
    page, _ = opened(telling, change=lambda text: text.replace("</body>", script))
    page.page.wait_for_function("violations.length >= 2")
    assert page.page.evaluate("window.hit") is None
    assert sorted(page.page.evaluate("violations")) == ["img-src", "script-src-elem"]


PIXELS = """([text, selector]) => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 64;
  const drawing = canvas.getContext("2d");
  drawing.font = "40px " + getComputedStyle(document.querySelector(selector)).fontFamily;
  drawing.fillText(text, 8, 48);
  return canvas.toDataURL();
}"""
MISSING = "\U0010fffd"
"""A character of private use that no font has: it is drawn as an empty box."""


@pytest.mark.parametrize("selector", ["body", "code"])
def test_chinese_is_drawn_with_a_font_that_has_it(opened, selector):
    listed = shutil.which("fc-list")
    if not listed or not run([listed, ":lang=zh"], check=True, capture_output=True).stdout:
        pytest.skip("fc-list knows of no font for Chinese")
    page = opened(diagnosed(language="zh"))[0].page
    drawn = [page.evaluate(PIXELS, [text, selector]) for text in ("检", "索", MISSING)]
    assert len(set(drawn)) == len(drawn)
