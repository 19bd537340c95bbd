"""The style sheets and scripts in a real browser, under the policy they must live with."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page

from ragauge.reports.document import Cell, Row
from ragauge.reports.formats.html import ordered
from tests.chromium import NARROW, WIDE, photographed
from tests.dashboard import look_page

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", e => violations.push(e.violatedDirective));
"""
SHOWN = "rows => rows.filter(row => !row.hidden).map(row => row.textContent)"
SEEN = """canvas => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Set();
  for (let at = 0; at < data.length; at += 4) if (data[at + 3]) colours.add(data.slice(at, at + 3).join());
  return [...colours];
}"""  # noqa: E501
LIGHT, DARK = "31,95,153", "127,184,234"
"""The colour of the first line in each theme."""
REFUSED = """
Object.defineProperty(window, "localStorage", { get() { throw new DOMException("refused") } });
"""


class Look:
    """The page, opened, with all that went wrong on it."""

    def __init__(self, browser: Browser, url: str, **context: object) -> None:
        self.context = browser.new_context(**context)  # type: ignore[arg-type]
        self.wrong: list[str] = []
        self.page: Page = self.context.new_page()
        self.page.add_init_script(WATCH)
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("requestfailed", lambda request: self.wrong.append(request.url))
        self.url = url

    def open(self) -> Page:
        self.page.goto(self.url)
        return self.page

    def is_quiet(self) -> bool:
        return (self.wrong, self.page.evaluate("violations")) == ([], [])


@pytest.fixture(scope="module")
def addresses(tmp_path_factory) -> Iterator[dict[str, str]]:
    """The page from a server, and as one file from disk."""
    file = tmp_path_factory.mktemp("look") / "report.html"
    file.write_bytes(look_page.one_file().encode())
    with look_page.serving() as url:
        yield {"served": url, "one file": file.as_uri()}


@pytest.fixture(params=["served", "one file"])
def look(request, browser, addresses) -> Iterator[Look]:
    made = Look(browser, addresses[request.param])
    yield made
    assert made.is_quiet(), made.wrong
    made.context.close()


@pytest.fixture
def opened(browser, addresses):
    """Opens the served page with other settings of the browser."""
    made: list[Look] = []

    def opened(**context: object) -> Look:
        made.append(Look(browser, addresses["served"], **context))
        return made[-1]

    yield opened
    for look in made:
        look.context.close()


def ids(page: Page) -> list[str]:
    return page.locator("#questions tbody tr:not(.note) th").all_text_contents()


def test_vendored_files_are_those_of_their_packages():
    for folder in ("htmx", "uplot"):
        told = (look_page.VENDOR / folder / "README.md").read_text("utf-8")
        files = dict(re.findall(r"\| `([^`]+)` \| `([0-9a-f]{64})` \|", told))
        there = {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in (look_page.VENDOR / folder).iterdir()
            if file.name != "README.md"
        }
        assert files == there


def test_scripts_can_be_inlined_and_write_no_markup():
    for file in (*look_page.EARLY, *look_page.LATE):
        assert not re.search(r"</?script|<!--", file.read_text("utf-8"), re.IGNORECASE), file
    for file in look_page.STYLES:
        assert "</style" not in file.read_text("utf-8").lower(), file
    for file in (look_page.DASHBOARD / "scripts").iterdir():
        text = file.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|\beval\b|new Function", text)


def test_the_pages_set_htmx_up_as_it_is_tested_here():
    base = (look_page.DASHBOARD / "templates" / "base.html").read_text("utf-8")
    said = re.search(r"name=\"htmx-config\" content='(.*?)'", base)
    assert said and json.loads(said[1]) == look_page.HTMX


def test_filtering_hides_rows_with_their_notes_and_counts(look):
    page = look.open()
    box = page.locator(".filter", has=page.get_by_text("10 rows")).first
    box.get_by_role("searchbox").fill("H1 12")
    assert page.locator("#questions tbody tr").evaluate_all(SHOWN) == ["H112 %", "note of H1"]
    assert box.get_by_role("status").text_content() == "1 of 10 rows"
    box.get_by_role("searchbox").fill("note of h7")
    assert page.locator("#questions tbody tr").evaluate_all(SHOWN) == ["h712", "note of h7"]
    box.get_by_role("searchbox").fill("")
    assert len(page.locator("#questions tbody tr").evaluate_all(SHOWN)) == 20


def test_a_heading_of_rows_goes_with_the_last_of_them(look):
    page = look.open()
    page.locator(".filter").last.get_by_role("searchbox").fill("gamma")
    assert page.locator("#spanned tbody tr").evaluate_all(SHOWN) == ["second", "gamma3"]


def test_what_the_server_filters_has_no_box(look):
    page = look.open()
    assert page.locator(".filter").count() == 2
    assert page.locator("[data-paged] button, #spanned button").count() == 0


def test_sorting_is_by_number_stable_and_takes_notes_along(look):
    page = look.open()
    number = page.get_by_role("button", name="number")
    number.focus()
    page.keyboard.press("Enter")
    rising = ["h4", "h3", "h9", "h6", "H1", "h5", "h7", "h010", "h2", "h8"]
    assert ids(page) == rising
    assert page.locator("#questions th[aria-sort=ascending]").text_content() == "number"
    rows = page.locator("#questions tbody tr").all_text_contents()
    assert rows[1::2] == [f"note of {id}" for id in rising]
    number.click()
    assert ids(page) == ["h010", "H1", "h5", "h7", "h6", "h9", "h3", "h4", "h2", "h8"]
    assert page.locator("#questions th[aria-sort]").get_attribute("aria-sort") == "descending"


@pytest.mark.parametrize("order", ["1.1", "1.1-", "1.2", "1.2-"])
def test_script_and_server_sort_alike(order, opened):
    look = opened()
    page = look.open()
    numbers = (1234, 0.914, 12, None, -3, -4, 12, 7, 12, None)
    rows = [
        Row((Cell(id), Cell(text, number)))
        for (id, text), number in zip(look_page.ROWS, numbers, strict=True)
    ]
    made = ordered(rows, int(order[2]) - 1, order.endswith("-"))
    served = [row.cells[0].text for row in made]
    button = page.locator("#questions button").nth(int(order[2]) - 1)
    for _ in range(2 if order.endswith("-") else 1):
        button.click()
    assert ids(page) == served


def test_a_chart_is_drawn_and_tells_its_values(look):
    page = look.open()
    canvas = page.locator("#history canvas")
    assert len(canvas.evaluate(SEEN)) > 10
    assert page.locator("#history details table").count() == 1
    assert not page.locator("#history table").is_visible()
    page.locator("#history .u-over").hover(position={"x": 1, "y": 80})
    tip = page.locator(".chart-tip").first
    assert tip.locator("div").all_text_contents() == [
        "a, 2026-09-21 14:13 UTC",
        "precision 0.9 [0.87, 0.93]",
        "</script><b>recall 0.7",
    ]


@pytest.mark.parametrize(
    ("chart", "is_drawn"),
    [
        ({"x": [], "series": [{"name": "s", "values": []}]}, False),
        ({"x": [0, 1], "series": [{"name": "s", "values": [None, None]}]}, False),
        ({"x": [5], "series": [{"name": "s", "values": [1], "low": [0], "high": [2]}]}, True),
        ({"x": [0, 1], "series": [{"name": "s", "values": [1, 1]}], "labels": ["a", "b"]}, True),
        ({"x": [0, 9], "series": [{"name": "s", "values": [0, 1]}] * 9, "y": [0, 1]}, True),
        (
            {
                "x": [7, 67],
                "x_is_time": True,
                "series": [{"name": "s", "values": [3, None]}],
                "marks": [{"x": 67, "label": "long " * 99}] * 3,
            },
            True,
        ),
    ],
)
def test_charts_of_every_form(chart, is_drawn, opened):
    look = opened()
    text = json.dumps({"title": "t", **chart})
    look.page.route(
        look.url,
        lambda route: route.fulfill(
            response=(got := route.fetch()), body=_with_chart(got.text(), text)
        ),
    )
    page = look.open()
    assert page.locator("#history canvas").count() == is_drawn
    assert page.locator("#history table").is_visible() != is_drawn
    assert look.is_quiet(), look.wrong


def _with_chart(page: str, chart: str) -> str:
    return page.replace(look_page.chart_json(), chart)


def test_a_chart_is_read_by_keyboard_and_leads_to_its_runs(look):
    page = look.open()
    page.locator("#history .chart-stage").focus()
    live = page.locator("#history .chart-live")
    for key, begins in (("ArrowRight", "a,"), ("ArrowRight", "b,"), ("End", "g <i>,")):
        page.keyboard.press(key)
        assert live.text_content().startswith(begins)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert live.text_content().endswith("; change <point>")
    page.keyboard.press("ArrowLeft")
    assert "precision –" in live.text_content()
    page.keyboard.press("Enter")
    page.wait_for_url("**#r1")


def test_a_click_on_a_point_follows_its_link(look):
    page = look.open()
    over = page.locator("#history .u-over")
    width = over.bounding_box()["width"]
    over.click(position={"x": width * (0.27 + 9) / 9.54, "y": 80})
    page.wait_for_url("**#r4")


def test_links_that_lead_elsewhere_are_not_followed(look):
    page = look.open()
    page.locator("#history .chart-stage").focus()
    before = page.url
    for key in ("Home", "ArrowRight", "Enter", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    assert (page.url, page.evaluate("window.hit")) == (before, None)


def background(page: Page) -> int:
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(int, re.findall(r"\d+", colour)))


def test_the_theme_chosen_is_kept_and_charts_follow(look):
    page = look.open()
    assert background(page) > 700
    before = page.locator("#history canvas").evaluate(SEEN)
    page.locator(".themes").get_by_text("Dark").click()
    assert background(page) < 100
    assert LIGHT in before and DARK not in before
    page.wait_for_function(
        f"({SEEN})(document.querySelector('#history canvas')).includes('{DARK}')"
    )
    page.reload()
    assert background(page) < 100
    assert page.locator("#theme-dark").is_checked()
    page.emulate_media(media="print")
    assert background(page) > 700
    page.wait_for_function(
        f"({SEEN})(document.querySelector('#history canvas')).includes('{LIGHT}')"
    )
    page.emulate_media(media="screen")
    page.locator(".themes").get_by_text("System").click()
    assert background(page) > 700
    page.emulate_media(color_scheme="dark")
    assert background(page) < 100


def test_the_theme_is_worn_before_anything_is_painted(opened):
    look = opened()
    page = look.open()
    page.locator("#theme-dark").check()
    page.add_init_script(
        "new MutationObserver((_, seen) => { if (!document.body) return; seen.disconnect();"
        " window.first = document.documentElement.dataset.theme; })"
        ".observe(document, { childList: true, subtree: true });"
    )
    page.reload()
    assert page.evaluate("first") == "dark"


def test_without_storage_the_theme_lasts_as_long_as_the_page(opened):
    look = opened()
    look.page.add_init_script(REFUSED)
    page = look.open()
    page.locator("#theme-dark").check()
    assert background(page) < 100
    assert page.locator("#history canvas").count() == 1
    assert look.is_quiet()


def test_without_scripts_all_is_there_and_the_theme_can_be_switched(opened):
    look = opened(java_script_enabled=False, color_scheme="dark")
    page = look.open()
    assert page.locator("#history table").is_visible()
    assert page.locator("#questions tbody tr").count() == 20
    assert background(page) < 100
    page.locator("#theme-light").check()
    assert background(page) > 700


def test_what_htmx_brings_is_prepared_too(opened):
    look = opened()
    page = look.open()
    page.locator("#fetch").click()
    page.locator("#part .filter input").fill("row 17")
    assert page.locator("#part [role=status]").text_content() == "1 of 20 rows"
    assert page.locator("#new thead button").count() == 2
    assert len(page.locator("#part canvas").evaluate(SEEN)) > 10
    assert page.locator(".filter").count() == 3
    assert look.is_quiet()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_look_is_accessible_and_fits(size, scheme, opened):
    width, height = size
    look = opened(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = look.open()
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.evaluate(AXE_SCRIPT)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    assert [(one["id"], one["nodes"][0]["target"]) for one in found] == []
    photographed(page, f"look-{scheme}-{width}", whole=True)


def test_on_paper_there_is_no_navigation_and_all_is_open(look):
    page = look.open()
    page.emulate_media(media="print")
    for gone in ("nav.tabs", ".topbar", ".pager", ".filter >> nth=0", "form"):
        assert not page.locator(gone).is_visible(), gone
    assert page.locator("#history table").is_visible()
