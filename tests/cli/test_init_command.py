"""`ragauge init`: what it writes is read, and runs once the files it names are there."""

from __future__ import annotations

import json
import shutil
import tomllib

import pytest

from ragauge.cli.init import CASES
from ragauge.ingest.suite import read_suite
from tests.cli.command import ragauge
from tests.pipelines.misbehaving import serving

FULL = {"traces": 1, "http": 2, "call": 2}
"""How many tasks each case has."""


def uncommented(text: str) -> str:
    """The file with the proposals taken up: comments that are TOML."""
    lines = []
    for line in text.splitlines():
        bare = line.removeprefix("# ")
        proposal = bare.startswith("[") or bare.partition(" = ")[0].isidentifier()
        lines.append(bare if line.startswith("# ") and proposal else line)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("case", CASES)
def test_what_it_writes_is_read_and_so_are_its_proposals(tmp_path, case):
    done = ragauge("init", "--case", case, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"missing gold.jsonl" in done.stdout
    assert done.stdout.endswith(b"ragauge run\n")
    assert len(read_suite(None, tmp_path, {}).suite.tasks) == FULL[case]
    path = tmp_path / "ragauge.toml"
    path.write_text(uncommented(path.read_text()))
    assert "baseline" in tomllib.loads(path.read_text())
    suite = read_suite("pr", tmp_path, {}).suite
    assert suite.labels == {"model": "small-3"}
    assert suite.tasks[0].against.run == "green@main"


@pytest.mark.parametrize("case", ["traces", "call"])
def test_the_examples_run_and_pass(tmp_path, case):
    assert ragauge("init", "--case", case, "--example", cwd=tmp_path).returncode == 0
    done = ragauge("run", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(b"PASS")


def test_the_example_of_an_endpoint_runs_against_one(tmp_path):
    assert ragauge("init", "--case", "http", "--example", cwd=tmp_path).returncode == 0
    path = tmp_path / "ragauge.toml"

    def answered(ask: dict) -> dict:
        known = "Rijksmuseum" in ask["q"]
        cited = ["rijksmuseum#history"] if known else []
        claim = "It moved in 1808." if known else "not in context"
        return {"answer_json": {"claim": claim, "citations": cited}, "retrieved_ids": cited}

    with serving(lambda ask, attempt: answered(ask)) as server:
        text = path.read_text()
        path.write_text(text.replace("http://127.0.0.1:8136/qa", server.at("qa")))
        done = ragauge("run", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["coverage"]["passed"] == 2


def test_the_traces_of_the_demo_run(tmp_path, answered):
    gold, traces = answered
    shutil.copy(gold, tmp_path / "gold.jsonl")
    shutil.copy(traces, tmp_path / "traces.jsonl")
    done = ragauge("init", cwd=tmp_path)
    assert b"missing" not in done.stdout
    assert done.stdout == b"wrote ragauge.toml\nnext: ragauge run\n"
    ran = ragauge("run", "--format", "json", cwd=tmp_path)
    scored = ragauge(
        *("score", "gold.jsonl", "traces.jsonl", "--preset", "ship", "--format", "json"),
        cwd=tmp_path,
    )
    assert ran.returncode == scored.returncode
    alone = json.loads(scored.stdout)["metrics"]
    found = json.loads(ran.stdout)["metrics"]
    assert found == {f"answers/{id}": value for id, value in alone.items()}


def test_nothing_is_overwritten_unless_told_and_examples_never(tmp_path):
    (tmp_path / "ragauge.toml").write_text("quiet = true\n")
    (tmp_path / "gold.jsonl").write_text("mine\n")
    done = ragauge("init", cwd=tmp_path)
    assert done.returncode == 2
    assert b"ragauge.toml: is there already; --force overwrites it" in done.stderr
    assert (tmp_path / "ragauge.toml").read_text() == "quiet = true\n"
    assert ragauge("init", "--force", "--example", cwd=tmp_path).returncode == 0
    assert (tmp_path / "gold.jsonl").read_text() == "mine\n"
    assert "[tasks.answers]" in (tmp_path / "ragauge.toml").read_text()


def test_it_writes_into_a_folder_and_says_where_to_go(tmp_path):
    done = ragauge("init", "--into", "new/eval", "--case", "call", cwd=tmp_path)
    assert done.returncode == 0
    told = done.stdout.decode().splitlines()[-1]
    assert told.startswith("next: write new/eval/gold.jsonl and new/eval/my_system.py (--example ")
    assert told.endswith(", then cd new/eval && ragauge run")


def test_what_is_missing_comes_before_the_run(tmp_path):
    (tmp_path / "gold.jsonl").touch()
    told = ragauge("init", cwd=tmp_path).stdout.decode().splitlines()[-1]
    assert told.startswith("next: write traces.jsonl (")
    forced = ragauge("init", "--example", "--force", cwd=tmp_path).stdout.decode()
    assert forced.splitlines()[-1] == "next: ragauge run"
