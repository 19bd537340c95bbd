"""CONTRIBUTING says how to add a kind of report, and it works as written there."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from msgspec import structs

from ragauge.contracts.kinds import KINDS, Kind
from ragauge.contracts.report import Finding, Report
from ragauge.reports import rendering

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")
SECTION = TEXT.partition("## A new kind of report")[2].partition("\n## ")[0]


class LengthsReport(Report, frozen=True, kw_only=True):
    schema: str = "ragauge.lengths-report/1"
    lengths: dict[str, int]
    coverage: str


@pytest.fixture
def report(monkeypatch):
    (code,) = re.findall(r"^```python\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
    (row,) = re.findall(r"`(Kind\(.*?\))`", SECTION)
    module = ModuleType("ragauge.reports.kinds.lengths")
    exec(code, module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    kind = eval(row, {"Kind": Kind, "LengthsReport": LengthsReport})
    monkeypatch.setitem(KINDS, LengthsReport, kind)
    return LengthsReport(
        passed=None,
        metrics={},
        gates=(),
        findings=(Finding("empty_answer", "", "q3 has no words"),),
        finding_counts={"empty_answer": 1},
        lengths={"<q1>": 12, "q2": 3},
        coverage="2 of 3 answers measured",
    )


def test_a_module_and_a_row_give_every_format(report):
    for form in KINDS[LengthsReport].forms:
        written = rendering.render(report, form)
        assert "2 of 3 answers" in written or form in ("csv", "junit"), form
        assert "<q1>" not in written or form not in ("html", "junit"), form


def test_one_list_of_cases_serves_ci_servers_and_workflows(report):
    wrong = structs.replace(report, passed=False, lengths={"<q1>": 12, "q2": 0})
    assert "::warning title=empty q2::the answer is empty\n" in rendering.render(wrong, "github")
    assert 'tests="2" failures="1"' in rendering.render(wrong, "junit")
    skipped = rendering.render(structs.replace(wrong, passed=True), "junit")
    assert 'failures="0" errors="0" skipped="1"' in skipped


def test_cells_are_sorted_by_their_values(report):
    from ragauge.reports.kinds.lengths import document

    from ragauge.reports.formats.html import ordered

    (table,) = (one for one in document(report).blocks if getattr(one, "title", "") == "Answers")
    assert [row.cells[0].text for row in ordered(table.rows, 1, descending=False)] == ["q2", "<q1>"]
