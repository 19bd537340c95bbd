"""The runs of a trace evaluation: nothing asked twice, nothing asked in vain."""

from __future__ import annotations

import json

import msgspec
import pytest

from ragauge.errors import InputRejected, UsageError
from ragauge.reports.rendering import render
from ragauge.runners.trace_eval import trace_eval
from tests.runners.traced_system import (
    ALL_STATES,
    LENIENT,
    Scripted,
    evaluated,
    question,
    report_of,
    write_gold,
    write_handbook,
)

# The journal.


def test_what_was_answered_is_not_asked_again_and_the_report_is_the_same(tmp_path):
    first = evaluated(tmp_path, ALL_STATES)
    system = Scripted(ALL_STATES)
    again = trace_eval(tmp_path / "gold.jsonl", system, tmp_path / "runs.jsonl", asking=LENIENT)
    assert [ask.q for ask in system.asked] == ["failing in wording 1?"]
    assert render(again.outcome.report, "json") == render(first.report, "json")


def test_a_run_that_failed_and_stands_again_answered_counts_once(tmp_path):
    evaluated(tmp_path, ALL_STATES)
    mended = ALL_STATES | {"failing": ["a<ab"] * 6}
    resumed = report_of(tmp_path, mended)
    lines = (tmp_path / "runs.jsonl").read_text().splitlines()
    assert sum('"failing#seed=0;t=0.2;j=none;p=1"' in line for line in lines) == 2
    assert len(lines) == 43
    assert (resumed.coverage.runs, resumed.coverage.failed) == (42, 0)
    at_once = report_of(tmp_path, mended, out="once.jsonl")
    assert msgspec.structs.replace(at_once, out=resumed.out) == resumed


def test_the_order_of_the_lines_changes_nothing(tmp_path):
    before = report_of(tmp_path, ALL_STATES)
    journal = tmp_path / "runs.jsonl"
    journal.write_text("".join(reversed(journal.read_text().splitlines(keepends=True))))
    # The failing run is asked once more, and stands behind the others.
    after = report_of(tmp_path, ALL_STATES)
    assert render(after, "json") == render(before, "json")


def test_runs_that_the_recipe_did_not_plan_are_left_alone(tmp_path):
    before = report_of(tmp_path, {"q": ["a<ab"] * 6})
    journal = tmp_path / "runs.jsonl"
    stray = json.loads(journal.read_text().splitlines()[0]) | {
        "run_id": "q#seed=9;t=0.2;j=none;p=0",
        "seed": 9,
        "answer_json": {"claim": "Never.", "citations": ["d"]},
    }
    journal.write_text(journal.read_text() + json.dumps(stray) + "\n")
    after = report_of(tmp_path, {"q": ["a<ab"] * 6})
    assert (after.coverage.runs, after.coverage.missing) == (6, 0)
    assert after == before


def test_another_recipe_in_the_same_file_is_refused(tmp_path):
    evaluated(tmp_path, {"q": ["a<ab"] * 6})
    with pytest.raises(UsageError, match="the grid of seeds"):
        evaluated(tmp_path, {"q": ["a<ab"] * 6}, recipe={"seeds": [3, 4]})


def test_a_spent_error_budget_leaves_nothing_evaluated(tmp_path):
    qids = [f"q{number}" for number in range(5)]
    gold = write_gold(tmp_path, [question(qid) for qid in qids])
    system = Scripted(dict.fromkeys(qids, ["!"] * 6))
    asking = {"retries": 0, "concurrency": 1}
    found = trace_eval(gold, system, tmp_path / "runs.jsonl", asking=asking)
    assert (found.swept.ended, found.outcome) == ("error_budget", None)
    assert len(system.asked) < 30


@pytest.mark.parametrize("concurrency", [1, 5])
def test_calls_at_the_same_time_change_no_byte(tmp_path, concurrency):
    written = render(report_of(tmp_path, ALL_STATES), "json")
    (tmp_path / "again").mkdir()
    other = report_of(tmp_path / "again", ALL_STATES, asking={"concurrency": concurrency})
    other = msgspec.structs.replace(other, out=str(tmp_path / "runs.jsonl"))
    assert render(other, "json") == written


# At the door: what is wrong is said before anything is asked.

WRONG = {
    "an option that is none": ({"depht": "text"}, UsageError, "depht"),
    "an asking that is the recipe's": ({"asking": {"grid": {}}}, UsageError, "asking has no grid"),
    "a calibration without an embedder": ({"calibration": "c.json"}, UsageError, "--embedder"),
    "a calibration that is none": (
        {"calibration": "gold.jsonl", "embedder": "ngram"},
        InputRejected,
        "is no calibration",
    ),
    "a manifest that is none": ({"manifest": "gold.jsonl"}, InputRejected, "gold.jsonl"),
    "documents that are not there": ({"docs": "nowhere"}, UsageError, "no such folder"),
    "an unknown embedder": ({"embedder": "bert"}, UsageError, "bert"),
    "an unknown tokenizer": ({"tokenizer": "nothing-such"}, UsageError, "nothing-such"),
    "an unknown metric": ({"gates": "match_rat>=1"}, UsageError, "match_rate"),
    "a metric of another command": ({"gates": "acr>=1"}, UsageError, "ragauge stability"),
    "a stratum that nobody has": (
        {"gates": "match_rate>=1 where language=nl"},
        UsageError,
        "language",
    ),
    "a seed twice": ({"recipe": {"seeds": [1, 1]}}, UsageError, "1 stands twice"),
    "no wording": ({"recipe": {"wordings": 0}}, UsageError, "paraphrases: is empty"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_before_anything_is_asked(tmp_path, monkeypatch, what):
    options, error, words = WRONG[what]
    monkeypatch.chdir(tmp_path)
    system = Scripted({"q": ["a<ab"] * 6})
    gold = write_gold(tmp_path, [question("q")])
    with pytest.raises(error, match=words):
        trace_eval(gold, system, tmp_path / "runs.jsonl", **options)
    assert system.asked == []


def test_documents_that_cannot_be_read_are_a_finding(tmp_path):
    docs, manifest = write_handbook(tmp_path)
    (docs / "handbook.md").write_bytes(b"\xff\xfe\x00")
    report = report_of(tmp_path, {"q": ["a<ab"] * 6}, docs=docs, manifest=manifest)
    assert "unreadable_document" in report.finding_counts
