"""A sample stands for the set: its weights say for how much, and what it misses is named."""

import json
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from ragauge.contracts.gold import fingerprint
from ragauge.errors import UsageError
from ragauge.ingest.gold import read_gold
from ragauge.runners.gold_parts import key_of, sample, value_or_none
from tests.cli.command import ragauge

HERITAGE = Path(__file__).resolve().parents[2] / "src/ragauge/demo/heritage/gold.jsonl"
ANNOTATED = HERITAGE.with_name("annotated.jsonl")
QUESTIONS = read_gold(str(HERITAGE))


@pytest.mark.parametrize("allocation", ["proportional", "equal"])
def test_weights_add_up_to_every_cell(tmp_path, allocation):
    out = tmp_path / "sample.jsonl"
    report = sample(QUESTIONS, 30, out, allocation=allocation)
    drawn = read_gold(str(out))
    assert len(drawn) == 30
    sizes = Counter(key_of(question, report.factors) for question in QUESTIONS)
    weights = Counter()
    for question in drawn:
        weights[key_of(question, report.factors)] += question.weight or 1
    assert weights == pytest.approx(sizes)
    assert report.weight_sum == pytest.approx(len(QUESTIONS))
    assert not report.findings
    assert (report.gold, report.sample) == (fingerprint(QUESTIONS), fingerprint(drawn))


def test_margins_of_the_set_are_those_of_the_weighted_sample(tmp_path):
    report = sample(QUESTIONS, 40, tmp_path / "s.jsonl", by=["custodian_type"])
    drawn = read_gold(str(tmp_path / "s.jsonl"))
    for value, (whole, count) in report.balance["custodian_type"].items():
        own = [one for one in drawn if value_or_none(one, "custodian_type") == value]
        assert len(own) == count
        assert sum(one.weight or 1 for one in own) == pytest.approx(whole)


def test_a_sample_of_a_sample_stands_for_the_first_set(tmp_path):
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    sample(QUESTIONS, 40, first, by=["language"])
    report = sample(read_gold(str(first)), 20, second, by=["language"])
    assert report.weight_sum == pytest.approx(len(QUESTIONS), rel=0.1)


def test_questions_are_else_as_they_were(tmp_path):
    out = tmp_path / "s.jsonl"
    sample(QUESTIONS, 10, out)
    was = {question.qid: question for question in QUESTIONS}
    assert all(json.loads(line)["weight"] >= 1 for line in out.read_bytes().splitlines())
    for question in read_gold(str(out)):
        assert replace(question, weight=None) == was[question.qid]


def test_default_factors_leave_a_question_for_every_cell(tmp_path):
    for n in (4, 12, 30, 80):
        report = sample(QUESTIONS, n, tmp_path / f"{n}.jsonl")
        assert report.coverage["cells"] <= n
        assert report.factors[0] == "answerable"
        assert not report.findings


def test_cells_without_a_sample_are_named(tmp_path):
    report = sample(QUESTIONS, 10, tmp_path / "s.jsonl", by=["country"])
    missed = [cell for cell in report.cells if not cell.taken]
    assert report.finding_counts == {"cell_without_sample": len(missed)}
    represented = len(QUESTIONS) - sum(cell.questions for cell in missed)
    assert report.coverage["represented"] == represented < len(QUESTIONS)
    assert report.weight_sum == pytest.approx(represented)
    assert all(cell.weight is None for cell in missed)
    assert f"draw {len(report.cells)} or more" in report.findings[0].message


@pytest.mark.parametrize("n", [0, 81])
def test_too_few_or_too_many_are_refused(tmp_path, n):
    with pytest.raises(UsageError, match=f"{n} of 80"):
        sample(QUESTIONS, n, tmp_path / "s.jsonl")


def test_the_command_writes_by_the_ending_and_says_what_it_did(tmp_path):
    words = ("gold", "sample", HERITAGE, "-n", 20, "--out", "s.csv")
    done = ragauge(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode()
    assert shown.startswith("20 of 80 questions, proportional by answerable")
    assert "It represents 80 questions" in shown
    assert (tmp_path / "s.csv").read_text().startswith("qid,question,answerable,")
    refused = ragauge(*words, "--seed", 1, cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert b"s.csv: exists and holds something else" in refused.stderr
    assert ragauge(*words, "--seed", 1, "--force", cwd=tmp_path).returncode == 0


def test_the_report_is_the_common_one(tmp_path):
    words = ("gold", "sample", HERITAGE, "-n", 20, "--out", "s.jsonl", "--format", "json")
    report = json.loads(ragauge(*words, cwd=tmp_path).stdout)
    assert report["schema"] == "ragauge.gold-sample/1"
    assert report.keys() >= {"pass", "metrics", "gates", "findings", "finding_counts", "coverage"}
    assert report["coverage"]["sampled"] == 20


def test_heritage_entries_are_drawn_by_their_strata_and_written_as_they_are(tmp_path):
    entries = [json.loads(line) for line in ANNOTATED.read_text().splitlines()]
    out = tmp_path / "sample.jsonl"
    by = ("--by", "language", "--format", "json")
    done = ragauge("gold", "sample", ANNOTATED, "-n", "12", "--out", out, *by)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["units"], report["factors"]) == ("entries", ["language"])
    drawn = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(drawn) == 12
    assert all(one in entries for one in drawn)
    assert Counter(one["strata"]["language"] for one in drawn) == dict.fromkeys(
        ("nl", "en", "de", "fr"), 3
    )
    table = ragauge("gold", "sample", ANNOTATED, "-n", "12", "--out", tmp_path / "sample.csv")
    assert table.returncode == 2
    assert b"heritage entries cannot be a table: write .jsonl or .json" in table.stderr
