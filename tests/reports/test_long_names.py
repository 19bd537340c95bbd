"""Metrics with abbreviated ids are shown with their long names, as far as there is room."""

import pytest

from ragauge.reports.rendering import render
from tests.reports.evaluation import reports

LONG = "Normalised discounted cumulative gain (ndcg@10)"


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_table_has_the_long_name_next_to_the_short_one(form):
    assert LONG in render(reports.MAKERS["retrieval"](), form)


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_terminal_has_the_short_name_and_every_interval(width):
    printed = render(reports.MAKERS["retrieval"](), "text", width=width)
    row = next(line for line in printed.splitlines() if line.startswith("  ndcg@10 "))
    assert "0.500" in row
    assert "[0.460, 0.540]" in row
    assert "…" not in row
    assert LONG not in printed
    assert "Normalised discounted cumulative gain" in printed
