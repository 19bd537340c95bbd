"""The confusion matrix: every count at its place, at any width, and n × n cells on the page."""

import msgspec
import pytest
from rich.cells import cell_len

from ragauge.reports.document import plain
from ragauge.reports.figures.matrix import NO_ROOM, Matrix, lines, svg
from ragauge.reports.forms import render
from ragauge.reports.kinds.evaluation_tables import matrices
from tests.reports.evaluation.reports import LETTERS, types

LONG = tuple(f"museum of {letter}" for letter in LETTERS)
LABELS = (*LETTERS, "OTHER", "MISSING")


def matrix(labels, counts):
    return Matrix(title="Confusion matrix", labels=tuple(labels), counts=counts)


def drawn_lines(given, width):
    return [plain(line) for line in lines(given, width)]


def test_a_narrow_page_has_shades_with_upright_heads_and_a_narrower_one_words():
    [whole, _] = matrices(types().detail)
    drawn = drawn_lines(whole.seen(), 58)
    assert drawn[3].split() == [*"GLAMORCUBESFIXHDNT", "E", "S", "n"]
    assert drawn[4].split()[:2] == ["G", "██░░"]
    assert max(map(cell_len, drawn)) <= 58
    assert drawn_lines(whole.seen(), 43) == []
    written = " ".join(render(types(), "text", width=45).split())
    assert NO_ROOM in written
    assert "Top confusions" in written


def test_labels_that_are_alike_when_cut_have_numbers():
    long = matrix(LONG, types(labels=LONG).detail.matrix)
    for width, first in ((120, "1 museum of G"), (70, "1 museum")):
        drawn = drawn_lines(long, width)
        assert max(map(cell_len, drawn)) <= width
        assert any(line.strip().startswith(first) for line in drawn)


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
        drawn = drawn_lines(matrix(labels, counts), width)
        assert all(cell_len(line) <= width for line in drawn)


def test_labels_that_occur_nowhere_are_not_drawn_on_a_terminal_but_counted():
    assert "1 label neither in gold nor predicted" in render(types(), "text", width=140)


def test_large_counts_have_wider_cells():
    big = matrix("ab", ((1_234_567, 1), (0, 5)))
    small = matrix("ab", ((1, 1), (0, 5)))
    cell = 'class="x-right" x="0" width="{}"'
    assert cell.format(29) in svg(small)
    assert cell.format(79) in svg(big)
    assert ">1,234,567</text>" in svg(big)


def test_without_items_nothing_is_drawn():
    detail = msgspec.structs.replace(types().detail, labels=(), matrix=(), categories=())
    assert matrices(detail) == []
