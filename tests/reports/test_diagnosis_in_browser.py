"""The page of a diagnosis in a real browser."""

from ragauge.reports.rendering import render
from tests.chromium import WIDE
from tests.reports.test_diagnosis import telling
from tests.reports.test_html_in_browser import Opened, browser

__all__ = ["browser"]


def test_a_link_opens_the_sample_it_leads_to(browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_bytes(render(telling(), "html").encode())
    page = Opened(browser, file, WIDE, "dark")
    sample = page.page.locator("#sample-1")
    assert not sample.is_visible()
    page.page.locator("#cause-1 a").first.click()
    sample.wait_for(state="visible")
    page.context.close()
