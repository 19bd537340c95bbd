"""Foreign text in every field of an audit or a trace evaluation stays text, in every form."""

import json
import re
from functools import cache
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

from ragauge.contracts.kinds import KINDS
from ragauge.reports.forms import render
from tests.chromium import NARROW, WIDE, started
from tests.reports.audit import made
from tests.reports.payloads import PAYLOADS
from tests.reports.test_hostile_text import UNSEEN, WHOLE, Shape, commands_of, parts_of
from tests.reports.test_html_in_browser import Opened
from tests.reports.trace_eval import made as trace_eval

PLAIN = "plain words"
MAKERS = {"audit": made.telling, "trace-eval": trace_eval.telling}

kinds = pytest.mark.parametrize("kind", MAKERS)


@cache
def report_with(kind, text):
    return MAKERS[kind](text)


@kinds
@pytest.mark.parametrize("width", [40, 80, 100])
def test_no_line_on_a_terminal_is_too_wide_or_obeyed(kind, width):
    for payload in PAYLOADS:
        written = render(report_with(kind, payload), "text", width=width)
        assert max(cell_len(line) for line in written.splitlines()) <= width, payload
        assert not any(ord(c) < 32 and c != "\n" for c in written), payload
        assert not any(line.lstrip().startswith("::") for line in written.splitlines()), payload


@kinds
def test_every_form_can_be_written_and_hides_nothing(kind):
    for form in KINDS[type(report_with(kind, PLAIN))].forms:
        for payload in WHOLE if form == "json" else PAYLOADS:
            written = render(report_with(kind, payload), form)
            assert written.encode()
            assert not UNSEEN.search(written), (form, payload)


@kinds
def test_a_page_has_the_tags_it_has_with_plain_words(kind):
    plain = Shape(render(report_with(kind, PLAIN), "html")).tags
    for payload in PAYLOADS:
        assert Shape(render(report_with(kind, payload), "html")).tags == plain, payload


@kinds
def test_a_comment_has_the_parts_it_has_with_plain_words(kind):
    plain = list(parts_of(render(report_with(kind, PLAIN), "markdown")))
    for payload in PAYLOADS:
        assert list(parts_of(render(report_with(kind, payload), "markdown"))) == plain, payload


@kinds
def test_junit_holds_the_elements_it_holds_with_plain_words(kind):
    def elements(text):
        written = render(report_with(kind, text), "junit")
        return [element.tag for element in ElementTree.fromstring(written).iter()]

    for payload in PAYLOADS:
        assert elements(payload) == elements(PLAIN), payload


def test_github_sees_the_commands_it_sees_with_plain_words():
    plain = commands_of(render(report_with("audit", PLAIN), "github"))
    for payload in PAYLOADS:
        assert commands_of(render(report_with("audit", payload), "github")) == plain, payload


def shape(value):
    """JSON without its texts and numbers."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    return [shape(inner) for inner in value] if isinstance(value, list) else type(value)


def test_sarif_has_the_shape_it_has_with_plain_words_and_addresses_that_are_addresses():
    plain = shape(json.loads(render(report_with("audit", PLAIN), "sarif")))
    for payload in PAYLOADS:
        written = render(report_with("audit", payload), "sarif")
        assert shape(json.loads(written)) == plain, payload
        for uri in re.findall(r'"uri": "(.*)"', written):
            assert re.fullmatch(r"(file://)?[A-Za-z0-9/._~%-]+", uri), payload
            assert urlsplit(uri).scheme in ("", "file")
        assert "](" not in written


@pytest.fixture(scope="module")
def browser():
    with started() as browser:
        yield browser


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@kinds
def test_foreign_text_never_runs_and_never_breaks_the_page(kind, size, browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_bytes(render(MAKERS[kind](), "html").encode())
    page = Opened(browser, file, size, "light")
    for payload in ("", *PAYLOADS):
        told = report_with(kind, payload) if payload else MAKERS[kind]()
        file.write_bytes(render(told, "html").encode())
        page.asked.clear()
        page.page.goto(file.as_uri())
        page.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert page.page.evaluate("window.hit") is None, payload
        assert page.quiet(file), payload
        assert page.overflow() <= 0, payload
    page.context.close()
