"""The stability report on a terminal: the verdict, the heat map, and why, at any width."""

import re

import pytest
from rich.cells import cell_len

from ragauge.contracts.run import Variation
from ragauge.reports import rendering
from tests.reports import sweeps

STYLES = re.compile(r"\x1b\[[0-9;]*m")


def render(report, *, color=False, width=100):
    return rendering.render(report, "text", color=color, width=width)


@pytest.fixture(scope="module")
def telling():
    return sweeps.telling()


@pytest.fixture(scope="module")
def large():
    return sweeps.large()


def section(written, title):
    """The lines below a title, up to the next one."""
    lines = written.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith(title))
    below = lines[start + 1 :]
    end = next((n for n, line in enumerate(below) if line and line[0] != " "), len(below))
    return [line for line in below[:end] if line.strip()]


def squeezed(line):
    return " ".join(line.split())


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_is_wider_than_asked(width, color, telling, large):
    for report in (telling, large, sweeps.steady(), sweeps.reference()):
        written = STYLES.sub("", render(report, color=color, width=width))
        assert max(cell_len(line) for line in written.splitlines()) <= width


def test_color_adds_styles_and_nothing_else(telling):
    colored = render(telling, color=True, width=80)
    assert "\x1b[" in colored
    assert STYLES.sub("", colored) == render(telling, width=80)


def test_gates_that_were_not_evaluated_fail_and_say_why():
    written = render(sweeps.unanswered(), width=80)
    assert written.startswith("FAIL  0 of 3 questions stable; 3 incomplete")
    lines = [squeezed(line) for line in section(written, "Gates")][1:]
    assert lines[:4] == [
        "stable 3 >= 1 NOT EVALUATED",
        "no question has a finished run",
        "Answer consistency (acr) 3 >= 0.95 NOT EVALUATED",
        "per question where answerable=true; no question has a finished run",
    ]
    assert len(lines) == 14


def test_only_factors_that_vary_head_the_columns(large):
    heads = section(render(large, width=80), "Heat map")[:3]
    assert [head.split()[0] for head in heads] == ["jitter", "temperature", "seed"]
    [first, *_] = section(render(sweeps.steady(), width=80), "Heat map")
    assert first.split() == ["seed", "01234", "correct"]


def test_where_room_is_short_runs_are_merged_and_it_says_so(large):
    lines = section(render(large, width=60), "Heat map")
    assert lines[0].split() == ["jitter", "none", "ws", "punct", "syn", "order", "correct"]
    assert lines[2].split() == ["q0010", "xx", "xx", "xx", "xx", "xx", "0", "of", "50"]
    told = squeezed(" ".join(lines))
    assert "within a group: temperature 0 0.2" in told
    assert "a cell is 5 runs (seed): + all correct, 1 to 9 the tenths that are" in told


def test_of_many_questions_the_unstable_are_drawn_and_the_rest_counted(large):
    lines = section(render(large, width=80), "Heat map")
    assert len([line for line in lines if line.startswith("  q0")]) == 30
    assert "  stable pass" not in lines
    assert "  30 of 200 questions are shown" in lines


def test_many_stable_questions_are_counted_too():
    columns = sweeps.grid(jitters=("none",))
    steady = sweeps.report({f"q{n:02d}": {"cells": "+++++"} for n in range(40)}, columns)
    lines = section(render(steady, width=80), "Heat map")
    assert len([line for line in lines if line.startswith("  q")]) == 30
    assert "  30 of 40 questions are shown" in lines


def test_a_run_that_is_alone_says_what_it_came_to():
    report = sweeps.report({"q1": {"cells": "c"}}, sweeps.grid(("none",), seeds=(3,)))
    assert "    claim incorrect: the only run" in render(report, width=80).splitlines()


def test_what_differs_stands_out_in_bold(telling):
    assert "\x1b[1mhangs\x1b[0m" in render(telling, color=True, width=120)


def test_wide_signs_keep_the_columns_apart():
    columns = sweeps.grid(jitters=("none",))
    row = {
        "cells": "++ccc",
        "asked": "故宮博物院收藏什麼？",
        "claims": {"+": "故宮博物院收藏瓷器🏺與書畫作品" * 3, "c": "它收藏現代汽車🚗" * 4},
    }
    written = render(sweeps.report({"問題一": row, "q2": {"cells": "+++++"}}, columns), width=80)
    bars = [line for line in written.splitlines() if "│" in line]
    assert {cell_len(line.partition("│")[0]) for line in bars} == {41}
    rows = [line for line in section(written, "Heat map") if " of " in line]
    assert len({cell_len(line[: line.index("+")]) for line in rows}) == 1


def test_at_most_eight_questions_are_told_in_full_and_some_of_each_verdict(large):
    written = "\n".join(section(render(large, width=80), "Answers"))
    told = re.findall(r"^  q\d+  (stable fail|flaky)", written, re.MULTILINE)
    assert (told.count("stable fail"), told.count("flaky")) == (4, 4)
    assert "and 192 more; --report FILE.html shows them with their runs" in written


def test_runs_beyond_the_grid_have_columns_of_their_own():
    columns = (*sweeps.grid(jitters=("none", "ws"), seeds=range(2)), Variation(seed=9, repeat=1))
    report = sweeps.report({"q1": {"cells": "++++c"}}, columns)
    lines = section(render(report, width=80), "Heat map")
    assert lines[0].split() == ["jitter", "none", "ws", "none"]
    assert [line.split() for line in lines if "q1" in line] == [
        ["q1", "+", "+", "+", "+", "c", "4", "of", "5"]
    ]
