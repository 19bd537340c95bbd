"""Suites: independent tasks, one verdict, nothing done twice, nothing lost."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from ragauge.contracts.history import RunFilter
from ragauge.contracts.kinds import KINDS
from ragauge.errors import UsageError
from ragauge.ingest.suite import read_suite
from ragauge.reports.rendering import render
from ragauge.runners.score import score
from ragauge.runners.stability import stability
from ragauge.runners.suite import SuiteReport, run_suite
from ragauge.runners.suite_state import work
from ragauge.runners.sweep import sweep
from ragauge.store.history import open_history
from tests.runners.killed_suites import KILLS

ROOT = Path(__file__).parents[2]
GRID = {"seeds": (0, 1), "temperatures": (0.0,), "jitters": ("none", "ws")}
FILE = """
[datasets.recorded]
gold = "gold.jsonl"
traces = "traces.jsonl"
strata = ["language"]

[datasets.asked]
gold = "gold.jsonl"

[pipeline]
call = "system:answer"

[tasks.traces]
kind = "score"
dataset = "recorded"
gates = ["precision_strict>=0.5"]

[tasks.once]
kind = "score"
dataset = "asked"
metrics = ["errors"]

[tasks.often]
kind = "stability"
dataset = "asked"
sweep = { seeds = [0, 1], temperatures = [0], jitters = ["none", "ws"] }
"""


class Answering:
    """A system that counts how often it was asked, and fails when told to."""

    identity = {"kind": "answering"}  # noqa: RUF012

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.broken = False

    async def ask(self, ask):
        self.asked.append(ask.q)
        if self.broken:
            raise RuntimeError("the index is gone")
        return {"answer_json": {"claim": "a number", "citations": ["p1"]}, "retrieved_ids": ["p1"]}

    async def close(self) -> None:
        pass


@pytest.fixture
def folder(tmp_path):
    questions = [
        {
            "qid": f"q{n}",
            "question": f"What is, {n}?",
            "answerable": True,
            "gold_claim_substr": ["number"],
            "gold_citations": ["p1"],
            "strata": {"language": "en" if n % 2 else "nl"},
        }
        for n in range(6)
    ]
    write(tmp_path / "gold.jsonl", questions)
    write(tmp_path / "traces.jsonl", [answer(q["qid"]) for q in questions])
    (tmp_path / "ragauge.toml").write_text(FILE)
    return tmp_path


def answer(qid: str, claim: str = "a number") -> dict:
    return {
        "qid": qid,
        "retrieved_ids": ["p1"],
        "answer_json": {"claim": claim, "citations": ["p1"]},
    }


def write(path: Path, rows: list[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def system():
    return Answering()


@pytest.fixture
def history(folder):
    history = open_history(str(folder / "store"))
    yield history
    history.close()


@pytest.fixture
def run(folder, system, history):
    def ran(which: str | None = None, *, deliver=lambda report: None, **part) -> SuiteReport:
        file = read_suite(which, folder, {})
        return run_suite(
            file.suite,
            history,
            folder=folder,
            system_of=lambda pipeline, concurrency: system,
            deliver=deliver,
            **part,
        ).report

    return ran


def recorded(history) -> list[str]:
    return sorted(run.record.labels["task"] for run in history.runs(RunFilter()))


def statuses(report: SuiteReport) -> dict[str, str]:
    return {task.name: task.status for task in report.tasks}


def plain(scores) -> dict:
    return {id: msgspec.to_builtins(score) for id, score in scores.items()}


def test_every_task_says_what_its_command_says_and_is_recorded(folder, system, history, run):
    report = run()
    assert statuses(report) == {"traces": "passed", "once": "ungated", "often": "passed"}
    assert (report.passed, report.exit_code) == (True, 0)
    assert recorded(history) == ["often", "once", "traces"]

    gold = folder / "gold.jsonl"
    alone = score(gold, folder / "traces.jsonl", gates="precision_strict>=0.5").report
    sweep(gold, Answering(), folder / "runs.jsonl", grid=GRID)
    swept = stability(gold, folder / "runs.jsonl").report
    found = plain(report.metrics)
    expected = {f"traces/{id}": value for id, value in plain(alone.metrics).items()}
    expected |= {f"often/{id}": value for id, value in plain(swept.metrics).items()}
    expected["once/quality.errors"] = plain(alone.metrics)["quality.errors"]
    assert found == expected
    traces = report.tasks[0]
    assert traces.strata == {"language": alone.strata["language"]}
    assert [gate.rule for gate in report.gates if gate.metric.startswith("traces/")] == [
        f"traces/{gate.rule}" for gate in alone.gates
    ]


def test_a_score_without_traces_asks_each_question_once(system, run):
    run(only=("once",))
    assert sorted(system.asked) == sorted(set(system.asked))
    assert len(system.asked) == 6


def test_runs_are_labelled_by_file_suite_and_task(folder, history, run):
    head = 'name = "heritage"\nlabel = ["model=small-3", "prompt=v1"]\n'
    tail = '[suites.pr]\ntasks = ["once"]\nlabels = { model = "large-1" }\n'
    text = FILE.replace("[tasks.once]", '[tasks.once]\nlabels = { index = "i7" }')
    (folder / "ragauge.toml").write_text(head + text + tail)
    run("pr")
    (only,) = history.runs(RunFilter())
    labels = dict(only.record.labels)
    assert labels.pop("session")
    assert only.record.name == "heritage/once"
    assert labels == {
        "model": "large-1",
        "prompt": "v1",
        "index": "i7",
        "suite": "pr",
        "task": "once",
    }


BROKEN = {
    "gold that is not there": ("gold.jsonl", "nothing.jsonl", 2, "nothing.jsonl"),
    "a stratum no question has": ('"language"', '"lnguage"', 2, 'no question has "lnguage"'),
}


@pytest.mark.parametrize(("old", "new", "code", "fact"), BROKEN.values(), ids=list(BROKEN))
def test_a_task_that_fails_leaves_the_others_alone(folder, history, run, old, new, code, fact):
    (folder / "ragauge.toml").write_text(FILE.replace(old, new, 1))
    report = run()
    traces = report.tasks[0]
    assert statuses(report) == {"traces": "error", "once": "ungated", "often": "passed"}
    assert (traces.exit_code, traces.run) == (code, None)
    assert fact in traces.problems[0]
    assert report.exit_code == 3
    assert recorded(history) == ["often", "once"]


def test_bad_lines_and_a_dead_pipeline_are_errors_beside_a_failed_gate(folder, system, run):
    with (folder / "traces.jsonl").open("a") as traces:
        traces.write("{")
    system.broken = True
    report = run()
    by_name = {task.name: task for task in report.tasks}
    assert statuses(report) == {"traces": "error", "once": "error", "often": "error"}
    assert "traces.jsonl:7" in by_name["traces"].problems[0]
    assert by_name["once"].problems[0].startswith("the error budget is spent: ")
    assert "raised: RuntimeError: the index is gone" in by_name["once"].problems[1]
    assert {task.exit_code for task in report.tasks} == {3}


def test_an_error_beats_a_failed_gate(folder, system, run):
    write(folder / "traces.jsonl", [answer(f"q{n}", "no idea") for n in range(6)])
    assert run(only=("traces",)).exit_code == 1
    system.broken = True
    report = run()
    assert statuses(report) == {"traces": "failed", "once": "error", "often": "error"}
    assert report.exit_code == 3


def test_a_fault_nobody_foresaw_is_an_error_with_its_place(run, system, history):
    def no_disk(run):
        raise MemoryError("no room")

    history.record = no_disk
    report = run()
    assert set(statuses(report).values()) == {"error"}
    assert report.tasks[0].problems[0].startswith("MemoryError: no room (test_suite.py:")


def test_what_is_recorded_is_not_measured_again_and_what_was_answered_not_asked(
    folder, system, history, run
):
    system.broken = True
    assert run().exit_code == 3
    assert recorded(history) == ["traces"]
    system.broken = False
    report = run()
    assert report.exit_code == 0
    assert recorded(history) == ["often", "once", "traces"]
    assert report.finding_counts["done_before"] == 1
    asked = len(system.asked)
    again = run()
    assert len(system.asked) == asked + 6 + 24, "a finished suite begins anew"
    assert recorded(history) == sorted(["often", "once", "traces"] * 2)
    assert again.metrics == report.metrics
    assert again.gates == report.gates


def test_another_input_or_fresh_begins_anew(folder, system, history, run):
    system.broken = True
    run()
    run(fresh=True)
    assert recorded(history) == ["traces"] * 2
    write(folder / "traces.jsonl", [answer(f"q{n}", "one number") for n in range(6)])
    run()
    assert recorded(history) == ["traces"] * 3
    (folder / "system.py").write_text("def answer(ask): ...")
    run()
    assert recorded(history) == ["traces"] * 4
    run()
    assert recorded(history) == ["traces"] * 4


@pytest.fixture
def git(folder):
    def run(*words: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", folder, *identity, *words], check=True, capture_output=True)

    run("init", "-b", "main")
    (folder / ".gitignore").write_text("/store/\n")
    (folder / "prompt.txt").write_text("one")
    run("add", ".")
    run("commit", "-m", "one")
    return run


def test_uncommitted_changes_begin_anew(folder, system, history, run, git):
    """Each change is another system; what a start itself leaves behind is none."""
    system.broken = True
    run()
    assert recorded(history) == ["traces"]
    (folder / "summary.md").write_text("a report of the start before")
    run()
    assert recorded(history) == ["traces"]
    for number, change in enumerate(
        (
            lambda: (folder / "prompt.txt").write_text("two"),
            lambda: (folder / "prompt.txt").write_text("three"),
            lambda: (folder / "other.py").write_text("1"),
            lambda: (folder / "other.py").write_text("2"),
            lambda: git("add", "other.py"),
            lambda: git("commit", "-am", "two"),
        ),
        2,
    ):
        change()
        run()
        assert recorded(history) == ["traces"] * number, number
        run()
        assert recorded(history) == ["traces"] * number, number


def test_another_file_of_the_called_package_begins_anew(folder, system, history, run):
    (folder / "ragauge.toml").write_text(FILE.replace("system:answer", "rag.serve.api:answer"))
    package = folder / "rag" / "serve"
    package.mkdir(parents=True)
    for path in (folder / "rag/__init__.py", package / "__init__.py", package / "api.py"):
        path.write_text("raise RuntimeError('nothing is imported to see what it is')\n")
    system.broken = True
    run()
    run()
    assert recorded(history) == ["traces"]
    (folder / "rag" / "index.py").write_text("SIZE = 1\n")
    run()
    assert recorded(history) == ["traces"] * 2
    (package / "api.py").write_text("def answer(ask): ...\n")
    run()
    assert recorded(history) == ["traces"] * 3


def test_a_called_module_is_found_where_it_is_imported_from(
    folder, system, history, run, tmp_path_factory, monkeypatch
):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.syspath_prepend(str(elsewhere))
    (elsewhere / "system.py").write_text("def answer(ask): ...")
    system.broken = True
    run()
    (elsewhere / "system.py").write_text("def answer(ask): return None")
    run()
    assert recorded(history) == ["traces"] * 2


def test_a_report_that_was_not_delivered_is_made_again_from_the_history(system, history, run):
    def lost(report):
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        run(deliver=lost)
    asked = len(system.asked)
    report = run()
    assert report.exit_code == 0
    assert len(system.asked) == asked
    assert recorded(history) == ["often", "once", "traces"]


def test_a_part_of_a_suite_skips_the_rest_and_has_a_session_of_its_own(system, history, run):
    system.broken = True
    run()
    report = run(only=("traces",))
    assert statuses(report) == {"traces": "passed", "once": "skipped", "often": "skipped"}
    assert report.exit_code == 0
    assert recorded(history) == ["traces", "traces"]
    run()
    assert recorded(history) == ["traces", "traces"]


def test_a_suite_that_runs_is_not_started_twice(tmp_path):
    with (
        work(tmp_path / "w", "0", fresh=False),
        pytest.raises(UsageError, match="running already"),
        work(tmp_path / "w", "0", fresh=False),
    ):
        pass


def test_wrong_rules_are_refused_before_anything_runs(folder, history, run):
    text = FILE.replace("precision_strict>=0.5", "precison_strict>=0.5")
    text = text.replace('["errors"]', '["acr"]').replace("seeds = [0, 1]", "seeds = [1, 1]")
    (folder / "ragauge.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        run(only=("oftn",))
    assert list(caught.value.problems) == [
        '--only "oftn": suite all has no such task; did you mean "often"?',
        'ragauge.toml: tasks.traces: there is no metric "precison_strict"; did you mean '
        '"precision_strict"?',
        "ragauge.toml: tasks.once: metric stability.acr belongs to `ragauge stability`; ask for "
        "it there",
        "ragauge.toml: tasks.often: seeds: 1 stands twice; --repeats asks again",
    ]
    assert recorded(history) == []


BASELINE = '[baseline]\nrun = "green"\ngate = "no-regression"\n'
ONE = FILE.replace('precision_strict>=0.5"]', 'compliance>=0.01"]\nmetrics = ["precision_strict"]')
"""One metric: six questions cannot tell anything of twenty, corrected for all of them."""


def regress(folder: Path) -> None:
    wrong = {"citations": ["p2"], "claim": "something else"}
    rows = [answer(f"q{n}") | {"answer_json": wrong, "retrieved_ids": ["p2"]} for n in range(6)]
    write(folder / "traces.jsonl", rows)


def test_a_baseline_holds_a_task_to_the_last_run_that_passed(folder, run):
    (folder / "ragauge.toml").write_text(ONE + BASELINE)
    first = run(only=("traces",))
    assert first.exit_code == 0
    assert first.tasks[0].comparison.before is None
    assert first.finding_counts["no_baseline"] == 1
    regress(folder)
    worse = run(only=("traces",))
    comparison = worse.tasks[0].comparison
    assert comparison.before.id == first.tasks[0].run
    assert comparison.flip_counts["broken"] == 6
    assert statuses(worse)["traces"] == "failed"
    failing = [gate.rule for gate in worse.gates if not gate.holds]
    assert failing == ["traces/change/quality.precision_strict>=0 no-regression"]
    assert worse.metrics["traces/change/quality.precision_strict"].value == -1.0
    shown = render(worse, "text")
    assert "against" in shown and "worse" in shown
    assert "| `quality.precision_strict` | 1.000 | 0.000 | **-1.000** |" in worse.to_markdown()
    assert re.search(r"change/quality.precision_strict +-1.000 .* FAIL\n", shown)
    assert {one.stratum for one in comparison.slices} == {"language"}


def test_a_run_that_regressed_is_not_the_next_baseline(folder, history, run):
    (folder / "ragauge.toml").write_text(ONE + BASELINE)
    good = run(only=("traces",)).tasks[0].run
    regress(folder)
    for _ in range(3):
        report = run(only=("traces",))
        task = report.tasks[0]
        assert (task.status, task.comparison.before.id) == ("failed", good)
        assert history.find(task.run).record.passed, "its own gates hold"
        assert history.find(task.run).regressions == (good,)
        assert report.finding_counts["regressed"] == 1
        assert history.find("green").id == good
    write(folder / "traces.jsonl", [answer(f"q{n}") for n in range(6)])
    mended = run(only=("traces",)).tasks[0]
    assert (mended.status, mended.comparison.before.id) == ("passed", good)
    assert history.find("green").id == mended.run


class Killed(BaseException):
    """As good as SIGKILL: nothing of a suite catches it."""


def test_a_suite_that_was_killed_before_it_marked_a_run_compares_and_marks_it(
    folder, history, run, monkeypatch
):
    (folder / "ragauge.toml").write_text(ONE + BASELINE)
    good = run(only=("traces",)).tasks[0].run
    regress(folder)

    def killed(id, baseline):
        raise Killed

    monkeypatch.setattr(history, "regressed", killed)
    with pytest.raises(Killed):
        run(only=("traces",))
    monkeypatch.undo()
    (bad,) = (one.id for one in history.runs(RunFilter()) if one.id != good)
    assert history.find(bad).regressions == ()
    report = run(only=("traces",))
    assert (report.tasks[0].run, report.tasks[0].status) == (bad, "failed")
    assert history.find(bad).regressions == (good,)


def test_a_suite_that_cannot_mark_a_run_is_not_done(folder, history, run, monkeypatch):
    (folder / "ragauge.toml").write_text(ONE + BASELINE)
    run(only=("traces",))
    regress(folder)

    def locked(id, baseline):
        raise UsageError("history.sqlite: cannot be written")

    monkeypatch.setattr(history, "regressed", locked)
    report = run(only=("traces",))
    assert (report.tasks[0].status, report.exit_code) == ("error", 3)
    assert report.tasks[0].problems == ("history.sqlite: cannot be written",)
    monkeypatch.undo()
    again = run(only=("traces",))
    assert (again.tasks[0].run, again.tasks[0].status) == (report.tasks[0].run, "failed")


def test_a_suite_may_have_no_baseline_where_the_file_has_one(folder, run):
    tail = '[suites.free]\ntasks = ["traces"]\nbaseline = false\n'
    (folder / "ragauge.toml").write_text(ONE + BASELINE + tail)
    assert run(only=("traces",)).tasks[0].comparison is not None
    regress(folder)
    (free,) = run("free").tasks
    assert (free.status, free.comparison) == ("passed", None)
    own = tail + '\n[suites.own]\ntasks = ["traces"]\nbaseline = false\n'
    text = ONE.replace("[tasks.traces]", '[tasks.traces]\nbaseline = "green"') + BASELINE + own
    (folder / "ragauge.toml").write_text(text)
    assert run("own").tasks[0].comparison is not None, "a task's own stands"


def test_a_baseline_that_never_is_does_not_pass_forever(folder, run):
    (folder / "ragauge.toml").write_text(ONE + BASELINE.replace('"green"', '"green@mian"'))
    first = run(only=("traces",))
    assert (first.exit_code, first.finding_counts["no_baseline"]) == (0, 1)
    second = run(only=("traces",))
    assert statuses(second)["traces"] == "error"
    assert "green@mian" in second.tasks[0].problems[0]


def test_a_baseline_that_must_be_there_is_an_error_without_one(folder, history, run):
    (folder / "ragauge.toml").write_text(FILE + BASELINE + "required = true\n")
    report = run(only=("traces",))
    assert statuses(report)["traces"] == "error"
    assert report.tasks[0].run is not None, "it was measured and recorded"
    assert any(gate.metric.startswith("traces/") for gate in report.gates)
    assert recorded(history) == ["traces"]


@pytest.fixture
def mixed(folder, system, run):
    write(folder / "traces.jsonl", [answer(f"q{n}", "\x1b[31m::error::no") for n in range(6)])
    system.broken = True
    return run()


@pytest.mark.parametrize("form", KINDS[SuiteReport].forms)
def test_every_form_tells_every_task_and_lets_no_escape_through(form, mixed):
    written = render(mixed, form)
    assert written == render(mixed, form)
    assert "\x1b" not in written
    for task in mixed.tasks:
        assert task.name in written
    assert "the index is gone" in written


def test_no_line_is_wider_than_the_terminal(mixed):
    for width in (40, 72, 100):
        assert max(map(len, render(mixed, "text", width=width).splitlines())) <= width


def test_junit_counts_what_stops_the_suite(mixed, run, system, folder):
    written = render(mixed, "junit")
    assert 'name="ragauge tasks" tests="3" failures="1" errors="2"' in written
    system.broken = False
    write(folder / "traces.jsonl", [answer(f"q{n}") for n in range(6)])
    report = run()
    cases = len(report.tasks) + len(report.gates)
    good = f'<testsuites name="ragauge" tests="{cases}" failures="0" errors="0"'
    assert good in render(report, "junit")


@pytest.mark.slow
def test_killed_at_any_point_every_task_is_recorded_exactly_once(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.runners.killed_suites", str(tmp_path)],
        capture_output=True,
        check=False,
        cwd=ROOT,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["killed"] == KILLS
    assert found["each_task_once"], found["odd"]
    assert found["faults"] == 0
    assert found["reports"] == {"0": found["sessions"]}
