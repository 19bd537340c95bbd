"""The confusion matrix: every count at its place, at any width, and in words on the page."""

import msgspec
import pytest
from rich.cells import cell_len

from ragauge.reports.document import Document
from ragauge.reports.formats import text
from ragauge.reports.kinds import evaluation
from ragauge.reports.kinds.evaluation_tables import confusion
from ragauge.reports.rendering import render
from tests.reports.evaluation.reports import LETTERS, types
from tests.reports.test_html import Page

LONG = tuple(f"museum of {letter}" for letter in LETTERS)
LABELS = (*LETTERS, "OTHER", "MISSING")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_every_width_fits_any_labels_and_shows_every_count(width):
    for labels in (LABELS, LONG, ("漢字かな", "博物館", "é" * 30, "x"), ("a\x1b[1m", "<b>")):
        size = len(labels)
        counts = [[1000 + size * row + column for column in range(size)] for row in range(size)]
        made = Document("eval types", [confusion("Confusion matrix", labels, counts)])
        drawn = text.render(made, width=width)
        assert all(cell_len(line) <= width for line in drawn.splitlines())
        assert "\x1b" not in drawn
        words = drawn.split()
        assert all(f"{times:,}" in words for row in counts for times in row)


def test_a_terminal_has_no_matrix_of_many_labels():
    labels = tuple(map(str, range(120)))
    made = Document("eval types", [confusion("Confusion matrix", labels, [[1] * 120] * 120)])
    assert "Confusion" not in text.render(made)


def test_a_count_says_what_it_is_on_the_page():
    page = Page(render(types(), "html"))
    hints = [cell.get("title") for cell in page.all("td")]
    assert "gold G, predicted L: 4, 11.8 % of the row" in hints


def test_labels_that_occur_nowhere_are_not_drawn_but_counted():
    for form in ("text", "markdown", "html"):
        assert "1 label neither in gold nor predicted" in render(types(), form)


def test_without_items_nothing_is_drawn():
    detail = msgspec.structs.replace(types().detail, labels=(), matrix=(), categories=())
    assert evaluation.document(types(detail=detail)).part("confusion") == []
