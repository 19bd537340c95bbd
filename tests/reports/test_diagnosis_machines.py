"""A diagnosis for CI servers and spreadsheets, and the page taken apart."""

import csv
import io
import json

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from ragauge.reports import html
from ragauge.reports.diagnosis.view import View
from ragauge.reports.forms import render
from tests.reports.test_diagnosis import cause, fine, many, metric, report, telling, unjudged
from tests.reports.test_html import Page


def suites_of(made):
    found = JUnitXml.fromstring(render(made, "junit").encode())
    return {
        suite.name: {
            (case.classname, case.name): case.result[0] if case.result else None for case in suite
        }
        for suite in found
    }


def test_junit_fails_a_low_metric_and_says_what_goes_with_it():
    found = suites_of(telling())["ragauge metrics"]
    low = found["metrics", "context_recall"]
    assert isinstance(low, Failure)
    assert low.type == "critical"
    assert low.message.startswith("critical: 0.412 < 0.50; 18 of 38 samples beyond warning")
    assert low.text.splitlines()[0] == (
        "1. The pool of candidates is too small (likely); Retrieve 50 candidates before reranking."
    )
    assert isinstance(found["metrics", "noise_sensitivity"], Failure)
    unknown = found["metrics", "semantic_similarity"]
    assert isinstance(unknown, Error)
    assert unknown.message.startswith("not evaluable; none of 40")
    assert isinstance(found["metrics", "politeness"], Skipped)
    assert found["metrics", "faithfulness"] is None


def test_junit_has_the_gates_and_the_worst_samples_with_their_texts():
    found = suites_of(telling())
    assert isinstance(found["ragauge gates"]["gates", "quality.over_refusal<=0.1"], Failure)
    sample = found["ragauge samples"]["context_recall", "q07"]
    assert isinstance(sample, Failure)
    assert sample.message.startswith("context_recall 0.000; nothing that the question needs")
    for line in (
        "question: When was the museum founded, and by whom?",
        "answer: It was founded in 1834, by the king.",
        "q07-c4: The museum keeps paintings, prints and ship models.",
        "where: scores.jsonl:7",
    ):
        assert line in sample.text.splitlines()


def test_nothing_turns_a_passed_diagnosis_red():
    found = suites_of(telling(passed=True, gates=()))
    results = {type(one) for cases in found.values() for one in cases.values()}
    assert results == {type(None), Skipped}


def test_github_is_told_the_verdict_the_cause_the_metrics_and_the_samples_on_their_lines():
    lines = render(telling(), "github").splitlines()
    assert lines[0].startswith("::notice title=Ragauge diagnosis FAIL::2 of 5 metrics beyond")
    assert lines[1].startswith("::notice title=Ragauge diagnosis::Likeliest cause: The pool")
    assert "%0AFirst turn recall_top_k: Retrieve 50" in lines[1]
    assert [line.partition("::")[2].partition(" ")[0] for line in lines[2:]] == [
        *["error"] * 3,
        *["warning"] * 3,
    ]
    assert lines[4].startswith("::error title=not evaluable semantic_similarity::none of 40")
    assert lines[5].startswith(
        "::warning file=scores.jsonl,line=7,title=context_recall 0.000 q07::nothing that"
    )
    passed = render(telling(passed=True), "github")
    assert "::error" not in passed


def test_github_is_told_how_many_are_left_out():
    low = [metric(f"m{n}", "critical", 0.1) for n in range(12)]
    assert "::notice title=Ragauge::and 2 more\n" in render(report(low), "github")
    assert "No cause is claimed" in render(fine(), "github")


def test_a_spreadsheet_has_a_row_a_sample_and_metric():
    rows = list(csv.DictReader(io.StringIO(render(telling(), "csv"), newline="")))
    assert [(row["metric"], row["id"], row["value"]) for row in rows] == [
        ("context_recall", "q07", "0.0"),
        ("context_recall", "q11", "0.25"),
        ("noise_sensitivity", "q12", "0.75"),
    ]
    first = rows[0]
    assert (first["severity"], first["symptoms"]) == ("critical", "missed invented")
    assert first["causes"].split()[:2] == ["cause.pool_narrow", "cause.second"]
    assert first["contexts"].splitlines()[4].startswith("q07-c4: The museum keeps")
    assert (rows[1]["reference"], rows[1]["contexts"]) == ("", "")
    assert render(telling(language="zh"), "csv").splitlines()[0].startswith("metric,severity,id")


def test_every_part_of_the_page_is_a_fragment_and_on_the_page():
    page, plain = render(telling(), "html"), json.loads(render(telling(), "json"))
    for part in View.parts:
        fragment = str(html.fragment(part, plain)).strip()
        assert fragment
        Page(fragment)
        assert fragment in page


@pytest.mark.parametrize("made", [fine, unjudged, many, lambda: report([])])
def test_every_page_is_whole_asks_for_nothing_and_runs_nothing(made):
    page = Page(render(made(), "html"))
    assert not {tag for tag, _ in page.tags} & {"script", "img", "iframe", "form", "base"}
    assert not [name for _, held in page.tags for name in held if name in ("style", "src")]


def test_links_lead_to_causes_and_samples_on_the_page():
    page = Page(render(telling(), "html"))
    ids = [held["id"] for _, held in page.tags if "id" in held]
    links = {link["href"].removeprefix("#") for link in page.all("a")}
    assert len(ids) == len(set(ids))
    assert links == {"cause-1", "cause-2", "sample-1", "sample-2"}
    assert links <= set(ids)


def test_every_struck_out_cause_can_be_linked_to():
    struck = [
        cause(f"c{n}", standing="struck_out", title=f"t{n}", why=f"of {n % 2}") for n in range(3)
    ]
    page = Page(render(telling(causes=tuple(struck)), "html"))
    ids = [held["id"] for _, held in page.tags if held.get("id", "").startswith("struck-")]
    assert ids == ["struck-1", "struck-2", "struck-3"]


def test_a_link_leads_to_where_a_sample_is_first_shown():
    worst = telling().diagnoses[0].worst
    low = [metric(name, "critical", 0.4, worst=worst) for name in ("first", "second")]
    assert View(report(low)).places == {"q07": 1, "q11": 2}


def test_the_first_causes_are_open_and_the_samples_are_folded():
    page = Page(render(many(), "html"))
    folds = [held for held in page.all("details") if held["class"] == "question"]
    assert ["open" in held for held in folds] == [True] * 3 + [False] * 27
    folds = Page(str(html.fragment("diagnosis_samples", json.loads(render(telling(), "json")))))
    assert ["open" in held for held in folds.all("details")] == [False] * 4


def test_bars_are_as_long_as_what_they_show():
    fragment = Page(str(html.fragment("diagnosis_causes", json.loads(render(telling(), "json")))))
    drawn = [rect["width"] for rect in fragment.all("rect") if rect["class"] == "bad"]
    assert drawn == ["68.8", "16.7"]
    fragment = html.fragment("diagnosis_addresses", json.loads(render(telling(), "json")))
    drawn = [rect for rect in Page(str(fragment)).all("rect") if "x" in rect]
    assert [rect["class"] for rect in drawn][:3] == [
        "v-grounded",
        "v-self_knowledge",
        "v-misled_by_relevant",
    ]
    assert sum(float(rect["width"]) for rect in drawn) == pytest.approx(200, abs=0.01)
