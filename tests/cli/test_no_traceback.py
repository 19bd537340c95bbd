"""Broken files, stores, clocks and folders end in one message and the documented exit code."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.cli.command import QUIET_ENVIRONMENT, RAGAUGE, ragauge


def question(qid: str, **more: Any) -> dict[str, Any]:
    known = {"answerable": True, "gold_claim_substr": ["a"], "gold_citations": ["p1#1"]}
    return {"qid": qid, "question": f"{qid}?", **known, **more}


def trace(qid: str) -> dict[str, Any]:
    answer = {"claim": "a", "citations": ["p1#1"]}
    return {"qid": qid, "q": f"{qid}?", "retrieved_ids": ["p1#1"], "answer_json": answer}


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A gold set, traces, a report of them and a history with their run."""
    folder = tmp_path_factory.mktemp("made")
    lines(folder / "gold.jsonl", question("q1"), question("q2"))
    lines(folder / "traces.jsonl", trace("q1"), trace("q2"))
    (folder / "loop").symlink_to("loop")
    kept = ("--report", "base.json", "--record", "--store", "store")
    done = ragauge("score", "gold.jsonl", "traces.jsonl", *kept, cwd=folder)
    assert done.returncode == 0, done.stderr
    done = ragauge("runs", "export", "--all", "-o", "runs.zip", "--store", "store", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def folder(made, tmp_path) -> Path:
    subprocess.run(["cp", "-a", f"{made}/.", str(tmp_path)], check=True)
    return tmp_path


def refused(folder: Path, *arguments: object, code: int, words: str) -> None:
    done = ragauge(*arguments, cwd=folder)
    said = done.stderr.decode()
    assert "Traceback" not in said and "a fault in Ragauge" not in said, said
    assert (done.returncode, words in said) == (code, True), (arguments, done.returncode, said)


LOOPS: list[list[str]] = [
    ["score", "loop", "traces.jsonl"],
    ["score", "gold.jsonl", "loop"],
    ["score", "gold.jsonl", "traces.jsonl", "--baseline", "loop"],
    ["stability", "loop", "traces.jsonl"],
    ["stability", "gold.jsonl", "loop"],
    ["audit", "loop"],
    ["audit", "traces.jsonl", "--docs", "store", "--manifest", "loop"],
    ["audit", "traces.jsonl", "--docs", "store", "--gold", "loop"],
    ["calibrate", "deltas", "loop", "--docs", "store"],
    ["consistency", "loop", "traces.jsonl"],
    ["diagnose", "loop", "--gold", "gold.jsonl"],
    ["diagnose", "traces.jsonl", "--gold", "loop"],
    ["eval", "ner", "loop", "loop"],
    ["eval", "types", "loop", "traces.jsonl"],
    ["eval", "linking", "loop", "loop"],
    ["eval", "retrieval", "loop", "loop"],
    ["eval", "qa", "loop", "traces.jsonl"],
    ["eval", "qa", "gold.jsonl", "loop"],
    ["eval", "answers", "loop"],
    ["eval", "answers", "loop", "--input-format", "parquet"],
    ["eval", "convert", "loop", "made", "--to", "hipe"],
    ["gold", "lint", "loop"],
    ["gold", "lint", "loop", "--plan", "heritage"],
    ["gold", "diff", "loop", "gold.jsonl"],
    ["gold", "agreement", "loop", "traces.jsonl"],
    ["sweep", "loop", "--demo", "--out", "runs.jsonl"],
    ["trace-eval", "loop", "--demo", "--out", "runs.jsonl"],
    ["runs", "import", "loop"],
]


@pytest.mark.parametrize("arguments", LOOPS, ids=" ".join)
def test_a_link_that_leads_to_itself_is_refused_by_every_reader(made, arguments):
    refused(made, *arguments, code=3, words="loop: is a link that leads back to itself; name the")


@pytest.mark.parametrize("name", ["ragauge.toml", "pyproject.toml"])
@pytest.mark.parametrize("target", ["ragauge.toml", "pyproject.toml", "gone.toml"])
def test_a_project_file_that_leads_nowhere_does_not_lose_its_gates(folder, name, target):
    (folder / name).symlink_to(target)
    refused(folder, *SCORE, code=2, words=f"{name}: cannot be read: ")


@pytest.mark.parametrize("name", [".ragauge", "store/history.sqlite"])
def test_a_history_that_leads_to_itself_is_not_an_empty_one(folder, name):
    (folder / "store" / "history.sqlite").unlink()
    (folder / name).symlink_to(Path(name).name)
    place = STORE if name.startswith("store") else []
    words = "is a link that leads back to itself; name another store"
    refused(folder, "runs", "list", *place, code=2, words=words)
    refused(folder, *SCORE, "--record", *place, code=3, words=words)


READERS: list[list[str]] = [
    ["score", "gold.jsonl", "FILE"],
    ["score", "FILE", "traces.jsonl"],
    ["audit", "FILE"],
    ["stability", "gold.jsonl", "FILE"],
    ["consistency", "FILE", "traces.jsonl"],
    ["eval", "ner", "FILE", "FILE", "--input-format", "iob2"],
    ["eval", "ner", "brat", "brat"],
    ["eval", "types", "FILE", "FILE"],
    ["eval", "linking", "FILE", "FILE"],
    ["eval", "retrieval", "FILE", "FILE"],
    ["eval", "answers", "FILE"],
    ["eval", "answers", "FILE", "--input-format", "csv"],
    ["gold", "lint", "FILE"],
]
"""One command for each way of reading; `brat` is a folder with the file as an .ann."""


def read_by(
    folder: Path, arguments: list[str], content: bytes, ending: str
) -> tuple[int, str, int]:
    """The exit code and words of a command that reads the content, and its peak in KiB."""
    (folder / "brat").mkdir(exist_ok=True)
    (folder / "brat" / "a.txt").write_text("Some text.")
    for name in (f"file{ending}", f"brat/a.ann{ending}"):
        (folder / name).write_bytes(content)
    words = [f"file{ending}" if word == "FILE" else word for word in arguments]
    with (folder / "said").open("w+b") as said:
        process = subprocess.Popen(
            [RAGAUGE, *words], cwd=folder, env=QUIET_ENVIRONMENT, stdout=said, stderr=said
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, (folder / "said").read_text(), used.ru_maxrss


@pytest.fixture(scope="module")
def newlines() -> bytes:
    """A few KiB that expand to a GiB of empty lines."""
    packed = zstandard.ZstdCompressor(level=3).compressobj()
    some = b"\n" * (1 << 24)
    content = b"".join(packed.compress(some) for _ in range(64)) + packed.flush()
    assert len(content) < 64 << 10
    return content


@pytest.mark.parametrize("arguments", READERS, ids=" ".join)
def test_empty_lines_without_end_take_neither_memory_nor_time(folder, newlines, arguments):
    code, said, peak_kib = read_by(folder, arguments, newlines, ".zst")
    assert (code, "expands more than 200 times" in said) == (3, True), said
    assert peak_kib < 600 << 10


@pytest.mark.parametrize("arguments", READERS, ids=" ".join)
def test_every_reader_has_the_same_longest_line(folder, arguments):
    code, said, _ = read_by(folder, arguments, b"q1 0 d1 1\n" + b"x" * (17 << 20) + b"\n", "")
    assert (code, "the line is longer than 16 MiB" in said) == (3, True), said[:500]


PAGE = b"<!DOCTYPE html>\n<html><body>Please sign in</body></html>\n"


@pytest.mark.parametrize("arguments", READERS, ids=" ".join)
def test_a_web_page_given_as_data_is_named(folder, arguments):
    code, said, _ = read_by(folder, arguments, PAGE, "")
    assert (code, "is an HTML page, not data" in said) == (3, True), said


@pytest.mark.parametrize(
    "arguments", [words for words in READERS if "brat" not in words], ids=" ".join
)
def test_an_empty_file_given_as_data_is_named(folder, arguments):
    code, said, _ = read_by(folder, arguments, b"", "")
    assert (code, "empty" in said or "holds no" in said) == (3, True), said


def weighted(weight: float) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        lines(folder / "gold.jsonl", question("q1", weight=weight), question("q2", weight=weight))

    return change


def baseline(**changed: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        report = json.loads((folder / "base.json").read_text())
        report["questions"][0] |= changed
        (folder / "base.json").write_text(json.dumps(report))

    return change


def altered(statement: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        with closing(sqlite3.connect(folder / "store" / "history.sqlite")) as database:
            database.execute(statement)
            database.commit()

    return change


def damaged(name: str, change: Callable[[bytearray], object]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        if name.endswith(".sqlite"):
            with closing(sqlite3.connect(folder / name)) as database:
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        content = bytearray((folder / name).read_bytes())
        change(content)
        (folder / name).write_bytes(content)

    return damage


def cut(content: bytearray) -> None:
    del content[len(content) // 2 :]


def overwrite(content: bytearray) -> None:
    third = len(content) // 3
    content[third : 2 * third] = b"\xff" * third


SCORE = ["score", "gold.jsonl", "traces.jsonl"]
COMPARED = [*SCORE, "--baseline", "base.json"]
STORE = ["--store", "store"]
DATABASE = "store/history.sqlite"
REPORT = ["report", "latest", "-o", "report.html", *STORE]
WEIGHT = "gold.jsonl:1: weight: expected a number from 1e-06 to 1e+09, got "
UNKNOWN = "which no Ragauge has written; restore the database from a copy"
DAMAGED = "the database is damaged; restore it from a copy"
IN_A_ROW = "the database is damaged: run "
ARCHIVE = "it may have been cut"

BROKEN: list[tuple[str, Callable[[Path], None], list[str], int, str]] = [
    ("weights that overflow", weighted(1e308), SCORE, 3, WEIGHT + "1e+308"),
    ("weights that vanish", weighted(1e-320), SCORE, 3, WEIGHT + "1e-320"),
    ("negative count", baseline(cited_count=-1), COMPARED, 3, "at `$.questions[0].cited_count`"),
    ("negative scope", baseline(cited_in_scope=-1), COMPARED, 3, "cited_in_scope`); make one"),
    ("more than all", baseline(cited_in_scope=9), COMPARED, 3, "cited_count 1 cannot be; make"),
    ("endless count", baseline(cited_count=10**30), COMPARED, 3, "base.json: "),
    (
        "older version",
        altered("UPDATE ragauge_version SET version_num = '0000'"),
        ["runs", "list", *STORE],
        2,
        UNKNOWN,
    ),
    (
        "half a version",
        altered("UPDATE ragauge_version SET version_num = '00'"),
        [*SCORE, "--record", *STORE],
        3,
        UNKNOWN,
    ),
    (
        "no version",
        altered("DELETE FROM ragauge_version"),
        ["runs", "list", *STORE],
        2,
        UNKNOWN,
    ),
    ("report of half a database", damaged(DATABASE, cut), REPORT, 2, DAMAGED),
    ("report of a damaged one", damaged(DATABASE, overwrite), REPORT, 2, DAMAGED),
    ("runs of a damaged one", damaged(DATABASE, overwrite), ["runs", "list", *STORE], 2, DAMAGED),
    (
        "serve of a damaged one",
        damaged(DATABASE, overwrite),
        ["serve", "--port", "0", *STORE],
        2,
        DAMAGED,
    ),
    (
        "report of a damaged row",
        altered("UPDATE run_units SET line = substr(line, 9)"),
        REPORT,
        2,
        IN_A_ROW,
    ),
    (
        "export of a damaged row",
        altered("UPDATE run_units SET line = 17"),
        ["runs", "export", "--all", "-o", "again.zip", *STORE],
        2,
        IN_A_ROW,
    ),
    ("half an archive", damaged("runs.zip", cut), ["runs", "import", "runs.zip"], 3, ARCHIVE),
]


@pytest.mark.parametrize(
    ("name", "break_it", "arguments", "code", "words"), BROKEN, ids=lambda v: str(v)[:30]
)
def test_what_is_broken_is_named_with_a_remedy(folder, name, break_it, arguments, code, words):
    break_it(folder)
    refused(folder, *arguments, code=code, words=words)


def test_an_archive_with_flipped_bits_is_refused_or_imported(folder):
    content, rng = (folder / "runs.zip").read_bytes(), random.Random(7)
    for number in range(12):
        changed = bytearray(content)
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        (folder / "flipped.zip").write_bytes(changed)
        done = ragauge("runs", "import", "flipped.zip", "--store", f"s{number}", cwd=folder)
        assert done.returncode in (0, 3), done.stderr
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tags SET tag = 'other'",
        "UPDATE tags SET run = run + 1",
        "UPDATE runs SET number = number + 7",
        "UPDATE run_units SET run = run + 1",
        "UPDATE runs SET passed = 2",
        "UPDATE runs SET passed = 1",
    ],
)
def test_verify_sees_changed_tags_run_numbers_and_booleans(folder, statement):
    ragauge("runs", "tag", "latest", "kept", *STORE, cwd=folder)
    assert ragauge("runs", "verify", *STORE, cwd=folder).returncode == 0
    altered(statement)(folder)
    done = ragauge("runs", "verify", *STORE, cwd=folder)
    assert (done.returncode, done.stderr) == (3, b"")


LATE = """
import datetime, sys
class Late(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(253402300800, tz)
datetime.datetime = Late
from ragauge.cli.main import main
main()
"""


def test_a_clock_past_the_year_9999_keeps_the_report_and_records_nothing(folder):
    """The only clock a test can set is the interpreter's own."""
    done = subprocess.run(
        [sys.executable, "-c", LATE, *SCORE, "--record", "--store", "late"],
        cwd=folder,
        env=QUIET_ENVIRONMENT,
        capture_output=True,
        timeout=120,
        check=False,
    )
    said = done.stderr.decode()
    assert done.returncode == 3, said
    assert "Traceback" not in said and "set the clock" in said
    assert b"2 of 2 gold questions scored" in done.stdout


@pytest.mark.parametrize("arguments", [["runs", "list"], ["config"], ["score", "a", "b"], ["run"]])
def test_a_deleted_working_folder_is_named(tmp_path, arguments):
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', gone, RAGAUGE, *arguments],
        env=QUIET_ENVIRONMENT | {"PWD": os.fspath(gone)},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == (
        b"ragauge: the working folder: was deleted; change to a folder that exists\n"
    )
