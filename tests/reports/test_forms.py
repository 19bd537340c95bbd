"""Forms are found by name and by ending, and what they need is imported late."""

import csv
import io
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import msgspec
import pytest

from ragauge.contracts.kinds import FORMS, KINDS
from ragauge.contracts.latency import LatencyReport
from ragauge.contracts.schemas import examples
from ragauge.contracts.score import QuestionRow, ScoreReport
from ragauge.contracts.stability import StabilityReport
from ragauge.errors import UsageError
from ragauge.metrics import quality
from ragauge.reports.kinds import score as story
from ragauge.reports.rendering import format_of, render
from tests.reports import sweeps


@pytest.mark.parametrize("form", FORMS)
def test_every_form_writes_what_utf8_can_hold_and_the_same_each_time(form, hostile):
    once = render(hostile, form)
    assert once == render(hostile, form)
    assert once.encode().endswith(b"\n")


@pytest.mark.parametrize("form", FORMS)
def test_no_form_lets_an_escape_through(form, hostile):
    written = render(hostile, form, color=False)
    assert not {"\x1b", "\x07", "\x9b"} & set(written)


@pytest.mark.parametrize("form", ["text", "markdown", "junit"])
def test_no_line_of_a_readable_form_speaks_to_a_ci_server(form, make):
    speech = "::stop-commands::x ##vso[task.setvariable]y ##[group]z std::vector"
    row = make["row"]("::error::q", "ANS_NO_HIT", claim=speech, cited=("##teamcity[x]",))
    written = render(make["report"](questions=(row,)), form)
    assert not any(line.lstrip().startswith("::") for line in written.splitlines())
    assert "##vso[" not in written
    assert "##[" not in written
    assert "##teamcity[" not in written


def test_a_lone_surrogate_of_a_file_name_is_spelled_out(make):
    row = make["row"]("q1", "ANS_NO_HIT", where="runs/\udcff.jsonl:3")
    for form in set(FORMS) - {"json"}:
        assert "\\udcff" in render(make["report"](questions=(row,)), form)


def test_endings_tell_the_form():
    names = ("a.json", "a.md", "a.xml", "a.csv", "a.html", "a.txt", "A.JSON")
    forms = ["json", "markdown", "junit", "csv", "html", "text", "json"]
    assert [format_of(Path(name)) for name in names] == forms


def test_an_unknown_ending_or_form_names_the_known_ones(passing):
    with pytest.raises(UsageError, match=r"report\.pdf.*\.json, \.md, \.xml, \.csv, \.html, \.txt"):
        format_of(Path("report.pdf"))
    with pytest.raises(UsageError, match="text, json, markdown"):
        render(passing, "pdf")


def test_a_form_a_kind_does_not_have_names_those_it_has():
    with pytest.raises(UsageError, match='latency report has no form "html"; it has text, json'):
        format_of(Path("report.html"), LatencyReport)
    assert format_of(Path("report.html"), StabilityReport) == "html"


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.folder)
def test_every_form_a_kind_says_it_has_is_there(kind):
    made_by = {"csv": "table", "junit": "cases", "github": "cases", "sarif": "results"}
    module = import_module(f"ragauge.reports.kinds.{kind.folder}")
    for form in set(kind.forms) - {"json"}:
        assert callable(getattr(module, made_by.get(form, "document")))


def test_every_kind_has_a_text_and_a_markdown_form():
    assert all({"text", "markdown"} < {*kind.forms} for kind in KINDS.values())


COMMANDS = [kind for kind in KINDS.values() if kind.folder in ("gold", "runs", "sweep")]


@pytest.mark.parametrize("kind", COMMANDS, ids=lambda kind: kind.record)
def test_reports_of_commands_that_measure_nothing_have_them_too(kind):
    report = msgspec.convert(examples(kind.record)[0], kind.type)
    assert render(report, "text").strip()
    assert report.to_markdown().startswith(f"## Ragauge {kind.folder}")


@pytest.mark.parametrize("module", ["rich", "jinja2"])
def test_what_draws_is_imported_when_it_draws(module):
    program = f"import sys, ragauge.reports.rendering; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_labels_are_those_of_the_metrics():
    assert {*story.GOOD_LABELS, *story.BAD_LABELS} == set(quality.LABELS)


def test_json_has_sorted_keys_and_reads_back(hostile):
    written = render(hostile, "json")
    pairs = json.loads(written, object_pairs_hook=lambda pairs: pairs)
    assert [key for key, _ in pairs] == sorted(key for key, _ in pairs)
    assert msgspec.json.decode(written, type=ScoreReport) == hostile
    assert written.startswith('{\n  "advice": [')


def test_json_has_neither_nan_nor_infinity_nor_live_controls(make):
    row = make["row"]("q\x9b\u202e", gold_depth=0)
    gate = make["gate"]("quality.x", "=", 1, float("nan"), "fail", ci=(0.0, float("inf")))
    written = render(make["report"](questions=(row,), gates=(gate,)), "json")
    assert "NaN" not in written
    assert "Infinity" not in written
    assert r"q\u009b\u202e" in written
    assert json.loads(written)["questions"][0]["qid"] == "q\x9b\u202e"


def test_a_stability_report_reads_back_from_its_json():
    for report in (sweeps.telling(), sweeps.reference()):
        assert msgspec.json.decode(render(report, "json"), type=StabilityReport) == report


def test_a_run_that_does_not_echo_its_constraints_is_right_in_no_form():
    columns = sweeps.grid(jitters=("none",), seeds=range(8))
    report = sweeps.report({"q1": {"cells": "kkkkkkkk"}, "q2": {"cells": "kkkk++++"}}, columns)
    told = {"text": "kkkkkkkk  0 of 8", "markdown": "0 of 8", "html": "0 of 8 correct"}
    for form, words in told.items():
        assert words in render(report, form)
    assert [row["right"] for row in read_csv(render(report, "csv"))] == ["0", "4"]
    for form in ("junit", "github"):
        assert render(report, form).count("constraints not echoed: ") == 2
        assert render(report, form).count("right: ") == 1


def read_csv(written):
    return list(csv.DictReader(io.StringIO(written, newline="")))


def test_csv_has_a_row_a_question_in_the_fields_order(plain):
    written = render(plain, "csv")
    rows = read_csv(written)
    assert list(rows[0]) == list(QuestionRow.__struct_fields__)
    assert [row["qid"] for row in rows] == [row.qid for row in plain.questions]
    assert rows[1]["cited"] == "Dutch words p1#1"
    assert (rows[0]["hit"], rows[0]["claim"], rows[0]["traces"]) == ("true", "", "1")
    assert written.count("\r\n") == len(rows) + 1


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])
def test_csv_defuses_what_a_spreadsheet_would_run(start, make):
    text = f'{start}HYPERLINK("x","y")'
    row = make["row"](text, "ANS_NO_HIT", claim=text, cited=(text, "p1"), where=text)
    [read] = read_csv(render(make["report"](questions=(row,)), "csv"))
    for column in ("qid", "claim", "cited", "where"):
        assert read[column].startswith("'")
    assert read["claim"] == "'" + text.replace("\r", "\\x0d")


def test_csv_keeps_quotes_commas_and_lines(make):
    text = 'she said "one, two"\nand left'
    row = make["row"]("q1", "ANS_NO_HIT", claim=text)
    [read] = read_csv(render(make["report"](questions=(row,)), "csv"))
    assert read["claim"] == text
