"""Writers that are killed leave whole runs or none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).with_name("recorders.py")


def recorders(*arguments: object) -> dict[str, Any]:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *map(str, arguments)],
        env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check(found: dict[str, Any]) -> None:
    whole, promised, tried = set(found["whole"]), set(found["promised"]), set(found["tried"])
    assert found["faults"] == {}
    assert promised <= whole <= tried
    assert set(found["whole_at_last"]) == tried
    assert found["swept"] == found["leftovers"] and found["left"] == []


def lost(found: dict[str, Any]) -> int:
    return len(found["tried"]) - len(found["whole"])


@pytest.mark.slow
def test_a_hundred_kills_leave_whole_runs_or_none_in_a_file(tmp_path):
    found = recorders("killed", tmp_path / ".ragauge", tmp_path / "in", 1, 100)
    check(found)
    assert 0 < lost(found) < 100, "kills that all come too early or too late prove nothing"
    assert found["leftovers"] > 0, "some kills come while files are written"


@pytest.mark.slow
def test_twenty_kills_leave_whole_runs_or_none_on_a_server(postgres, tmp_path):
    found = recorders("killed", postgres, tmp_path / "in", 2, 20)
    check(found)
    assert 0 < lost(found) <= 20


@pytest.mark.slow
def test_a_kill_at_any_step_leaves_no_run_but_the_one_that_was_let_be(tmp_path):
    found = recorders("stepped", tmp_path / ".ragauge", tmp_path / "in")
    check(found)
    assert lost(found) == len(found["tried"]) - 1 > 20
    assert found["whole"] == found["promised"] == found["tried"][-1:]


@pytest.mark.slow
def test_a_kill_while_a_history_is_made_leaves_one_that_can_be_used(tmp_path):
    assert recorders("born", tmp_path / "stores", tmp_path / "in", 3, 40)["usable"] == 45
