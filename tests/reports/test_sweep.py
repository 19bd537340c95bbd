"""The report of a sweep as a person reads it."""

import pytest
from rich.cells import cell_len

from ragauge.contracts.report import Finding
from ragauge.contracts.sweep import SweepCoverage, SweepReport
from ragauge.reports.rendering import render
from tests.reports.payloads import PAYLOADS


def swept(**changed):
    coverage = {"questions": 3, "planned": 12, "done": 10, "resumed": 1, "failed": 2}
    fields = {
        "passed": True,
        "metrics": {},
        "gates": (),
        "findings": (Finding("failed_run", "q1", "http_429: slow down"),),
        "finding_counts": {"failed_run": 2},
        "identity": {},
        "ended": "complete",
        "errors": {"http_429": 2},
        "promise": None,
        "prompts": None,
        "noop": {"syn": 3},
        "coverage": SweepCoverage(**coverage, saved=0, missing=0),
        "out": "runs.jsonl",
    }
    return SweepReport(**(fields | changed))


def test_it_says_what_became_of_the_runs_and_what_to_do_next():
    text = render(swept(), "text")
    assert text.startswith(
        "10 of 12 runs done, 1 of them before, 2 failed (http_429 2): runs.jsonl\n"
    )
    assert "q1: http_429: slow down\n" in text
    assert text.endswith("\n  ragauge stability GOLD runs.jsonl\n")
    assert "error budget" in render(swept(ended="error_budget"), "text")


def test_it_has_a_markdown_form():
    assert swept().to_markdown().startswith("## Ragauge sweep\n\n10 of 12 runs done")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_foreign_text_takes_no_effect(payload):
    failed = (Finding("failed_run", payload, f"raised: {payload}"),)
    report = swept(findings=failed, errors={"raised": 1}, noop={payload: 1}, out=payload)
    for form in ("text", "markdown"):
        text = render(report, form, width=60)
        assert not set(text) & set("\x1b\x07\x9b\u202e\u2066\r")
        assert not any(line.lstrip().startswith("::") for line in text.splitlines())
        assert form == "markdown" or max(map(cell_len, text.splitlines())) <= 60
