"""Foreign text in every field of a report stays text, in every form."""

import csv
import io
import re
from functools import cache
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len

from ragauge.contracts.kinds import FORMS
from ragauge.reports.forms import render
from tests.reports.conftest import failing
from tests.reports.payloads import PAYLOADS
from tests.reports.sweeps import hostile

PLAIN = "plain words"
MAKERS = {"score": failing, "stability": hostile}
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


kinds = pytest.mark.parametrize("kind", MAKERS)


@cache
def report_with(kind, text):
    return MAKERS[kind](text)


class Shape(HTMLParser):
    """The tags of a page with the names of their attributes, and none of its text."""

    def __init__(self, page):
        super().__init__()
        self.tags = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, tuple(name for name, _ in attributes)))

    def handle_endtag(self, tag):
        self.tags.append((f"/{tag}", ()))

    def handle_comment(self, data):
        self.tags.append(("comment", ()))

    def unknown_decl(self, data):
        self.tags.append(("declaration", ()))


@kinds
def test_a_page_has_the_tags_it_has_with_plain_words(kind):
    plain = Shape(render(report_with(kind, PLAIN), "html")).tags
    for payload in PAYLOADS:
        assert Shape(render(report_with(kind, payload), "html")).tags == plain, payload


def parts_of(written):
    for token in MARKDOWN.parse(written):
        yield token.type
        for child in token.children or ():
            if child.type not in ("text", "text_special", "code_inline"):
                yield child.type


@kinds
def test_a_comment_has_the_parts_it_has_with_plain_words(kind):
    plain = list(parts_of(render(report_with(kind, PLAIN), "markdown")))
    for payload in PAYLOADS:
        assert list(parts_of(render(report_with(kind, payload), "markdown"))) == plain, payload


def commands_of(written):
    return [re.match(r"::(\w+)(?: (\w+)=)?", line).groups() for line in written.splitlines()]


@kinds
def test_github_sees_the_commands_it_sees_with_plain_words(kind):
    plain = commands_of(render(report_with(kind, PLAIN), "github"))
    for payload in PAYLOADS:
        assert commands_of(render(report_with(kind, payload), "github")) == plain, payload


def elements_of(written):
    return [element.tag for element in ElementTree.fromstring(written).iter()]


@kinds
def test_junit_holds_the_elements_it_holds_with_plain_words(kind):
    plain = elements_of(render(report_with(kind, PLAIN), "junit"))
    for payload in PAYLOADS:
        assert elements_of(render(report_with(kind, payload), "junit")) == plain, payload


@kinds
def test_a_spreadsheet_has_its_rows_and_no_formula(kind):
    for payload in PAYLOADS:
        report = report_with(kind, payload)
        rows = list(csv.reader(io.StringIO(render(report, "csv"), newline="")))
        questions = report.questions if kind == "score" else report.details
        assert len(rows) == len(questions) + 1, payload
        assert {len(row) for row in rows} == {len(rows[0])}, payload
        begins = {cell[0] for row in rows for cell in row if cell}
        assert not begins & set("=+@\t\r\n"), payload


@kinds
@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_on_a_terminal_is_too_wide_or_obeyed(kind, width):
    for payload in PAYLOADS:
        written = render(report_with(kind, payload), "text", width=width)
        assert max(cell_len(line) for line in written.splitlines()) <= width, payload
        assert not any(ord(c) < 32 and c != "\n" for c in written), payload
        assert not any(line.lstrip().startswith("::") for line in written.splitlines()), payload


UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# A reader rejects half a character before it could reach a JSON report.
WHOLE = [payload for payload in PAYLOADS if "\ud800" not in payload]


@kinds
@pytest.mark.parametrize("form", FORMS)
def test_every_form_can_be_written_and_hides_nothing(kind, form):
    for payload in WHOLE if form == "json" else PAYLOADS:
        written = render(report_with(kind, payload), form)
        assert written.encode()
        assert not UNSEEN.search(written), payload
