"""What is said about gold sets: in the forms it has, as its schema says, and obeyed by nobody."""

import json

import jsonschema
import pytest
from rich.cells import cell_len

from ragauge.cli.schema import NAMES
from ragauge.contracts.gold import Gold
from ragauge.contracts.gold_report import GoldReport
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.schemas import RECORDS, schema
from ragauge.errors import UsageError
from ragauge.ingest.gold import read_gold
from ragauge.reports.document import Verdict
from ragauge.reports.rendering import document_of, render
from ragauge.runners.gold_agreement import agreement
from ragauge.runners.gold_convert import convert
from ragauge.runners.gold_diff import diff
from ragauge.runners.gold_lint import lint
from ragauge.runners.gold_parts import sample, split
from ragauge.runners.gold_plan import hold_against_plan

HOSTILE = "\x1b[31mred\n\u202e::error::"


def question(n, **strata):
    return Gold(qid=f"{HOSTILE}{n}", question=f"{HOSTILE} {n}", answerable=n % 3 > 0, strata=strata)


SET = [question(n, country=HOSTILE if n % 2 else "NL") for n in range(24)]


def table_of(path, *labels):
    path.parent.mkdir(exist_ok=True)
    path.write_text("id\tlabel\n" + "".join(f"{n}\t{one}\n" for n, one in enumerate(labels)))
    return str(path)


@pytest.fixture
def reports(tmp_path):
    """A real report of each kind, by the name of its schema."""
    source = tmp_path / "gold.json"
    rows = [
        {"qid": f"q{n}", "question": HOSTILE, "answerable": False, HOSTILE: 1} for n in range(2)
    ]
    source.write_text(json.dumps(rows))
    names = [table_of(tmp_path / f"annotators/{n}.tsv", "a", "b", "ab"[n]) for n in range(2)]
    return {
        "lint": lint([*SET, question(24)]),
        "diff": diff(SET, [*SET[2:], question(30)]),
        "split": split(SET, tmp_path / "parts", by=["country"]),
        "sample": sample(SET, 2, tmp_path / "sample.jsonl", by=["country"]),
        "convert": convert(str(source), tmp_path / "gold.csv"),
        "plan": hold_against_plan(tmp_path),
        "agreement": agreement(names).report,
    }


def test_each_report_validates_against_its_published_schema(reports):
    published = {name.removeprefix("gold-").removesuffix("-report"): name for name in NAMES}
    for kind, report in reports.items():
        assert type(report) is RECORDS[published[kind]]
        written = json.loads(render(report, "json"))
        jsonschema.Draft202012Validator(schema(published[kind])).validate(written)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**written, "pass": "yes"}, schema(published[kind]))


def test_every_report_about_a_gold_set_begins_with_a_verdict_and_has_a_schema(reports):
    made = {type(one): one for one in reports.values() if isinstance(one, GoldReport)}
    assert made.keys() == {kind for kind in KINDS if issubclass(kind, GoldReport)}
    assert made.keys() <= {*RECORDS.values()}
    for report in made.values():
        assert isinstance(document_of(report).blocks[0], Verdict)


@pytest.mark.parametrize("width", [40, 80])
def test_no_line_is_wider_than_the_page(reports, width):
    for report in reports.values():
        lines = render(report, "text", width=width).splitlines()
        assert max(map(cell_len, lines)) <= width


def test_every_report_has_a_markdown_form(reports):
    for kind, report in reports.items():
        assert report.to_markdown().splitlines()[0].partition(":")[0].endswith(kind)


def test_no_form_lets_an_escape_or_a_line_of_theirs_through(reports):
    for report in reports.values():
        for form in KINDS[type(report)].forms:
            written = render(report, form)
            assert written.endswith("\n")
            assert not {"\x1b", "\u202e"} & {*written}
            assert not any(line.lstrip().startswith("::") for line in written.splitlines())


def test_a_form_it_does_not_have_is_named(reports):
    with pytest.raises(
        UsageError, match='a gold report has no form "html"; it has text, json, markdown'
    ):
        render(reports["split"], "html")


def test_an_empty_text_and_none_are_one_stratum(tmp_path):
    strata = ({"country": ""}, {"country": None}, {}, {"country": "NL"})
    questions = [
        Gold(qid=f"q{n}", question=f"What {n}?", answerable=True, strata=strata[n % 4])
        for n in range(16)
    ]
    report = split(questions, tmp_path / "parts", by=["country"], shares=(1, 1), names=("a", "b"))
    assert report.balance["country"] == {"(none)": {"a": 6, "b": 6}, "NL": {"a": 2, "b": 2}}
    drawn = sample(questions, 4, tmp_path / "sample.jsonl", by=["country"])
    assert drawn.balance["country"] == {"(none)": (12, 3), "NL": (4, 1)}


def test_fields_that_look_misspelt_are_in_the_coverage(tmp_path):
    rows = [
        {"qid": "q1", "question": "Why?", "answerable": True, "gold_citation": ["p1"]},
        {"qid": "q2", "question": "How?", "answerable": False},
    ]
    (tmp_path / "gold.json").write_text(json.dumps(rows))
    gold, target = read_gold(rows), tmp_path / "converted.jsonl"
    for report in (lint(gold), diff(gold, gold), convert(str(tmp_path / "gold.json"), target)):
        assert json.loads(render(report, "json"))["coverage"]["unread_columns"] == ["gold_citation"]
    assert "unread_columns" not in lint(read_gold(rows[1:])).coverage
