"""Foreign text in every field of every kind of report stays text, in every format."""

import csv
import io
import json
import re
from functools import cache, partial
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len

from ragauge.contracts.kinds import KINDS
from ragauge.reports.rendering import render
from tests.chromium import NARROW, started
from tests.reports import sweeps
from tests.reports.audit import made as audits
from tests.reports.comparison.comparisons import comparison, line
from tests.reports.conftest import failing
from tests.reports.evaluation import reports
from tests.reports.evaluation.answered import answered
from tests.reports.payloads import PAYLOADS
from tests.reports.test_diagnosis import reworded, telling
from tests.reports.test_html_in_browser import Opened
from tests.reports.trace_eval import made as traced

pytestmark = pytest.mark.slow

PLAIN = "plain words"
LONGEST_COMMENT = 65_536
"""GitHub refuses a longer one."""


def diagnosed(text, language="en"):
    return reworded(telling(text, language), lambda path: text)


MAKERS = {
    "score": failing,
    "stability": sweeps.hostile,
    "audit": audits.telling,
    "trace-eval": traced.telling,
    "comparison": comparison,
    "history": line,
    "diagnosis": diagnosed,
    "diagnosis-chinese": partial(diagnosed, language="zh"),
    **{f"eval-{task}": partial(reports.hostile, task) for task in reports.MAKERS},
    "eval-answers": answered,
    "eval-all": reports.everything,
}
ALONE = tuple(text for text in PAYLOADS if len(text) > 1000 or text[0] in "=:\x00")
"""What has to begin a field, or fills it."""
_TOGETHER = [text for text in PAYLOADS if text not in ALONE]
TEXTS = (*(" ".join(_TOGETHER[at : at + 8]) for at in range(0, len(_TOGETHER), 8)), *ALONE)
UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_MARKS = {"mark", "/mark", "bdi", "/bdi", "strong_open", "strong_close"}
COMPARED = {"comparison": _MARKS, "eval-answers": _MARKS}
"""Kinds that mark where two texts differ, which depends on the texts; and the marks."""
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


def parts_of(written):
    for token in MARKDOWN.parse(written):
        yield token.type
        for child in token.children or ():
            if child.type not in ("text", "text_special", "code_inline"):
                yield child.type


def commands_of(written):
    return [re.match(r"::(\w+)(?: (\w+)=)?", line).groups() for line in written.splitlines()]


def elements_of(written):
    return [element.tag for element in ElementTree.fromstring(written).iter()]


def cells_of(written):
    """How many cells each row has; no cell may be a formula."""
    rows = list(csv.reader(io.StringIO(written, newline="")))
    assert not {cell[0] for row in rows for cell in row if cell} & set("=+@\t\r\n")
    return [len(row) for row in rows]


def shape_of(value):
    """JSON without its texts and numbers."""
    if isinstance(value, dict):
        return {key: shape_of(inner) for key, inner in value.items()}
    return [shape_of(inner) for inner in value] if isinstance(value, list) else type(value)


def sarif_of(written):
    for uri in re.findall(r'"uri": "(.*)"', written):
        assert re.fullmatch(r"(file://)?[A-Za-z0-9/._~%-]+", uri)
    assert "](" not in written
    return shape_of(json.loads(written))


STRUCTURE = {
    "html": lambda written: Shape(written).tags,
    "markdown": lambda written: list(parts_of(written)),
    "junit": elements_of,
    "github": commands_of,
    "csv": cells_of,
    "sarif": sarif_of,
}


def structure(kind, form, written):
    found, marks = STRUCTURE[form](written), COMPARED.get(kind)
    if not marks or form not in ("html", "markdown"):
        return found
    return [one for one in found if (one if form == "markdown" else one[0]) not in marks]


@kinds
def test_a_format_has_the_structure_it_has_with_plain_words(kind):
    for form in set(KINDS[type(report_with(kind, PLAIN))].forms) & STRUCTURE.keys():
        plain = structure(kind, form, render(report_with(kind, PLAIN), form))
        for text in TEXTS:
            written = render(report_with(kind, text), form)
            assert written.encode()
            assert not UNSEEN.search(written), (form, text)
            assert structure(kind, form, written) == plain, (form, text)


@kinds
@pytest.mark.parametrize("width", [40, 100])
def test_no_line_on_a_terminal_is_too_wide_or_obeyed(kind, width):
    for text in TEXTS:
        written = render(report_with(kind, text), "text", width=width)
        assert max(cell_len(line) for line in written.splitlines()) <= width, text
        assert not UNSEEN.search(written), text
        assert not any(line.lstrip().startswith("::") for line in written.splitlines()), text


@kinds
def test_a_comment_stays_below_the_limit_of_github(kind):
    assert len(render(report_with(kind, "long words " * 300), "markdown")) < LONGEST_COMMENT


@kinds
def test_color_adds_styles_and_nothing_else(kind):
    colored = render(report_with(kind, PLAIN), "text", color=True, width=90)
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == render(
        report_with(kind, PLAIN), "text", width=90
    )


@pytest.fixture(scope="module")
def browser():
    with started() as browser:
        yield browser


@pytest.mark.parametrize("kind", [kind for kind in MAKERS if kind != "history"])
def test_foreign_text_never_runs_and_never_breaks_the_page(kind, browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_bytes(render(report_with(kind, PLAIN), "html").encode())
    page = Opened(browser, file, NARROW, "light")
    for text in (PLAIN, *TEXTS):
        file.write_bytes(render(report_with(kind, text), "html").encode())
        page.asked.clear()
        page.page.goto(file.as_uri())
        page.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert page.page.evaluate("window.hit") is None, text
        assert page.quiet(file), text
        assert page.overflow() <= 0, text
    page.context.close()
