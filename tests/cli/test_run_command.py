"""`ragauge run` as a user meets it: one file, one summary, one exit code."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
from contextlib import suppress

import pytest

from ragauge.cli.run_store import told
from tests.cli.command import QUIET_ENVIRONMENT, RAGAUGE, ragauge
from tests.pipelines.misbehaving import serving

QUESTIONS = [
    {
        "qid": f"q{number}",
        "question": f"What, in short, is number {number}?",
        "answerable": True,
        "gold_claim_substr": ["a constrained mapping"],
        "gold_citations": ["p1#1"],
    }
    for number in range(3)
]
CLAIM = {"claim": "It is a constrained mapping.", "citations": ["p1#1"]}
REPLY = {"answer_json": CLAIM, "retrieved_ids": ["p1#1"]}
FILE = """
[datasets.mine]
gold = "gold.jsonl"

[pipeline]
{pipeline}

[tasks.once]
kind = "score"
gates = ["{gate}"]

[tasks.often]
kind = "stability"
sweep = {{ seeds = [0, 1], temperatures = [0], jitters = ["none", "ws"], retries = 0 }}
"""


@pytest.fixture
def folder(tmp_path):
    lines = "".join(json.dumps(question) + "\n" for question in QUESTIONS)
    (tmp_path / "gold.jsonl").write_text(lines)
    (tmp_path / "system.py").write_text(f"def answer(ask):\n    return {REPLY!r}\n")
    traces = [{"qid": q["qid"], "q": q["question"], **REPLY} for q in QUESTIONS]
    (tmp_path / "traces.jsonl").write_text("".join(json.dumps(t) + "\n" for t in traces))
    (tmp_path / "print.py").write_text(f"import json\nprint(json.dumps({REPLY!r}))\n")
    return tmp_path


def written(folder, pipeline='call = "system:answer"', gate="precision_strict>=0.5"):
    (folder / "ragauge.toml").write_text(FILE.format(pipeline=pipeline, gate=gate))


def summary(done) -> dict:
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def statuses(report) -> dict[str, str]:
    return {task["name"]: task["status"] for task in report["tasks"]}


PIPELINES = ['call = "system:answer"', 'command = "python3 print.py"']


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_one_json_summary_and_one_exit_code(folder, pipeline):
    written(folder, pipeline)
    done = ragauge("run", "--format", "json", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    report = summary(done)
    assert (report["schema"], report["pass"], report["exit_code"]) == ("ragauge.suite/1", True, 0)
    assert statuses(report) == {"once": "passed", "often": "passed"}
    assert report["metrics"]["once/quality.precision_strict"]["value"] == 1.0
    assert report["metrics"]["often/stability.stable"]["value"] == 1.0
    assert list(report) == sorted(report)
    assert done.stderr == b"", "quiet where nobody looks"
    listed = ragauge("runs", "list", "--format", "json", cwd=folder)
    assert all(task["run"].encode() in listed.stdout for task in report["tasks"])


def test_recorded_answers_are_replayed(folder):
    written(folder, 'replay = "traces.jsonl"')
    done = ragauge("run", "--only", "once", "--format", "json", cwd=folder)
    assert statuses(summary(done)) == {"once": "passed", "often": "skipped"}
    assert done.returncode == 0


def test_a_failed_gate_is_one_and_an_endpoint_that_dies_is_three(folder):
    written(folder, gate="over_refusal>=0.5")
    done = ragauge("run", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.startswith(b"FAIL  suite all: 1 of 2 tasks passed, 1 failed\n")
    with serving() as server:
        written(folder, f'http = "{server.at("500")}"', gate="over_refusal>=0.5")
        report = ragauge("run", "--format", "json", cwd=folder)
    assert report.returncode == 3
    assert statuses(summary(report)) == {"once": "error", "often": "error"}


def test_a_wrong_file_is_two_and_nothing_runs(folder):
    written(folder, 'call = "system:answer"\nhttp = "http://localhost"')
    done = ragauge("run", cwd=folder)
    assert done.returncode == 2
    assert b"ragauge.toml: pipeline: name one system" in done.stderr
    assert not (folder / ".ragauge").exists()
    assert ragauge("run", "--report", "page.html", cwd=folder).returncode == 2


def test_started_from_below_it_uses_the_file_its_paths_and_its_history(folder):
    written(folder)
    below = folder / "below"
    below.mkdir()
    done = ragauge("run", "--report", "summary.md", "--report", "junit.xml", cwd=below)
    assert done.returncode == 0, done.stderr
    assert (below / "summary.md").read_text().startswith("## Ragauge suite: PASS\n")
    assert (below / "junit.xml").exists()
    assert (folder / ".ragauge" / "history.sqlite").exists()
    assert b"wrote summary.md" in done.stderr


def test_the_store_of_the_flag_beats_that_of_the_file(folder):
    written(folder)
    text = (folder / "ragauge.toml").read_text()
    (folder / "ragauge.toml").write_text(f'store = "named"\n{text}')
    assert ragauge("run", cwd=folder).returncode == 0
    assert (folder / "named" / "history.sqlite").exists()
    assert "--store" not in ragauge("run", cwd=folder).stdout.decode()
    done = ragauge("run", "--store", "the other.sqlite", cwd=folder)
    assert done.returncode == 0
    assert (folder / "the other.sqlite").exists()
    (hint,) = (line for line in done.stdout.decode().splitlines() if "ragauge runs show" in line)
    again = ragauge(*shlex.split(hint)[1:], "--identity", cwd=folder)
    assert again.returncode == 0, hint


def test_what_is_said_of_a_server_has_no_password():
    assert told("postgresql://me:secret@db.example/rag?sslmode=require") == (
        "postgresql://***@db.example/rag"
    )
    assert told("team.sqlite") == "team.sqlite"


def test_the_same_input_gives_the_same_bytes_but_for_the_runs(folder):
    written(folder)

    def without_ids() -> bytes:
        report = summary(ragauge("run", "--format", "json", cwd=folder))
        for task in report["tasks"]:
            assert len(task.pop("run")) == 64
        return json.dumps(report).encode()

    assert without_ids() == without_ids()


def test_an_interrupt_says_how_to_go_on_and_the_same_command_does(folder):
    with serving() as server:
        written(folder, f'http = "{server.at("slow")}"')
        process = subprocess.Popen(
            [RAGAUGE, "run", "--format", "json"],
            cwd=folder,
            env=QUIET_ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        server.wait_until(lambda server: server.in_flight == 3)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        assert (process.returncode, stdout) == (130, b"")
        assert b"the same command goes on where this one stopped" in stderr
        server.release()
        done = ragauge("run", "--format", "json", cwd=folder)
    assert statuses(summary(done))["once"] in ("passed", "failed")


def test_a_person_sees_how_far_it_is(folder):
    written(folder)
    screen, terminal = pty.openpty()
    done = subprocess.run(
        [RAGAUGE, "run"],
        cwd=folder,
        env=QUIET_ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        check=False,
        timeout=120,
    )
    os.close(terminal)
    seen = b""
    with suppress(OSError):  # raised once all is read, because the other end is closed
        while piece := os.read(screen, 1 << 16):
            seen += piece
    os.close(screen)
    assert done.returncode == 0
    assert b"once: score of mine" in seen
    assert b"often: passed (" in seen


EVERY_KIND = """
[datasets.few]
gold = "few.jsonl"
traces = "few-good.jsonl"
[datasets.names]
gold = "ner.jsonl"
predicted = "ner-found.jsonl"
[datasets.types]
gold = "types.tsv"
predicted = "types-found.tsv"
[datasets.links]
gold = "links.jsonl"
predicted = "links-found.jsonl"
[datasets.rankings]
gold = "qrels.txt"
predicted = "run.txt"
[datasets.answers]
predicted = "answers.jsonl"
[datasets.entries]
gold = "{entries}"
[datasets.scores]
predicted = "scores.jsonl"
[pipeline]
demo = true

[tasks.citations]
kind = "audit"
dataset = "few"
manifest = "manifest.json"
depth = "payload"
[tasks.recipe]
kind = "trace-eval"
dataset = "few"
wordings = 2
[tasks.names]
kind = "eval ner"
dataset = "names"
matching = "hipe"
labels = {{ model = "small" }}
gates = ["f1_strict>=0.9"]
[tasks.types]
kind = "eval types"
dataset = "types"
labels = "M,L,A,G"
[tasks.links]
kind = "eval linking"
dataset = "links"
k = [1, 3]
[tasks.rankings]
kind = "eval retrieval"
dataset = "rankings"
baselines = ["run2.txt"]
measures = ["nDCG@10"]
[tasks.qa]
kind = "eval qa"
dataset = "few"
metrics = ["token_f1", "coverage"]
[tasks.answers]
kind = "eval answers"
dataset = "answers"
judge = "lexical"
[tasks.components]
kind = "eval all"
dataset = "entries"
model = "ragauge.demo.components:MODEL"
tasks = ["types"]
labels = "heritage"
[tasks.causes]
kind = "diagnose"
dataset = "scores"
[tasks.traced]
kind = "diagnose"
dataset = "few"
manifest = "manifest.json"
[tasks.better]
kind = "compare"
before = "before"
after = "after"
gate = "no-regression"
"""


@pytest.fixture(scope="module")
def every_kind(tmp_path_factory):
    """The summary of a suite with a task of every kind that has none above."""
    from ragauge.demo.components import ANNOTATED
    from tests.golden.workspace import build

    folder = tmp_path_factory.mktemp("every-kind")
    build(folder)
    (folder / "ragauge.toml").write_text(EVERY_KIND.format(entries=ANNOTATED))
    done = ragauge("run", "--store", "store", "--format", "json", cwd=folder)
    return folder, done, json.loads(done.stdout)


def test_a_suite_takes_every_kind_of_task(every_kind):
    folder, done, report = every_kind
    tasks = {task["name"]: task for task in report["tasks"]}
    assert {name: task["problems"] for name, task in tasks.items() if task["problems"]} == {}
    status = {name: task["status"] for name, task in tasks.items()}
    assert (status["names"], status["better"]) == ("failed", "failed")
    assert done.returncode == 1
    recorded = {name for name, task in tasks.items() if task["run"]}
    assert {*tasks} - recorded == {"causes", "traced", "better"}
    assert tasks["better"]["comparison"]["gates"]
    shown = ragauge("run", "--store", "store", "--only", "better", cwd=folder).stdout.decode()
    assert "compare" in shown


def test_a_task_is_measured_as_its_command_measures_it(every_kind):
    folder, _, report = every_kind
    command = ("eval", "ner", "ner.jsonl", "ner-found.jsonl", "--matching", "hipe")
    alone = json.loads(ragauge(*command, "--format", "json", cwd=folder).stdout)
    assert report["metrics"]["names/entities.f1_strict"] == alone["metrics"]["entities.f1_strict"]
    ranked = ("eval", "retrieval", "qrels.txt", "run.txt", "--measures", "nDCG@10")
    alone = json.loads(ragauge(*ranked, "--format", "json", cwd=folder).stdout)
    name = "retrieval.ndcg@10"
    assert report["metrics"][f"rankings/{name}"]["value"] == alone["metrics"][name]["value"]
    assert set(report["metrics"]) & {"qa/answers.token_f1", "citations/traceability.payload"}
