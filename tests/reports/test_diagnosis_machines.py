"""A diagnosis for CI servers and spreadsheets, and the page taken apart."""

import pytest
from junitparser import JUnitXml, Skipped

from ragauge.reports.rendering import render
from tests.reports.test_diagnosis import fine, many, metric, report, telling, unjudged
from tests.reports.test_html import Page


def suites_of(made):
    found = JUnitXml.fromstring(render(made, "junit").encode())
    return {
        suite.name: {
            (case.classname, case.name): case.result[0] if case.result else None for case in suite
        }
        for suite in found
    }


def test_nothing_turns_a_passed_diagnosis_red():
    found = suites_of(telling(passed=True, gates=()))
    results = {type(one) for cases in found.values() for one in cases.values()}
    assert results == {type(None), Skipped}


def test_github_is_told_how_many_are_left_out():
    low = [metric(f"m{n}", "critical", 0.1) for n in range(12)]
    assert "::notice title=Ragauge::metrics: and 2 more\n" in render(report(low), "github")
    assert "No cause is claimed" in render(fine(), "github")


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
    assert links == {"cause-1", "sample-1", "sample-2"}
    assert links <= set(ids)
