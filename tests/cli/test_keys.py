"""Keys of endpoints: read from the environment, and shown nowhere."""

from __future__ import annotations

import json

import pytest

from ragauge.ingest.configuration import KEYS
from ragauge.models import endpoint_embedder, judges
from tests.cli.command import ragauge
from tests.models.judge_server import chatting
from tests.models.test_endpoint_embedder import embeddings
from tests.runners.test_judged_answers import agreeable

CANARIES = {"RAGAUGE_JUDGE_KEY": "canary-judge-7f3a", "RAGAUGE_EMBEDDER_KEY": "canary-embed-19c4"}
ROW = {
    "id": "a",
    "question": "When did it open?",
    "answer": "It opened in 1800.",
    "contexts": ["The museum opened in 1800."],
    "reference": "In 1800.",
}


def both(asked):
    """A server with a chat model and an embedder."""
    return embeddings(asked.body["input"]) if "input" in asked.body else agreeable(asked)


def test_the_usual_keys_reach_their_endpoints_and_no_file(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(ROW) + "\n")
    with chatting(both) as server:
        done = ragauge(
            *("eval", "answers", rows, "--judge", server.at("v1"), "--judge-model", "small"),
            *("--metrics", "rubric,relevance", "--embedder", f"{server.at('v1')}#small"),
            *("--record", "--store", tmp_path / "store", "--format", "json"),
            *("--out", tmp_path / "scores.jsonl", "--report", tmp_path / "report.html"),
            **CANARIES,
        )
    assert done.returncode == 0, done.stderr.decode()
    sent = {request.path: request.headers["authorization"] for request in server.requests}
    assert sent == {
        "/v1/chat/completions": "Bearer canary-judge-7f3a",
        "/v1/embeddings": "Bearer canary-embed-19c4",
    }
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    told = [done.stdout, done.stderr, *(path.read_bytes() for path in files)]
    assert len(files) >= 5
    assert not any(canary.encode() in text for text in told for canary in CANARIES.values())


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_configuration_does_not_show_them(form):
    done = ragauge("config", "--format", form, **CANARIES, RAGAUGE_WORKERS="3")
    assert done.returncode == 0, done.stderr.decode()
    assert b"RAGAUGE_WORKERS" in done.stdout
    assert b"canary" not in done.stdout + done.stderr


def test_a_slip_in_their_names_is_told_without_the_value():
    done = ragauge("config", RAGAUGE_JUGDE_KEY="canary-7f3a")
    assert done.returncode == 2
    assert b'did you mean "RAGAUGE_JUDGE_KEY"?' in done.stderr
    assert b"canary" not in done.stderr


def test_these_are_the_variables_that_endpoints_read():
    assert set(KEYS) == {judges.KEY, endpoint_embedder.KEY} == set(CANARIES)
