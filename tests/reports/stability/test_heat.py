"""The columns of the heat map, apart and merged."""

from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from ragauge.contracts.stability import CELLS, right_of
from ragauge.metrics.worst_first import swept_questions
from ragauge.reports import rendering
from ragauge.reports.figures.heat_map import (
    LETTERS,
    HeatMap,
    HeatRow,
    fit_axis,
    merged,
    varying,
)
from tests.reports import sweeps

COLUMNS = sweeps.grid(("none", "ws"), (0.0, 0.2), range(3))


def test_every_letter_of_the_contract_is_drawn():
    assert set(LETTERS) == set(CELLS)


def test_only_what_varies_makes_columns():
    assert varying(COLUMNS) == ("jitter", "temperature", "seed")
    assert varying(COLUMNS[:3]) == ("seed",)
    assert varying(COLUMNS[:1]) == ()


def at_most(columns):
    return fit_axis(COLUMNS, lambda axis: len(axis.columns) <= columns)


@pytest.mark.parametrize(
    ("room", "factors", "drawn"),
    [
        (12, ("jitter", "temperature", "seed"), 12),
        (11, ("jitter", "temperature"), 4),
        (3, ("jitter", "temperature"), 2),
    ],
)
def test_the_innermost_factor_is_merged_first(room, factors, drawn):
    axis = at_most(room)
    assert (axis.factors, len(axis.columns)) == (factors, drawn)
    places = [place for places in axis.columns.values() for place in places]
    assert sorted(places) == list(range(12))


def test_merged_runs_have_one_letter():
    axis = at_most(4)
    assert axis.columns["none", "0.2"] == [3, 4, 5]
    assert "".join(axis.row("+++++crrrr+x")) == "+6r3"


@pytest.mark.parametrize(
    ("letters", "letter"),
    [("++++", "+"), ("+++c", "7"), ("+ccc", "2"), ("x" * 30 + "+", "1"), ("ccx", "c")],
)
def test_a_merged_cell_tells_the_tenths_or_the_commonest_failure(letters, letter):
    assert merged(letters) == letter


def test_runs_that_were_not_needed_count_neither_way():
    assert merged("+==.") == "+"
    assert merged("==") == "="
    assert right_of("+c!?=.") == (1, 4)


def test_the_worst_stand_first_and_ties_by_qid():
    rows = {
        "b": {"cells": "++++"},
        "a": {"cells": "++++"},
        "d": {"cells": "+++c"},
        "c": {"cells": "+ccc"},
        "e": {"cells": "cccc"},
        "f": {"cells": "+++?"},
    }
    report = sweeps.report(rows, sweeps.grid(jitters=("none",), seeds=range(4)))
    assert swept_questions(report) == ["e", "c", "d", "f", "a", "b"]


def drawn(report):
    """The elements of a heat map on a page, by tag: attributes and text."""
    rows = [
        HeatRow(qid, report.details[qid].verdict, report.cells[qid])
        for qid in swept_questions(report)
    ]
    links = SimpleNamespace(to=lambda target: None)
    written = HeatMap(report.columns, rows, len(rows)).html(links)
    return ElementTree.fromstring(f"<map>{written.replace(' data-plain', '')}</map>")


def test_headings_span_their_columns():
    for report in (sweeps.telling(), sweeps.steady(), sweeps.large(20)):
        table = drawn(report).find(".//table")
        wide = [
            sum(int(cell.get("colspan", 1)) for cell in row)
            for row in table.iter("tr")
            if len(row) > 1  # a verdict is alone in its row
        ]
        groups = sum(int(group.get("span", 1)) for group in table.findall("colgroup"))
        assert {*wide} == {groups}


def test_many_levels_of_one_factor_are_drawn_in_stretches_of_neighbours():
    columns = sweeps.grid(jitters=("none",), seeds=range(2_000))
    found = fit_axis(columns, lambda axis: len(axis.columns) <= 60)
    keys = list(found.columns)
    assert found.factors == ("seed",) and 50 <= len(keys) <= 60
    assert keys[0] == ("0–33",) and keys[-1] == ("1972–1999",)
    assert [place for places in found.columns.values() for place in places] == list(range(2_000))
    assert "".join(found.row("+" * 1_972 + "c" * 28)) == "+" * 58 + "c"


def test_stretches_stay_within_the_levels_of_outer_factors():
    columns = sweeps.grid(jitters=("none", "ws"), seeds=range(500))
    found = fit_axis(columns, lambda axis: len(axis.columns) <= 60)
    assert found.factors == ("jitter", "seed") and len(found.columns) <= 60
    for key, places in found.columns.items():
        assert {columns[place].jitter for place in places} == {key[0]}


@pytest.mark.parametrize("width", [40, 80])
def test_a_terminal_shows_stretches_too(width):
    columns = sweeps.grid(jitters=("none",), seeds=range(500))
    report = sweeps.report({"q1": {"cells": "+c" * 250}}, columns)
    written = rendering.render(report, "text", width=width).partition("Heat map")[2]
    row = next(line for line in written.splitlines() if line.startswith("  q1  "))
    assert row.count("5") > 10


@pytest.mark.slow
def test_a_page_of_many_runs_says_what_a_cell_holds():
    columns = sweeps.grid(jitters=("none",), seeds=range(2_000))
    report = sweeps.report({"q1": {"cells": "+c" * 1_000}}, columns)
    *cells, correct = drawn(report).findall(".//td")
    assert correct.text == "1,000 of 2,000"
    assert (cells[0].text, cells[0].get("class")) == ("5", "c-some n5")
    assert cells[0].get("title") == "q1, seed 0–16: 9 of 17 correct"
