"""Foreign text in every field of an evaluation stays text, in every form."""

import csv
import io
import re
from functools import cache

import pytest
from rich.cells import cell_len

from ragauge.contracts.evaluation import EvalAllReport, EvalReport
from ragauge.contracts.kinds import KINDS
from ragauge.reports.forms import render
from tests.reports.evaluation.reports import MAKERS, everything, hostile
from tests.reports.payloads import PAYLOADS
from tests.reports.test_hostile_text import UNSEEN, WHOLE, Shape, elements_of, parts_of

PLAIN = "plain words"
NAMES = [*MAKERS, "all"]
every = pytest.mark.parametrize("name", NAMES)


@cache
def made(name, text):
    return everything(text) if name == "all" else hostile(name, text)


@every
def test_a_page_has_the_tags_it_has_with_plain_words(name):
    plain = Shape(render(made(name, PLAIN), "html")).tags
    for payload in PAYLOADS:
        assert Shape(render(made(name, payload), "html")).tags == plain, payload


@every
def test_a_comment_has_the_parts_it_has_with_plain_words(name):
    plain = list(parts_of(render(made(name, PLAIN), "markdown")))
    for payload in PAYLOADS:
        assert list(parts_of(render(made(name, payload), "markdown"))) == plain, payload


@every
def test_junit_holds_the_elements_it_holds_with_plain_words(name):
    plain = elements_of(render(made(name, PLAIN), "junit"))
    for payload in PAYLOADS:
        assert elements_of(render(made(name, payload), "junit")) == plain, payload


@pytest.mark.parametrize("name", MAKERS)
def test_a_spreadsheet_has_its_rows_and_no_formula(name):
    rows = len(render(made(name, PLAIN), "csv").splitlines())
    for payload in PAYLOADS:
        read = list(csv.reader(io.StringIO(render(made(name, payload), "csv"), newline="")))
        assert len(read) == rows, payload
        assert {len(row) for row in read} == {len(read[0])}, payload
        assert not {cell[0] for row in read for cell in row if cell} & set("=+@\t\r\n"), payload


@every
@pytest.mark.parametrize("width", [40, 60, 100, 140])
def test_no_line_on_a_terminal_is_too_wide_or_obeyed(name, width):
    for payload in PAYLOADS:
        written = render(made(name, payload), "text", width=width)
        assert max(map(cell_len, written.splitlines())) <= width, payload
        assert not any(ord(c) < 32 and c != "\n" for c in written), payload
        assert not any(line.lstrip().startswith("::") for line in written.splitlines()), payload


@every
def test_every_form_can_be_written_and_hides_nothing(name):
    forms = KINDS[EvalAllReport if name == "all" else EvalReport].forms
    for form in forms:
        for payload in WHOLE if form == "json" else PAYLOADS:
            written = render(made(name, payload), form)
            assert written.encode()
            assert not UNSEEN.search(written), (form, payload)


def test_a_comment_stays_below_the_limit_of_github():
    long = "long words " * 300
    for name in NAMES:
        assert len(render(made(name, long), "markdown")) < 65_536


def test_color_adds_styles_and_nothing_else():
    for name in NAMES:
        colored = render(made(name, PLAIN), "text", color=True, width=90)
        assert "\x1b[" in colored
        assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == render(made(name, PLAIN), "text", width=90)
