"""An audit on a terminal: the verdict first, then each code with its next step and its places."""

import re
from functools import partial

import pytest
from rich.cells import cell_len

from ragauge.contracts.audit import DepthCount
from ragauge.reports import rendering
from tests.reports.audit.made import answer, code, finding, gate, passing, telling

STYLES = re.compile(r"\x1b\[[0-9;]*m")
render = partial(rendering.render, form="text")


def squeezed(written):
    return [" ".join(line.split()) for line in written.splitlines()]


def section(written, title):
    """The lines of one section, squeezed."""
    parts = re.split(r"\n\n(?=\S)", written)
    [found] = [part for part in parts if part.startswith(title)]
    return squeezed(found)


def test_where_the_rows_end_before_the_wrong_answers_do_the_count_is_a_least():
    rows = tuple(answer(line, "missing_rev", f"q{line}") for line in range(1, 8))
    told = render(passing(passed=False, answers=rows)).splitlines()[0]
    assert told == "FAIL  at least 7 of 381 answers have citations that do not hold"


def test_a_gate_that_fails_where_every_citation_holds_is_named():
    report = passing(passed=False, gates=(gate("traceability.coverage", 0.7, 0.5),))
    assert render(report, width=120).splitlines()[0].endswith("; not so: traceability.coverage")


def test_a_depth_in_which_nothing_holds_has_no_bar():
    found = {"marker": DepthCount(checked=4, ok=0)}
    depths = section(render(passing(depths=found)), "Depths")
    assert depths[2].endswith("0 of 4 0.0 %")
    assert "█" not in "".join(depths)


@pytest.mark.parametrize("width", [80, 100])
def test_a_place_that_does_not_fit_hangs_below_itself(width):
    report = passing(
        codes=(code("missing_rev", 1, 1),), findings=(finding("missing_rev", 3, "word " * 40),)
    )
    lines = render(report, width=width).splitlines()
    start = next(n for n, line in enumerate(lines) if "traces.jsonl:3" in line)
    assert lines[start].startswith("    runs")
    assert lines[start + 1].startswith("      word")
    assert max(map(cell_len, lines)) <= width


def test_an_audit_that_passed_says_why_wrong_answers_did_not_stop_it():
    rows = (answer(1, "missing_rev"), answer(2, qid="q2"))
    first = render(passing(answers=rows)).splitlines()[0]
    assert first.endswith("1 of 381 answers has citations that do not hold, and the gates allow it")


def test_color_adds_styles_and_nothing_else():
    colored = render(telling(), color=True, width=90)
    assert STYLES.sub("", colored) == render(telling(), width=90)
