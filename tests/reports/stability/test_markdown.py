"""A stability report as a pull request comment."""

from markdown_it import MarkdownIt

from ragauge.reports.rendering import render
from tests.reports import sweeps

PARSER = MarkdownIt("commonmark").enable(["table"])


def test_a_code_block_cannot_be_closed_from_inside():
    columns = sweeps.grid(jitters=("none",))
    report = sweeps.report({"`````": {"cells": "++ccc"}}, columns)
    [block] = [token for token in PARSER.parse(render(report, "markdown")) if token.type == "fence"]
    assert "`````" in block.content
    assert "claim incorrect" in block.content


def test_gates_that_were_not_evaluated_fail_and_say_why():
    row = "| `Answer consistency (acr)` | 3 | `>= 0.95` | **NOT EVALUATED** |"
    assert row in render(sweeps.unanswered(), "markdown")


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
    written = render(sweeps.report(rows, columns), "markdown")
    assert "<summary>Answers: 60</summary>" in written
    assert 10 <= written.count("#### ") <= 25
    assert len(written) < 65_536
