"""`ragauge trace-eval` as a user and a CI job meet it, against real systems."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
import time

import jsonschema
import pytest

from ragauge.demo import DOCUMENTS, GOLD
from tests.cli.command import QUIET_ENVIRONMENT, RAGAUGE, ragauge
from tests.demo.test_serve import Served
from tests.pipelines.misbehaving import serving
from tests.runners.traced_system import question, reply, unanswerable, write_gold, write_handbook

STEADY, SPLIT = ["a<ab"] * 6, ["a<ab"] * 4 + ["c<abc"] * 2
SYSTEM = """
import json
from pathlib import Path

SAID = json.loads(Path("said.json").read_text())

def answer(ask):
    with open("calls", "a") as file:
        file.write(f"{ask['q']} {ask['seed']}\\n")
    if Path("stop").exists() and len(Path("calls").read_text().splitlines()) > 9:
        import threading
        threading.Event().wait()
    qid, _, wording = ask["q"].removesuffix("?").partition(" in wording ")
    said = SAID[qid][2 * int(wording) + ask["seed"]]
    if said is None:
        raise OSError("the base is away")
    return said
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with a gold set and a system that answers three of its questions."""
    write_system(tmp_path, {"q1": STEADY, "q2": STEADY, "unknown": ["-<ab"] * 6})
    write_handbook(tmp_path)
    return tmp_path


def write_system(folder, script):
    asked = [unanswerable(qid) if qid == "unknown" else question(qid) for qid in script]
    write_gold(folder, asked)
    said = {
        qid: [None if run == "!" else reply(run) for run in runs] for qid, runs in script.items()
    }
    (folder / "said.json").write_text(json.dumps(said))
    (folder / "system.py").write_text(SYSTEM)


def evaluate(folder, *options, system=("--call", "system:answer"), **environment):
    fixed = ("gold.jsonl", "--out", "runs.jsonl", *system)
    return ragauge("trace-eval", *fixed, *options, cwd=folder, **{"COLUMNS": "100"} | environment)


def calls(folder):
    return (folder / "calls").read_text().splitlines()


def test_a_function_that_is_right_every_time_passes(folder):
    done = evaluate(folder, "--docs", "docs", "--manifest", "index.json")
    assert done.returncode == 0, done.stderr
    told = done.stdout.decode().splitlines()
    assert told[0] == "PASS  3 of 3 questions convergent; gold cited in 12 of 12 answers"
    assert told[-1].endswith("18 runs planned, 18 made, saved in runs.jsonl")
    assert sorted(calls(folder)) == sorted(
        f"{qid} in wording {wording}? {seed}"
        for qid in ("q1", "q2", "unknown")
        for wording in range(3)
        for seed in (0, 1)
    )


def test_one_whose_runs_part_fails_and_is_told_where(folder):
    write_system(folder, {"q1": STEADY, "q2": SPLIT})
    done = evaluate(folder)
    assert done.returncode == 1
    told = " ".join(done.stdout.decode().split())
    assert re.search(r"q2 convergent recursive after retrieval \S{6} 4 of 6", told)
    assert "The same chunks are retrieved, but the outcome differs" in told


def test_below_the_target_the_codes_stand_before_everything_and_no_knob_is_named(folder):
    write_system(folder, {"q1": STEADY, "q2": ["a<ab", "d<ab"] * 3})
    done = evaluate(folder)
    told = done.stdout.decode()
    assert done.returncode == 1
    assert told.index("not_retrieved") < told.index("λ") < told.index("Questions")
    assert "fix the codes before you tune retrieval" in told
    assert "The same chunks are retrieved" not in told


def test_the_options_of_the_recipe_are_asked_for(folder):
    done = evaluate(
        folder, "--wordings", "2", "--seeds", "1", "--temperature", "0.7", "--format", "json"
    )
    report = json.loads(done.stdout)
    assert report["recipe"] == {"wordings": 2, "seeds": [1], "temperature": 0.7}
    assert report["coverage"]["planned"] == len(calls(folder)) == 6


FORMS = {
    "text": b"PASS  3 of 3",
    "json": b'"schema": "ragauge.trace-eval/1"',
    "markdown": b"## Ragauge trace-eval: PASS",
    "junit": b"<testsuites",
    "html": b"<!doctype html>",
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_goes_to_standard_output(folder, form):
    done = evaluate(folder, "--format", form)
    assert done.returncode == 0, done.stderr
    assert FORMS[form].lower() in done.stdout.lower()


def test_the_json_report_is_as_the_schema_command_says(folder):
    schema = json.loads(ragauge("schema", "trace-eval-report").stdout)
    done = evaluate(folder, "--format", "json", "--embedder", "ngram")
    jsonschema.Draft202012Validator(schema).validate(json.loads(done.stdout))


def test_cut_offs_are_read_from_the_command_line(folder):
    done = evaluate(folder, "--k", "1,5", "--format", "json")
    assert [one["k"] for one in json.loads(done.stdout)["at_k"]] == [1, 5]
    for wrong in ("x", "1,1", "0"):
        assert evaluate(folder, "--k", wrong).returncode == 2


def test_the_log_has_lambda_of_each_run(folder):
    place = ("--to-db", "log.sqlite", "--run", "nightly")
    done = evaluate(folder, "--log", "serving.log", *place)
    assert done.returncode == 0, done.stderr
    lines = (folder / "serving.log").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 18
    assert all(" lambda=convergent " in line for line in lines)
    assert b"wrote serving.log" in done.stderr
    assert b"wrote log.sqlite" in done.stderr
    refused = evaluate(folder, "--log", "runs.jsonl")
    assert (refused.returncode, b"would be overwritten" in refused.stderr) == (2, True)


def test_reports_are_written_beside_it_and_said_to_be(folder):
    names = ("trace.html", "trace.json", "trace.md", "trace.xml", "trace.txt")
    done = evaluate(folder, *(part for name in names for part in ("--report", name)))
    assert done.returncode == 0
    for name in names:
        assert (folder / name).stat().st_size
        assert f"wrote {name}".encode() in done.stderr


def test_a_form_that_there_is_not_is_refused_before_anything_is_asked(folder):
    done = evaluate(folder, "--report", "trace.sarif")
    assert done.returncode == 2
    assert b'a trace-eval report has no form "sarif"' in done.stderr
    assert not (folder / "calls").exists()


def test_strict_and_own_gates(folder):
    write_system(folder, {f"q{n}": STEADY for n in range(19)} | {"split": SPLIT})
    assert evaluate(folder).returncode == 0
    assert evaluate(folder, "--strict").returncode == 1
    own = ("--gates", "answer_convergent>=0.9,match_rate>=0.9", "--gates", "rerank_flips<=0")
    assert evaluate(folder, "--strict", *own).returncode == 0
    assert len(calls(folder)) == 20 * 6


def test_the_gates_of_a_score_are_not_those_of_a_trace_evaluation(folder):
    (folder / "ragauge.toml").write_text('gates = ["precision_cited>=0.8"]\n')
    assert evaluate(folder).returncode == 0


def test_a_gate_on_deltas_without_a_calibration_fails_and_says_why(folder):
    done = evaluate(folder, "--embedder", "ngram", "--gates", "deltaS_chunk<=0.9")
    assert done.returncode == 1
    assert "ΔS was not calibrated" in " ".join(done.stdout.decode().split())


# Systems.


@pytest.fixture
def few(tmp_path):
    """The first questions of the bundled gold set."""
    lines = GOLD.read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "gold.jsonl").write_text("".join(lines[:4]))
    return tmp_path


def json_of(done):
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_the_demo_its_server_and_a_replay_of_it_come_to_the_same(few):
    shown = ("--docs", DOCUMENTS, "--format", "json")
    demo = json_of(evaluate(few, *shown, system=("--demo", "--out", "demo.jsonl")))
    with subprocess.Popen(
        [RAGAUGE, "demo", "serve", "--port", "0"],
        stderr=subprocess.PIPE,
        env=QUIET_ENVIRONMENT,
        text=True,
    ) as process:
        # A server that says nothing must not keep the tests waiting for ever.
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        try:
            served = Served(process)
            served.wait_until_ready()
            http = ("--http", f"{served.url}/qa", "--out", "http.jsonl")
            http_report = json_of(evaluate(few, *shown, system=http))
        finally:
            watchdog.cancel()
            process.kill()
    replay = ("--replay", "demo.jsonl", "--out", "replay.jsonl")
    replayed = json_of(evaluate(few, *shown, system=replay))
    assert demo["coverage"]["runs"] == 24
    assert demo["metrics"]["traceability.text"]["value"] == 1
    for other in (http_report, replayed):
        assert {**other, "out": "", "identity": ""} == {**demo, "out": "", "identity": ""}
    kinds = [one["identity"]["sweeps"][0]["system"]["kind"] for one in (http_report, replayed)]
    assert kinds == ["http", "replay"]


def test_knobs_reach_the_system_and_its_faults_are_found(few):
    knobs = json.dumps({"faults": ["drifted_offsets=1"]})
    found = json_of(
        evaluate(few, "--docs", DOCUMENTS, "--knobs", knobs, "--format", "json", system=("--demo",))
    )
    assert [one["code"] for one in found["codes"]] == ["span_text_mismatch"]
    assert found["codes_first"]
    assert found["identity"]["sweeps"][0]["knobs"] == json.loads(knobs)


# Trouble on the way.


def test_a_run_that_fails_within_the_budget_is_incomplete_and_can_be_made_up_for(folder):
    write_system(folder, {"q1": STEADY, "q2": ["a<ab"] * 5 + ["!"]})
    done = evaluate(folder, "--error-budget", "1")
    assert done.returncode == 1
    assert b"11 made, 1 failed" in done.stdout
    assert b"OSError: the base is away" in done.stdout
    write_system(folder, {"q1": STEADY, "q2": STEADY})
    done = evaluate(folder)
    assert done.returncode == 0, done.stdout
    assert b"12 runs planned, 12 made, saved" in done.stdout
    assert len(calls(folder)) == 13


def test_a_spent_budget_is_3_and_shows_a_failure_in_its_own_words(folder):
    write_system(folder, {"q1": ["!"] * 6})
    done = evaluate(folder)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"the error budget is spent and nothing is evaluated" in done.stderr
    assert b"OSError: the base is away" in done.stderr
    assert b"Traceback" not in done.stderr


def test_nothing_but_failures_is_3(folder):
    write_system(folder, {"q1": ["!"] * 6})
    done = evaluate(folder, "--error-budget", "100%")
    assert done.returncode == 3
    assert b"6 runs planned, 0 made, 6 failed" in done.stdout


def started(folder, *system):
    """The command, under way."""
    return subprocess.Popen(
        [RAGAUGE, "trace-eval", "gold.jsonl", "--out", "runs.jsonl", *system],
        cwd=folder,
        env=QUIET_ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def lines(folder):
    journal = folder / "runs.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def test_a_kill_loses_nothing_and_the_same_command_ends_with_the_same_report(folder, tmp_path):
    (folder / "stop").touch()
    process = started(folder, "--call", "system:answer", "--concurrency", "1")
    try:
        while lines(folder) < 9:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    (folder / "stop").unlink()
    assert len(calls(folder)) == 10
    resumed = evaluate(folder, "--format", "json")
    assert resumed.returncode == 0, resumed.stderr
    assert len(calls(folder)) == 10 + 9
    whole = tmp_path / "whole"
    whole.mkdir()
    write_system(whole, {"q1": STEADY, "q2": STEADY, "unknown": ["-<ab"] * 6})
    assert evaluate(whole, "--format", "json").stdout == resumed.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_is_130_and_says_how_to_go_on(folder, number):
    with serving() as server:
        process = started(folder, "--http", server.at("slow"))
        try:
            server.wait_until(lambda server: server.in_flight == 16)
            process.send_signal(number)
            stdout, stderr = process.communicate(timeout=20)
        finally:
            process.kill()
            process.communicate()
    assert (process.returncode, stdout) == (130, b"")
    assert b"the same command goes on where this one stopped" in stderr
    assert b"Traceback" not in stderr


def test_what_was_set_aside_is_said(folder):
    evaluate(folder)
    again = evaluate(folder, "--seeds", "5,6")
    assert again.returncode == 2
    assert b"--restart" in again.stderr
    write_system(folder, {"q1": ["a<ab"] * 12})
    again = evaluate(folder, "--restart")
    assert again.returncode == 0
    assert b"kept as runs.jsonl.1" in again.stderr


WRONG_USAGE = {
    "no system": ((), (), b"name one system to ask"),
    "two systems": (("--command", "cat"), None, b"one"),
    "the demo and another": (("--demo",), None, b"--demo stands alone"),
    "a seed that is none": (("--seeds", "1,x"), None, b"whole numbers"),
    "a seed twice": (("--seeds", "1,1"), None, b"one is there twice"),
    "one wording": (("--wordings", "1"), None, b"--wordings"),
    "knobs that are none": (("--knobs", "[1]"), None, b"--knobs"),
    "a rate that is none": (("--rate", "often"), None, b"10/s"),
    "an unknown metric": (("--gates", "match_rat>=1"), None, b"match_rate"),
    "documents that are not there": (("--docs", "nowhere"), None, b"no such folder"),
    "a manifest that is not there": (("--manifest", "nowhere"), None, b"nowhere"),
    "pairs that are none": (("--allow-cross-section", "a"), None, b"a"),
    "a calibration of nobody": (("--calibration", "c.json"), None, b"--embedder"),
}


@pytest.mark.parametrize("what", WRONG_USAGE)
def test_wrong_usage_is_said_in_words_before_anything_is_called(folder, what):
    options, system, words = WRONG_USAGE[what]
    done = evaluate(folder, *options, system=("--call", "system:answer") if system is None else ())
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert b"Traceback" not in done.stderr
    assert not (folder / "calls").exists()


# The history.


def test_a_recorded_evaluation_can_be_listed_and_compared(folder):
    store = ("--record", "--store", "history", "--name", "keys")
    first = evaluate(folder, *store)
    assert b"recorded" in first.stderr
    script = {"q1": STEADY, "q2": SPLIT, "unknown": ["-<ab"] * 6}
    said = {qid: [reply(run) for run in runs] for qid, runs in script.items()}
    (folder / "said.json").write_text(json.dumps(said))
    evaluate(folder, *store, "--restart")
    listed = ragauge("runs", "list", "--store", "history", "--format", "json", cwd=folder)
    runs = json.loads(listed.stdout)["runs"]
    assert [(run["record"]["command"], run["record"]["name"]) for run in runs] == [
        ("trace-eval", "keys")
    ] * 2
    compared = ragauge(
        "compare",
        runs[1]["id"],
        runs[0]["id"],
        "--store",
        "history",
        "--format",
        "json",
        cwd=folder,
    )
    assert compared.returncode in (0, 1), compared.stderr
    assert "traceability.match_rate" in json.loads(compared.stdout)["metrics"]


def test_help_shows_the_recipe():
    help = ragauge("trace-eval", "-h").stdout.decode()
    for words in ("[3]", "[0,1]", "[0.2]", "--strict", "--calibration", "--docs"):
        assert words in help
