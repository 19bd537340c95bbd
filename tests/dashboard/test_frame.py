"""What stands around the pages: refusals, filters that fail, long names, paper, no scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ragauge import open_history, record, score
from ragauge.contracts.history import RunFilter
from ragauge.dashboard.serving import listen
from ragauge.errors import UsageError
from tests.chromium import NARROW, WIDE, photographed
from tests.dashboard.served import Served, serving
from tests.dashboard.small_history import small_history

SILENCE = "The dashboard does not answer: these rows are old. Reload the page."
PAPER = 718
"""Pixels across an A4 page, within the margins of the browser."""
BEYOND = """() => [...document.querySelectorAll("main *")].filter(
  (one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1
).map((one) => one.outerHTML.slice(0, 99))"""
WHOLE = "one => one.scrollWidth <= one.clientWidth"


@pytest.fixture(scope="module", autouse=True)
def _made_first(served: Served) -> None:
    """The demo runs a loop of its own, which cannot be once a browser is driven."""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]})
    yield context.new_page()
    context.close()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Served]:
    """A dashboard whose history the test may change."""
    with serving(small_history(tmp_path)) as made:
        yield made


def questions(served: Served) -> str:
    return served.at(f"/runs/{served.history.runs(RunFilter(limit=1))[0].id}/questions")


def test_a_filter_says_when_the_dashboard_has_ended(page: Page, tmp_path: Path) -> None:
    with serving(small_history(tmp_path)) as made:
        page.goto(questions(made))
    page.get_by_role("searchbox").fill("tower")
    expect(page.get_by_role("alert")).to_have_text(SILENCE)
    expect(page.locator("#units.old tbody tr")).to_have_count(4)
    page.get_by_role("searchbox").fill("towers")
    expect(page.get_by_role("alert")).to_have_count(1)
    photographed(page, "filter-without-answer")


def test_what_a_filter_said_is_gone_when_it_works_again(page: Page, guarded: Served) -> None:
    page.goto(questions(guarded))
    page.context.set_offline(True)
    page.get_by_role("searchbox").fill("nothing has this")
    expect(page.get_by_role("alert")).to_have_text(SILENCE)
    page.context.set_offline(False)
    page.get_by_role("searchbox").fill("nothing has that")
    expect(page.locator("#units")).to_contain_text("No sample matches")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator(".old")).to_have_count(0)


def test_a_slow_click_after_typing_is_not_lost(page: Page, own: Served) -> None:
    """Leaving the box must not filter once more: the link would be replaced under the mouse."""
    page.goto(questions(own))
    rows = page.locator("#units tbody tr")
    before = rows.count()
    page.get_by_role("searchbox").press_sequentially("q2")
    expect(rows).not_to_have_count(before)
    rows.get_by_role("link").first.hover()
    page.mouse.down()
    page.wait_for_timeout(500)
    page.mouse.up()
    page.wait_for_url("**/question?*", timeout=5000)


def test_a_filter_tells_why_it_is_refused(page: Page, own: Served) -> None:
    page.goto(questions(own))
    run = own.history.runs(RunFilter(limit=1))[0].id
    own.history.remove([run])
    page.get_by_role("searchbox").fill("tower")
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("These rows are old. The dashboard refuses (404): ")
    expect(notice).to_contain_text(run[:12])
    expect(page.locator("#units.old")).to_have_count(1)


@pytest.mark.parametrize("path", ["/nowhere", "/runs/nowhere", "/?sort=x", "/static/none.js"])
def test_a_refusal_has_the_frame_of_all_pages(path: str, page: Page, guarded: Served) -> None:
    page.goto(guarded.url)
    expect(page.locator(".topbar [aria-current]")).to_have_count(1)
    switch = page.locator(".themes").bounding_box()
    page.goto(guarded.at(path))
    expect(page.locator(".store")).to_have_text("store the store")
    expect(page.locator("[aria-current]")).to_have_count(0)
    assert page.locator(".themes").bounding_box() == switch
    expect(page.locator("main h1")).to_be_visible()


def test_an_address_that_leads_nowhere_says_so(page: Page, guarded: Served) -> None:
    page.goto(guarded.at("/nowhere"))
    expect(page.locator(".problem")).to_contain_text("there is no page at this address")


def test_a_host_that_is_not_there_comes_with_a_remedy() -> None:
    with pytest.raises(UsageError, match=r"bogus\.invalid: there is no such host; .* leave --host"):
        listen("bogus.invalid", 0)


def test_without_scripts_the_theme_is_said_to_last_for_the_page(
    browser: Browser, guarded: Served
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(guarded.url)
    expect(page.get_by_text("for this page")).to_be_visible()
    context.close()


def test_a_theme_that_is_kept_needs_no_words(page: Page, guarded: Served) -> None:
    page.goto(guarded.url)
    expect(page.get_by_text("for this page")).to_be_hidden()


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Ids, labels and a name of 200 characters without a blank."""
    folder = tmp_path_factory.mktemp("long")
    long = "x" * 200
    gold, traces = folder / "gold.json", folder / "traces.jsonl"
    asked = {"qid": long, "q": "Why?"}
    gold.write_text(json.dumps([asked | {"answerable": True, "gold_claim_substr": ["so"]}]))
    answer = {"claim": "so", "citations": [long]}
    traces.write_text(json.dumps(asked | {"ts": 1, "answer_json": answer}) + "\n")
    outcome = score(gold, traces, keep_answers=True)
    with closing(open_history(str(folder / "store"))) as history:
        record(outcome, history, name=long, labels={"note": long, long: "y"})
    with serving(str(folder / "store")) as made:
        yield made


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("what", ["/", "run", "questions", "question", "/history"])
def test_long_names_leave_the_page_its_form(
    what: str, size: tuple[int, int], page: Page, long_names: Served
) -> None:
    run = f"/runs/{long_names.history.runs(RunFilter())[0].id}"
    paths = {
        "run": run,
        "questions": f"{run}/questions",
        "question": f"{run}/question?unit={'x' * 200}",
    }
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(long_names.at(paths.get(what, what)))
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    for one in page.locator(":is(.crumbs li, .tag, .chip):visible").all():
        assert one.bounding_box()["height"] < 40
    photographed(page, f"long-names-{what.strip('/') or 'runs'}-{size[0]}")


def test_a_long_label_is_whole_to_who_comes_to_it(page: Page, long_names: Served) -> None:
    page.goto(long_names.at(f"/runs/{long_names.history.runs(RunFilter())[0].id}"))
    tag = page.locator(".tag", has_text="note x").first
    assert not tag.evaluate(WHOLE)
    tag.get_by_role("link").focus()
    assert tag.evaluate(WHOLE)


@pytest.mark.parametrize("tab", ["", "/questions", "/quality", "history", "runs", "gold"])
def test_paper_cuts_nothing_off(tab: str, page: Page, served: Served) -> None:
    run = served.history.runs(RunFilter(name="nightly", command="score"))[0]
    whole = {"history": "/history", "runs": "/", "gold": "/gold"}
    page.emulate_media(media="print")
    page.set_viewport_size({"width": PAPER, "height": 1000})
    page.goto(served.at(whole.get(tab, f"/runs/{run.id}{tab}")))
    assert page.evaluate(BEYOND) == []
    expect(page.locator("main table").first).to_be_visible()
    expect(page.locator("main :is(button, select, input):visible")).to_have_count(0)


def test_on_paper_short_ids_are_not_broken(page: Page, served: Served) -> None:
    run = served.history.runs(RunFilter(name="nightly", command="score"))[0]
    page.emulate_media(media="print")
    page.set_viewport_size({"width": PAPER, "height": 1000})
    page.goto(served.at(f"/runs/{run.id}/questions"))
    heads = page.locator("[data-paged] tbody th a").all()
    assert heads
    assert {len(head.evaluate("one => [...one.getClientRects()]")) for head in heads} == {1}
    assert max(head.bounding_box()["height"] for head in heads) < 25


@pytest.mark.parametrize("path", ["/", "questions"])
def test_at_a_usual_width_no_column_is_cut(path: str, page: Page, served: Served) -> None:
    run = served.history.runs(RunFilter(name="nightly", command="score"))[0]
    page.goto(served.at(f"/runs/{run.id}/questions" if path == "questions" else path))
    cut = page.locator(".scroll").evaluate_all("all => all.map(o => o.scrollWidth - o.clientWidth)")
    assert cut == [0]
    photographed(page, f"width-{path.strip('/') or 'runs'}")


def test_on_a_narrow_screen_rows_begin_in_its_upper_half(page: Page, served: Served) -> None:
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    page.goto(served.url)
    assert page.locator("tbody tr").first.bounding_box()["y"] < NARROW[1] * 0.6
