"""What a result can do, on the demo's answers."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragauge import evaluate_answers, score, stability
from ragauge.contracts.report import Outcome, Score
from ragauge.contracts.score import ScoreReport
from ragauge.demo import GOLD
from ragauge.demo.knobs import Knobs
from ragauge.demo.pipeline import Pipeline
from ragauge.demo.tour import write_traces
from ragauge.errors import UsageError
from ragauge.reports.rendering import render


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Outcome[ScoreReport]:
    traces = tmp_path_factory.mktemp("faulty") / "traces.jsonl"
    write_traces(Pipeline.of(knobs=Knobs(faults=("over_refusal=0.3",))), GOLD, traces)
    return score(GOLD, [traces], preset="ship")


def test_a_metric_is_found_by_its_short_name_and_its_id(failed: Outcome[ScoreReport]) -> None:
    assert isinstance(failed["over_refusal"], Score)
    assert failed["over_refusal"] is failed.report["quality.over_refusal"]
    with pytest.raises(KeyError, match='did you mean "over_refusal"'):
        failed["over_refusals"]


def test_each_gate_that_does_not_hold_is_named(failed: Outcome[ScoreReport]) -> None:
    with pytest.raises(AssertionError) as raised:
        failed.assert_passed()
    first, *gates = str(raised.value).splitlines()
    assert first == "ScoreReport: FAIL: 2 of 8 gates do not hold"
    assert gates[0] == "  FAIL: over_refusal is 0.339 [0.229, 0.470] over 56, must be <= 0.10"


def test_what_was_not_evaluated_says_why(answered: tuple[Path, Path]) -> None:
    gold, traces = answered
    score(gold, traces, gates="precision_cited>=0.5").assert_passed()
    with pytest.raises(AssertionError, match="No quality gate set"):
        score(gold, traces).assert_passed()
    row = {"question": "Who?", "answer": "Nobody.", "contexts": ["Nobody came."]}
    with pytest.raises(AssertionError, match=r"NOT EVALUATED: token_f1 is – over 0, must"):
        evaluate_answers([row], gates="token_f1>=0.5").assert_passed()


def test_a_result_is_one_line_in_a_terminal(failed: Outcome[ScoreReport]) -> None:
    assert repr(failed) == repr(failed.report)
    assert repr(failed).startswith("<ScoreReport FAIL, precision_strict 1.000 [0.906, 1.000], ")
    assert len(repr(failed)) < 250


def test_a_notebook_shows_tables_that_fetch_nothing(failed: Outcome[ScoreReport]) -> None:
    class Tags(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.found: set[str] = set()

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert {name for name, _ in attrs} <= {"class", "scope", "colspan", "data-sort"}
            self.found.add(tag)

    read = Tags()
    read.feed(failed._repr_html_())
    tables = {"table", "thead", "tbody", "tr", "th", "td"}
    assert read.found <= {"section", "h2", "div", "p", "span", "bdi", *tables}
    assert "over_refusal" in failed._repr_html_() and "FAIL" in failed._repr_html_()


def test_foreign_text_cannot_speak_in_a_notebook() -> None:
    rows = [{"id": "<script>", "question": "<b>", "answer": "<i>x</i>", "contexts": ["x"]}]
    assert "<script" not in evaluate_answers(rows)._repr_html_()


@pytest.mark.parametrize("ending", ["html", "json", "md", "csv", "xml", "txt"])
def test_a_report_is_saved_in_the_form_of_its_ending(
    failed: Outcome[ScoreReport], tmp_path: Path, ending: str
) -> None:
    forms = {"md": "markdown", "xml": "junit", "txt": "text"}
    saved = failed.save(tmp_path / f"report.{ending}")
    assert saved.read_bytes() == render(failed.report, forms.get(ending, ending)).encode()
    assert [path.name for path in tmp_path.iterdir()] == [saved.name]
    assert failed.to_markdown() == render(failed.report, "markdown")
    with pytest.raises(UsageError, match="no report form has the ending"):
        failed.report.save(tmp_path / "report.docx")


def test_frames_have_a_row_for_each_unit_and_each_metric(failed: Outcome[ScoreReport]) -> None:
    units, metrics = failed.to_polars(), failed.report.to_polars()
    assert units["unit"].to_list() == list(failed.units.ids)
    assert units["quality.over_refusal"].mean() == failed["over_refusal"].value
    assert metrics["metric"].to_list() == list(failed.report.metrics)
    assert metrics.filter(metric="quality.over_refusal")["value"][0] == failed["over_refusal"].value


def test_pandas_is_used_where_it_is_installed(
    failed: Outcome[ScoreReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pandas is not installed"):
        failed.to_pandas()
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    assert failed.to_pandas()["unit"] == list(failed.units.ids)
    assert failed.report.to_pandas()["metric"] == list(failed.report.metrics)


def test_the_verdicts_of_stability_are_those_under_its_own_name(tmp_path: Path) -> None:
    gold, runs = tmp_path / "gold.jsonl", tmp_path / "runs.jsonl"
    gold.write_text('{"qid": "q", "question": "Why?", "answerable": false}\n')
    runs.write_text(
        "".join(
            f'{{"qid": "q", "q": "Why?", "answer": "{text}"}}\n'
            for text in ("not in context", "Because.")
        )
    )
    report = stability(gold, runs, profile="reference", max_bad="100%").report
    assert isinstance(report.gates, dict)
    with pytest.raises(AssertionError, match="must be >= 1"):
        report.assert_passed()
