"""Foreign text in questions, answers, contexts and labels stays text, in every form."""

import csv
import io
import re
from functools import cache

import pytest
from rich.cells import cell_len

from ragauge.contracts.evaluation import EvalReport
from ragauge.contracts.kinds import KINDS
from ragauge.reports.forms import render
from tests.reports.evaluation.answered import answered
from tests.reports.payloads import PAYLOADS
from tests.reports.test_hostile_text import UNSEEN, WHOLE, Shape, elements_of, parts_of
from tests.reports.test_html_in_browser import NARROW, WIDE, browser, opened

pytestmark = pytest.mark.slow

__all__ = ["browser", "opened"]

PLAIN = "plain words"


@cache
def made(text):
    return answered(text)


def test_a_page_has_the_tags_it_has_with_plain_words():
    plain = Shape(render(made(PLAIN), "html")).tags
    for payload in PAYLOADS:
        assert Shape(render(made(payload), "html")).tags == plain, payload


def test_a_comment_has_the_parts_it_has_with_plain_words():
    plain = list(parts_of(render(made(PLAIN), "markdown")))
    for payload in PAYLOADS:
        assert list(parts_of(render(made(payload), "markdown"))) == plain, payload
    assert len(render(made("long words " * 300), "markdown")) < 65_536


def test_junit_holds_the_elements_it_holds_with_plain_words():
    plain = elements_of(render(made(PLAIN), "junit"))
    for payload in PAYLOADS:
        assert elements_of(render(made(payload), "junit")) == plain, payload


def test_a_spreadsheet_has_its_rows_and_no_formula():
    rows = len(render(made(PLAIN), "csv").splitlines())
    for payload in PAYLOADS:
        read = list(csv.reader(io.StringIO(render(made(payload), "csv"), newline="")))
        assert len(read) == rows, payload
        assert {len(row) for row in read} == {len(read[0])}, payload
        assert not {cell[0] for row in read for cell in row if cell} & set("=+@\t\r\n"), payload


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_on_a_terminal_is_too_wide_or_obeyed(width):
    for payload in PAYLOADS:
        written = render(made(payload), "text", width=width)
        assert max(map(cell_len, written.splitlines())) <= width, payload
        assert not any(ord(c) < 32 and c != "\n" for c in written), payload
        assert not any(line.lstrip().startswith("::") for line in written.splitlines()), payload


def test_every_form_can_be_written_and_hides_nothing():
    for form in KINDS[EvalReport].forms:
        for payload in WHOLE if form == "json" else PAYLOADS:
            written = render(made(payload), form)
            assert written.encode()
            assert not UNSEEN.search(written), (form, payload)


def test_color_adds_styles_and_nothing_else():
    colored = render(made(PLAIN), "text", color=True, width=90)
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == render(made(PLAIN), "text", width=90)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_opens_from_disk_in_silence_and_fits(size, scheme, opened):
    for report in (answered(), answered(task="qa")):
        page, file = opened(report, size, scheme)
        page.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert page.quiet(file)
        assert page.overflow() <= 0


def test_the_first_answers_are_open_and_what_no_context_has_is_marked(opened):
    page, _ = opened(answered())
    assert page.page.locator(".grounds .question[open]").count() == 3
    tints = {
        tone: page.page.locator(f".grounds mark.{tone}").first.evaluate(
            "one => getComputedStyle(one).backgroundColor"
        )
        for tone in ("bad", "warm")
    }
    assert len(set(tints.values())) == 2


def test_foreign_text_never_runs_and_never_breaks_the_page(opened, tmp_path):
    page, _ = opened(made(PLAIN), NARROW)
    file = tmp_path / "hostile.html"
    for payload in PAYLOADS:
        file.write_bytes(render(made(payload), "html").encode())
        page.asked.clear()
        page.page.goto(file.as_uri())
        assert page.page.evaluate("window.hit") is None, payload
        assert page.quiet(file), payload
        assert page.overflow() <= 0, payload
