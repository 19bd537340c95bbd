"""The stability report on a terminal: the verdict, the heat map, and why, at any width."""

import re

import pytest
from msgspec import structs
from rich.cells import cell_len

from ragauge.contracts.finding import Finding
from ragauge.contracts.run import Variation
from ragauge.reports.stability.console import excerpt, render
from tests.reports import sweeps

STYLES = re.compile(r"\x1b\[[0-9;]*m")


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


def test_the_verdict_and_the_cost_come_first(telling):
    assert render(telling, width=80).splitlines()[:2] == [
        "FAIL  5 of 12 questions stable; 5 flaky, 1 stable fail, 1 incomplete",
        "      230 runs planned: 210 made, 1 failed, 1 missing, 18 saved",
    ]
    assert render(sweeps.steady()).splitlines()[:2] == [
        "PASS  4 of 4 questions stable",
        "      20 runs planned: 20 made",
    ]


def test_questions_are_drawn_in_proportion(telling):
    bars = {line.split("  ")[1]: line.count("█") for line in section(render(telling), "Questions")}
    assert bars["stable pass"] == bars["flaky"] == 16
    assert bars["stable fail"] == 3


def test_a_gate_says_how_many_questions_hold_it(telling):
    lines = [squeezed(line) for line in section(render(telling, width=80), "Gates")]
    assert lines[1] == "stable >= 1 all 5 of 12 41.7 % █████▉ FAIL"
    assert lines[2] == "acr >= 0.95 answerable 5 of 10 50.0 % ███████ FAIL"
    assert lines[3] == "5 of 10 fail: h013, h022, h030, h041, h050"
    assert "ned50 <= 0.20 answerable 10 of 10 100.0 % ██████████████ pass" in lines


def test_the_gates_of_the_reference_are_its_verdicts():
    lines = [squeezed(line) for line in section(render(sweeps.reference(), width=80), "Gates")]
    assert lines[1:4] == [
        "stable >= 1 all 0 of 1 0.0 % FAIL",
        "acr >= 0.95 answerable 0 of 1 0.0 % FAIL",
        "1 of 1 fail: A0001",
    ]
    assert "scu_cons = 1 all 1 of 1 100.0 % ██████████████ pass" in lines
    place = lines.index("rcr >= 0.98 unanswerable – – not applicable")
    assert lines[place + 1] == "no question the rule applies to"


def test_a_gate_with_a_long_bound_still_says_whom_it_is_about():
    made = sweeps.steady()
    acr = structs.replace(
        made.verdicts[1],
        bound=0.98765432,
        rule="stability.acr>=0.98765432 per question where answerable=true",
    )
    lines = section(render(structs.replace(made, verdicts=(acr,)), width=80), "Gates")
    assert squeezed(lines[1]).startswith("acr >= 0.98765432 answerable 4 of 4")


def test_gates_that_were_not_evaluated_fail_and_say_why():
    written = render(sweeps.unanswered(), width=80)
    assert written.startswith("FAIL  0 of 3 questions stable; 3 incomplete")
    lines = [squeezed(line) for line in section(written, "Gates")][1:]
    assert lines[:4] == [
        "stable >= 1 all – – NOT EVALUATED",
        "no question has a finished run",
        "acr >= 0.95 answerable – – NOT EVALUATED",
        "no question has a finished run",
    ]
    assert len(lines) == 14


def test_a_mean_is_plotted_with_its_interval(telling):
    [acr] = [line for line in section(render(telling, width=80), "Means") if "acr" in line]
    assert squeezed(acr).startswith("acr 0.725 [0.645, 0.785] 10 of 12 ├")
    assert re.search("├─+●─*┤", acr)
    wide = section(render(telling, width=120), "Means")
    assert any("runs with the right claim" in line for line in wide)


def test_the_heat_map_has_a_row_a_question_the_worst_first(telling):
    assert section(render(telling, width=80), "Heat map")[:16] == [
        "  jitter       none  ws    punct syn",
        "  seed         01234 01234 01234 01234  right",
        "  stable fail",
        "  h041         ccccc ccccc ccccc ccccc  0 of 20",
        "  flaky",
        "  h050         xc=== ===== ===== =====  0 of 2",
        "  h022         +++rr +++rr +++rr +++rr  12 of 20",
        "  h013         +++++ +++++ +++++ ccccc  15 of 20",
        "  h030         ++h+x +++++ h++++ k+++x  15 of 20",
        "  h048         +a+++ +a+++ +a+++ +a+++  16 of 20",
        "  incomplete",
        "  h049         +++++ ++!++ +++++ +?+++  18 of 20",
        "  stable pass",
        "  h001         +++++ +++++ +++++ .....  15 of 15",
        "  h002         +++++ +++++ +++++ .....  15 of 15",
        "  h005         +++++ +++++ +++++ +++++  20 of 20",
    ]


def test_the_legend_explains_the_letters_that_occur():
    written = "\n".join(section(render(sweeps.reference(), width=80), "Heat map"))
    assert "+ right  c claim wrong" in written
    assert "failed" not in written


def test_only_factors_that_vary_head_the_columns(large):
    heads = section(render(large, width=80), "Heat map")[:3]
    assert [head.split()[0] for head in heads] == ["jitter", "temperature", "seed"]
    [first, *_] = section(render(sweeps.steady(), width=80), "Heat map")
    assert first.split() == ["seed", "01234", "right"]


def test_where_room_is_short_runs_are_merged_and_it_says_so(large):
    lines = section(render(large, width=60), "Heat map")
    assert lines[0].split() == ["jitter", "none", "ws", "punct", "syn", "order", "right"]
    assert lines[2].split() == ["q0010", "xx", "xx", "xx", "xx", "xx", "0", "of", "50"]
    told = squeezed(" ".join(lines))
    assert "within a group: temperature t0 t0.2" in told
    assert "a cell is 5 runs (seed): + all right, 1 to 9 the tenths that are" in told


def test_of_many_questions_the_unstable_are_drawn_and_the_rest_counted(large):
    lines = section(render(large, width=80), "Heat map")
    assert len([line for line in lines if line.startswith("  q0")]) == 30
    assert "  stable pass" not in lines
    assert "  and 25 more that are not stable and 145 that are" in lines


def test_many_stable_questions_are_counted_too():
    columns = sweeps.grid(jitters=("none",))
    steady = sweeps.report({f"q{n:02d}": {"cells": "+++++"} for n in range(40)}, columns)
    lines = section(render(steady, width=80), "Heat map")
    assert len([line for line in lines if line.startswith("  q")]) == 30
    assert "  and 10 that are" in lines


def test_two_runs_stand_side_by_side(telling):
    lines = section(render(telling, width=80), "Questions that are not stable")
    start = lines.index("  h013  flaky  What museum holds The Night Watch?")
    assert lines[start + 1 : start + 9] == [
        "    fails: acr 0.75 < 0.95",
        "    jitter: 15 of 30 pairs differ",
        "    right: seed 0, jitter none           │ claim wrong: seed 0, jitter syn",
        "                                         │ asked: Tell me what museum holds The",
        "                                         │ Night Watch?",
        "    said: The Night Watch hangs in the   │ said: The Night Watch is kept in the",
        "    Rijksmuseum in Amsterdam.            │ Mauritshuis in The Hague.",
        "    cited: p1#1                          │ cited: p1#1",
    ]


def test_repeats_without_ids_of_their_own_say_which_they_are_and_what_they_came_to():
    report = sweeps.repeated()
    assert report.details["q1"].examples[0].run_id == "seed=0;t=0;j=none;p=0"
    lines = section(render(report, width=80), "Questions that are not stable")
    assert "    right: repeat 0                      │ claim wrong: repeat 2" in lines


def test_a_run_that_is_alone_says_what_it_came_to():
    report = sweeps.report({"q1": {"cells": "c"}}, sweeps.grid(("none",), seeds=(3,)))
    assert "      claim wrong: the only run" in render(report, width=80).splitlines()


def test_on_a_narrow_page_they_stand_one_below_the_other(telling):
    written = render(telling, width=60)
    assert "│" not in written
    first = written.index("      said: The Night Watch hangs")
    assert first < written.index("      said: The Night Watch is kept")


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


def test_the_factors_are_plotted_the_strongest_first(telling):
    lines = section(render(telling, width=80), "What varies")
    assert [squeezed(line).split("█")[0].strip() for line in lines] == ["seed", "jitter"]
    assert squeezed(lines[0]).endswith("59 of 413 14.3 %")


def test_jitters_without_effect_advice_findings_coverage_and_next_are_told(telling):
    written = render(telling, width=100)
    assert "syn  changes nothing in 2 of 12 questions: not run there" in written
    assert "1. The retrieved context changes from run to run" in written
    assert "seed_without_effect  1" in written
    assert "Coverage  12 of 12 gold questions run; 230 runs planned" in written
    assert section(written, "Next") == [
        "  Run the sweep again: it resumes with what failed or is missing, 2 runs.",
        "  Start with the seed: it explains 4 of 7 questions that are not stable.",
        "  Run pairs that differ in one factor alone disagree: 14.3 % for seed, 9.2 % for jitter.",
        "  Read the two answers of h050 side by side.",
    ]


FINDINGS = {
    "set_aside": "the runs of before are kept as runs.jsonl.1",
    "torn_line": "a last line cut short (117 bytes) was dropped; its run is made anew",
    "single_run": "one run alone tells nothing of stability",
    "stopped_early": "1,200 runs saved; a decision made early is wrong with a chance of at most "
    "5%; gates other than the rates are judged on the runs that were made",
    "gold_changed": "the gold set has changed since the sweep: its runs answer other questions",
    "unplanned_run": "the plan does not know this run: it counts, and stands last",
}


@pytest.mark.parametrize("width", [40, 80])
def test_every_finding_is_told_to_the_end(width):
    many = Finding("fewer_prompts", "q1", "2 distinct prompts of 5 asked for")
    rare = [Finding(code, "sweeps/daily/runs.jsonl", text) for code, text in FINDINGS.items()]
    report = structs.replace(
        sweeps.steady(),
        findings=(*[many] * 20, *rare),
        finding_counts={"fewer_prompts": 900, **dict.fromkeys(FINDINGS, 1)},
    )
    lines = section(render(report, width=width), "Findings")
    told = squeezed(" ".join(lines))
    for code, message in FINDINGS.items():
        assert f"{code} 1 sweeps/daily/runs.jsonl: {message}" in told
    assert "and 897 more" in told


def test_at_most_eight_questions_are_told_in_full_and_some_of_each_verdict(large):
    written = "\n".join(section(render(large, width=80), "Questions that are not stable"))
    told = re.findall(r"^  q\d+  (stable fail|flaky)", written, re.MULTILINE)
    assert (told.count("stable fail"), told.count("flaky")) == (4, 4)
    assert "and 47 more; --report FILE.html shows them with their runs" in written


def test_a_steady_report_has_no_empty_sections():
    titles = [line for line in render(sweeps.steady()).splitlines() if line and line[0] != " "]
    assert [title.split("  ")[0] for title in titles] == [
        "PASS",
        "Questions",
        "Gates",
        "Means",
        "Heat map",
        "What varies",
        "Coverage",
    ]


def test_a_report_without_any_run_is_told():
    empty = sweeps.report({"q1": {"cells": ""}}, ())
    written = render(empty, width=80)
    assert "Heat map" not in written
    assert "0 runs planned: 0 made" in written


def test_runs_beyond_the_grid_have_columns_of_their_own():
    columns = (*sweeps.grid(jitters=("none", "ws"), seeds=range(2)), Variation(seed=9, repeat=1))
    report = sweeps.report({"q1": {"cells": "++++c"}}, columns)
    lines = section(render(report, width=80), "Heat map")
    assert lines[0].split() == ["jitter", "none", "ws", "none"]
    assert [line.split() for line in lines if "q1" in line] == [
        ["q1", "+", "+", "+", "+", "c", "4", "of", "5"]
    ]


def test_an_excerpt_shows_the_verdict_and_the_chosen_questions(telling):
    written = excerpt(telling, ["h005", "h013"], width=80)
    assert written.startswith("FAIL  5 of 12 questions stable; 5 flaky")
    rows = [line.split()[0] for line in section(written, "Heat map") if " of 20" in line]
    assert rows == ["h005", "h013"]
    assert "Mauritshuis in The Hague." in written
    assert "h022" not in written
    assert "Gates" not in written
    assert max(cell_len(line) for line in written.splitlines()) <= 80
    assert excerpt(telling, [], width=80).endswith("%\n")
