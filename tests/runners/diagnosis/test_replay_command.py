"""A replay on the command line: in which language, how far it is, and what is said of a failure."""

import errno
import json
import os
import subprocess

import pytest

from ragauge.cli import command
from ragauge.contracts.sweep import Progress
from tests.cli.command import QUIET_ENVIRONMENT, RAGAUGE, ragauge

SYSTEMS = """
def down(ask):
    raise OSError("the base is away")

def deaf(ask):
    return {"answer": "It is so.", "retrieved_ids": ["n1", "n2"]}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "systems.py").write_text(SYSTEMS)
    row = {"answer": "No.", "gold_ids": ["g1"], "retrieved_ids": ["n1", "n2"], "faithfulness": 0.1}
    rows = [{"sample_id": f"s{n}", "question": f"What is {n}?", **row} for n in range(5)]
    (tmp_path / "low.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return tmp_path


def replayed(folder, system, *options):
    asked = ("--replay", "--call", f"systems:{system}", *options, "--format", "json")
    made = ragauge("diagnose", "low.jsonl", *asked, cwd=folder)
    assert made.returncode == 1, made.stderr
    return json.loads(made.stdout)["replay"], made.stderr.decode()


@pytest.mark.parametrize("options", [(), ("--quiet",)])
def test_a_system_that_answers_nothing_is_told_of_in_a_line(folder, options):
    found, said = replayed(folder, "down", *options)
    assert (found["ended"], found["of"], found["chosen"]) == ("error_budget", 5, 3)
    assert said == (
        "replay given up: no call returned an answer: raised: OSError: the base is away; "
        "fix the system, then run the same command to continue\n"
    )


def test_reasons_are_in_the_language_of_the_report(folder):
    found, said = replayed(folder, "deaf", "--lang", "zh")
    reasons = {one["name"]: one["reason"] for one in found["interventions"]}
    assert reasons == {
        "again": None,
        "gold_in": "系统似乎忽略了参数 put_in：没有一个回复体现这一改动",
        "noise_out": "系统似乎忽略了参数 take_out：没有一个回复体现这一改动",
        "temperature_0": "没有已知在温度高于 0 时运行过的问题",
        "top_k_doubled": "系统似乎忽略了参数 top_k：没有一个回复体现这一改动",
    }
    assert said == ""


def on_a_terminal(*arguments, cwd):
    """What a terminal was sent on stderr."""
    ours, its = os.openpty()
    with subprocess.Popen(
        [RAGAUGE, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=its,
        cwd=cwd,
        env={**QUIET_ENVIRONMENT, "TERM": "xterm", "COLUMNS": "200"},
    ) as process:
        os.close(its)
        sent = b""
        try:
            while part := os.read(ours, 4096):
                sent += part
        except OSError as closed:
            if closed.errno != errno.EIO:  # how Linux says that nobody writes any more
                raise
        finally:
            process.kill()
            os.close(ours)
    return sent.decode()


def test_the_bar_says_what_is_being_done(folder):
    asked = ("diagnose", "low.jsonl", "--replay", "--call", "systems:deaf")
    sent = on_a_terminal(*asked, cwd=folder)
    assert "asking again" in sent
    assert "sweeping" not in sent


def test_a_failure_stands_behind_every_bar(folder):
    asked = ("diagnose", "low.jsonl", "--replay", "--call", "systems:down")
    sent = on_a_terminal(*asked, cwd=folder)
    assert "taking answers apart" in sent
    assert sent.endswith(
        "the base is away; fix the system, then run the same command to continue\r\n"
    )


@pytest.mark.parametrize(("given", "said"), [((), "sweeping"), (("asking again",), "asking again")])
def test_a_log_says_it_too(capsys, monkeypatch, given, said):
    monkeypatch.setattr(command, "LOG_EVERY_S", 0.0)
    with command.call_progress(False, *given) as watch:
        watch(Progress(0, 1200, 0, 0))
    assert capsys.readouterr().err == f"{said}: 0 of 1,200 runs\n"
