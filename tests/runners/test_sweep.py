"""The sweep: what it asks, what it keeps, and what it does when things go wrong."""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from ragauge.contracts.run import Grid
from ragauge.contracts.system import CallFailed
from ragauge.errors import InputRejected, UsageError
from ragauge.pipelines.attempts import LONGEST_BACKOFF_S, backoff_s
from ragauge.runners.sweep import sweep

SMALL = Grid(seeds=(0, 1), temperatures=(0.0,), jitters=("none", "ws"))
QUESTIONS = [
    {
        "qid": "q1",
        "question": "What is X, in short: a mapping?",
        "answerable": True,
        "gold_claim_substr": ["constrained mapping"],
        "gold_citations": ["p1#1"],
        "constraints": ["X is not Y."],
    },
    {"qid": "q2", "question": "Who, if anyone, made Z?", "answerable": False},
]
RIGHT = {
    "answer_json": {"claim": "X is a constrained mapping.", "citations": ["p1#1"]},
    "retrieved_ids": ["p1#1"],
}
REFUSAL = {"answer_json": {"claim": "not in context", "citations": []}, "retrieved_ids": []}


class Scripted:
    """A system that does what a function says, and remembers what it was asked."""

    def __init__(self, script=None, name="scripted"):
        self.identity = {"kind": name}
        self.asked = []
        self.in_flight = self.most_in_flight = 0
        self.closed = False
        self._script = script or (lambda ask: RIGHT if "X" in ask.q else REFUSAL)

    async def ask(self, ask):
        self.asked.append(ask)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(0)
            reply = self._script(ask)
            return await reply if asyncio.iscoroutine(reply) else reply
        finally:
            self.in_flight -= 1

    async def close(self):
        self.closed = True


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS))
    return path


@pytest.fixture
def out(tmp_path):
    return tmp_path / "runs.jsonl"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_run_of_the_grid_is_a_line_with_its_id_and_what_was_sent(gold, out):
    system = Scripted()
    report = sweep(gold, system, out, grid=SMALL)
    runs = lines(out)
    ids = [
        f"{q}#seed={s};t=0;j={j};p=0" for q in ("q1", "q2") for j in ("none", "ws") for s in (0, 1)
    ]
    assert sorted(run["run_id"] for run in runs) == sorted(ids)
    assert report.passed
    assert report.ended == "complete"
    assert (report.coverage.planned, report.coverage.done) == (8, 8)
    assert {run["status"] for run in runs} == {"ok"}
    plain = {run["question_sent"] for run in runs if run["jitter"] == "none"}
    assert plain == {question["question"] for question in QUESTIONS}
    assert all(run["question_sent"] not in plain for run in runs if run["jitter"] == "ws")
    assert system.closed


def test_locked_constraints_go_with_the_question_that_has_them(gold, out):
    system = Scripted()
    sweep(gold, system, out, grid=SMALL, knobs={"top_k": 3})
    assert all(ask.knobs["top_k"] == 3 for ask in system.asked)
    locked = {ask.q: ask.knobs.get("constraints") for ask in system.asked if ask.jitter == "none"}
    assert locked == {QUESTIONS[0]["question"]: ["X is not Y."], QUESTIONS[1]["question"]: None}


def test_what_is_finished_is_never_asked_again_and_what_failed_is(gold, out):
    def failing(ask):
        if ask.seed == 1:
            raise CallFailed("raised", "no such seed")
        return RIGHT

    first = sweep(gold, Scripted(failing), out, grid=SMALL, error_budget="100%")
    assert (first.coverage.done, first.coverage.failed) == (4, 4)
    assert first.errors == {"raised": 4}
    second = Scripted()
    report = sweep(gold, second, out, grid=SMALL)
    assert {ask.seed for ask in second.asked} == {1}
    assert (report.coverage.resumed, report.coverage.done, len(second.asked)) == (4, 8, 4)
    third = Scripted()
    assert sweep(gold, third, out, grid=SMALL).passed
    assert third.asked == []


CHANGES = {
    "the gold set": lambda gold, options: gold.write_text(
        json.dumps(QUESTIONS[0] | {"gold_claim_substr": ["other"]}) + "\n"
    ),
    "the grid": lambda gold, options: options.update(
        grid=Grid(seeds=(0, 1, 2), temperatures=(0.0,), jitters=("none",))
    ),
    "the system": lambda gold, options: options.update(system=Scripted(name="another")),
    "the knobs": lambda gold, options: options.update(knobs={"top_k": 9}),
    "stopping early": lambda gold, options: options.update(adaptive="exact"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_sweep_is_refused_with_words_unless_restarted(gold, out, what):
    sweep(gold, Scripted(), out, grid=SMALL)
    before = out.read_bytes()
    options = {"grid": SMALL, "system": Scripted()}
    CHANGES[what](gold, options)
    with pytest.raises(UsageError) as refused:
        sweep(gold, options["system"], out, **{k: v for k, v in options.items() if k != "system"})
    assert what in str(refused.value)
    assert "--restart" in str(refused.value)
    assert out.read_bytes() == before
    given = {k: v for k, v in options.items() if k != "system"}
    report = sweep(gold, options["system"], out, restart=True, **given)
    assert report.coverage.resumed == 0
    assert out.with_name("runs.jsonl.1").read_bytes() == before
    assert report.finding_counts["set_aside"] == 1


def test_other_speed_is_no_other_sweep(gold, out):
    sweep(gold, Scripted(), out, grid=SMALL)
    slower = {"concurrency": 1, "timeout_s": 1.0, "retries": 0, "rate_per_s": 1000.0}
    assert sweep(gold, Scripted(), out, grid=SMALL, error_budget="0", **slower).passed


def test_runs_without_their_plan_are_not_mixed_with_new_ones(gold, out):
    sweep(gold, Scripted(), out, grid=SMALL)
    out.with_name("runs.jsonl.plan.json").unlink()
    with pytest.raises(UsageError, match=r"its plan runs\.jsonl\.plan\.json cannot be read"):
        sweep(gold, Scripted(), out, grid=SMALL)


def test_a_line_that_was_cut_short_is_dropped_and_its_run_made_anew(gold, out):
    sweep(gold, Scripted(), out, grid=SMALL)
    whole = out.read_bytes()
    out.write_bytes(whole[:-10])
    system = Scripted()
    report = sweep(gold, system, out, grid=SMALL)
    assert len(system.asked) == 1
    assert report.finding_counts["torn_line"] == 1
    assert len(lines(out)) == 8


@pytest.mark.parametrize("content", ['{"a": 1}', '{"qid": "q1", "answer": "x"}\n{"qid": "q2"'])
@pytest.mark.parametrize("restart", [False, True])
def test_a_file_of_somebody_elses_is_refused_untouched_or_kept_whole(gold, out, content, restart):
    out.write_text(content)
    if restart:
        sweep(gold, Scripted(), out, grid=SMALL, restart=True)
        assert out.with_name("runs.jsonl.1").read_text() == content
        return
    with pytest.raises(UsageError, match="its plan"):
        sweep(gold, Scripted(), out, grid=SMALL)
    assert out.read_text() == content


def test_a_restart_keeps_the_plan_of_before_too(gold, out):
    sweep(gold, Scripted(), out, grid=SMALL)
    plan = out.with_name("runs.jsonl.plan.json").read_bytes()
    sweep(gold, Scripted(), out, grid=Grid(seeds=(5,)), restart=True)
    assert out.with_name("runs.jsonl.1.plan.json").read_bytes() == plan


def test_blank_lines_and_a_byte_order_mark_do_not_stop_a_resume(gold, out):
    sweep(gold, Scripted(), out, grid=SMALL)
    out.write_bytes(b"\xef\xbb\xbf" + out.read_bytes().replace(b"\n", b"\n\n"))
    system = Scripted()
    assert sweep(gold, system, out, grid=SMALL).passed
    assert system.asked == []


def test_runs_that_were_not_planned_are_counted_apart(gold, out):
    sweep(gold, Scripted(), out, grid=SMALL)
    line = json.loads(out.read_text().splitlines()[0]) | {"run_id": "q1#elsewhere"}
    with out.open("a") as file:
        file.write(json.dumps(line) + "\n")
    report = sweep(gold, Scripted(), out, grid=SMALL)
    assert (report.coverage.done, report.coverage.planned) == (8, 8)
    assert report.finding_counts["unplanned_run"] == 1


@pytest.mark.parametrize("name", ["-", "runs.jsonl.gz"])
def test_a_journal_is_a_plain_file_by_its_name(gold, tmp_path, name):
    with pytest.raises(UsageError, match="a journal is a plain file"):
        sweep(gold, Scripted(), tmp_path / name, grid=SMALL)


def test_a_plan_of_another_version_is_refused(gold, out):
    sweep(gold, Scripted(), out, grid=SMALL)
    plan = out.with_name("runs.jsonl.plan.json")
    plan.write_text(plan.read_text().replace("sweep-plan/1", "sweep-plan/99"))
    with pytest.raises(UsageError, match="sweep-plan/99"):
        sweep(gold, Scripted(), out, grid=SMALL)


WRONG_GRIDS = {
    "a temperature that is no number": ({"temperatures": (float("nan"),)}, "finite"),
    "an endless temperature": ({"temperatures": (float("inf"),)}, "finite"),
    "no seed": ({"seeds": ()}, "seeds: is empty"),
    "a seed twice": ({"seeds": (1, 1)}, "1 stands twice"),
    "an unknown jitter": ({"jitters": ("punkt",)}, "punct"),
    "no repeat": ({"repeats": 0}, "repeats"),
}


@pytest.mark.parametrize("what", WRONG_GRIDS)
def test_a_grid_that_makes_no_sense_is_refused_before_a_file_is_made(gold, out, what):
    parts, words = WRONG_GRIDS[what]
    with pytest.raises(UsageError, match=words):
        sweep(gold, Scripted(), out, grid=Grid(**parts))
    assert not out.exists()


def test_nothing_to_ask_is_said_before_a_file_is_made(gold, out):
    with pytest.raises(UsageError, match="nothing to ask"):
        sweep(gold, Scripted(), out, grid=Grid(paraphrases=(1, 2)))
    assert not out.exists()


def test_temperatures_that_look_alike_are_runs_of_their_own(gold, out):
    grid = Grid(seeds=(0,), temperatures=(0.3, 0.1 + 0.2), jitters=("none",))
    report = sweep(gold, Scripted(), out, grid=grid)
    assert len({run["run_id"] for run in lines(out)}) == report.coverage.planned == 4


def test_an_answer_that_came_before_the_stop_is_recorded(gold, out):
    """The budget is spent by the first failure; what was answered by then must be there."""
    answered = []

    def script(ask):
        if ask.seed == 7:
            raise CallFailed("raised", "enough")
        answered.append(ask.seed)
        return RIGHT

    grid = Grid(seeds=tuple(range(40)), temperatures=(0.0,), jitters=("none",))
    sweep(gold, Scripted(script), out, grid=grid, error_budget="0", concurrency=8)
    assert sum(run["status"] == "ok" for run in lines(out)) == len(answered)


def test_whatever_a_system_raises_is_an_error_record(gold, out):
    def script(ask):
        raise ZeroDivisionError("by nought")

    report = sweep(gold, Scripted(script), out, grid=SMALL, error_budget="100%")
    assert report.errors == {"raised": 8}
    assert {run["error"] for run in lines(out)} == {"raised: ZeroDivisionError: by nought"}


def test_gates_mean_nothing_to_a_sweep_that_judges_nothing(gold, out):
    with pytest.raises(UsageError, match="--adaptive"):
        sweep(gold, Scripted(), out, grid=SMALL, gates="acr>=0.9")


def test_a_broken_line_in_the_middle_is_named_and_nothing_is_lost(gold, out):
    sweep(gold, Scripted(), out, grid=SMALL)
    broken = out.read_text().split("\n")
    broken[2] = "{oops"
    out.write_text("\n".join(broken))
    with pytest.raises(InputRejected, match=r"runs.jsonl:3: .*--restart"):
        sweep(gold, Scripted(), out, grid=SMALL)
    assert out.read_text() == "\n".join(broken)


def test_retries_are_bounded_and_help(gold, out, monkeypatch):
    monkeypatch.setattr("ragauge.pipelines.attempts.BACKOFF_S", 0.001)
    attempts = Counter()

    def script(ask):
        attempts[ask.q, ask.seed] += 1
        if ask.seed == 1 or attempts[ask.q, ask.seed] == 1:
            raise CallFailed("status 503", "busy", again=True)
        return RIGHT

    grid = Grid(seeds=(0, 1), temperatures=(0.0,), jitters=("none",))
    report = sweep(gold, Scripted(script), out, grid=grid, retries=1, error_budget="100%")
    assert set(attempts.values()) == {2}
    assert report.errors == {"status 503": 2}
    by_seed = {(run["seed"], run["status"], run["attempt"]) for run in lines(out)}
    assert by_seed == {(0, "ok", 2), (1, "error", 2)}


def test_what_the_system_asks_for_is_waited_in_full_and_backoff_grows():
    waits = [backoff_s("q1#seed=0", attempt, None) for attempt in (1, 2, 3, 20)]
    assert waits == sorted(waits)
    assert waits[-1] <= 1.5 * LONGEST_BACKOFF_S
    assert backoff_s("q1#seed=0", 1, 77.0) == 77.0


def test_what_will_not_help_is_not_tried_again(gold, out):
    def script(ask):
        raise CallFailed("status 400", "no")

    system = Scripted(script)
    sweep(gold, system, out, grid=SMALL, error_budget="100%")
    assert len(system.asked) == 8


def test_a_call_that_hangs_ends_at_its_deadline_and_the_sweep_goes_on(gold, out):
    def script(ask):
        return asyncio.Event().wait() if ask.seed == 1 else RIGHT

    report = sweep(
        gold, Scripted(script), out, grid=SMALL, timeout_s=0.05, retries=0, error_budget="100%"
    )
    assert report.errors == {"timeout": 4}
    errors = {run["error"] for run in lines(out) if run["status"] == "error"}
    assert errors == {"timeout: no answer within 0.05 s"}
    assert report.coverage.done == 4


WRONG = {
    "text where a list belongs": {"answer_json": {"claim": 7}},
    "no object": [1, 2],
    "an empty answer": {"answer_json": {"claim": "  "}},
    "nothing": {},
}


@pytest.mark.parametrize("what", WRONG)
def test_a_reply_of_the_wrong_kind_is_an_error_record(gold, out, what):
    report = sweep(gold, Scripted(lambda ask: WRONG[what]), out, grid=SMALL, error_budget="100%")
    assert report.coverage.failed == 8 == sum(report.errors.values())
    assert all(run["status"] == "error" and run["error"] for run in lines(out))


def test_a_spent_error_budget_stops_the_sweep_and_keeps_what_was_done(gold, out):
    def script(ask):
        raise CallFailed("raised", "never")

    grid = Grid(seeds=tuple(range(100)), temperatures=(0.0,), jitters=("none",))
    system = Scripted(script)
    report = sweep(gold, system, out, grid=grid, concurrency=2)
    assert report.ended == "error_budget"
    assert not report.passed
    assert 10 < len(lines(out)) < 100
    assert report.coverage.failed == len(lines(out))
    assert report.coverage.missing == 200 - len(lines(out))


@pytest.mark.parametrize(
    ("budget", "spent"), [("0", True), ("1", False), ("12.5%", False), ("12%", True)]
)
def test_the_budget_is_a_share_of_the_plan_or_a_count(gold, out, budget, spent):
    def script(ask):
        if ask.seed == 1 and "X" in ask.q and ask.jitter == "none":
            raise CallFailed("raised", "once")
        return RIGHT

    report = sweep(gold, Scripted(script), out, grid=SMALL, error_budget=budget)
    assert (report.gates[0].verdict == "fail") is spent


@pytest.mark.parametrize("budget", ["lots", "101%", "-1", "5 %"])
def test_a_budget_that_is_none_is_refused(gold, out, budget):
    with pytest.raises(UsageError, match="--error-budget"):
        sweep(gold, Scripted(), out, error_budget=budget)


def test_no_more_calls_are_in_flight_than_allowed(gold, out):
    system = Scripted()
    sweep(gold, system, out, grid=Grid(seeds=tuple(range(50))), concurrency=3)
    assert system.most_in_flight == 3


def test_a_rate_spaces_the_calls(gold, out):
    times = []

    def script(ask):
        times.append(asyncio.get_running_loop().time())
        return RIGHT

    sweep(gold, Scripted(script), out, grid=SMALL, rate_per_s=200.0)
    assert times[-1] - times[0] >= 7 / 200 - 0.001


def test_a_second_sweep_on_the_same_file_is_refused_with_words(gold, out):
    refused = []

    def script(ask):
        if not refused:
            try:
                # In a thread of its own: a loop is running here.
                sweep_elsewhere(gold, out)
            except UsageError as error:
                refused.append(str(error))
        return RIGHT

    sweep(gold, Scripted(script), out, grid=SMALL)
    assert "another process is writing to it" in refused[0]
    assert len(lines(out)) == 8


def sweep_elsewhere(gold, out):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        thread.submit(sweep, gold, Scripted(), out, grid=SMALL).result()


def test_an_adaptive_sweep_spares_calls_and_the_plan_says_so(gold, out):
    def script(ask):
        return RIGHT if ask.seed % 2 else REFUSAL

    grid = Grid(seeds=tuple(range(40)), temperatures=(0.0,), jitters=("none",))
    system = Scripted(script)
    report = sweep(gold, system, out, grid=grid, adaptive="exact")
    assert report.coverage.saved > 40
    assert report.coverage.saved + report.coverage.done == report.coverage.planned == 80
    assert report.passed
    again = Scripted(script)
    resumed = sweep(gold, again, out, grid=grid, adaptive="exact")
    assert again.asked == []
    assert resumed.coverage.saved == report.coverage.saved


def test_progress_never_runs_ahead_of_the_disk(gold, out):
    seen = []

    def watch(progress):
        seen.append((progress.done, len(out.read_bytes().splitlines())))

    sweep(gold, Scripted(), out, watch, grid=SMALL)
    assert seen[-1] == (8, 8)
    assert all(done <= on_disk for done, on_disk in seen)


def test_fifty_kills_lose_nothing_and_repeat_nothing(tmp_path):
    program = Path(__file__).with_name("killed_sweeps.py")
    ended = subprocess.run(
        [sys.executable, program, tmp_path], capture_output=True, check=False, timeout=120
    )
    assert ended.returncode == 0, ended.stderr.decode()
    found = json.loads(ended.stdout)
    assert found["called_again"] == []
    assert found["same"]
    assert found["lines"] == found["runs"]
    assert found["parts_that_called"] > 20
    assert 0 < found["done_by_killed_parts"] < found["runs"]


FULL_DISK = """
import resource, sys
from ragauge.runners.sweep import sweep
from tests.runners.test_sweep import RIGHT, Scripted
from ragauge.contracts.run import Grid

def script(ask):
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
    return RIGHT

sweep(sys.argv[1], Scripted(script), sys.argv[2], grid=Grid(seeds=tuple(range(300))))
"""


def test_a_disk_that_takes_no_more_ends_the_sweep_in_words(gold, out):
    root = Path(__file__).parents[2]
    ended = subprocess.run(
        [sys.executable, "-c", FULL_DISK, gold, out],
        capture_output=True,
        check=False,
        timeout=60,
        cwd=root,
    )
    assert ended.returncode == 1
    assert b"cannot be written: File too large; what was reported as done is kept" in ended.stderr
    assert all(json.loads(line) for line in out.read_text().split("\n")[:-1])


def test_a_journal_must_be_a_plain_file(gold):
    with pytest.raises(UsageError, match="is no plain file"):
        sweep(gold, Scripted(), "/dev/null", grid=SMALL)
