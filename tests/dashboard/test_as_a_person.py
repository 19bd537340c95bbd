"""The dashboard as a person uses it: a real server, a real browser, and pictures to look at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, expect

from tests.chromium import NARROW, WIDE, photographed
from tests.dashboard.demo_history import DemoHistory
from tests.dashboard.reader import Reader, addresses
from tests.dashboard.served import Served


@pytest.fixture
def reader(browser: Browser, served: Served) -> Iterator[Reader]:
    made = Reader(browser, served.url)
    yield made
    assert made.said == []
    assert made.elsewhere() == []
    made.context.close()


def run_path(demo: DemoHistory, run: str, tab: str = "") -> str:
    return f"/runs/{demo.runs[run].id}" + (f"/{tab}" if tab else "")


def test_from_a_failing_gate_to_the_question_to_the_cited_span(reader: Reader) -> None:
    page = reader.goes("/")
    photographed(page, "runs")
    page.get_by_role("searchbox", name="Search").press_sequentially("citations")
    expect(page.get_by_role("link", name="nightly")).to_have_count(0)  # found while typing
    expect(page).to_have_url(re.compile("q=citations&"))  # and the last key was answered
    page.get_by_role("link", name="citations").first.click()
    expect(page.locator("h1 .word")).to_have_text("FAIL")
    photographed(page, "run")
    gate = page.locator(".gates tr.broken").first
    expect(gate).to_contain_text("FAIL")
    gate.get_by_role("link").first.click()
    worst = page.locator("table[data-paged] tbody tr").first
    expect(worst).to_contain_text("span_text_mismatch")
    photographed(page, "questions")
    worst.get_by_role("link").first.click()
    expect(page.locator("h1")).to_contain_text("?")
    photographed(page, "question", whole=True)
    page.get_by_role("link", name="document").first.click()
    cited = page.locator("mark#cited")
    expect(cited).to_be_in_viewport()
    fields = parse_qs(urlsplit(page.url).query)
    length = int(fields["end"][0]) - int(fields["start"][0])
    shown = page.locator(".document mark.cited:not(.other)").all_text_contents()
    assert len("".join(shown)) == length
    photographed(page, "document")


def test_runs_are_found_and_put_in_order(reader: Reader, demo: DemoHistory) -> None:
    page = reader.goes("/")
    page.get_by_role("combobox", name="Command").select_option("score")
    rows = page.locator("table[data-paged] tbody tr")
    expect(rows).to_have_count(4)
    page.locator("thead").get_by_role("link", name="precision_cited").click()
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("precision_cited")
    shown = [float(text) for text in rows.locator("td.n a").all_text_contents()[::4]]
    values = [demo.runs[name].record.metrics["quality.precision_cited"].value for name in "abcd"]
    assert shown == sorted(round(value, 3) for value in values)
    assert "command=score" in page.url and "sort=quality.precision_cited" in page.url
    page.go_back()
    expect(page.locator("th[aria-sort]")).to_contain_text("recorded")


def test_two_runs_are_compared_and_a_flipped_question_opened(reader: Reader) -> None:
    page = reader.goes("/?command=score")
    page.get_by_role("row", name=re.compile("model a")).get_by_role("checkbox").check()
    page.get_by_role("row", name=re.compile("model c")).get_by_role("checkbox").check()
    page.get_by_role("button", name=re.compile("Compare")).click()
    expect(page.locator("h1")).to_contain_text("worse", timeout=60_000)
    photographed(page, "compare")
    broken = page.locator("details.question").first
    expect(broken).to_contain_text(re.compile("broken", re.IGNORECASE))
    broken.get_by_role("link").first.click()
    expect(page.locator("h1")).to_contain_text("?")
    assert "with=" in page.url
    photographed(page, "question-beside")


def test_the_heat_map_leads_to_the_answers_side_by_side(reader: Reader, demo: DemoHistory) -> None:
    page = reader.goes(run_path(demo, "stability", "heat-map") + "?label=flaky")
    expect(page.locator(".map table")).to_be_visible()
    photographed(page, "heatmap")
    page.locator(".map th a").first.click()
    expect(page.locator(".runs .run").nth(1)).to_be_visible()
    assert page.locator(".runs .run mark").count() > 0
    photographed(page, "side-by-side", whole=True)


def test_the_theme_is_kept(reader: Reader) -> None:
    def is_dark() -> bool:
        color = reader.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", color)[:3])) < 150

    page = reader.goes("/history?metric=quality.precision_cited")
    assert not is_dark()
    page.get_by_role("radio", name="Dark").check(force=True)
    assert is_dark()
    page.reload()
    assert is_dark()
    expect(page.locator("figure.chart canvas")).to_be_visible()
    photographed(page, "history-dark")
    page.get_by_role("radio", name="Light").check(force=True)
    assert not is_dark()


def test_on_paper_there_is_only_the_page(reader: Reader, demo: DemoHistory) -> None:
    page = reader.goes(run_path(demo, "c"))
    page.get_by_role("radio", name="Dark").check(force=True)
    page.emulate_media(media="print")
    expect(page.locator(".topbar")).to_be_hidden()
    expect(page.locator("nav.tabs")).to_be_hidden()
    expect(page.locator("h1 .word")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).color") != "rgb(255, 255, 255)"
    assert page.pdf()[:5] == b"%PDF-"


def test_everything_is_reached_by_keyboard(reader: Reader) -> None:
    page = reader.goes("/")
    page.keyboard.press("Tab")
    expect(page.locator("a.skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#content")).to_be_focused()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('tbody a[href^=\"/runs/\"]')"):
            break
    page.keyboard.press("Enter")
    expect(page.locator("h1 .word")).to_be_visible()
    page = reader.goes("/history?metric=quality.precision_cited")
    chart = page.locator("figure.chart [tabindex='0']").first
    chart.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("figure.chart [aria-live]")).not_to_be_empty()


def test_with_scripts_off_all_but_charts_and_typing_works(
    browser: Browser, served: Served, demo: DemoHistory
) -> None:
    reader = Reader(browser, served.url, java_script_enabled=False)
    page = reader.goes("/")
    page.get_by_role("searchbox", name="Search").fill("nightly")
    page.get_by_role("button", name="Apply").click()
    assert page.locator("table[data-paged] tbody tr").count() == 4
    page.get_by_role("link", name="nightly").first.click()
    page.locator("table").first.get_by_role("link", name="verdict").click()
    expect(page).to_have_url(re.compile("order="))
    expect(page.locator("table").first).to_be_visible()
    verdicts = page.locator("table").first.locator("td.word-cell:last-child").all_text_contents()
    assert verdicts == sorted(verdicts) and len(verdicts) == 3
    page.get_by_role("link", name=re.compile("^Questions")).click()
    page.get_by_role("link", name="Next", exact=True).click()
    assert page.locator("table[data-paged] tbody tr").count() == 30
    before, after = demo.runs["a"].id, demo.runs["c"].id
    page = reader.goes(f"/compare?before={before}&after={after}")
    expect(page.locator("h1")).to_contain_text("worse", timeout=60_000)
    page = reader.goes("/history?metric=quality.precision_cited")
    assert page.locator("figure.chart pre, figure.chart table").first.is_visible()
    reader.context.close()


@pytest.mark.parametrize("turn", [0, 1], ids=["light-wide", "dark-narrow"])
def test_no_page_is_shut_to_anybody(
    turn: int, browser: Browser, served: Served, demo: DemoHistory
) -> None:
    """No serious fault by axe, no sideways scrolling, no refused script, no word in the console.

    Pages are alike: every second one is opened light and wide, the others dark and narrow.
    """
    scheme, size = (("light", WIDE), ("dark", NARROW))[turn]
    reader = Reader(browser, served.url, color_scheme=scheme, size=size)
    faults = {}
    for path in list(addresses(demo.runs))[turn::2]:
        page = reader.goes(path)
        page.evaluate(AXE_SCRIPT)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        grave = [one["id"] for one in found if one["impact"] in ("serious", "critical")]
        aside = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        tried = page.evaluate("violations")
        if grave or aside > 0 or tried:
            faults[path] = (grave, aside, tried)
    assert faults == {}
    assert [said for said in reader.said if "404" not in said] == []
    assert reader.elsewhere() == []
    reader.context.close()
