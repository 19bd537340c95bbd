"""Foreign text in every field of a diagnosis stays text, in every form and in both languages."""

import csv
import io
from functools import cache
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

from ragauge.reports.forms import render
from tests.chromium import NARROW, WIDE, started
from tests.reports.payloads import PAYLOADS
from tests.reports.test_diagnosis import FORMS, fine, many, reworded, telling
from tests.reports.test_hostile_text import UNSEEN, WHOLE, Shape, commands_of, parts_of
from tests.reports.test_html_in_browser import Opened

pytestmark = pytest.mark.slow

PLAIN = "plain words"
languages = pytest.mark.parametrize("language", ["en", "zh"])


@cache
def report_with(text, language="en"):
    """A report with a text in every field that may be foreign; where names are told apart, once."""
    return reworded(telling(text, language), lambda path: text)


@languages
@pytest.mark.parametrize("width", [40, 80, 100])
def test_no_line_on_a_terminal_is_too_wide_or_obeyed(language, width):
    for payload in PAYLOADS:
        written = render(report_with(payload, language), "text", width=width)
        assert max(cell_len(line) for line in written.splitlines()) <= width, payload
        assert not any(ord(c) < 32 and c != "\n" for c in written), payload
        assert not any(line.lstrip().startswith("::") for line in written.splitlines()), payload


@pytest.mark.parametrize("form", FORMS)
def test_every_form_can_be_written_and_hides_nothing(form):
    for payload in WHOLE if form == "json" else PAYLOADS:
        written = render(report_with(payload), form)
        assert written.encode()
        assert not UNSEEN.search(written), payload


@languages
def test_a_page_has_the_tags_it_has_with_plain_words(language):
    plain = Shape(render(report_with(PLAIN, language), "html")).tags
    for payload in PAYLOADS:
        assert Shape(render(report_with(payload, language), "html")).tags == plain, payload


@languages
def test_a_comment_has_the_parts_it_has_with_plain_words(language):
    plain = list(parts_of(render(report_with(PLAIN, language), "markdown")))
    for payload in PAYLOADS:
        assert list(parts_of(render(report_with(payload, language), "markdown"))) == plain, payload


def test_junit_holds_the_elements_it_holds_with_plain_words():
    def elements(text):
        written = render(report_with(text), "junit")
        return [element.tag for element in ElementTree.fromstring(written).iter()]

    for payload in PAYLOADS:
        assert elements(payload) == elements(PLAIN), payload


def test_github_sees_the_commands_it_sees_with_plain_words():
    plain = commands_of(render(report_with(PLAIN), "github"))
    for payload in PAYLOADS:
        assert commands_of(render(report_with(payload), "github")) == plain, payload


def test_a_spreadsheet_has_its_rows_and_no_formula():
    for payload in PAYLOADS:
        rows = list(csv.reader(io.StringIO(render(report_with(payload), "csv"), newline="")))
        assert [len(row) for row in rows] == [12] * 4, payload
        begins = {cell[0] for row in rows for cell in row if cell}
        assert not begins & set("=+@\t\r\n"), payload


@pytest.fixture(scope="module")
def browser():
    with started() as browser:
        yield browser


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_foreign_text_never_runs_and_never_breaks_the_page(size, browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_bytes(render(telling(), "html").encode())
    page = Opened(browser, file, size, "light")
    shown = [telling(), telling(language="zh"), fine(), many()]
    for told in (*shown, *(report_with(payload) for payload in PAYLOADS)):
        file.write_bytes(render(told, "html").encode())
        page.asked.clear()
        page.page.goto(file.as_uri())
        page.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert page.page.evaluate("window.hit") is None
        assert page.quiet(file), told.unknown
        assert page.overflow() <= 0, told.unknown
    page.context.close()


def test_a_link_opens_the_sample_it_leads_to(browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_bytes(render(telling(), "html").encode())
    page = Opened(browser, file, WIDE, "dark")
    sample = page.page.locator("#sample-1")
    assert not sample.is_visible()
    page.page.locator("#cause-1 a").first.click()
    sample.wait_for(state="visible")
    page.context.close()
