"""The smaller verbs, the configuration, and what every verb has in common."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from ragauge.cli import main
from ragauge.cli.schema import NAMES
from ragauge.contracts.kinds import FORMS
from ragauge.gates.presets import PRESETS
from ragauge.ingest.configuration import SETTINGS
from tests.cli.command import ON_PATH, QUIET_ENVIRONMENT, RAGAUGE, ragauge

HEAVY = ("numpy", "polars", "rich", "msgspec", "scipy")


def test_help_and_import_load_nothing_heavy():
    show = f"import sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    for code in (
        "import ragauge",
        "import ragauge.cli.main as m; m.cli.main(['-h'], 'r', standalone_mode=False)",
    ):
        script = (
            f"import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n    {code}\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script + show], capture_output=True, check=True, text=True
        )
        assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", NAMES)
def test_schemas_hold_examples_that_validate(name):
    schema = json.loads(ragauge("schema", name).stdout)
    assert schema["$schema"].endswith("2020-12/schema")
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    assert schema["examples"]
    for example in schema["examples"]:
        validator.validate(example)


def test_a_real_report_validates_against_its_schema(parity):
    schema = json.loads(ragauge("schema", "score-report").stdout)
    report = json.loads(ragauge("score", *parity, "--format", "json").stdout)
    jsonschema.Draft202012Validator(schema).validate(report)
    report["labels"]["OK"] = "one"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate(report)


def test_metrics_are_listed_and_explained():
    listed = ragauge("metrics").stdout.decode()
    assert "quality.precision_cited" in listed
    explained = ragauge("metrics", "over_refusal").stdout.decode()
    assert "Answerable questions that were refused" in explained
    assert json.loads(ragauge("metrics", "--format", "json").stdout)["quality.errors"]["version"]
    unknown = ragauge("metrics", "precison_cited")
    assert unknown.returncode == 2
    assert b'did you mean "precision_cited"?' in unknown.stderr


def test_a_flag_beats_the_environment_beats_the_file_beats_the_default(parity, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.ragauge]\npreset = "ship"\nmax-bad = "1%"\n')
    values = json.loads(
        ragauge("config", "--format", "json", cwd=tmp_path, RAGAUGE_PRESET="integrity").stdout
    )
    assert values["preset"] == {"value": "integrity", "origin": "RAGAUGE_PRESET"}
    assert values["max_bad"] == {"value": "1%", "origin": "pyproject.toml [tool.ragauge]"}
    assert values["canon"] == {"value": "unicode", "origin": "default"}
    assert ragauge("score", *parity, cwd=tmp_path).returncode == 1
    assert ragauge("score", *parity, "--preset", "integrity", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("scroe",), "score"),
        (("eval", "typs"), "types"),
        (("gold", "lnt"), "lint"),
        (("runs", "shwo"), "show"),
        (("calibrate", "groundednes"), "groundedness"),
        (("demo", "srve"), "serve"),
    ],
)
def test_a_misspelt_command_gets_a_suggestion_at_every_level(words, meant):
    done = ragauge(*words)
    assert done.returncode == 2
    assert f'there is no command "{words[-1]}"; did you mean "{meant}"?' in done.stderr.decode()


def test_settings_know_every_preset_and_form():
    assert SETTINGS["preset"].choices == PRESETS
    assert SETTINGS["format"].choices == FORMS


def test_gates_may_stand_in_the_file(parity, tmp_path):
    gates = 'gates = ["precision_cited>=0.3", "citation_hit_rate>=0.9"]\n'
    (tmp_path / "ragauge.toml").write_text(gates)
    report = json.loads(ragauge("score", *parity, "--format", "json", cwd=tmp_path).stdout)
    assert [gate["verdict"] for gate in report["gates"]] == ["pass", "fail"]


def test_every_wrong_setting_is_named_at_once(tmp_path):
    (tmp_path / "ragauge.toml").write_text('prest = "ship"\ncanon = "ascii"\nworkers = -1\n')
    done = ragauge("config", cwd=tmp_path, RAGAUGE_EACH="run")
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
        'ragauge: ragauge.toml: prest: there is no such setting; did you mean "preset"?',
        'ragauge: ragauge.toml: canon: "ascii" is none of unicode, reference',
        "ragauge: ragauge.toml: workers: expected a whole number, 0 or more, got -1",
        'ragauge: RAGAUGE_EACH: "run" is none of question, trace',
    ]


@pytest.mark.parametrize("written", ["[tool]\nragauge = 5\n", 'tool = "x"\n'])
def test_a_project_file_of_another_shape_ends_in_words(tmp_path, written):
    (tmp_path / "pyproject.toml").write_text(written)
    done = ragauge("config", cwd=tmp_path)
    assert b"Traceback" not in done.stderr
    assert done.returncode == (2 if "ragauge" in written else 0)


def test_bash_completes_verbs():
    done = ragauge(COMP_WORDS="ragauge sc", COMP_CWORD="1", _RAGAUGE_COMPLETE="bash_complete")
    assert done.stdout.decode().split() == ["plain,schema", "plain,score"]


def suggested(text: str) -> list[list[str]]:
    """The commands that the demo prints, each on a line of its own."""
    lines = [line.strip() for line in text.splitlines()]
    return [shlex.split(line) for line in lines if line.split(" ")[0].endswith("ragauge")]


def works(command: list[str], folder: Path) -> None:
    """Run a command as it is printed; a server on a free port, until it says where it listens."""
    environment = QUIET_ENVIRONMENT | ON_PATH
    if "serve" not in command:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, check=False
        )
        assert done.returncode in (0, 1), (command, done.stderr)
        assert done.stdout and b"Traceback" not in done.stderr, (command, done.stderr)
        return
    server = subprocess.Popen(
        [*command, "--port", "0"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert server.stdout and "http://127.0.0.1:" in server.stdout.readline(), command
    finally:
        server.kill()
        server.communicate()


def test_the_demo_tells_its_story_in_45_lines(toured):
    text = (toured / "printed").read_text()
    shown = [line for line in text.splitlines() for _ in range(0, max(len(line), 1), 80)]
    assert len(shown) <= 45
    story = [
        "1. The system is healthy",
        "score      PASS",
        "stability  PASS  80 of 80 questions stable",
        "2. A fault is switched on  unstable_retrieval=0.3",
        "stability  FAIL",
        "3. The diagnosis names the cause",
        "Likeliest cause: The same question retrieves different passages with another seed",
        "4. The fault is switched off, and the fix is verified",
        "fixed against faulty   BETTER",
        "fixed against healthy  NOT WORSE",
        "Open demo/report.html in a browser",
    ]
    told = " ".join(text.split())  # whatever the lines broke
    places = [told.index(" ".join(part.split())) for part in story]
    assert places == sorted(places)


def test_every_command_that_the_demo_suggests_works_as_printed(toured):
    commands = suggested((toured / "printed").read_text())
    assert {command[1] for command in commands} >= {"serve", "diagnose", "compare", "demo"}
    for command in commands:
        works(command, toured)


def test_the_demo_without_a_folder_keeps_nothing_and_suggests_what_works(tmp_path):
    """As in `make demo`, which runs .venv/bin/ragauge without activating it."""
    place = tmp_path / ".venv"
    place.symlink_to(RAGAUGE.parents[1])
    environment = QUIET_ENVIRONMENT | {"PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [".venv/bin/ragauge", "demo"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=True,
    )
    assert list(tmp_path.iterdir()) == [place]
    commands = suggested(done.stdout.decode())
    assert commands == [
        [".venv/bin/ragauge", "demo", "--into", "demo"],
        [".venv/bin/ragauge", "eval", "all", "--demo"],
        [".venv/bin/ragauge", "demo", "serve"],
    ]
    works(commands[-1], tmp_path)


def test_the_demo_leaves_traces_of_a_healthy_system(toured):
    again = ragauge(
        *("score", toured / "demo/gold.jsonl", toured / "demo/traces.jsonl"),
        *("--preset", "ship", "--format", "json"),
    )
    report = json.loads(again.stdout)
    assert report["pass"] is True
    assert report["metrics"]["quality.over_refusal"]["value"] <= 0.08


def test_the_demo_leaves_a_history_and_a_report_to_look_at(toured, tmp_path):
    shutil.copytree(toured / "demo", tmp_path / "demo")
    report = (tmp_path / "demo/report.html").read_text()
    assert report.startswith("<!DOCTYPE html>")
    assert "unstable_retrieval=0.3" in report

    def kept() -> dict[str, str]:
        listed = ("runs", "list", "--store", "demo/history", "--format", "json")
        runs = json.loads(ragauge(*listed, cwd=tmp_path).stdout)["runs"]
        return {run["id"]: run["record"]["name"] for run in runs}

    names = ["broken citations", "citations", "sweep", "sweep", "sweep", "traces"]
    first = kept()
    assert sorted(first.values()) == names
    own = ("--record", "--store", "demo/history", "--name", "own")
    ragauge("score", "demo/gold.jsonl", "demo/traces.jsonl", *own, cwd=tmp_path)
    again = ragauge("demo", "--into", ".", cwd=tmp_path / "demo")
    assert b"The files are in this folder. Open report.html in a browser" in again.stdout
    second = kept()
    assert sorted(second.values()) == sorted([*names, "own"]), "what is not the demo's stays"
    assert not [id for id in first if id in second], "the demo's runs do not pile up"


def test_an_audit_of_the_demo_finds_a_broken_citation_at_each_depth(toured):
    sources = ("--manifest", "demo/manifest.json", "--docs", "demo/documents")
    done = ragauge("audit", "demo/broken.jsonl", *sources, cwd=toured)
    caught = ("not_retrieved", "mismatch_index_hash", "span_text_mismatch")
    assert all(code in done.stdout.decode() for code in caught)


def test_the_schemas_named_are_those_there_are():
    from ragauge.contracts.schemas import RECORDS

    assert list(NAMES) == sorted(RECORDS)


@pytest.mark.parametrize("form", ["text", "json"])
def test_config_keeps_the_password_of_the_store_to_itself(form, tmp_path):
    place = "postgresql://ann:hunter2@db.example/rag?password=hunter2"
    shown = ragauge("config", "--format", form, cwd=tmp_path, RAGAUGE_STORE=place).stdout.decode()
    assert "postgresql://***@db.example/rag" in shown
    assert "hunter2" not in shown


def test_a_fault_of_ours_is_not_the_exit_code_of_a_gate(monkeypatch, capsys):
    def broken(**_):
        raise ZeroDivisionError

    monkeypatch.setattr(main.cli, "main", broken)
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 3
    assert "fault in Ragauge" in capsys.readouterr().err
