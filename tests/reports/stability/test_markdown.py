"""A stability report as a pull request comment."""

import pytest
from markdown_it import MarkdownIt

from ragauge.reports.stability.markdown import render
from tests.reports import sweeps

PARSER = MarkdownIt("commonmark").enable(["table"])


@pytest.fixture(scope="module")
def written():
    return render(sweeps.telling())


def test_the_verdict_and_the_cost_come_first(written):
    assert written.startswith(
        "## Ragauge stability: FAIL\n\n"
        "5 of 12 questions stable; 5 flaky, 1 stable fail, 1 incomplete."
        " 230 runs planned: 210 made, 1 failed, 1 missing, 18 saved.\n"
    )


def test_gates_say_how_many_questions_hold_them(written):
    assert "| `stable >= 1` | `all` | 5 of 12 | 41.7 % | **FAIL** |  |" in written
    assert "| `ned50 <= 0.20` | `answerable` | 10 of 10 | 100.0 % | pass |  |" in written


def test_the_heat_map_is_a_code_block(written):
    [block] = [token for token in PARSER.parse(written) if token.type == "fence"]
    lines = block.content.splitlines()
    assert lines[:4] == [
        "jitter       none  ws    punct syn",
        "seed         01234 01234 01234 01234  right",
        "stable fail",
        "h041         ccccc ccccc ccccc ccccc  0 of 20",
    ]


def test_a_code_block_cannot_be_closed_from_inside():
    columns = sweeps.grid(jitters=("none",))
    report = sweeps.report({"`````": {"cells": "++ccc"}}, columns)
    [block] = [token for token in PARSER.parse(render(report)) if token.type == "fence"]
    assert "`````" in block.content
    assert "claim wrong" in block.content


def test_a_question_that_is_not_stable_shows_two_runs(written):
    assert (
        "| `h013` | flaky | 15 of 20 | `acr 0.75 < 0.95` | `jitter: 15 of 30 pairs differ` |"
        " right: `The Night Watch hangs in the Rijksmuseum in Amsterdam.` `p1#1` |"
        " claim wrong: `The Night Watch is kept in the Mauritshuis in The Hague.` `p1#1` |"
    ) in written
    assert "<summary>7 questions are not stable</summary>" in written


def test_factors_jitters_findings_and_next_are_told(written):
    assert "| `seed` | 59 of 413 | 14.3 % |" in written
    assert "not run: `syn` in 2 of 12 questions." in written
    assert "| `noop_jitter` | 2 |" in written
    assert "- Start with the seed: it explains 4 of 7 questions" in written


def test_a_steady_report_is_short():
    written = render(sweeps.steady())
    assert written.startswith("## Ragauge stability: PASS\n\n4 of 4 questions stable.")
    assert "<details>" not in written
    assert "### Next" not in written


def test_the_gates_of_the_reference_are_its_verdicts():
    written = render(sweeps.reference())
    for row in (
        "| `stable >= 1` | `all` | 0 of 1 | 0.0 % | **FAIL** |  |",
        "| `acr >= 0.95` | `answerable` | 0 of 1 | 0.0 % | **FAIL** | `1 of 1 fail: A0001` |",
        "| `scu_cons = 1` | `all` | 1 of 1 | 100.0 % | pass |  |",
    ):
        assert row in written
    assert "| `rcr >= 0.98` | `unanswerable` | – | – | not applicable |" in written


def test_gates_that_were_not_evaluated_fail_and_say_why():
    row = "| `acr >= 0.95` | `answerable` | – | – | **NOT EVALUATED** | `no question has a"
    assert row in render(sweeps.unanswered())


def test_the_longest_report_is_a_comment_github_takes():
    columns = sweeps.grid(("none", "ws", "punct", "syn"), (0.0, 0.5), range(8))
    long = {"+": "|" * 3000, "c": "`x " * 1000}
    cited = {"+": ("|" * 500,) * 10, "c": ("y" * 500,) * 10}
    rows = {
        f"{n}{'q' * 300}": {
            "cells": "+" * 32 + "c" * 32,
            "claims": long,
            "cited": cited,
            "failed": ("acr 0.5 < 0.95",) * 30,
        }
        for n in range(60)
    }
    written = render(sweeps.report(rows, columns))
    assert "60 questions are not stable, 25 shown" in written
    assert len(written) < 65_536
