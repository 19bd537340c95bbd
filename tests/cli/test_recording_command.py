"""`--record` through the real commands: kept whole, or told in words with nothing else lost."""

from __future__ import annotations

import ctypes
import json
import os
import random
import resource
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.command import QUIET_ENVIRONMENT, RAGAUGE, ragauge
from tests.store.databases import place, postgres, postgres_server

__all__ = ["place", "postgres", "postgres_server"]

NOT_KEPT = 3
"""The exit code of a run that was measured and shown, but not recorded."""

KILLS = 4
DOOMED = "doomed"

_DROP_FROM_BOUNDING_SET = 24
_DAC_OVERRIDE, _DAC_READ_SEARCH = 1, 2


@pytest.fixture(scope="module")
def swept(tmp_path_factory) -> tuple[Path, Path]:
    """A gold set of three questions, and each answered four times."""
    folder = tmp_path_factory.mktemp("swept")
    gold, traces = folder / "gold.jsonl", folder / "runs.jsonl"
    questions = [
        {
            "qid": f"q{n}",
            "question": f"What is {n}?",
            "answerable": True,
            "gold_claim": f"It is {n}",
        }
        for n in range(3)
    ]
    answers = [
        {"qid": f"q{n}", "seed": seed, "answer_json": {"claim": f"It is {n}", "citations": []}}
        for n in range(3)
        for seed in range(4)
    ]
    for path, lines in ((gold, questions), (traces, answers)):
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return gold, traces


def limited(
    limit: Callable[[], object], *arguments: object, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """The real command in a process that may do less."""
    return subprocess.run(
        [RAGAUGE, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        env=QUIET_ENVIRONMENT,
        preexec_fn=limit,
        check=False,
        timeout=120,
    )


def obey_permissions() -> None:
    """Let even root be refused by a folder's permissions."""
    libc = ctypes.CDLL(None)
    for capability in (_DAC_OVERRIDE, _DAC_READ_SEARCH):
        libc.prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)


def small_files(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def listed(store: object) -> list[dict[str, object]]:
    done = ragauge("runs", "list", "--store", store, "--format", "json")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, object]] = json.loads(done.stdout)["runs"]
    return found


def all_whole(store: object) -> int:
    """How many runs the store holds; all of them are whole."""
    done = ragauge("runs", "verify", "--store", store, "--format", "json")
    assert done.returncode == 0, done.stdout
    return len(json.loads(done.stdout)["whole"])


def words_of(done: subprocess.CompletedProcess[bytes]) -> str:
    words = done.stderr.decode()
    assert words.startswith("ragauge: ")
    assert "Traceback" not in words
    return words


def test_a_score_is_recorded_and_read_back(parity, place):
    plain = ragauge("score", *parity)
    flags = ("--record", "--store", place, "--name", "nightly", "--label", "model=small-3")
    done = ragauge("score", *parity, *flags)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    (run,) = listed(place)
    record = run["record"]
    assert [record["name"], record["command"], record["passed"]] == ["nightly", "score", None]
    assert record["labels"] == {"model": "small-3"}
    assert record["units"] == 4
    kept = {"answers.jsonl.zst", "records.parquet", "report.json", "summary.json"}
    assert set(record["files"]) == kept
    assert f"recorded {run['id'][:12]}" in done.stderr.decode()
    shown = ragauge("runs", "show", run["id"][:12], "--store", place).stdout
    assert shown.endswith(plain.stdout)
    assert all_whole(place) == 1


def test_a_stability_report_is_recorded_and_read_back(swept, place):
    plain = ragauge("stability", *swept)
    done = ragauge("stability", *swept, "--record", "--store", place, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, b"")
    (run,) = listed(place)
    assert [run["record"]["name"], run["record"]["units"]] == ["stability", 3]
    direct = ragauge("stability", *swept, "--format", "html").stdout
    assert ragauge("runs", "show", "latest", "--store", place, "--format", "html").stdout == direct
    assert all_whole(place) == 1


def test_the_same_answers_twice_are_two_runs_and_the_second_like_the_first(parity, place):
    for _ in range(2):
        assert ragauge("score", *parity, "--record", "--store", place).returncode == 0
    first, second = (run["record"] for run in listed(place))
    assert first.pop("recorded_at") > second.pop("recorded_at")
    first["files"].pop("records.parquet"), second["files"].pop("records.parquet")
    assert first == second
    assert all_whole(place) == 2


def test_the_configuration_may_ask_for_it_and_the_project_keeps_it(parity, tmp_path):
    (tmp_path / "ragauge.toml").write_text('record = true\nname = "ours"\nlabel = ["model=b"]\n')
    assert ragauge("score", *parity, cwd=tmp_path).returncode == 0
    (run,) = listed(tmp_path / ".ragauge")
    assert [run["record"]["name"], run["record"]["labels"]] == ["ours", {"model": "b"}]


def test_texts_stay_where_they_are_by_flag_or_by_configuration(parity, tmp_path):
    (tmp_path / "ragauge.toml").write_text("record = true\nkeep_texts = false\n")
    assert ragauge("score", *parity, cwd=tmp_path).returncode == 0
    assert ragauge("score", *parity, "--keep-texts", cwd=tmp_path).returncode == 0
    with_texts, without = (run["record"]["files"] for run in listed(tmp_path / ".ragauge"))
    assert with_texts.keys() - without.keys() == {"answers.jsonl.zst"}


def test_nothing_is_recorded_where_nothing_was_asked_for(parity, tmp_path):
    before = sorted(tmp_path.iterdir())
    assert ragauge("score", *parity, cwd=tmp_path).returncode == 0
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_that_cannot_be_written_does_not_cost_the_report(parity, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    done = limited(obey_permissions, "score", *parity, "--record", "--store", closed / "history")
    assert (done.returncode, done.stdout) == (NOT_KEPT, ragauge("score", *parity).stdout)
    assert "cannot be made: Permission denied" in words_of(done)
    assert "the run was measured and shown, but not recorded" in words_of(done)


def test_a_history_that_became_read_only_is_read_and_loses_nothing(parity, tmp_path):
    store, report = tmp_path / "store", tmp_path / "report.json"
    assert ragauge("score", *parity, "--record", "--store", store).returncode == 0
    for path in [*store.rglob("*"), store]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    flags = ("--record", "--store", store, "--report", report)
    done = limited(obey_permissions, "score", *parity, *flags)
    assert done.returncode in (2, NOT_KEPT)
    assert "cannot be written" in done.stderr.decode()
    read = limited(obey_permissions, "runs", "list", "--store", store)
    assert read.stdout.startswith(b"1 run in ")
    assert limited(obey_permissions, "runs", "verify", "--store", store).returncode == 0
    for path in [store, *store.rglob("*")]:
        path.chmod(0o755)


@pytest.fixture
def line(tmp_path) -> Callable[..., str]:
    """Records a run of twelve answers, so many of them right, and says its id."""
    gold, store = tmp_path / "gold.jsonl", tmp_path / "store"
    questions = [
        {"qid": f"q{n}", "question": f"{n}?", "answerable": True, "gold_claim_substr": ["It is"]}
        for n in range(12)
    ]
    gold.write_text("".join(json.dumps(question) + "\n" for question in questions))

    def scored(right: int) -> str:
        claims = [f"It is {n}" if n < right else "Who knows" for n in range(12)]
        answers = [
            {"qid": f"q{n}", "answer_json": {"claim": claim, "citations": []}}
            for n, claim in enumerate(claims)
        ]
        traces = tmp_path / "traces.jsonl"
        traces.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
        flags = ("--gates", "claim_containment>=0.1", "--record", "--store", store)
        assert ragauge("score", gold, traces, *flags).returncode == 0
        return listed(store)[0]["id"]

    return scored


METRIC = "claim_containment"


def compared(store: Path, *flags: str) -> tuple[str, ...]:
    gate = ("--metric", METRIC, "--gate", "no-regression", "--store", str(store))
    return ("compare", "green", "latest", *gate, *flags)


def test_a_run_that_failed_its_comparison_is_not_the_next_baseline(line, tmp_path):
    store, good = tmp_path / "store", line(12)
    for _ in range(2):
        bad = line(2)
        done = ragauge(*compared(store))
        assert done.returncode == 1, done.stderr
        said = f"run {bad[:12]} is marked as regressed against {good[:12]}: "
        assert done.stderr.decode() == f"{said}`green` passes over it\n"
        assert ragauge(*compared(store, "--quiet")).stderr == b""
    show = ragauge("runs", "show", "green", "--store", store, "--format", "json")
    assert json.loads(show.stdout)["id"] == good
    mended = line(12)
    assert ragauge(*compared(store)).returncode == 0
    show = ragauge("runs", "show", "green", "--store", store, "--format", "json")
    assert json.loads(show.stdout)["id"] == mended


def test_a_run_that_cannot_be_marked_fails_all_the_same_and_it_is_said(line, tmp_path):
    store = tmp_path / "store"
    line(12)
    bad = line(2)
    for path in [*store.rglob("*"), store]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    done = limited(obey_permissions, *compared(store))
    assert done.returncode == 1
    words = done.stderr.decode()
    assert words.startswith(f"run {bad[:12]} could not be marked as regressed, and may still be ")
    assert "cannot be written" in words
    for path in [store, *store.rglob("*")]:
        path.chmod(0o755)
    assert listed(store)[0]["regressions"] == []


def measured_but_not_kept(
    done: subprocess.CompletedProcess[bytes], parity: tuple[Path, Path], report: Path
) -> str:
    """What was said of a run that could not be kept; its report was shown and written."""
    assert done.stdout == ragauge("score", *parity).stdout
    assert json.loads(report.read_bytes())["pass"] is None
    assert done.returncode == NOT_KEPT
    words = done.stderr.decode()
    assert "Traceback" not in words
    return words


def test_a_disk_that_fills_up_while_recording_costs_only_the_record(parity, tmp_path):
    store, report = tmp_path / "store", tmp_path / "report.json"
    assert ragauge("score", *parity, "--record", "--store", store).returncode == 0
    flags = ("--record", "--store", store, "--report", report)
    # Enough for the report and SQLite's shared memory, too little for a run.
    done = limited(small_files(40_000), "score", *parity, *flags)
    words = measured_but_not_kept(done, parity, report)
    assert "nothing of this was kept" in words
    assert all_whole(store) == 1
    assert ragauge("score", *parity, *flags).returncode == 0
    assert all_whole(store) == 2


def test_a_full_disk_is_told_in_words(parity, tmp_path):
    """On a real disk of 300 kB, where the system lets us make one."""
    folder = tmp_path / "small"
    folder.mkdir()
    script = """
        mount -t tmpfs -o size=300k none "$1" || exit 77
        for turn in 1 2 3 4; do
            "$2" score "$3" "$4" --record --store "$1" > "$5/out.$turn"
            echo $?
        done
        "$2" runs verify --store "$1" --format json > "$5/verified.json"
    """
    done = subprocess.run(
        ["unshare", "-rm", "bash", "-c", script, "-", folder, RAGAUGE, *parity, tmp_path],
        capture_output=True,
        env=QUIET_ENVIRONMENT,
        check=False,
        timeout=120,
    )
    if done.returncode in (1, 77) and not done.stdout:
        pytest.skip("this user may not mount a disk")
    codes = [int(code) for code in done.stdout.split()]
    kept = codes.count(0)
    assert kept < 4 and codes == [0] * kept + [NOT_KEPT] * (4 - kept)
    assert b"Traceback" not in done.stderr
    assert b"No space left on device" in done.stderr or b"the disk is full" in done.stderr
    plain = ragauge("score", *parity).stdout
    assert [(tmp_path / f"out.{turn}").read_bytes() for turn in (1, 2, 3, 4)] == [plain] * 4
    assert len(json.loads((tmp_path / "verified.json").read_bytes())["whole"]) == kept


def test_a_server_that_is_not_there_does_not_cost_the_report(parity):
    store = "postgresql://somebody:secret@127.0.0.1:1/history"
    done = ragauge("score", *parity, "--record", "--store", store)
    assert (done.returncode, done.stdout) == (NOT_KEPT, ragauge("score", *parity).stdout)
    assert "ragauge: postgresql://***@127.0.0.1:1/history: " in words_of(done)
    assert "server" in words_of(done)
    assert b"secret" not in done.stderr


@pytest.fixture
def own_database(postgres_server) -> str:
    """The URL of a database that nobody else is in."""
    import psycopg

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {DOOMED}")
    return postgres_server.replace("/postgres?", f"/{DOOMED}?")


def test_a_server_that_goes_away_meanwhile_costs_only_the_record(
    parity, own_database, postgres_server, tmp_path
):
    gold, traces = parity
    report = tmp_path / "report.json"
    blank = b"\n" * (4 << 20)
    with subprocess.Popen(
        [RAGAUGE, "score", gold, "-", "--record", "--store", own_database, "--report", report],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=QUIET_ENVIRONMENT,
    ) as process:
        # More than a pipe holds: once it is written, the command reads and has opened its history.
        process.stdin.write(blank)
        process.stdin.flush()
        shut(postgres_server)
        out, err = process.communicate(traces.read_bytes(), timeout=60)
    assert out == ragauge("score", gold, "-", stdin=blank + traces.read_bytes()).stdout
    assert json.loads(report.read_bytes())["pass"] is None
    assert f"/{DOOMED}: " in err.decode()
    assert b"Traceback" not in err
    assert process.returncode == NOT_KEPT


def shut(server: str) -> None:
    """Throw everybody out of the database, and lock the door."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {DOOMED} ALLOW_CONNECTIONS false")
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [DOOMED]
        )


@pytest.mark.slow
def test_a_killed_command_leaves_whole_runs_only(parity, place):
    """Killed at random points of the later half of its life, when it scores and records."""
    command = [RAGAUGE, "score", *parity, "--record", "--store", place]
    began = time.monotonic()
    subprocess.run(command, capture_output=True, env=QUIET_ENVIRONMENT, check=True)
    lifetime_s = time.monotonic() - began
    chance = random.Random(20)
    for _ in range(KILLS):
        process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=QUIET_ENVIRONMENT,
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=chance.uniform(0.5, 1) * lifetime_s)
        process.kill()
        process.wait()
    runs = all_whole(place)
    assert 1 <= runs <= KILLS + 1
    assert len(listed(place)) == runs
    assert ragauge("score", *parity, "--record", "--store", place).returncode == 0
    assert all_whole(place) == runs + 1


@pytest.mark.parametrize("flags", [("--label", "model"), ("--label", "=x")])
def test_a_label_that_is_none_is_2_and_nothing_is_scored(parity, tmp_path, flags):
    done = ragauge("score", *parity, "--record", "--store", tmp_path / "store", *flags)
    assert (done.returncode, done.stdout) == (2, b"")
    assert "write key=value" in words_of(done)


@pytest.mark.parametrize("flags", [("--name", os.fsdecode(b"\xff")), ("--label", "m=\udcff")])
def test_text_that_is_none_ends_in_words(parity, tmp_path, flags):
    done = ragauge("score", *parity, "--record", "--store", tmp_path / "store", *flags)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
