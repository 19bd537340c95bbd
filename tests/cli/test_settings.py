"""Settings by flag, environment and file, through the real command."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.command import ragauge


def test_a_flag_switches_off_what_the_file_switches_on(parity, tmp_path):
    (tmp_path / "ragauge.toml").write_text('record = true\nstore = "kept"\n')
    assert ragauge("score", *parity, "--no-record", cwd=tmp_path).returncode == 0
    assert not (tmp_path / "kept").exists()
    assert ragauge("score", *parity, cwd=tmp_path).returncode == 0
    assert (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("option", "value", "fact"),
    [
        ("--store", "", "--store: is empty"),
        ("--name", " ", "--name: is empty"),
        ("--name", "two\nlines", "does not print"),
        ("--name", "n" * 300, "longer than 200"),
        ("--label", "model", "write key=value"),
        ("--label", "model=a\x1b[31m", "does not print"),
    ],
)
def test_what_cannot_name_a_run_has_words(option, value, fact, parity, tmp_path):
    done = ragauge("score", *parity, "--record", option, value, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert fact in done.stderr.decode()
    assert "\x1b" not in done.stderr.decode()


def test_a_store_named_in_a_file_is_beside_the_file(parity, tmp_path):
    (tmp_path / "ragauge.toml").write_text('store = "kept"\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    assert ragauge("score", *parity, "--record", cwd=inner).returncode == 0
    assert (tmp_path / "kept").exists()
    assert not (inner / "kept").exists()


def test_the_hint_names_a_store_that_was_given_and_none_that_is_found_anyway(parity, tmp_path):
    given = ragauge("score", *parity, "--record", "--store", "kept", cwd=tmp_path)
    assert re.search(r"`ragauge runs show [0-9a-f]{12} --store kept` shows", given.stderr.decode())
    (tmp_path / "ragauge.toml").write_text('store = "other"\n')
    found = ragauge("score", *parity, "--record", cwd=tmp_path)
    assert (tmp_path / "other").exists()
    assert re.search(r"`ragauge runs show [0-9a-f]{12}` shows", found.stderr.decode())


def test_changed_defaults_are_explained_for_the_project_at_hand(tmp_path):
    (tmp_path / "ragauge.toml").write_text(
        'gates = ["over_refusal<=10"]\n'
        '[tasks.once]\nkind = "score"\npreset = "example08"\n'
        '[tasks.open]\nkind = "score"\ngates = ["coverage>=0.9"]\n'
        "[sweep]\nseeds = [0]\ntemperatures = [0]\njitters = ['none']\n"
    )
    told = ragauge("config", "--explain-changes", "--format", "json", cwd=tmp_path)
    affects = {one["what"]: one["affects"] for one in json.loads(told.stdout)}
    assert affects["what counts as a refusal"].endswith(
        " count now in tasks.open, ragauge stability"
    )
    assert affects["a run without a gate on quality"] == "tasks.open has none"
    assert "did you mean 0.10?" in affects["gates that can never fail or never pass"]
    assert affects["stability from one run per question"]
    text = ragauge("config", "--explain-changes", cwd=tmp_path).stdout.decode()
    assert "In this project (5)" in text
    for what in affects:
        assert what in text
    (tmp_path / "ragauge.toml").write_text('refusal = "exact"\npreset = "ship"\nmin_coverage = 0\n')
    told = ragauge("config", "--explain-changes", "--format", "json", cwd=tmp_path)
    assert not any(one["affects"] for one in json.loads(told.stdout))


def test_changed_defaults_are_explained_for_the_settings_of_each_task(tmp_path):
    ship = '[tasks.answers]\nkind = "score"\npreset = "ship"\nmin_coverage = 0\n'
    (tmp_path / "ragauge.toml").write_text(
        f'refusal_tokens = ["NO ANSWER"]\n{ship}pipeline = {{demo = true}}\n'
        '[tasks.repeats]\nkind = "stability"\nrefusal = "exact"\ngates = ["acr>=-1"]\n'
        "pipeline = {demo = true}\n"
        "sweep = {seeds = [0], temperatures = [0], jitters = ['none'], max_wait = 5}\n"
    )
    told = ragauge("config", "--explain-changes", "--format", "json", cwd=tmp_path)
    affects = {one["what"]: one["affects"] for one in json.loads(told.stdout) if one["affects"]}
    pointless = affects.pop("gates that can never fail or never pass")
    assert pointless.startswith('tasks.repeats: gate "stability.acr>=-1"')
    assert affects == {
        "stability from one run per question": "the grid of tasks.repeats has one run per question",
        "`Retry-After` of a system under test": "calls of tasks.answers wait up to 60 s",
    }


def test_changed_defaults_are_those_of_the_changelog(tmp_path):
    changes = (Path(__file__).parents[2] / "CHANGELOG.md").read_text("utf-8")
    table = changes.partition("## 0.2.0")[2].partition("Numbers change:")[0]
    rows = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    told = ragauge("config", "--explain-changes", "--format", "json", cwd=tmp_path)
    assert [one["what"] for one in json.loads(told.stdout)] == [
        row for row in rows if row != "what"
    ]


def refused(*arguments, cwd):
    """The label of a refusal in the system's own words."""
    done = ragauge("score", "gold.jsonl", "traces.jsonl", *arguments, "--format=json", cwd=cwd)
    return json.loads(done.stdout)["questions"][0]["label"]


@pytest.mark.parametrize("file", ["ragauge.toml", "pyproject.toml"])
def test_ship_demands_the_token_where_the_file_names_it(file, tmp_path):
    (tmp_path / "gold.jsonl").write_text('{"qid": "q1", "question": "?", "answerable": false}')
    (tmp_path / "traces.jsonl").write_text('{"qid": "q1", "answer": "I do not know."}')
    ship = ("--preset", "ship")
    assert refused(*ship, cwd=tmp_path) == "REFUSAL_OK"
    assert refused(*ship, "--refusal-tokens", "NO ANSWER", cwd=tmp_path) == "REFUSAL_OK"
    table = "[tool.ragauge]\n" if file == "pyproject.toml" else ""
    (tmp_path / file).write_text(f'{table}refusal_tokens = ["NO ANSWER"]\n')
    assert refused(*ship, cwd=tmp_path) == "HALLUCINATION"
    assert refused(*ship, "--refusal", "auto", cwd=tmp_path) == "REFUSAL_OK"
    assert refused(cwd=tmp_path) == "REFUSAL_OK"


def test_an_empty_token_may_be_in_the_file(tmp_path):
    (tmp_path / "gold.jsonl").write_text('{"qid": "q1", "question": "?", "answerable": false}')
    (tmp_path / "traces.jsonl").write_text('{"qid": "q1", "answer": ""}')
    assert refused("--refusal-tokens", "", cwd=tmp_path) == "REFUSAL_OK"
    (tmp_path / "ragauge.toml").write_text('refusal_tokens = [""]\n')
    assert refused(cwd=tmp_path) == "REFUSAL_OK"
