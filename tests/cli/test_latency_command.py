"""`ragauge latency` as a user and a CI job meet it."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time

import pytest

from tests.cli.command import QUIET_ENVIRONMENT, RAGAUGE, ragauge
from tests.runners.loaded_server import serving

GOOD = {"answer_json": {"claim": "X is a constrained mapping.", "citations": ["p1#1"]}}
REPLIES = {
    "What is X?": GOOD,
    "Explain Y.": {"answer_json": {"claim": "Y is unrelated to X.", "citations": ["p2#1"]}},
    "What is Z?": {"answer": "not in context"},
    "Summarize the external link.": {"answer": "not in context"},
}
QUICK = ("--rates", "50", "--requests", "4")


@pytest.fixture
def server():
    with serving(REPLIES) as running:
        yield running


@pytest.fixture
def asked(server, parity, tmp_path):
    """The command's arguments, with knobs as they are given."""

    def arguments(knobs=None, *more):
        command = ["latency", "--http", server.url, "--gold", parity[0], *QUICK]
        if knobs is not None:
            file = tmp_path / "knobs.json"
            file.write_text(json.dumps(knobs))
            command += ["--knobs", file]
        return [*command, *more]

    return arguments


WORSE = {"base": {}, "worse": {"reply": {"answer": "No. citations: [p9]"}}}


@pytest.mark.parametrize(
    ("knobs", "arguments", "code"),
    [
        (None, (), 0),
        ({}, (), 0),
        (WORSE, ("--max-p95-increase", "100000%"), 1),
        (WORSE, ("--max-p95-increase", "100000%", "--max-precision-drop", "100"), 0),
        (WORSE, ("--max-p95-increase", "100000", "--baseline", "worse"), 0),
        ({"base": {}, "down": {"status": 500}}, (), 1),
        ({"down": {"status": 500}}, (), 3),
        (WORSE, ("--baseline", "other"), 2),
        ({"k": 5}, (), 2),
        (None, ("--rates", "0"), 2),
        (None, ("--rates", "fast"), 2),
        (None, ("--duration", "5"), 2),
        (None, ("--question", "What is X?"), 2),
        (None, ("--max-errors", "some"), 2),
        (None, ("--out", "no/such/folder/rows.jsonl"), 2),
        (None, ("--report", "report.xml"), 2),
    ],
)
def test_exit_codes_tell_a_slow_system_from_a_bad_command(asked, knobs, arguments, code):
    done = ragauge(*asked(knobs, *arguments))
    assert done.returncode == code, done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_a_mapping_shapes_what_is_sent_and_read(server, parity, tmp_path):
    shape = tmp_path / "map.json"
    request = {"q": "{q}", "knobs": {"reply": {"said": {"text": "{knobs.text}"}}}}
    shape.write_text(json.dumps({"request": request, "response": {"answer": "$.said.text"}}))
    knobs = tmp_path / "knobs.json"
    knobs.write_text('{"a": {"text": "not in context"}}')
    command = ["latency", "--http", server.url, "--gold", parity[0], *QUICK, "--map", shape]
    done = ragauge(*command, "--knobs", knobs, "--format", "json")
    assert json.loads(done.stdout)["coverage"]["answered"] == 4
    knobs.write_text('{"a": {}}')
    lacking = ragauge(*command, "--knobs", knobs)
    assert lacking.returncode == 2
    assert b'needs the knob text, which "a" lacks' in lacking.stderr


def test_one_question_is_enough_to_measure_speed(server):
    command = ["latency", "--http", server.url, "--question", "What is X?", *QUICK]
    done = ragauge(*command, "--arrivals", "poisson", "--seed", "7")
    assert done.returncode == 0
    assert {body["q"] for body in server.asked} == {"What is X?"}


def interrupted(process: subprocess.Popen, server, calls: int) -> tuple[bytes, bytes]:
    """What the process says when it is interrupted after some calls have reached the server."""
    deadline = time.monotonic() + 30
    while len(server.asked) < calls:
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    return process.communicate(timeout=30)


def test_an_interrupt_reports_what_was_measured(server, parity, tmp_path):
    """The first configuration answers, the second never does."""
    rows, knobs = tmp_path / "rows.jsonl", tmp_path / "knobs.json"
    knobs.write_text('{"good": {}, "stuck": {"hang": true}, "never": {}}')
    command = [RAGAUGE, "latency", "--http", server.url, "--gold", parity[0], *QUICK]
    command += ["--knobs", knobs, "--out", rows, "--format", "json", "--warmup", "0"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=QUIET_ENVIRONMENT,
    )
    stdout, stderr = interrupted(process, server, 4 + 4)
    assert process.returncode == 130
    assert b"Traceback" not in stderr
    assert b"interrupted; what was measured until then is reported" in stderr
    report = json.loads(stdout)
    assert report["partial"] is True
    assert report["pass"] is False
    good, stuck, never = report["cells"]
    assert (good["complete"], good["answered"]) == (True, 4)
    assert (stuck["complete"], stuck["answered"], stuck["sent"]) == (False, 0, 4)
    assert never["reason"] == "interrupted before it began"
    written = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [row["labels"]["config"] for row in written] == ["good"] * 4


def test_progress_is_for_terminals_only(asked):
    command = asked()
    assert ragauge(*command).stderr == b""
    ours, theirs = pty.openpty()
    environment = QUIET_ENVIRONMENT | {"TERM": "xterm-256color", "COLUMNS": "100"}
    process = subprocess.Popen(
        [RAGAUGE, *map(str, command)], stdout=subprocess.DEVNULL, stderr=theirs, env=environment
    )
    os.close(theirs)
    assert b"default,50" in drained(ours)
    assert process.wait(30) == 0


def drained(terminal: int) -> bytes:
    """All that is written to a terminal, until nobody has it open any more."""
    content = b""
    while True:
        try:
            content += os.read(terminal, 1 << 16)
        except OSError:
            os.close(terminal)
            return content
