"""What a reader of a run's page is told first, and where it leads: codes, summary, contents."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

from ragauge import open_history
from ragauge.contracts.gold import Gold
from ragauge.dashboard.material import Material
from ragauge.dashboard.pages.run_questions import LONGEST_ID
from ragauge.dashboard.unit_list import correct_means
from ragauge.metrics.names import long_name
from ragauge.reports.kinds import eval_all
from ragauge.reports.kinds.eval_all import TITLES
from ragauge.reports.phrasing import pluralize
from tests.dashboard.page_parts import Parts
from tests.dashboard.test_run_page import EACH, main_table, material, opened, runs, whole
from tests.runners.recorded import HITS, ones, record

__all__ = ["material", "runs"]  # fixtures


@pytest.mark.parametrize("name", ["citations", "traced"])
def test_an_overview_counts_the_codes_and_leads_to_them(material, runs, name):
    run = runs[name]
    report = whole(material.history, run)
    body = opened(material, run).body
    parts = Parts(body)
    if not report.codes:
        assert 'class="codes"' not in body
        return
    for one in report.codes:
        counts = f"{pluralize(one.answers, 'answer')} {pluralize(one.findings, 'finding')}"
        assert f"{one.code} {counts}" in parts.text
        assert one.tip in parts.text
    assert any("/traceability?code=" in link for link in parts.links)


def test_the_summary_of_all_tasks_leads_to_their_tabs_and_every_gate_is_told(material, runs):
    run = runs["parts"]
    report = whole(material.history, run)
    parts = Parts(opened(material, run).body)
    tabs = {link.rpartition("/")[2] for link in parts.links}
    assert {TITLES[name].lower() for name, _ in eval_all.tasks(report)} <= tabs
    gates = main_table(parts, "bound")
    assert [row[0] for row in gates[1:] if len(row) > 2] == [one.metric for one in run.record.gates]


def test_units_of_all_tasks_show_the_numbers_of_the_summary(material, runs):
    report = whole(material.history, runs["parts"])
    heads = main_table(Parts(opened(material, runs["parts"], "questions").body))[0]
    wanted = {long_name(one.metric) for one in report.summary.values()}
    assert wanted <= set(heads) and "coverage" not in heads


@pytest.mark.parametrize("task", ["ner", "types", "linking", "retrieval", "qa"])
def test_a_long_tab_begins_with_its_contents_and_its_advice(material, runs, task):
    body = str(opened(material, runs["parts"], TITLES[task].lower()).body)
    listed = re.findall(r'<a href="#(part-[a-z]+)">', body)
    assert len(listed) > 2
    places = [body.index(f'id="{one}"') for one in listed]
    assert places == sorted(places)
    if report := whole(material.history, runs["parts"]).tasks[task].advice:
        assert listed[0] == "part-advice" and report[0].title in Parts(body).text


@pytest.mark.parametrize(("name", "tab"), EACH)
def test_a_page_has_one_head(material, runs, name, tab):
    assert str(opened(material, runs[name], tab).body).count("<h1") == 1


@pytest.mark.parametrize("name", ["nightly", "steady", "citations", "parts"])
def test_what_right_means_is_said_where_units_are_chosen_by_it(material, runs, name):
    run = runs[name]
    assert correct_means(run.record.command) in Parts(opened(material, run, "questions").body).text


def test_findings_show_objects_as_they_are(material, runs):
    body = Parts(opened(material, runs["citations"], "traceability").body).text
    assert '\\"' not in body


def test_long_ids_are_cut_and_whole_in_their_title(tmp_path):
    with closing(open_history(str(tmp_path / "store"))) as history:
        gold = [Gold(qid="x" * 900, question="Who?", answerable=True)]
        long = record(history, {HITS: ones(1)}, gold=gold)
        made = Material(history, "here")
        body = str(opened(made, long, "questions").body)
        made.jobs.close()
    assert f'title="{"x" * 900}"' in body
    assert f"<bdi>{'x' * (LONGEST_ID - 1)}…</bdi>" in body
