"""The confusion matrix: every count at its place, at any width, and n × n cells on the page."""

import re

import msgspec
import pytest
from rich.cells import cell_len

from ragauge.reports.evaluation import matrix_text
from ragauge.reports.evaluation.labels import Matrix, matrices
from ragauge.reports.evaluation.matrix_drawing import drawn
from ragauge.reports.forms import render
from tests.reports.evaluation.reports import LETTERS, types
from tests.reports.test_html import Page

LONG = tuple(f"museum of {letter}" for letter in LETTERS)
LABELS = (*LETTERS, "OTHER", "MISSING")


def matrix(labels, counts):
    return Matrix(title="Confusion matrix", labels=tuple(labels), counts=counts)


def test_counts_stand_under_their_heads():
    small = matrix("ab", ((12, 3), (0, 5)))
    assert [line.plain.rstrip() for line in matrix_text.lines(small, 60)] == [
        "       a   b    n",
        "  a  12█  3░   15",
        "  b   ·   5█    5",
    ]


def test_the_shade_is_the_share_of_the_row():
    row = matrix("abcd", ((10, 30, 60, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 0)))
    assert matrix_text.lines(row, 60)[1].plain.split() == ["a", "10░", "30▒", "60▓", "·", "100"]


def test_a_narrow_page_has_shades_with_upright_heads_and_a_narrower_one_words():
    [whole, _] = matrices(types().detail)
    lines = [line.plain for line in matrix_text.lines(whole.seen(), 60)]
    assert lines[3].split() == [*"GLAMORCUBESFIXHDNT", "E", "S", "n"]
    assert lines[4].split()[:2] == ["G", "██░░"]
    assert max(map(cell_len, lines)) <= 60
    assert matrix_text.lines(whole.seen(), 45) == []
    written = " ".join(render(types(), "text", width=45).split())
    assert matrix_text.NO_ROOM in written
    assert "Top confusions" in written


def test_labels_that_are_alike_when_cut_have_numbers():
    long = matrix(LONG, types(labels=LONG).detail.matrix)
    for width, first in ((120, "1 museum of G"), (70, "1 museum")):
        lines = [line.plain for line in matrix_text.lines(long, width)]
        assert max(map(cell_len, lines)) <= width
        assert any(line.strip().startswith(first) for line in lines)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_every_width_fits_any_labels(width):
    for labels in (
        LABELS,
        LONG,
        ("漢字かな", "博物館", "é" * 30, "x"),
        tuple(map(str, range(120))),
    ):
        size = len(labels)
        counts = tuple(tuple((r * c) % 1200 for c in range(size)) for r in range(size))
        lines = matrix_text.lines(matrix(labels, counts), width)
        assert all(cell_len(line.plain) <= width for line in lines)


def test_labels_that_occur_nowhere_are_not_drawn_on_a_terminal_but_counted():
    assert "1 label neither in gold nor predicted" in render(types(), "text", width=140)


def test_the_page_has_a_cell_for_every_pair_of_labels():
    for labels in (LABELS, LONG):
        made = types(labels=labels)
        page = Page(render(made, "html"))
        cells = [one for one in page.all("rect") if one.get("class", "").startswith("x-")]
        assert len(cells) == len(labels) ** 2 + 4**2


def test_the_drawing_says_what_the_matrix_says():
    [whole, _] = matrices(types().detail)
    drawing = drawn(whole)
    for row, line in enumerate(drawing.lines):
        told = [int(cell.count or 0) for cell in line.cells]
        assert tuple(told) == whole.counts[row]
        assert int(line.total) == sum(told)
    assert drawing.lines[9].cells[10].title == "gold E, predicted S: 8, 18.2 % of the row"
    assert drawing.lines[0].cells[0].kind == "right"
    assert float(drawing.lines[0].cells[0].opacity) > float(drawing.lines[0].cells[1].opacity)
    assert drawing.lines[13].cells[3].kind == "none"
    assert [head.upright for head in drawing.heads[-3:]] == [False, True, True]


def test_large_counts_have_wider_cells():
    big = matrix("ab", ((1_234_567, 1), (0, 5)))
    assert drawn(big).cell > drawn(matrix("ab", ((1, 1), (0, 5)))).cell
    assert drawn(big).lines[0].cells[0].count == "1,234,567"


def test_a_comment_has_the_matrix_as_text():
    written = render(types(), "markdown")
    block = re.search(r"```text\n(.*?)```", written, re.DOTALL)
    assert "8░" in block[1]
    assert "OTHER" in block[1]


def test_without_items_nothing_is_drawn():
    detail = msgspec.structs.replace(types().detail, labels=(), matrix=(), categories=())
    assert matrices(detail) == []
