"""`ragauge sweep` and `ragauge stability` as a user meets them, against real systems."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import time

import pytest

from tests.cli.command import QUIET_ENVIRONMENT, RAGAUGE, ragauge
from tests.pipelines.misbehaving import RETRY_AFTER_S, serving

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
ANSWER = """
def answer(ask):
    claim = "It is a constrained mapping." if ask["jitter"] != "ws" else "I could not say."
    return {"answer_json": {"claim": claim, "citations": ["p1#1"]}, "retrieved_ids": ["p1#1"]}
"""
REPLY = {"answer_json": {"claim": "It is a constrained mapping.", "citations": ["p1#1"]}}
SMALL = ("--seeds", "0,1", "--temperatures", "0", "--jitters", "none,ws")


@pytest.fixture
def folder(tmp_path):
    lines = "".join(json.dumps(question) + "\n" for question in QUESTIONS)
    (tmp_path / "gold.jsonl").write_text(lines)
    (tmp_path / "system.py").write_text(ANSWER)
    return tmp_path


def sweep(folder, *options, **environment):
    fixed = ("gold.jsonl", *SMALL, "--out", "runs.jsonl")
    return ragauge("sweep", *fixed, *options, cwd=folder, **environment)


def runs(folder):
    return [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]


def test_a_function_is_swept_and_scored(folder):
    swept = sweep(folder, "--call", "system:answer")
    assert swept.returncode == 0, swept.stderr
    assert b"12 of 12 runs done: runs.jsonl" in swept.stdout
    assert swept.stdout.endswith(b"\nNext\n  ragauge stability gold.jsonl runs.jsonl\n")
    report = folder / "report.html"
    scored = ragauge(
        *("stability", "gold.jsonl", "runs.jsonl", "--format", "json", "--report", report),
        cwd=folder,
    )
    assert scored.returncode == 1
    found = json.loads(scored.stdout)
    assert found["totals"]["flaky"] == 3
    assert found["details"]["q0"]["explained_by"]["factor"] == "jitter"
    assert "<svg" in report.read_text()


def test_a_command_is_swept(folder):
    (folder / "answer.py").write_text(
        f"import json, sys\njson.load(sys.stdin)\nprint(json.dumps({REPLY!r}))\n"
    )
    swept = sweep(folder, "--command", "python3 answer.py", "--concurrency", "2")
    assert swept.returncode == 0, swept.stderr
    assert all(run["answer_json"] == REPLY["answer_json"] for run in runs(folder))


def test_an_endpoint_is_swept_and_asked_as_the_brief_says(folder):
    with serving() as server:
        swept = sweep(folder, "--http", server.at("qa"))
        assert swept.returncode == 0, swept.stderr
        bodies = [request.body for request in server.requests]
    assert len(bodies) == 12
    assert set(bodies[0]) == {"q", "seed", "jitter", "temperature", "knobs"}


MISBEHAVIOURS = {
    "500": "500",
    "429": "429",
    "reset": "reset",
    "html": "html",
    "truncated": "truncated",
    "wrong types": {"answer_json": {"claim": ["not", "text"]}},
    "huge": "huge",
    "redirect": "redirect",
}


def test_every_misbehaviour_is_an_error_record_and_the_sweep_goes_on(folder):
    questions = [
        QUESTIONS[0] | {"qid": name, "question": f"What about {name}?"}
        for name in (*MISBEHAVIOURS, "well")
    ]
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    (folder / "gold.jsonl").write_text(lines)
    script = {f"What about {name}?": what for name, what in MISBEHAVIOURS.items()}
    one_each = ("--seeds", "0", "--temperatures", "0", "--jitters", "none", "--retries", "0")
    with serving(script) as server, serving() as elsewhere:
        server.elsewhere = elsewhere.at("qa")
        options = (*one_each, "--error-budget", "100%", "--format", "json", "--out", "runs.jsonl")
        swept = ragauge("sweep", "gold.jsonl", "--http", server.at("qa"), *options, cwd=folder)
        assert elsewhere.requests == []
    report = json.loads(swept.stdout)
    assert report["coverage"]["planned"] == len(questions)
    assert (report["coverage"]["done"], report["coverage"]["failed"]) == (1, len(MISBEHAVIOURS))
    assert sum(report["errors"].values()) == len(MISBEHAVIOURS)
    by_qid = {run["qid"]: run for run in runs(folder)}
    assert by_qid["well"]["status"] == "ok"
    assert all(by_qid[name]["status"] == "error" for name in MISBEHAVIOURS)
    assert all(by_qid[name]["error"] for name in MISBEHAVIOURS)


@pytest.fixture
def hanging(folder):
    """A sweep in the middle of calls that never come back."""
    with serving() as server:
        command = [RAGAUGE, "sweep", "gold.jsonl", "--http", server.at("slow"), *SMALL]
        process = subprocess.Popen(
            [*command, "--out", "runs.jsonl"],
            cwd=folder,
            env=QUIET_ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        # The first call is alone for a while: the others start when it takes long.
        server.wait_until(lambda server: server.in_flight == 12)
        yield process
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_it_within_two_seconds_and_says_how_to_go_on(hanging, number):
    started = time.monotonic()
    hanging.send_signal(number)
    stdout, stderr = hanging.communicate(timeout=20)
    assert time.monotonic() - started < 2
    assert hanging.returncode == 130
    assert b"run the same command to continue where this one stopped" in stdout
    assert b"Traceback" not in stderr


def test_an_interrupt_does_not_wait_for_a_function_that_hangs(folder):
    (folder / "system.py").write_text(
        "import threading, pathlib\n"
        "def answer(ask):\n"
        "    pathlib.Path('called').touch()\n"
        "    threading.Event().wait()\n"
    )
    command = [RAGAUGE, "sweep", "gold.jsonl", "--call", "system:answer", "--out", "runs.jsonl"]
    process = subprocess.Popen(
        command, cwd=folder, env=QUIET_ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not (folder / "called").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=20)
    assert time.monotonic() - started < 2
    assert process.returncode == 130
    assert b"to continue" in stdout


def test_a_second_sweep_on_one_file_is_refused(hanging, folder):
    refused = sweep(folder, "--call", "system:answer")
    assert refused.returncode == 2
    assert b"another process is writing to it" in refused.stderr


def test_a_spent_budget_is_exit_code_three(folder):
    with serving() as server:
        swept = sweep(folder, "--http", server.at("500"), "--retries", "0")
    assert swept.returncode == 3
    assert b"the error budget is spent" in swept.stdout


DEAD = {
    "401": (b"http_401: Unauthorized: bad key", b"check the key"),
    "404": (b"http_404: Not Found", b"check the path of the URL"),
    "redirect": (b"which is not followed", b"give the URL that answers"),
    "429-long": (b"the server asks to wait 86,400 s, and 60 s is the longest", b"--max-wait"),
}


@pytest.mark.parametrize("what", DEAD)
def test_an_endpoint_that_cannot_answer_is_noticed_by_the_first_call(folder, what):
    fact, remedy = DEAD[what]
    with serving() as server:
        server.elsewhere = server.at("qa")
        swept = sweep(folder, "--http", server.at(what), "--error-budget", "100%")
        assert len(server.requests) == 1
    assert swept.returncode == 3
    assert b"the first call failed, and no other was made" in swept.stderr
    assert fact in swept.stderr
    assert remedy in swept.stderr
    assert runs(folder) == []


def test_no_server_and_no_host_are_noticed_by_the_first_call(folder):
    with serving() as server:
        gone = server.at("qa")
    for url, words in ((gone, b"start the server"), ("http://no.host.invalid/qa", b"host name")):
        swept = sweep(folder, "--http", url, "--error-budget", "100%", "--retries", "0")
        assert swept.returncode == 3
        assert words in swept.stderr
        assert runs(folder) == []


def test_the_answer_of_the_first_call_is_kept_and_the_others_wait_for_it(folder):
    with serving() as server:
        swept = sweep(folder, "--http", server.at("qa"))
        assert len(server.requests) == 12
    assert b"12 calls to make: 3 questions, 12 runs" in swept.stderr
    assert b"11 calls left: about" in swept.stderr
    assert len({run["run_id"] for run in runs(folder)}) == 12


def test_a_call_fails_where_the_server_asks_for_a_longer_wait_than_allowed(folder):
    script = {QUESTIONS[1]["question"]: "429"}
    with serving(script) as server:
        arguments = ("--http", server.at("qa"), "--error-budget", "100%", "--jitters", "none")
        swept = sweep(folder, *arguments, "--max-wait", "0.5")
        assert len(server.requests) == 6
    reason = (
        f"the server asks to wait {RETRY_AFTER_S} s, and 0.5 s is the longest; raise --max-wait"
    )
    assert reason in " ".join(swept.stdout.decode().split())
    assert [run["status"] for run in runs(folder)].count("error") == 2


def test_a_dry_run_shows_the_plan_and_calls_nothing(folder):
    with serving() as server:
        arguments = ("--http", server.at("qa"), "--prices", "1,10", "--dry-run")
        shown = sweep(folder, *arguments)
        assert server.requests == []
    assert shown.returncode == 0, shown.stderr
    words = shown.stdout.decode()
    assert words.startswith("12 calls to make: 3 questions, 12 runs\n")
    assert "about 2 s at 2 s per call (assumed), 12 at a time" in words
    assert "about 0.05 at 2,000 tokens in and 250 out per call (assumed)" in words
    assert not list(folder.glob("runs.jsonl*"))


def test_a_dry_run_counts_what_is_left_of_a_sweep_that_was_begun(folder):
    assert sweep(folder, "--call", "system:answer").returncode == 0
    lines = (folder / "runs.jsonl").read_bytes().splitlines(keepends=True)
    cut = b"".join(lines[:5]) + lines[5][:20]
    (folder / "runs.jsonl").write_bytes(cut)
    shown = sweep(folder, "--call", "system:answer", "--dry-run", "--format", "json")
    found = json.loads(shown.stdout)
    assert (found["calls"], found["finished"], found["grid"]) == (7, 5, 12)
    assert (folder / "runs.jsonl").read_bytes() == cut
    other = sweep(folder, "--call", "system:answer", "--dry-run", "--seeds", "7")
    assert other.returncode == 2
    assert b"holds runs of another sweep" in other.stderr


def test_what_one_call_took_is_what_the_others_are_expected_to(folder):
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
    with serving(lambda body, attempt: REPLY | {"usage": usage}) as server:
        swept = sweep(folder, "--http", server.at("qa"), "--prices", "2,10")
    assert (
        b"about 22.00 at 1,000,000 tokens in and 0 out per call (as the first call" in swept.stderr
    )


def test_a_limit_asks_the_first_questions_and_stability_scores_those(folder):
    swept = sweep(folder, "--call", "system:answer", "--limit", "2")
    assert swept.returncode == 0, swept.stderr
    assert b"8 calls to make: 2 questions (the first of 3), 8 runs" in swept.stderr
    assert {run["qid"] for run in runs(folder)} == {"q0", "q1"}
    assert json.loads((folder / "runs.jsonl.plan.json").read_text())["limit"] == 2
    scored = ragauge("stability", "gold.jsonl", "runs.jsonl", "--format", "json", cwd=folder)
    found = json.loads(scored.stdout)
    assert (found["totals"]["questions"], found["totals"]["incomplete"]) == (2, 0)
    assert (found["coverage"]["questions"], found["coverage"]["gold"]) == (2, 3)
    assert found["finding_counts"]["limited"] == 1
    assert "gold_changed" not in found["finding_counts"]
    again = sweep(folder, "--call", "system:answer")
    assert again.returncode == 2
    assert b"changed since: --limit, the rewordings" in again.stderr


def on_a_terminal(folder, *arguments, keys=b""):
    """What a sweep writes to a terminal, where somebody types these keys, and its exit code."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [RAGAUGE, "sweep", "gold.jsonl", "--out", "runs.jsonl", *arguments],
        cwd=folder,
        env=QUIET_ENVIRONMENT,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, keys)
    written = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while part := os.read(ours, 65_536):
            written += part
    os.close(ours)
    return written, process.wait()


def test_more_than_a_thousand_calls_are_asked_about_on_a_terminal_only(folder):
    many = ("--call", "system:answer", "--seeds", ",".join(map(str, range(170))))
    many += ("--temperatures", "0", "--jitters", "none,ws")
    written, code = on_a_terminal(folder, *many, keys=b"n\n")
    assert b"Make 1,020 calls?" in written
    assert b"no call was made" in written
    assert code == 2
    assert runs(folder) == []
    written, code = on_a_terminal(folder, *many, "--yes")
    assert b"Make 1,020 calls?" not in written
    assert code == 0
    (folder / "runs.jsonl").unlink()
    unattended = ragauge("sweep", "gold.jsonl", "--out", "runs.jsonl", *many, cwd=folder)
    assert unattended.returncode == 0
    assert b"1,020 calls to make" in unattended.stderr


WRONG_USAGE = {
    "no system": ((), b"name one system to ask"),
    "two systems": (("--call", "system:answer", "--command", "cat"), b"one"),
    "a seed twice": (("--call", "system:answer", "--seeds", "1,1"), b"1 stands twice"),
    "a seed that is none": (("--call", "system:answer", "--seeds", "1,x"), b"whole numbers"),
    "an unknown jitter": (("--call", "system:answer", "--jitters", "none,punkt"), b"punct"),
    "a rate that is none": (("--call", "system:answer", "--rate", "often"), b"10/s"),
    "prices that are none": (("--call", "system:answer", "--prices", "free"), b"IN,OUT"),
    "a limit of none": (("--call", "system:answer", "--limit", "0"), b"--limit"),
    "knobs that are none": (("--call", "system:answer", "--knobs", "[1]"), b"--knobs"),
    "no such function": (("--call", "system:reply"), b"reply"),
}


@pytest.mark.parametrize("what", WRONG_USAGE)
def test_wrong_usage_is_said_in_words_before_anything_is_called(folder, what):
    options, words = WRONG_USAGE[what]
    refused = sweep(folder, *options)
    assert refused.returncode == 2, refused.stdout
    assert words in refused.stderr
    assert b"Traceback" not in refused.stderr
    assert not (folder / "runs.jsonl").exists() or not runs(folder)


PRESETS = {
    "pr": {"seeds": 3, "jitters": {"none", "ws", "syn"}, "paraphrases": {0}},
    "trace": {"seeds": 2, "jitters": {"none"}, "paraphrases": {1, 2, 3}},
}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_a_grid(folder, preset):
    wordings = {"paraphrases": [f"Number what, wording {n}?" for n in range(3)]}
    question = QUESTIONS[0] | {"question": "Explain what, in short, number 0 is."} | wordings
    (folder / "gold.jsonl").write_text(json.dumps(question) + "\n")
    swept = ragauge(
        *("sweep", "gold.jsonl", "--call", "system:answer", "--preset", preset),
        *("--out", "runs.jsonl"),
        cwd=folder,
    )
    assert swept.returncode == 0, swept.stderr
    wanted = PRESETS[preset]
    found = runs(folder)
    assert len({run["seed"] for run in found}) == wanted["seeds"]
    assert {run["jitter"] for run in found} == wanted["jitters"]
    assert {run["paraphrase"] for run in found} == wanted["paraphrases"]


def test_settings_of_the_sweep_stand_in_a_table_of_their_own(folder):
    (folder / "ragauge.toml").write_text(
        '[sweep]\nseeds = [7]\ntemperatures = [0]\njitters = ["none"]\n\n'
        "[stability]\nmin-stable = 0.5\n"
    )
    swept = ragauge(
        *("sweep", "gold.jsonl", "--call", "system:answer", "--out", "runs.jsonl"), cwd=folder
    )
    assert swept.returncode == 0, swept.stderr
    assert {(run["seed"], run["jitter"]) for run in runs(folder)} == {(7, "none")}
    shown = ragauge("config", cwd=folder, RAGAUGE_SWEEP_RETRIES="9").stdout.decode()
    assert "sweep.retries" in shown
    assert "RAGAUGE_SWEEP_RETRIES" in shown


def test_the_map_shapes_requests_and_replies(folder):
    chat = {"choices": [{"message": {"content": "It is a constrained mapping."}}]}
    mapping = {
        "request": {"messages": [{"role": "user", "content": "{q}"}], "seed": "{seed}"},
        "response": {"answer": "$.choices[0].message.content"},
    }
    (folder / "map.json").write_text(json.dumps(mapping))
    with serving(lambda body, attempt: chat) as server:
        swept = sweep(folder, "--http", server.at("v1/chat"), "--map", "map.json")
        assert swept.returncode == 0, swept.stderr
        assert server.requests[0].body["messages"][0]["role"] == "user"
        assert server.requests[0].body["seed"] in (0, 1)
    assert {run["answer"] for run in runs(folder)} == {"It is a constrained mapping."}


def test_a_preset_gives_way_to_what_a_user_set_anywhere(folder):
    (folder / "ragauge.toml").write_text('[sweep]\npreset = "pr"\nseeds = [7, 8]\n')
    arguments = ("sweep", "gold.jsonl", "--call", "system:answer", "--out", "runs.jsonl")
    assert ragauge(*arguments, cwd=folder, RAGAUGE_SWEEP_TEMPERATURES="0.5").returncode == 0
    assert {run["seed"] for run in runs(folder)} == {7, 8}
    assert {run["temperature"] for run in runs(folder)} == {0.5}
    assert {run["jitter"] for run in runs(folder)} <= {"none", "ws", "syn"}


def test_the_next_step_is_a_command_that_fits_the_sweep(folder):
    gates = "acr>=0.99"
    swept = sweep(folder, "--call", "system:answer", "--adaptive", "exact", "--gates", gates)
    assert swept.stdout.endswith(
        b"\nNext\n  ragauge stability gold.jsonl runs.jsonl --gates 'acr>=0.99'\n"
    )


def test_a_failure_is_shown_in_its_own_words(folder):
    (folder / "system.py").write_text("def answer(ask):\n    raise OSError('the base is away')\n")
    swept = sweep(folder, "--call", "system:answer", "--error-budget", "100%")
    assert b"12 failed (raised 12)" in swept.stdout
    assert b"raised: OSError: the base is away" in swept.stdout


def test_what_was_set_aside_is_said(folder):
    sweep(folder, "--call", "system:answer")
    again = sweep(folder, "--call", "system:answer", "--restart", "--seeds", "5")
    assert b"kept as runs.jsonl.1" in again.stdout


def test_knobs_that_are_no_text_end_in_words(folder):
    (folder / "knobs.json").write_bytes(b"\xff\xfe\x00")
    refused = sweep(folder, "--call", "system:answer", "--knobs", "knobs.json")
    assert refused.returncode == 2
    assert b"Traceback" not in refused.stderr
