"""The confusion matrix: every count at its place, at any width, and n × n cells on the page."""

import msgspec
import pytest
from rich.cells import cell_len

from ragauge.reports.evaluation import matrix_text
from ragauge.reports.evaluation.labels import Matrix, matrices
from ragauge.reports.evaluation.matrix_drawing import drawn
from ragauge.reports.forms import render
from tests.reports.evaluation.reports import LETTERS, types

LONG = tuple(f"museum of {letter}" for letter in LETTERS)
LABELS = (*LETTERS, "OTHER", "MISSING")


def matrix(labels, counts):
    return Matrix(title="Confusion matrix", labels=tuple(labels), counts=counts)


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


def test_large_counts_have_wider_cells():
    big = matrix("ab", ((1_234_567, 1), (0, 5)))
    assert drawn(big).cell > drawn(matrix("ab", ((1, 1), (0, 5)))).cell
    assert drawn(big).lines[0].cells[0].count == "1,234,567"


def test_without_items_nothing_is_drawn():
    detail = msgspec.structs.replace(types().detail, labels=(), matrix=(), categories=())
    assert matrices(detail) == []
