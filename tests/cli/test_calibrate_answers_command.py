"""`ragauge calibrate groundedness` and `judge` as a user and a CI job meet them."""

from __future__ import annotations

import json

import pytest

from tests.cli.command import ragauge
from tests.runners.labelled_answers import labelled, written


@pytest.fixture
def rows(tmp_path):
    return written(tmp_path / "labels.jsonl", labelled())


def calibrate(*arguments, **environment):
    return ragauge("calibrate", *arguments, **{"COLUMNS": "120"} | environment)


def test_groundedness_is_shown_before_and_after(rows):
    done = calibrate("groundedness", rows)
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode()
    assert shown.startswith("PASS  groundedness/2+")
    for part in ("AUROC", "bal. acc.", "κ", "ECE", "shipped", "shorter is better", "120 labelled"):
        assert part in shown
    assert "F1" not in shown


def test_the_calibration_is_kept_and_used(rows, tmp_path):
    kept, report = tmp_path / "calibration.json", tmp_path / "report.json"
    done = calibrate("groundedness", rows, "--out", kept, "--report", report, "--quiet")
    assert (done.returncode, done.stderr) == (0, b"")
    told = json.loads(report.read_text())
    assert told["schema"] == "ragauge.answer-calibration-report/1"
    used = ragauge(
        *("eval", "answers", rows, "--metrics", "groundedness,grounded", "--format", "json"),
        *("--calibration", kept),
    )
    detail = json.loads(used.stdout)["detail"]
    assert detail["groundedness"] == told["judge"]
    kappa = told["metrics"]["calibration.kappa"]["value"]
    assert {one["kappa"] for one in detail["agreement"]} == {kappa}


def test_labels_by_a_rule(tmp_path):
    scale = [{**row, "human": {"faithfulness": [1 + 3 * row["label"], 3]}} for row in labelled()]
    for row in scale:
        del row["label"]
    file = written(tmp_path / "labels.jsonl", scale)
    done = calibrate(
        *("groundedness", file, "--label", "human.faithfulness", "--good", ">=3.5"),
        *("--format", "json"),
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["identity"]["labels"] == "human.faithfulness: good is >=3.5"
    assert told["metrics"]["calibration.base_rate"]["value"] == 0.5


def test_a_judge_by_scores_of_a_file(rows, tmp_path):
    scores = written(
        tmp_path / "scores.jsonl",
        [
            {"id": row["id"], "scores": {"faithfulness": {"value": float(row["label"])}}}
            for row in labelled()
        ],
    )
    kept = tmp_path / "calibration.json"
    done = calibrate(
        *("judge", rows, "--scores", scores, "--metric", "faithfulness"),
        *("--judge-model", "judge-1", "--out", kept),
    )
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode()
    assert shown.startswith("PASS  faithfulness by judge-1 separates good answers from bad ones")
    assert "verdicts that flip with the position" in shown
    assert "no row tells of positions" in shown
    (one,) = json.loads(kept.read_text())["agreement"]
    assert (one["metric"], one["judge"], one["kappa"]) == ("answers.faithfulness", "judge-1", 1.0)
    assert one["labels"].startswith("labels.jsonl sha256:")


def test_the_lexical_judge_as_markdown(rows, tmp_path):
    page = tmp_path / "report.md"
    done = calibrate("judge", rows, "--judge", "lexical", "--report", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    assert text.startswith("## Ragauge calibration: PASS")
    assert "### Bias" in text


def test_what_may_be_chance_is_1(tmp_path):
    rows = [{**row, "label": (place // 4 + place) % 2} for place, row in enumerate(labelled())]
    file = written(tmp_path / "labels.jsonl", rows)
    done = calibrate("groundedness", file)
    assert done.returncode == 1
    assert b"it may be no better than chance" in done.stdout


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{**row, "label": True} for row in labelled()], b"120 good and 0 bad"),
        (labelled(2, 2), b"10 with 3 of each are needed"),
    ],
    ids=["one label", "few"],
)
def test_what_tells_nothing_is_3_and_keeps_nothing(tmp_path, rows, said):
    file, kept = written(tmp_path / "labels.jsonl", rows), tmp_path / "calibration.json"
    done = calibrate("groundedness", file, "--out", kept)
    assert done.returncode == 3
    assert said in done.stdout
    assert not kept.exists()


def test_bad_rows_are_3_with_their_places(rows):
    rows.write_text(rows.read_text() + '{"id": "x", "answer": "a", "label": "so so"}\n')
    done = calibrate("groundedness", rows)
    assert (done.returncode, done.stdout) == (3, b"")
    assert f'{rows}:121: label: "so so" is neither true or false'.encode() in done.stderr
    assert calibrate("groundedness", rows, "--max-bad", "1").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["groundedness", "none.jsonl"], 2, b"no such file"),
        (["groundedness", "ROWS", "--good", ">="], 2, b"neither a bound"),
        (["groundedness", "ROWS", "--label", "mark"], 3, b'no row has "mark"'),
        (["groundedness", "ROWS", "--out", "x.toml"], 2, b"a calibration is JSON"),
        (["groundedness", "ROWS", "--out", "ROWS"], 2, b"would be overwritten"),
        (["groundedness", "ROWS", "--report", "x.html"], 2, b"it has text, json, markdown"),
        (["judge", "ROWS"], 3, b"no row has `scores`"),
        (["judge", "ROWS", "--budget", "calls=2"], 2, b"--budget: belongs to --judge"),
        (["judge", "ROWS", "--judge", "http://localhost:1"], 2, b"--judge-model"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_bad_command_is_told_in_words(rows, arguments, code, said):
    done = calibrate(*(rows if one == "ROWS" else one for one in arguments))
    assert (done.returncode, done.stdout) == (code, b"")
    assert said in done.stderr


def test_the_same_labels_give_the_same_bytes(rows):
    first, second = (
        calibrate("judge", rows, "--judge", "lexical", "--format", "json") for _ in "ab"
    )
    assert first.stdout == second.stdout


def test_a_calibrated_judge_is_shown_by_later_evaluations_unasked(rows, tmp_path):
    lexical = ("--judge", "lexical", "--store", tmp_path / "store")
    done = calibrate("judge", rows, *lexical)
    assert done.returncode == 0, done.stderr
    assert f"kept in {tmp_path / 'store'}, for later reports of this judge" in done.stderr.decode()
    asked = ("eval", "answers", rows, "--metrics", "lexical_faithfulness", "--format", "json")
    (one,) = json.loads(ragauge(*asked, *lexical).stdout)["detail"]["agreement"]
    assert one["metric"] == "answers.lexical_faithfulness"
    assert one["labels"].startswith("labels.jsonl sha256:")
    assert one["labels"].endswith(", kept in the store")
    elsewhere = ragauge(*asked, "--judge", "lexical", "--store", tmp_path / "other")
    assert json.loads(elsewhere.stdout)["detail"]["agreement"] == []
    assert not (tmp_path / "other").exists()


def test_without_a_store_nothing_is_made(rows, tmp_path):
    (tmp_path / "ragauge.toml").touch()
    done = calibrate_in(tmp_path, "judge", rows, "--judge", "lexical")
    assert done.returncode == 0, done.stderr
    assert b"not kept in a store, for there is none yet; name one with --store" in done.stderr
    assert not (tmp_path / ".ragauge").exists()


def test_a_store_that_cannot_be_read_fails_nothing(rows, tmp_path):
    broken = tmp_path / "store.sqlite"
    broken.write_bytes(b"no database" * 100)
    done = calibrate("judge", rows, "--judge", "lexical", "--store", broken)
    assert done.returncode == 0
    assert b"not kept in the store: " in done.stderr
    asked = ("eval", "answers", rows, "--metrics", "lexical_faithfulness", "--judge", "lexical")
    done = ragauge(*asked, "--store", broken)
    assert done.returncode == 0
    assert b"no calibration of the store is shown: " in done.stderr


def calibrate_in(folder, *arguments):
    return ragauge("calibrate", *arguments, cwd=folder, COLUMNS="120")
