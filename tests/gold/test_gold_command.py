"""`ragauge gold` says it in words or in the common JSON, and ends with the right code."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ragauge import constraint_lock
from ragauge.cli.gold import gold
from ragauge.errors import InputRejected, UsageError

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/how-to/gold-sets.md"
HERITAGE = ROOT / "src/ragauge/demo/heritage/gold.jsonl"
ENVELOPE = {"schema", "pass", "metrics", "gates", "findings", "finding_counts", "coverage"}


@pytest.fixture(autouse=True)
def beside_the_sources(monkeypatch, tmp_path):
    """A folder that commands of the page may write to, with the paths it names."""
    (tmp_path / "src").symlink_to(ROOT / "src")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def sets(tmp_path):
    """Gold files by name: as bundled, with a warning, with errors, and not gold at all."""
    text = HERITAGE.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    written = {
        "bundled": text,
        "warned": text.replace('"country": "TW", ', ""),
        "changed": text.replace('["1808"]', '["1807"]'),
        "shorter": "".join(lines[:-1]),
        "twice": text + lines[0].replace('"h001"', '"h999"'),
        "hostile": text + lines[0].replace('"h001"', r'"\u001b[31m\nerror forged: 1"'),
        "broken": text + '{"qid": "x"}\n',
    }
    for name, content in written.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return {name: str(tmp_path / name) for name in [*written, "absent"]}


def run(*args, **options):
    return CliRunner().invoke(gold, args, **options)


CODES = {
    "sound": ("lint bundled", 0),
    "warned": ("lint warned", 0),
    "warned, strict": ("lint warned --strict", 1),
    "thin sections, strict": ("lint bundled --sections --strict", 1),
    "errors": ("lint twice", 1),
    "locks": ("lint bundled --locks", 0),
    "no argument": ("lint", 2),
    "unknown format": ("lint bundled --format yaml", 2),
    "equal": ("diff bundled bundled", 0),
    "edited": ("diff bundled warned", 0),
    "grown": ("diff shorter bundled", 0),
    "changed": ("diff bundled changed", 1),
    "removed": ("diff bundled shorter", 1),
    "removed, allowed": ("diff bundled shorter --allow-removed", 0),
    "one argument": ("diff bundled", 2),
}


@pytest.mark.parametrize(("line", "code"), CODES.values(), ids=CODES)
@pytest.mark.parametrize("form", ["text", "json"])
def test_exit_codes_and_streams(sets, line, code, form):
    words = [sets.get(word, word) for word in line.split()]
    result = run(*words, *(() if "--format" in line else ("--format", form)))
    assert result.exit_code == code, result.output
    assert bool(result.stdout) == (code != 2)
    assert bool(result.stderr) == (code == 2)
    if form == "json" and code != 2:
        report = json.loads(result.stdout)
        assert list(report) == sorted(report)
        assert report.keys() >= ENVELOPE
        assert report["schema"] == f"ragauge.gold-{words[0]}/1"
        assert (report["pass"], report["metrics"], report["gates"]) == (code == 0, {}, [])
        assert report["coverage"]["gold"] >= 79


REJECTED = {
    "bad line": (["lint", "broken"], InputRejected),
    "bad new set": (["diff", "bundled", "broken"], InputRejected),
    "no file": (["lint", "absent"], UsageError),
    "locks of a plan": (["lint", "bundled", "--locks", "--plan", "heritage"], UsageError),
    "stdin twice": (["diff", "-", "-"], UsageError),
}


@pytest.mark.parametrize(("words", "error"), REJECTED.values(), ids=REJECTED)
def test_bad_input_is_left_to_the_command_line_to_report(sets, words, error):
    result = run(*(sets.get(word, word) for word in words))
    assert type(result.exception) is error
    assert result.stdout == ""


def test_the_whole_program_rejects_a_bad_line_with_its_place(sets):
    command = [sys.executable, "-m", "ragauge.cli.main", "gold", "lint", sets["broken"]]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert f"{sets['broken']}:81: question: missing" in ended.stderr


def test_the_lock_of_each_question_with_constraints(sets):
    questions = [json.loads(line) for line in HERITAGE.read_text(encoding="utf-8").splitlines()]
    locks = {q["qid"]: constraint_lock(q["constraints"]) for q in questions if "constraints" in q}
    report = json.loads(run("lint", sets["bundled"], "--locks", "--format", "json").stdout)
    assert report["locks"] == locks
    shown = run("lint", sets["bundled"], "--locks").stdout
    assert all(f"{qid}      {lock}\n" in shown for qid, lock in locks.items())
    assert "h003" not in run("lint", sets["bundled"]).stdout


CHUNK = {"snippet_id": "c1", "doc_id": "rijksmuseum", "offsets": {"start": 0, "end": 9000}}
CHUNK_FILES = {
    "chunks": [CHUNK],
    "chunks with bare places": [{"id": "c1", "doc_id": "rijksmuseum", "start": 0, "end": 9000}],
    "traces": [{"qid": "x", "retrieved": [CHUNK]}, {"qid": "y", "chunks": [CHUNK]}],
    "traces without a chunk": [{"qid": "x", "retrieved": [CHUNK]}, {"qid": "y", "retrieved": []}],
}


@pytest.mark.parametrize("records", CHUNK_FILES.values(), ids=CHUNK_FILES)
def test_anchors_are_held_against_chunks(sets, tmp_path, records):
    path = tmp_path / "chunks.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    words = ("lint", sets["bundled"], "--chunks", str(path), "--window", "200", "--stride", "100")
    report = json.loads(run(*words, "--format", "json").stdout)
    first = report["anchors"][0]
    assert (first["qid"], first["chunks"], first["inside"]) == ("h001", ["c1"], "c1")
    assert {"long_anchor", "uncovered_anchor"} <= report["finding_counts"].keys()
    shown = run(*words).stdout
    assert "  h001      anchor         121  c1      c1" in shown
    assert "  and 36 more; see --format json\n" in shown


@pytest.mark.parametrize(
    ("record", "fact"),
    [
        ({"doc_id": "d", "start": 0, "end": 9}, "id: missing; a chunk has a snippet_id"),
        ({"id": "c", "start": 0, "end": 9}, "doc_id: missing"),
        ({"id": "c", "doc_id": "d", "start": 0}, "end: missing"),
        ({**CHUNK, "offsets": {"start": 0, "end": 9, "unit": "token"}}, "offsets.unit: gold"),
    ],
)
def test_a_chunk_without_a_place_is_refused(sets, tmp_path, record, fact):
    path = tmp_path / "chunks.jsonl"
    path.write_text(json.dumps(record) + "\n")
    result = run("lint", sets["bundled"], "--chunks", str(path))
    assert type(result.exception) is InputRejected
    assert f"{path}:1: {fact}" in str(result.exception)


def test_a_window_needs_its_stride(sets):
    assert run("lint", sets["bundled"], "--window", "200").exit_code == 2


def test_a_set_is_read_from_stdin(sets):
    assert run("lint", "-", input=HERITAGE.read_bytes()).stdout == run("lint", str(HERITAGE)).stdout


def test_foreign_text_cannot_forge_a_line(sets):
    shown = run("lint", sets["hostile"]).stdout
    assert "\x1b" not in shown
    assert "  \\x1b[31m error forged: 1: asks word for word what h001 asks" in shown


def test_few_places_of_many_are_shown(sets):
    shown = run("lint", sets["bundled"], "--sections").stdout
    assert "warning thin_section  54\n" in shown
    assert shown.count("traceability takes") == 3
    assert "  and 51 more; see --format json\n" in shown


def test_help_needs_nothing_heavy():
    heavy = {"numpy", "polars", "rich"}
    code = f"import sys, ragauge.cli.gold; print(*{heavy} & {{*sys.modules}})"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == ""


def test_the_page_shows_a_changed_question_as_it_is_shown(sets):
    shown = run("diff", sets["bundled"], sets["changed"]).stdout
    assert f"```text\n{shown}```" in PAGE.read_text("utf-8")


def test_the_page_explains_every_check():
    from ragauge.runners.gold_lint import SEVERITIES

    named = re.findall(r"^\| `(\w+)` \| (error|warning) \|", PAGE.read_text("utf-8"), re.M)
    assert named == list(SEVERITIES.items())
