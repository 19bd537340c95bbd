"""The pages of evaluations in a real browser: silent, fitting, and filtered without a script."""

import pytest

from tests.reports.evaluation.reports import LETTERS, MAKERS, everything, hostile, ner, types
from tests.reports.payloads import PAYLOADS
from tests.reports.test_html_in_browser import NARROW, WIDE, browser, opened

__all__ = ["browser", "opened"]

sizes = pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])


@sizes
def test_every_page_opens_from_disk_in_silence_and_fits(size, opened):
    long = types(labels=tuple(f"museum of {letter}" for letter in LETTERS))
    for report in (*(make() for make in MAKERS.values()), long, everything()):
        page, file = opened(report, size)
        page.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert page.quiet(file)
        assert page.overflow() <= 0


def test_errors_are_filtered_by_kind_and_type(opened):
    page, _ = opened(ner())
    errors = page.page.locator(".error:visible")
    assert errors.count() == 13
    page.page.get_by_text("missed 8", exact=True).click()
    assert errors.count() == 8
    page.page.get_by_text("TOP 2", exact=True).click()
    assert errors.count() == 1
    assert "10–24" in errors.first.inner_text()
    page.page.locator(".picks label", has_text="all").first.click()
    assert errors.count() == 2


def test_counts_stand_in_the_middle_of_their_cells_and_labels_beside_their_rows(opened):
    page, _ = opened(types())
    line = page.page.locator(".confusion svg.cells g").nth(3)
    cell = line.locator("rect.x-right").bounding_box()
    count = line.locator("text.dark").bounding_box()
    label = page.page.locator(".confusion .labels span").nth(3).bounding_box()
    head = page.page.locator(".confusion svg.heads text").nth(3).bounding_box()

    def middle(box, at, size):
        return box[at] + box[size] / 2

    assert abs(middle(cell, "x", "width") - middle(count, "x", "width")) < 2
    assert abs(middle(cell, "y", "height") - middle(count, "y", "height")) < 3
    assert abs(middle(cell, "y", "height") - middle(label, "y", "height")) < 3
    assert abs(middle(cell, "x", "width") - middle(head, "x", "width")) < 3


@pytest.mark.parametrize("task", MAKERS)
def test_foreign_text_never_runs_and_never_breaks_the_page(task, opened, tmp_path):
    from ragauge.reports.forms import render

    page, _ = opened(hostile(task, "plain words"), NARROW)
    file = tmp_path / "hostile.html"
    for payload in PAYLOADS:
        file.write_bytes(render(hostile(task, payload), "html").encode())
        page.asked.clear()
        page.page.goto(file.as_uri())
        assert page.page.evaluate("window.hit") is None, payload
        assert page.quiet(file), payload
        assert page.overflow() <= 0, payload
