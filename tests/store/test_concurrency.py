"""Many processes write at once: nothing is lost, and no half run is ever seen."""

from __future__ import annotations

import pytest

from ragauge.store.history import open_history
from tests.store.recorders import EACH, WRITERS
from tests.store.runs_made import new_run
from tests.store.test_crash import recorders
from tests.store.test_migrations import old_history


@pytest.mark.slow
def test_sixteen_writers_and_a_reader(place, tmp_path):
    """They also make the store at once: it is not there when they start."""
    found = recorders("crowd", place, tmp_path / "in")
    assert found["broken"] == []
    assert found["looks"] > 0
    assert len(found["promised"]) == WRITERS * EACH
    assert sorted(found["whole"]) == found["promised"]
    assert found["faults"] == {} and found["leftovers"] == []


@pytest.mark.slow
def test_sixteen_processes_may_make_a_history_at_once(place, tmp_path):
    assert recorders("opened", place, tmp_path)["opened"] == WRITERS


@pytest.mark.slow
def test_sixteen_processes_may_upgrade_a_history_at_once(place, tmp_path):
    run = new_run(1)
    old_history(place, "0001", run)
    assert recorders("opened", place, tmp_path)["opened"] == WRITERS
    history = open_history(place)
    assert history.verify().whole == (run.record.id,)
    history.close()


@pytest.mark.slow
def test_sixteen_processes_may_record_one_run_at_once(place, tmp_path):
    found = recorders("same", place, tmp_path / "in")
    assert found["failed"] == 0
    assert len(found["promised"]) == WRITERS
    assert found["whole"] == found["promised"][:1]
    assert (found["faults"], found["leftovers"]) == ({}, 0)
