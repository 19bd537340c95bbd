"""Suite files: what a stranger writes is read, and all that is wrong is said at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragauge.errors import UsageError
from ragauge.ingest.configuration import configured
from ragauge.ingest.suite import read_suite
from ragauge.runners.sweep import settled

WHOLE = """
preset = "ship"
store = "history"
name = "heritage"
label = ["model=small-3"]

[sweep]
seeds = [7, 8]
retries = 1

[datasets.heritage]
gold = "gold.jsonl"
traces = "traces.jsonl"
strata = ["language", "country"]

[datasets.fresh]
gold = "gold.jsonl"

[pipeline]
http = "http://localhost:8000/qa"
knobs = { top_k = 5 }

[baseline]
run = "green@main"
gate = "not-worse"
margin = 0.01
margins = { precision_cited = 0.02 }

[tasks.answers]
kind = "score"
dataset = "heritage"
gates = ["over_refusal<=0.15"]
metrics = "precision_cited"
labels = { prompt = "v2" }

[tasks.repeats]
kind = "stability"
dataset = "fresh"
min-stable = 0.9
baseline = false
sweep = { preset = "pr", timeout = 5 }

[suites.pr]
tasks = ["answers"]
labels = { model = "large-1" }
baseline = "v1.0"
"""


def written(folder: Path, text: str, name: str = "ragauge.toml") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def read(folder: Path, text: str, which: str | None = None, **environment: str):
    written(folder, text)
    return read_suite(which, folder, environment)


def problems(folder: Path, text: str, which: str | None = None) -> list[str]:
    with pytest.raises(UsageError) as caught:
        read(folder, text, which)
    return list(caught.value.problems)


def test_a_whole_file_is_read(tmp_path):
    suite = read(tmp_path, WHOLE).suite
    answers, repeats = suite.tasks
    assert (suite.name, suite.named(answers)) == ("all", "heritage/answers")
    assert suite.labels == {"model": "small-3"}
    assert answers.dataset.traces == ("traces.jsonl",)
    assert answers.dataset.strata == ("language", "country")
    assert answers.options.preset == "ship"
    assert answers.options.gates == "over_refusal<=0.15"
    assert answers.metrics == ("precision_cited",)
    assert answers.pipeline.knobs == {"top_k": 5}
    assert answers.against.gate == "not-worse"
    assert answers.against.margins == {"precision_cited": 0.02}
    assert repeats.against is None
    assert repeats.options.min_stable == 0.9
    assert repeats.sweep.timeout_s == 5.0
    assert repeats.sweep.retries == 1


def test_a_suite_is_a_choice_of_tasks_with_labels_and_a_baseline_of_its_own(tmp_path):
    suite = read(tmp_path, WHOLE, "pr").suite
    assert [task.name for task in suite.tasks] == ["answers"]
    assert suite.labels == {"model": "large-1"}
    assert suite.tasks[0].against.run == "v1.0"
    assert suite.tasks[0].against.gate is None


def test_a_preset_of_the_task_stands_before_the_grid_of_the_file(tmp_path):
    def grid(text):
        return settled(read(tmp_path, text).suite.tasks[1].sweep).grid

    assert grid(WHOLE).seeds == (0, 1, 2)
    assert grid(WHOLE.replace('preset = "pr", ', "")).seeds == (7, 8)
    own = grid(WHOLE.replace('preset = "pr"', 'preset = "pr", seeds = [4]'))
    assert (own.seeds, own.jitters) == ((4,), ("none", "ws", "syn"))


def test_the_environment_beats_the_file_and_its_tasks(tmp_path):
    environment = {"RAGAUGE_GATES": "errors=0", "RAGAUGE_SWEEP_SEEDS": "5", "RAGAUGE_STORE": "here"}
    file = read(tmp_path, WHOLE, **environment)
    answers, repeats = file.suite.tasks
    assert answers.options.gates == "errors=0"
    assert repeats.sweep.seeds == (5,)
    assert file.settings["store"] == "here"


def test_the_nearest_file_upwards_is_read_and_paths_are_from_its_folder(tmp_path):
    written(tmp_path, WHOLE)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    file = read_suite(None, below, {})
    assert file.folder == tmp_path
    assert file.settings["store"] == str(tmp_path / "history")


def test_a_file_of_its_own_and_a_project_file_are_read(tmp_path):
    written(tmp_path, WHOLE, "evals/nightly.toml")
    file = read_suite("evals/nightly.toml", tmp_path, {})
    assert (file.suite.name, file.suite.file) == ("all", "nightly.toml")
    assert file.folder == tmp_path / "evals"
    project = WHOLE.replace("[", "[tool.ragauge.").replace("[tool.ragauge.7", "[7")
    for text in ('"model=', '"language', '"over', '"answers"'):
        project = project.replace(f"[tool.ragauge.{text}", f"[{text}")
    top, rest = project.split("[tool.ragauge.sweep]")
    written(tmp_path, f"[tool.ragauge]\n{top}[tool.ragauge.sweep]{rest}", "pyproject.toml")
    suite = read_suite("pr", tmp_path, {}).suite
    assert suite.file == "pyproject.toml [tool.ragauge]"


def test_settings_are_read_beside_the_tables_of_suites(tmp_path):
    written(tmp_path, WHOLE)
    values = configured({}, {}, tmp_path)
    assert values["preset"].value == "ship"
    assert values["sweep.seeds"].value == ("7", "8")


def test_everything_wrong_is_said_at_once(tmp_path):
    found = problems(
        tmp_path,
        """
        presett = "ship"
        [datasets.mine]
        gold = 3
        trace = "traces.jsonl"
        [datasets."a/b"]
        gold = "gold.jsonl"
        [pipeline]
        http = "http://localhost"
        call = "a:b"
        knobs = { at = 2026-01-01 }
        [baseline]
        gate = "no-regresion"
        [tasks.answers]
        kind = "scores"
        dataset = "mein"
        [tasks.more]
        kind = "score"
        dataset = "mein"
        gates = 3
        min_stable = 0.5
        labels = { session = "x" }
        [tasks.again]
        kind = "stability"
        dataset = "a/b"
        sweep = { seedz = [1], retries = -1 }
        [suites.pr]
        tasks = ["anwers"]
        """,
    )
    assert found == [
        'ragauge.toml: presett: there is no such setting; did you mean "preset"?',
        'ragauge.toml: datasets: "a/b" is no name; write letters, digits, - _ and .',
        'ragauge.toml: datasets.mine.trace: there is no key "trace"; did you mean "traces"?',
        "ragauge.toml: datasets.mine.gold: expected text, got a whole number",
        "ragauge.toml: pipeline: name one system, by http, call, command, replay, demo; "
        "got http and call",
        "ragauge.toml: pipeline.knobs: cannot be sent as JSON: Object of type date is not JSON "
        "serializable",
        "ragauge.toml: baseline.run: missing",
        "ragauge.toml: baseline.gate: 'no-regresion' is none of no-regression, not-worse",
        'ragauge.toml: suites.pr.tasks: there is no task "anwers"; did you mean "answers"?',
        "ragauge.toml: tasks.answers.kind: 'scores' is none of score, stability, audit, "
        "trace-eval, "
        "eval ner, eval types, eval linking, eval retrieval, eval qa, eval answers, eval all, "
        "diagnose, compare",
        'ragauge.toml: tasks.more.min_stable: there is no key "min_stable"; there are: baseline, '
        "canon, columns, dataset, each, gates, inline, keep_texts, kind, labels, max_bad, metrics, "
        "min_coverage, pipeline, preset, refusal, refusal_tokens, sweep",
        "ragauge.toml: tasks.more.labels.session: is set by `ragauge run`; take another name",
        'ragauge.toml: tasks.more.dataset: there is no data set "mein"; did you mean "mine"?',
        "ragauge.toml: tasks.more.gates: expected texts, got 3",
        'ragauge.toml: tasks.again.sweep.seedz: there is no key "seedz"; did you mean "seeds"?',
        "ragauge.toml: tasks.again.sweep.retries: expected a whole number, 0 or more, got -1",
    ]


WRONG = {
    "no tasks": ("", "tasks: there are none"),
    "a task that is no table": ("[tasks]\nanswers = 1", "tasks.answers: expected a table, got"),
    "tables that are none": ("tasks = 3", "tasks: expected tables such as [tasks.mine], got"),
    "nothing to ask": (
        '[datasets.a]\ngold = "g"\n[tasks.t]\nkind = "score"',
        "tasks.t: data set a has no traces, and there is no [pipeline] to ask",
    ),
    "no runs and nothing to sweep": (
        '[datasets.a]\ngold = "g"\ntraces = "t"\n[tasks.t]\nkind = "stability"',
        "tasks.t: data set a has no runs, and there is no [pipeline] to ask",
    ),
    "two data sets and none named": (
        '[datasets.a]\ngold = "g"\n[datasets.b]\ngold = "g"\n[tasks.t]\nkind = "score"',
        "tasks.t.dataset: missing; there are: a, b",
    ),
    "a mapping without an endpoint": (
        '[pipeline]\ndemo = true\nmap = "m.json"\n[tasks.t]\nkind = "score"',
        "pipeline.map: a mapping belongs to http; demo has none",
    ),
    "a grid for a score": (
        '[datasets.a]\ngold = "g"\n[pipeline]\ndemo = true\n'
        '[tasks.t]\nkind = "score"\nsweep = { seeds = [1] }',
        'tasks.t.sweep.seeds: there is no key "seeds"; there are: concurrency, timeout',
    ),
    "a table misspelt": ('[dataset.a]\ngold = "g"', "dataset: there is no such setting; did you"),
    "standard input": ('[datasets.a]\ngold = "-"', "a suite reads files, not standard input"),
    "a task twice": (
        '[datasets.a]\ngold = "g"\ntraces = "t"\n[tasks.t]\nkind = "score"\n'
        '[suites.s]\ntasks = ["t", "t"]',
        "suites.s.tasks: name each task to run once",
    ),
    "a label without a value": ('label = ["model"]', 'label "model": write key=value'),
    "not TOML": ("[tasks", "ragauge.toml: is not TOML"),
}


@pytest.mark.parametrize(("text", "fact"), WRONG.values(), ids=list(WRONG))
def test_what_is_wrong_is_named(tmp_path, text, fact):
    assert any(fact in problem for problem in problems(tmp_path, text))


def test_an_unknown_suite_and_a_missing_file_say_what_there_is(tmp_path):
    assert 'there is no suite "prr"; did you mean "pr"?' in problems(tmp_path, WHOLE, "prr")[0]
    with pytest.raises(UsageError, match=r"other\.toml: there is no such file"):
        read_suite("other.toml", tmp_path, {})
    with pytest.raises(UsageError, match="`ragauge init` writes one"):
        read_suite(None, Path("/"), {})
