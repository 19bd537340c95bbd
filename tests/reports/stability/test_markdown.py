"""A stability report as a pull request comment."""

import pytest
from markdown_it import MarkdownIt

from ragauge.reports.stability.markdown import render
from tests.reports import sweeps

PARSER = MarkdownIt("commonmark").enable(["table"])


@pytest.fixture(scope="module")
def written():
    return render(sweeps.telling())


def test_a_code_block_cannot_be_closed_from_inside():
    columns = sweeps.grid(jitters=("none",))
    report = sweeps.report({"`````": {"cells": "++ccc"}}, columns)
    [block] = [token for token in PARSER.parse(render(report)) if token.type == "fence"]
    assert "`````" in block.content
    assert "claim wrong" in block.content


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
