"""`ragauge score` as a user and a CI job meet it."""

from __future__ import annotations

import gzip
import json
import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest
import zstandard

from tests.cli.command import QUIET_ENVIRONMENT, RAGAUGE, ragauge


def report_of(*arguments: object, **options: object) -> dict:
    done = ragauge("score", *arguments, "--format", "json", **options)
    assert done.returncode in (0, 1), done.stderr.decode()
    return json.loads(done.stdout)


def test_the_report_has_the_published_shape(parity):
    report = report_of(*parity)
    assert report["schema"] == "ragauge.score/1"
    assert report["metrics"]["quality.precision_cited"].keys() == {
        "value", "n", "of", "ci", "reason", "signature",
    }  # fmt: skip
    assert {"metric", "op", "bound", "value", "n", "verdict", "reason"} <= report["gates"][0].keys()
    assert {"qid", "label", "triage", "answered", "hit", "contained", "in_scope"} <= report[
        "questions"
    ][0].keys()
    assert {"gold", "traced", "scored", "missing", "unknown", "duplicate", "errors"} <= report[
        "coverage"
    ].keys()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 0),
        (("--gates", "precision_cited>=0.3"), 0),
        (("--gates", "precision_cited>=0.9"), 1),
        (("--gates", "precision_strict>=0.1"), 1),  # retrieved ids unknown: not evaluated
        (("--gates", "precision_strict>=0.1?"), 0),
        (("--preset", "example08"), 1),
        (("--preset", "exampel08"), 2),
        (("--gates", "precision>=1"), 2),
        (("--max-bad", "many"), 2),
        (("--gates", ""), 2),
        (("--preset", ""), 2),
        (("--refusal-tokens", ""), 0),
        (("--gates", "precision_cited>=0.1@99.9999999"), 2),
        (("--gates", "precision_cited>=1e999"), 2),
        (("--workers", "two"), 2),
        (("--no-such-flag",), 2),
    ],
)
def test_exit_codes_tell_a_bad_system_from_a_bad_command(parity, arguments, code):
    assert ragauge("score", *parity, *arguments).returncode == code


@pytest.mark.parametrize(
    ("brief", "metric"),
    [
        ("G1", "precision_cited"),
        ("G2", "under_refusal"),
        ("G3", "over_refusal"),
        ("G4", "citation_hit_rate"),
        ("G5", "compliance"),
        ("chr", "citation_hit_rate"),
    ],
)
def test_the_quality_briefs_gate_names_work_under_its_preset(parity, brief, metric):
    preset = ("--preset", "example08")
    named = report_of(*parity, *preset, "--gates", f"{brief}>=0.11")["gates"]
    assert named == report_of(*parity, *preset, "--gates", f"{metric}>=0.11")["gates"]
    assert f"quality.{metric}>=0.11" in [gate["rule"] for gate in named]
    done = ragauge("score", *parity, "--preset", "ship", "--gates", f"{brief}>=0.11")
    assert done.returncode == 2
    assert f"write {metric}, or add --preset example08" in done.stderr.decode()


def test_rejected_input_is_3_and_prints_no_numbers(parity):
    gold, traces = parity
    traces.write_text(traces.read_text() + '{"qid": 7.5}\n{broken\n')
    done = ragauge("score", gold, traces, "--gates", "precision_cited>=0.9")
    assert done.returncode == 3
    assert done.stdout == b""
    assert done.stderr.decode().splitlines() == [
        f"ragauge: {traces}:5: qid: expected text, got a number",
        f"ragauge: {traces}:6: not JSON: expecting property name enclosed in double quotes "
        "at column 2",
    ]
    assert ragauge("score", gold, traces, "--max-bad", "2").returncode == 0
    assert ragauge("score", gold, traces, "--max-bad", "34%").returncode == 0
    assert ragauge("score", gold, traces, "--max-bad", "1").returncode == 3


def test_few_questions_do_not_pass_and_the_headline_says_so(parity):
    gold, traces = parity
    traces.write_text(traces.read_text().splitlines()[0])
    done = ragauge("score", gold, traces, "--gates", "precision_cited>=0.8")
    assert done.returncode == 1
    assert b"1 of 4 questions scored" in done.stdout.splitlines()[0]


def test_a_refusal_token_may_hold_a_comma(parity):
    gold, traces = parity
    traces.write_text('{"qid": "q3", "answer": "Sorry, I do not know"}')
    report = report_of(gold, traces, "--refusal-tokens", "Sorry, I do not know")
    assert report["labels"]["REFUSAL_OK"] == 1


def test_a_full_disk_is_no_failed_gate(parity):
    with Path("/dev/full").open("wb") as full:
        command = [RAGAUGE, "score", *parity]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_nothing_scored_is_3(parity):
    gold, traces = parity
    traces.write_text('{"qid": "other", "answer": "x"}\n')
    assert ragauge("score", gold, traces).returncode == 3
    traces.write_text("".join(f'{{"qid": "q{n}", "answer": ""}}\n' for n in range(1, 5)))
    done = ragauge("score", gold, traces, "--format", "json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["coverage"]["errors"] == 4


def test_compressed_and_piped_traces_give_the_same_report(parity, tmp_path):
    gold, traces = parity
    plain = report_of(gold, traces)
    content = traces.read_bytes()
    (tmp_path / "t.gz").write_bytes(gzip.compress(content))
    (tmp_path / "t.zst").write_bytes(zstandard.compress(content))
    for name in ("t.gz", "t.zst"):
        assert report_of(gold, tmp_path / name)["metrics"] == plain["metrics"]
    assert report_of(gold, "-", stdin=content)["metrics"] == plain["metrics"]


def test_reports_are_written_beside_what_stdout_gets(parity, tmp_path):
    names = [tmp_path / f"report{ending}" for ending in (".json", ".md", ".xml", ".csv", ".txt")]
    flags = [part for name in names for part in ("--report", name)]
    done = ragauge("score", *parity, *flags, "--format", "github")
    assert done.returncode == 0
    assert all(name.stat().st_size for name in names)
    assert done.stderr.decode().splitlines() == [f"wrote {name}" for name in names]
    assert ragauge("score", *parity, *flags, "--quiet").stderr == b""


def test_an_unwritable_report_is_known_before_the_work(parity, tmp_path):
    done = ragauge("score", *parity, "--report", tmp_path / "report.docx")
    assert done.returncode == 2
    assert done.stdout == b""
    assert ragauge("score", *parity, "--report", tmp_path / "no" / "r.json").returncode == 2


def test_out_holds_a_row_for_every_trace(parity, tmp_path):
    gold, traces = parity
    traces.write_text(traces.read_text() * 2)
    rows = tmp_path / "rows.parquet"
    report_of(gold, traces, "--out", rows, "--refusal", "exact")
    frame = pl.read_parquet(rows)
    assert frame["line"].to_list() == list(range(1, 9))
    assert frame["label"].to_list()[:3] == ["OK", "ANS_NO_HIT", "REFUSAL_OK"]
    assert frame["quality.precision_cited"].to_list()[:4] == [1.0, 0.0, None, 0.0]


def test_baseline_shows_the_change_and_the_questions_that_moved(parity, tmp_path):
    gold, traces = parity
    before = tmp_path / "before.json"
    exact = ("--refusal", "exact")
    ragauge("score", gold, traces, "--report", before, *exact)
    traces.write_text(traces.read_text().replace("Not in context.", "not in context"))
    comparison = report_of(gold, traces, "--baseline", before, *exact)["baseline"]
    change = comparison["metrics"]["quality.under_refusal"]
    assert (change["baseline"], change["value"], change["change"]) == (0.5, 0.0, -0.5)
    assert change["ci"][0] < -0.5 < change["ci"][1]
    assert comparison["changed"] == [{"qid": "q4", "was": "REFUSAL_MALFORMED", "now": "REFUSAL_OK"}]
    reference = report_of(gold, traces, "--baseline", before, "--canon", "reference")["baseline"]
    assert "not comparable" in reference["metrics"]["quality.precision_cited"]["reason"]


def test_a_baseline_of_other_metric_versions_says_which_and_what_to_do(parity, tmp_path):
    gold, traces = parity
    before = tmp_path / "before.json"
    report = report_of(gold, traces)
    report["identity"]["metrics"]["quality.compliance"] = 0
    score = report["metrics"]["quality.compliance"]
    score["signature"] = re.sub(r"\|v\d+", "|v0", score["signature"])
    before.write_text(json.dumps(report))
    compared = report_of(gold, traces, "--baseline", before)["baseline"]
    assert "are not comparable: quality.compliance (v0, now v" in compared["note"]
    assert "`ragauge runs rescore RUN`" in compared["note"]
    assert compared["metrics"]["quality.compliance"]["change"] is None
    assert compared["metrics"]["quality.errors"]["change"] == 0.0
    shown = ragauge("score", gold, traces, "--baseline", before).stdout.decode()
    assert "not comparable: the metric was v0 and is v" in " ".join(shown.split())
    assert "`ragauge runs rescore RUN` scores the answers" in " ".join(shown.split())
    assert compared["note"] in " ".join(shown.split())


def test_a_baseline_that_is_no_report_is_refused(parity):
    gold, traces = parity
    done = ragauge("score", gold, traces, "--baseline", gold)
    assert done.returncode == 3
    assert b"is no score report" in done.stderr


def on_a_terminal(command: list[str], **environment: str) -> tuple[str, str]:
    """What a command writes to stdout and stderr when both are terminals."""
    ours, theirs = pty.openpty()
    errors, their_errors = pty.openpty()
    environment = QUIET_ENVIRONMENT | {"TERM": "xterm-256color", "COLUMNS": "100"} | environment
    subprocess.run(command, stdout=theirs, stderr=their_errors, env=environment, check=False)
    os.close(theirs)
    os.close(their_errors)
    return _drained(ours), _drained(errors)


def _drained(terminal: int) -> str:
    content = b""
    while True:
        try:
            chunk = os.read(terminal, 1 << 16)
        except OSError:
            break
        content += chunk
    os.close(terminal)
    return content.decode()


def test_colour_and_progress_are_for_terminals_only(parity):
    command = [str(RAGAUGE), "score", *map(str, parity)]
    stdout, stderr = on_a_terminal(command)
    assert "\x1b[" in stdout
    assert "scoring" in stderr
    stdout, stderr = on_a_terminal(command, NO_COLOR="1")
    assert "\x1b[" not in stdout
    piped = ragauge("score", *parity)
    assert b"\x1b[" not in piped.stdout
    assert piped.stderr == b""


def many_traces(gold: Path, traces: Path, times: int) -> None:
    traces.write_bytes(traces.read_bytes() * times)


def test_interrupt_ends_in_words_and_130(parity, tmp_path):
    gold, traces = parity
    many_traces(gold, traces, 100_000)
    rows = tmp_path / "rows.parquet"
    command = [RAGAUGE, "score", gold, traces, "--workers", "2", "--out", rows]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    wait_until(lambda: any(tmp_path.glob(".rows.parquet.*")))
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in stderr
    assert not rows.exists()


def test_a_kill_leaves_the_old_file_or_the_new_one(parity, tmp_path):
    gold, traces = parity
    many_traces(gold, traces, 20_000)
    rows = tmp_path / "rows.parquet"
    command = [RAGAUGE, "score", gold, traces, "--workers", "1", "--out", rows]
    for moment in range(8):
        rows.write_bytes(b"old")
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=0.25 + 0.15 * moment)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if rows.read_bytes() != b"old":
            assert pl.read_parquet(rows).height == 80_000


def wait_until(holds) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)
