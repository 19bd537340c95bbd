"""SARIF points at the trace lines, and sarif-tools reads it back."""

import json
import re

import pytest
from sarif.loader import load_sarif_file

from ragauge.citations.codes import CODES, FIELD
from ragauge.contracts.audit import AuditFinding
from ragauge.reports.rendering import render
from tests.reports.audit.made import code, finding, passing, telling


def run_of(report):
    log = json.loads(render(report, "sarif"))
    assert log["version"] == "2.1.0"
    [run] = log["runs"]
    return run


@pytest.fixture
def read_back(tmp_path):
    """The report as sarif-tools sees it."""

    def read(report):
        file = tmp_path / "audit.sarif"
        file.write_bytes(render(report, "sarif").encode())
        return load_sarif_file(str(file))

    return read


def test_sarif_tools_reads_every_place_with_its_line_and_severity(read_back):
    report = telling()
    found = read_back(report)
    assert found.get_distinct_tool_names() == ["Ragauge"]
    assert found.get_result_count() == len(report.findings)
    records = found.get_records()
    assert records[0] == {
        "Tool": "Ragauge",
        "Location": "runs/traces.jsonl",
        "Line": 10,
        "Severity": "error",
        "Code": "empty_citations",
        "Description": "keys-010: citations: [] under an answer",
    }
    told = {(one["Code"], one["Line"]) for one in records}
    assert told == {(one.code, int(one.where.rpartition(":")[2])) for one in report.findings}
    severities = {one["Code"]: one["Severity"] for one in records}
    assert severities["duplicate_citation"] == "warning"
    assert severities["mismatch_index_hash"] == "error"


def test_sarif_tools_counts_by_severity_and_code(read_back):
    report = read_back(telling()).get_report()
    assert report.get_severities() == ["error", "warning", "note"]
    assert report.get_issue_count_for_severity("error") == 30
    assert report.get_issue_count_for_severity("warning") == 3
    errors = report.get_issue_type_histogram_for_severity("error")
    assert {name.split(" ")[0]: times for name, times in errors.items()}["missing_rev"] == 5


def test_nothing_found_is_a_run_without_results(read_back):
    assert read_back(passing()).get_result_count() == 0
    assert run_of(passing())["tool"]["driver"]["rules"] == []


def test_a_code_whose_places_were_not_kept_is_still_a_rule_and_counted():
    run = run_of(passing(codes=(code("bad_order", 3, 8),), finding_counts={"bad_order": 8}))
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["bad_order"]
    assert run["results"] == []
    assert run["properties"]["notShown"] == {"bad_order": 8}
    assert run_of(telling())["properties"]["notShown"] == {"mismatch_index_hash": 20}


def fingerprints(report):
    return [
        value
        for result in run_of(report)["results"]
        for value in result["partialFingerprints"].values()
    ]


def found_at(*lines, message="rev: absent", **facts):
    findings = tuple(finding("missing_rev", line, message, **facts) for line in lines)
    return passing(codes=(code("missing_rev", 1, len(lines)),), findings=findings)


def test_fingerprints_stay_when_lines_move_and_words_change():
    assert fingerprints(found_at(3)) == fingerprints(found_at(90, message="no rev"))


@pytest.mark.parametrize("facts", [{"qid": "q2"}, {"item": 1}, {"field": "rev"}, {"segment": 0}])
def test_fingerprints_tell_findings_apart(facts):
    assert fingerprints(found_at(3)) != fingerprints(found_at(3, **facts))


def test_two_traces_of_one_question_have_two_fingerprints():
    assert len(set(fingerprints(found_at(3, 9)))) == 2
    assert len(set(fingerprints(found_at(3, 9, qid=None)))) == 2


def location(where):
    one = AuditFinding("missing_rev", where, "rev: absent", qid="q1")
    [result] = run_of(passing(findings=(one,)))["results"]
    [found] = result["locations"]
    return found


@pytest.mark.parametrize(
    ("where", "uri", "line"),
    [
        ("runs/traces.jsonl:17", "runs/traces.jsonl", 17),
        ("my traces #1.jsonl:1", "my%20traces%20%231.jsonl", 1),
        ("C:/runs/é.jsonl:3", "C%3A/runs/%C3%A9.jsonl", 3),
        ("/srv/traces.jsonl:9", "file:///srv/traces.jsonl", 9),
        ("runs/\udcff.jsonl:9", "runs/%5Cudcff.jsonl", 9),
    ],
)
def test_a_place_in_a_file_is_an_address_and_a_line(where, uri, line):
    assert location(where) == {
        "physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}
    }


@pytest.mark.parametrize("where", ["stdin:17", "q3", "traces.jsonl", "traces.jsonl:0", "a.jsonl:²"])
def test_a_place_that_is_no_line_of_a_file_is_named(where):
    assert location(where) == {"logicalLocations": [{"fullyQualifiedName": where}]}


def test_braces_are_no_placeholders_and_brackets_no_links():
    one = AuditFinding("missing_rev", "a:1", "{0} [x](http://evil.example) citations[2].rev")
    [result] = run_of(passing(findings=(one,)))["results"]
    assert result["message"]["text"] == "{{0}} [x] (http://evil.example) citations[2].rev"


def test_a_tip_that_says_more_than_the_rule_is_told():
    own = finding("missing_rev", 3, "rev: absent", tip="Look at the adapter.")
    usual = finding("missing_rev", 4, "rev: absent")
    report = passing(codes=(code("missing_rev", 2, 2),), findings=(own, usual))
    texts = [result["message"]["text"] for result in run_of(report)["results"]]
    assert texts == ["q1: rev: absent → Look at the adapter.", "q1: rev: absent"]


def test_every_code_there_is_can_be_a_rule():
    names = [one.code.replace(FIELD, "rev") for one in CODES if one.depth != "support"]
    rules = run_of(passing(codes=tuple(code(name, 1, 1) for name in names)))["tool"]["driver"][
        "rules"
    ]
    assert [rule["id"] for rule in rules] == names
    assert all(re.fullmatch("error|warning", r["defaultConfiguration"]["level"]) for r in rules)
