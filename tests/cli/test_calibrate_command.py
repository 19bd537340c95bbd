"""`ragauge calibrate deltas` as a user and a CI job meet it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from ragauge.ingest.calibration import read_calibration
from tests.cli.command import ragauge
from tests.runners.calibrated import corpus, read, swap, write


@pytest.fixture
def files(tmp_path):
    return corpus(tmp_path)


def calibrate(files, *more, **environment):
    gold, docs = files
    wide = {"COLUMNS": "100"} | environment
    return ragauge("calibrate", "deltas", gold, "--docs", docs, *more, **wide)


def test_a_usable_calibration_is_0(files):
    done = calibrate(files)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"PASS  ngram:v1:1024 separates anchors from decoys")
    assert done.stderr == b""


def test_one_that_cannot_be_gated_on_is_1(files):
    swap(files[0])
    done = calibrate(files)
    assert done.returncode == 1
    assert "Gates on ΔS are not evaluated below an AUC of 0.8" in done.stdout.decode()
    assert "Decoy nearer than anchor  14 questions" in done.stdout.decode()


def test_too_few_pairs_are_1_and_say_how_many_it_takes(tmp_path):
    done = calibrate(corpus(tmp_path, towns=4))
    assert done.returncode == 1
    assert b"4 pairs of an anchor and a decoy; 10 are the least that tell" in done.stdout


def test_no_pair_at_all_is_3(files):
    write(files[0], [{k: v for k, v in row.items() if k != "decoy"} for row in read(files[0])])
    done = calibrate(files)
    assert done.returncode == 3
    assert b"0 pairs of 14 questions, 14 without anchor or decoy" in done.stdout


def test_a_broken_gold_set_is_3_with_its_place(files):
    files[0].write_text(files[0].read_text() + '{"qid": "x"}\n')
    done = calibrate(files)
    assert (done.returncode, done.stdout) == (3, b"")
    assert f"{files[0]}:15: question: missing".encode() in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["GOLD"], b"give GOLD and --docs DIR; or --demo"),
        (["--docs", "DOCS"], b"give GOLD and --docs DIR; or --demo"),
        (["GOLD", "--demo"], b"--demo brings its own GOLD"),
        (["--docs", "DOCS", "--demo"], b"--demo brings its own GOLD"),
        (["GOLD", "--docs", "DOCS", "--embedder", "gpt"], b'embedder "gpt" is not known'),
        (["GOLD", "--docs", "nowhere"], b"nowhere: there is no such folder"),
        (["nothing.jsonl", "--docs", "DOCS"], b"nothing.jsonl: no such file"),
        (["GOLD", "--docs", "DOCS", "--format", "html"], b"--format"),
        (["GOLD", "--docs", "DOCS", "--report", "x.csv"], b"it has text, json, markdown"),
        (["GOLD", "--docs", "DOCS", "--out", "no/such/folder.json"], b"does not exist"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_bad_command_is_2_in_words(files, tmp_path, arguments, said):
    names = {"GOLD": files[0], "DOCS": files[1]}
    done = ragauge(
        "calibrate", "deltas", *(names.get(word, word) for word in arguments), cwd=tmp_path
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == b""


def test_out_keeps_what_can_be_read_back(files, tmp_path):
    out = tmp_path / "calibration.json"
    done = calibrate(files, "--out", out, "--format", "json")
    assert done.stdout == out.read_bytes()
    assert done.stderr.decode() == f"wrote {out}\n"
    assert read_calibration(str(out), "ngram:v1:1024").usable


def test_the_report_has_the_common_shape(files):
    report = json.loads(calibrate(files, "--format", "json").stdout)
    assert report["schema"] == "ragauge.calibration/1"
    assert report["pass"] is True
    assert list(report) == sorted(report)
    for score in report["metrics"].values():
        assert score.keys() == {"value", "n", "of", "ci", "reason", "signature"}
    assert {"metric", "op", "bound", "value", "n", "verdict", "reason"} <= report["gates"][0].keys()
    assert report["findings"] == []
    assert report["coverage"]["pairs"] == 14


def test_reports_are_written_in_their_forms_and_quietly(files, tmp_path):
    names = [tmp_path / f"report{ending}" for ending in (".json", ".md", ".txt")]
    flags = [part for name in names for part in ("--report", name)]
    done = calibrate(files, *flags, "--quiet")
    assert done.stderr == b""
    assert (tmp_path / "report.txt").read_bytes() == calibrate(files).stdout
    assert (tmp_path / "report.md").read_text().startswith("## Ragauge calibration: PASS")


def test_the_gold_set_may_come_from_stdin(files):
    gold, docs = files
    done = ragauge(
        "calibrate", "deltas", "-", "--docs", docs, stdin=gold.read_bytes(), COLUMNS="100"
    )
    assert done.stdout == calibrate(files).stdout


def test_the_demo_can_be_tried_at_once():
    done = ragauge("calibrate", "deltas", "--demo", "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["finding_counts"] == {}
    assert report["coverage"]["pairs"] > 40
    assert report["coverage"]["unresolved"] == 0


def test_foreign_text_reaches_no_terminal_as_it_is(files):
    swap(files[0], 1)
    rows = read(files[0])
    rows[0] |= {"qid": "\x1b[31mq", "question": "::error::When was it founded?"}
    write(files[0], rows)
    for form in ("text", "markdown"):
        done = calibrate(files, "--format", form)
        assert b"\x1b" not in done.stdout
        assert b"\\x1b[31mq" in done.stdout


def test_help_needs_nothing_heavy():
    code = "import sys, ragauge.cli.calibrate; print(*{'numpy', 'rich', 'polars'} & {*sys.modules})"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == ""
