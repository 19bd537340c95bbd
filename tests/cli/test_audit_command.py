"""`ragauge audit` as a user and a CI job meet it."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from sarif.loader import load_sarif_file

from ragauge.citations.codes import CODES, OF_TRACES
from ragauge.citations.log_line import parse_line
from ragauge.store.serving_log import read_entries
from tests.citations.answers import FIXTURE, chunk, model_side
from tests.cli.command import ragauge
from tests.runners.audited import (
    C1,
    C2,
    C3,
    HANDBOOK,
    HOLDING,
    Files,
    trace,
    write_lines,
    written,
)
from tests.store.databases import place, postgres, postgres_server

__all__ = ["place", "postgres", "postgres_server"]

Done = subprocess.CompletedProcess[bytes]


@pytest.fixture
def files(tmp_path) -> Files:
    return written(tmp_path)


@pytest.fixture
def holding(tmp_path) -> Files:
    folder = tmp_path / "holding"
    folder.mkdir()
    return written(folder, HOLDING)


def audited(files: Files, *more: object, **environment: Any) -> Done:
    wide = {"COLUMNS": "120"} | environment
    return ragauge("audit", files.traces, *more, **wide)


def with_all(files: Files) -> tuple[object, ...]:
    return "--gold", files.gold, "--docs", files.docs, "--manifest", files.manifest


# Exit codes.


def test_everything_holds_is_0(holding):
    done = audited(holding, *with_all(holding))
    assert done.returncode == 0, done.stdout.decode()
    assert done.stdout.decode().startswith("PASS  2 of 2 answers have citations that hold")
    assert done.stderr == b""


def test_a_citation_that_does_not_hold_is_1_with_code_place_and_next_step(files):
    done = audited(files, *with_all(files))
    said = done.stdout.decode()
    assert done.returncode == 1
    assert said.startswith("FAIL  1 of 3 answers has citations that do not hold")
    assert "not_retrieved" in said and "→ Show ids with their chunks" in said
    assert f"{files.traces}:3 q2 citations[0].snippet_id" in " ".join(said.split())


def test_two_indexes_are_compared_by_how_they_rank(holding, tmp_path):
    def ranked(name, *orders):
        told = [{"retrieved": ..., "retrieved_ids": [*order]} for order in orders]
        return write_lines(
            tmp_path / name, [trace(f"q{n}", ["a"], **fields) for n, fields in enumerate(told)]
        )

    new = ranked("new.jsonl", "abcd", "abcd", "ab", "abc")
    old = ranked("old.jsonl", "abcd", "abdc", "xy")
    done = ragauge("audit", new, "--ranks", old, "--format", "json")
    report = json.loads(done.stdout)
    found = {name: report["metrics"][f"traceability.rank_{name}"] for name in ("rho", "tau")}
    assert found["rho"]["value"] == pytest.approx((1 + 0.8) / 2)
    assert found["tau"]["value"] == pytest.approx((1 + 2 / 3) / 2)
    assert (found["rho"]["n"], found["rho"]["of"]) == (2, 4)
    overlap = report["metrics"]["traceability.rank_overlap@10"]
    assert (overlap["value"], overlap["n"]) == (pytest.approx(2 / 3), 3)
    gates = {gate["metric"]: gate for gate in report["gates"]}
    assert gates["traceability.rank_rho"]["bound"] == 0.9
    without = json.loads(ragauge("audit", new, "--format", "json").stdout)
    assert not [id for id in without["metrics"] if "rank_" in id and "rerank" not in id]
    assert not [g for g in without["gates"] if g["metric"] == "traceability.rank_rho"]


def test_other_traces_that_are_none_are_refused(holding, tmp_path):
    empty = write_lines(tmp_path / "empty.jsonl", [])
    done = audited(holding, "--ranks", empty)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"no traces to compare ranks with" in done.stderr
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"qid": 7.5}\n')
    done = audited(holding, "--ranks", broken)
    assert done.returncode == 3
    assert f"{broken}:1: qid: expected text".encode() in done.stderr


def test_a_bad_line_is_3_with_its_place(files):
    files.traces.write_text(files.traces.read_text() + '{"qid": 7.5, "answer": []}\n{broken\n')
    done = audited(files)
    assert (done.returncode, done.stdout) == (3, b"")
    said = done.stderr.decode()
    assert f"{files.traces}:5: qid: expected text, got a number" in said
    assert f"{files.traces}:5: answer: expected text, got a list" in said
    assert f"{files.traces}:6: not JSON: " in said
    assert audited(files, "--max-bad", "2").returncode == 1


def test_where_every_line_is_bad_or_failed_it_is_3(tmp_path):
    broken = write_lines(tmp_path / "broken.jsonl", ["{", "{"])
    done = ragauge("audit", broken, "--max-bad", "100%")
    assert done.returncode == 3 and b"nothing to audit: no traces" in done.stderr
    failed = write_lines(tmp_path / "failed.jsonl", [{"qid": "q1", "status": "error"}] * 2)
    done = ragauge("audit", failed)
    assert done.returncode == 3
    assert b"no answer was audited" in done.stdout


def test_bad_files_beside_the_traces_are_told(files, tmp_path):
    files.manifest.write_text('{"hash": ""}')
    files.gold.write_text('{"qid": "q1"}\n')
    done = audited(files, "--manifest", files.manifest)
    assert done.returncode == 3 and f"{files.manifest}: hash: is empty".encode() in done.stderr
    done = audited(files, "--gold", files.gold)
    assert done.returncode == 3 and f"{files.gold}:1: question: missing".encode() in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give trace files to audit, or --one, --explain or --drift"),
        (["no.jsonl"], "no.jsonl: no such file"),
        (["TRACES", "--depth", "deep"], "--depth"),
        (["TRACES", "--depth", "text"], "give them with --docs DIR"),
        (["TRACES", "--depth", "support"], "give them with --docs DIR"),
        (["TRACES", "--docs", "nowhere"], "nowhere: there is no such folder"),
        (["TRACES", "--format", "csv"], "--format"),
        (["TRACES", "--report", "x.yaml"], "x.yaml"),
        (["TRACES", "--report", "x.csv"], "csv"),
        (["TRACES", "--embedder", "no-such"], "no-such"),
        (["TRACES", "--tokenizer", "no-such"], "no-such"),
        (["TRACES", "--calibration", "x.json"], "--embedder"),
        (["TRACES", "--to-db", "x.sqlite"], "name it with --run"),
        (["TRACES", "--to-db", "redis://h", "--run", "r"], "redis://"),
        (["TRACES", "--allow-cross-section", "keys"], "a+b,c+d"),
        (["TRACES", "--gates", "nonsense>=1"], "nonsense"),
        (["TRACES", "--gates", "valid>=1 where x=1"], "none without --gold"),
        (["TRACES", "--retrieved", "x.json"], "--retrieved belongs to --one"),
        (["TRACES", "--one", "x"], "--one and TRACES do not go together"),
        (["TRACES", "--explain", "ok"], "--explain and TRACES do not go together"),
        (["--one", "x", "--explain", "ok"], "do not go together"),
        (["--one", "x", "--gold", "x"], "--one and --gold do not go together"),
        (["--one", "x", "--record"], "--one and --record do not go together"),
        (["--one", "x", "--to-db", "x"], "--one and --to-db do not go together"),
        (["--one", "x", "--format", "sarif"], "--one has json"),
        (["--explain", "ok", "--format", "html"], "--explain has text and json"),
        (["--explain", "ok", "--docs", "."], "--explain and --docs do not go together"),
        (["--drift", "old.json"], "give it with --manifest NEW"),
        (["--drift", "old.json", "--docs", "."], "--drift and --docs do not go together"),
        (["--one", "-", "--retrieved", "-"], "only one of the files can be standard input"),
        (["-", "--gold", "-"], "only one of the files can be standard input"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_bad_command_is_2_in_words(files, tmp_path, arguments, said):
    given = [files.traces if one == "TRACES" else one for one in arguments]
    done = ragauge("audit", *given, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b""), done.stdout
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr


# Where traces come from.


def test_files_packed_and_plain_and_standard_input(files, tmp_path):
    packed = tmp_path / "more.jsonl.gz"
    packed.write_bytes(gzip.compress(files.traces.read_bytes()))
    done = ragauge("audit", files.traces, packed, "--format", "json")
    assert json.loads(done.stdout)["coverage"]["traces"] == 8
    done = ragauge("audit", "-", "--format", "json", stdin=files.traces.read_bytes())
    assert [one["where"] for one in json.loads(done.stdout)["findings"]] == ["stdin:3"]


def test_two_workers_print_the_same_bytes(tmp_path):
    text = "x" * 4_000
    many = [trace("q1", ["c1"], {**C1, "note": text}, C2), trace("q2", ["c9"], C3)] * 2_500
    traces = write_lines(tmp_path / "many.jsonl", many)
    assert traces.stat().st_size > 8 << 20, "more than a block"
    files = written(tmp_path)
    given = ("--gold", files.gold, "--manifest", files.manifest, "--format", "json")
    one, two = (ragauge("audit", traces, *given, "--workers", n) for n in (1, 2))
    assert one.stdout == two.stdout != b""
    assert json.loads(one.stdout)["finding_counts"] == {"missing_trace": 1, "not_retrieved": 2_500}


# Forms.


def test_the_json_is_what_its_schema_says(files):
    schema = json.loads(ragauge("schema", "audit-report").stdout)
    for more in ((), with_all(files), ("--embedder", "ngram", *with_all(files))):
        report = json.loads(audited(files, "--format", "json", *more).stdout)
        jsonschema.Draft202012Validator(schema).validate(report)
        assert report["pass"] is False
        assert report["finding_counts"] == {"not_retrieved": 1}
        assert report["findings"][0]["tip"]


def test_sarif_points_at_the_line(files, tmp_path):
    place = tmp_path / "audit.sarif"
    place.write_bytes(audited(files, "--format", "sarif").stdout)
    [record] = load_sarif_file(str(place)).get_records()
    assert record["Location"].endswith("traces.jsonl") and record["Line"] == 3
    assert "not_retrieved" in record["Code"]


def test_reports_are_written_beside(files, tmp_path):
    names = ["a.json", "a.md", "a.xml", "a.html", "a.sarif"]
    given = [part for name in names for part in ("--report", tmp_path / name)]
    done = audited(files, *given)
    assert done.returncode == 1
    for name in names:
        assert (tmp_path / name).stat().st_size > 100
        assert f"wrote {tmp_path / name}".encode() in done.stderr
    assert json.loads((tmp_path / "a.json").read_text())["schema"] == "ragauge.audit/1"
    assert audited(files, *given, "--quiet").stderr == b""


# Options.


def test_depths_and_what_they_find(tmp_path):
    drifted = {**C3, "offsets": {"start": 103, "end": 173, "unit": "char"}}
    files = written(tmp_path, [trace("q2", ["c3"], {**drifted, "analyzer": "old"})])
    found = {}
    for depth in ("marker", "payload", "text", "support"):
        given = ("--docs", files.docs, "--manifest", files.manifest, "--depth", depth)
        report = json.loads(audited(files, *given, "--format", "json").stdout)
        found[depth] = [one["code"] for one in report["codes"]]
    assert found == {
        "marker": [],
        "payload": ["analyzer_mismatch"],
        "text": ["analyzer_mismatch", "span_text_mismatch"],
        "support": ["analyzer_mismatch", "span_text_mismatch", "unsupported"],
    }


def test_sections_and_cite_first_and_refusals(tmp_path):
    two = trace("q1", ["c1", "c3"], C1, {**C3, "k_pos": 2, "score_norm": 0.5, "k_final": 3})
    late = {"qid": "q2", "answer": "So.\ncitations: [c1]", "retrieved": [C1, C2]}
    near = {"qid": "q3", "answer": "“Not in context.”"}
    files = written(tmp_path, [two, late, near])

    def found(*more: str) -> set[str]:
        report = json.loads(audited(files, "--format", "json", *more).stdout)
        return {one["code"] for one in report["codes"]}

    exact = found("--refusal", "exact")
    assert exact == {"cross_section_reuse", "cite_after_answer", "empty_citations"}
    assert "cross_section_reuse" not in found("--allow-cross-section", "keys+access")
    assert "cross_section_reuse" not in found("--allow-cross-section", "all")
    assert "cite_after_answer" not in found("--no-cite-first")
    assert "empty_citations" not in found("--refusal", "near") | found()


def test_a_gate_of_ones_own(files):
    done = audited(files, "--gates", "valid>=0.6", "--format", "json")
    gates = {gate["rule"]: gate["verdict"] for gate in json.loads(done.stdout)["gates"]}
    assert gates["traceability.valid>=0.6"] == "pass"
    assert "traceability.valid=1" not in gates


def test_gates_of_the_scores_are_not_the_audits(holding, tmp_path):
    (tmp_path / "ragauge.toml").write_text('gates = ["compliance>=0.9"]\n')
    assert ragauge("audit", holding.traces, cwd=tmp_path).returncode == 0


# The history.


def test_two_audits_are_recorded_listed_and_compared(files, holding, place):
    store = ("--store", place)
    first = audited(holding, "--gold", holding.gold, "--record", *store, "--name", "audit")
    second = audited(files, "--gold", files.gold, "--record", *store, "--name", "audit")
    assert (first.returncode, second.returncode) == (0, 1), first.stderr
    assert b"recorded " in first.stderr
    listed = json.loads(ragauge("runs", "list", *store, "--format", "json").stdout)
    assert [run["record"]["command"] for run in listed["runs"]] == ["audit", "audit"]
    ids = [run["id"] for run in listed["runs"]]
    done = ragauge("compare", ids[1], ids[0], *store, "--format", "json")
    assert done.returncode in (0, 1), done.stderr
    valid = json.loads(done.stdout)["compared"]["traceability.valid"]
    assert (valid["before"], valid["after"]) == (1.0, pytest.approx(2 / 3))


# The serving log.


def test_log_lines_and_a_table_of_them(files, place, tmp_path):
    log = tmp_path / "serving.log"
    given = ("--log", log, "--to-db", place, "--run", "nightly")
    done = ragauge("audit", written(tmp_path, HOLDING).traces, *given)
    assert done.returncode == 0, done.stderr
    lines = [parse_line(line) for line in log.read_text("utf-8").splitlines()]
    assert [one.qid for one in lines] == ["q1", "q2", "q3"]
    assert [one.qid for one in read_entries(place, "nightly")] == ["q1", "q2", "q3"]
    assert f"wrote {log}".encode() in done.stderr


def test_a_password_is_not_printed(files, postgres, tmp_path):
    secret = postgres.replace("postgres:@", "postgres:hunter2@")
    assert "hunter2" in secret
    traces = written(tmp_path, HOLDING).traces
    done = ragauge("audit", traces, "--to-db", secret, "--run", "nightly")
    assert done.returncode == 0, done.stderr
    assert b"wrote postgresql://***@" in done.stderr
    assert b"hunter2" not in done.stdout + done.stderr
    wrong = "postgresql://someone:hunter2@127.0.0.1:1/nothing"
    done = ragauge("audit", traces, "--to-db", wrong, "--run", "nightly")
    assert done.returncode != 0
    assert b"hunter2" not in done.stdout + done.stderr


def test_rejected_input_leaves_no_log(files, tmp_path):
    files.traces.write_text(files.traces.read_text() + "{broken\n")
    log, table = tmp_path / "serving.log", tmp_path / "log.sqlite"
    done = audited(files, "--log", log, "--to-db", table, "--run", "nightly")
    assert done.returncode == 3
    assert not log.exists() and not table.exists()


def test_nothing_that_is_read_is_written_over(files):
    for flag in ("--log", "--report"):
        for read in (files.traces, files.gold):
            done = audited(files, "--gold", files.gold, flag, read)
            assert (done.returncode, done.stdout) == (2, b""), flag
            assert str(read).encode() in done.stderr


# One reply.


def one(reply: Any, *more: object, folder: Path | None = None) -> tuple[int, dict[str, Any]]:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    done = ragauge("audit", "--one", "-", *more, stdin=text.encode(), cwd=folder)
    assert b"Traceback" not in done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.fixture
def retrieved(tmp_path) -> Path:
    place = tmp_path / "chunks.json"
    place.write_text(json.dumps([FIXTURE]))
    return place


SAID = {"citations": [model_side(FIXTURE)], "answer": "Every year."}


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps(SAID),
        f"```json\n{json.dumps(SAID, indent=2)}\n```",
        f"Sure: {json.dumps(SAID)}",
        f"citations: [{FIXTURE['snippet_id']}]\nclaim: Every year.",
        json.dumps([FIXTURE["snippet_id"]]),
        json.dumps([{**FIXTURE, "text": "Keys are turned."}]),
        json.dumps({"qid": "q1", "answer_json": SAID, "retrieved": [FIXTURE]}),
        "not in context",
    ],
    ids=["json", "fenced", "amid prose", "text", "ids", "payloads", "a trace", "a refusal"],
)
def test_one_reply_that_holds_is_ok(reply, retrieved):
    code, said = one(reply, "--retrieved", retrieved)
    assert (code, said["ok"]) == (0, True)
    assert (said["deltaS"], said["lambda"]) == (None, None)
    assert set(said["why"]) == {"deltaS", "lambda"}


def test_the_fixture_of_the_specification():
    assert one([FIXTURE])[1]["ok"] is True
    assert one([])[1]["error"] == "empty_citations"
    code, said = one([model_side(FIXTURE)])
    assert (code, said["error"], said["field"]) == (1, "missing_index_hash", "index_hash")
    assert "index is built" in said["tip"]


def test_what_was_not_looked_at_is_told_and_fails_where_it_was_asked_for(tmp_path):
    assert one([FIXTURE])[1]["why"]["marker"] == "what was retrieved is unknown"
    code, said = one([FIXTURE], "--depth", "marker")
    assert (code, said["ok"], said["error"]) == (1, False, "not_checked")
    files = written(tmp_path)
    bare = {name: value for name, value in C1.items() if name != "text"}
    code, said = one([bare], "--docs", files.docs)
    assert (code, said["error"], said["field"]) == (1, "not_checked", "text")
    assert one([C1], "--docs", files.docs)[1]["ok"] is True


def test_payloads_may_stand_one_a_line(tmp_path):
    chunks = write_lines(tmp_path / "chunks.jsonl", [chunk(1), chunk(2), '"c3"'])
    assert one(["c1", "c2"], "--retrieved", chunks)[1]["ok"] is True
    assert one(["c3"], "--retrieved", chunks)[1]["error"] == "missing_index_hash"
    assert one(["c4"], "--retrieved", chunks)[1]["error"] == "not_retrieved"


@pytest.mark.parametrize(
    ("reply", "error", "field"),
    [
        ({**SAID, "citations": []}, "empty_citations", "citations"),
        ({**SAID, "citations": ["c9"]}, "not_retrieved", "snippet_id"),
        ('{"citations": ["c', "bad_json", None),
        ('{"error": "no index", "fix": "build it"}', "model_reported_error", None),
        ("Every year.\ncitations: [hb24-sec-keys-0007]", "cite_after_answer", "citations"),
        ({"qid": "q1", "answer": "So.", "retrieved": []}, "empty_citations", "citations"),
        ("", "error_record", "answer"),
        ({**SAID, "answer": " "}, "error_record", "answer"),
        ({"qid": "q1", "status": "error", "error": "timeout"}, "error_record", "answer"),
    ],
    ids=range(9),
)
def test_one_reply_that_does_not_is_an_error_with_field_and_tip(reply, error, field, retrieved):
    code, said = one(reply, "--retrieved", retrieved)
    assert (code, said["error"], said["field"]) == (1, error, field)
    assert said["tip"]
    if error == "error_record":
        assert said["got"] in ("timeout", "the answer is empty")
    else:
        assert said["findings"][0]["code"] == error


def test_one_reply_from_a_file_with_all_it_can_be_held_against(tmp_path):
    files = written(tmp_path)
    reply, chunks = tmp_path / "reply.txt", tmp_path / "chunks.json"
    reply.write_text('{"citations": ["c1"], "answer": "Every year.", "ΔS": 0.3, "λ": "convergent"}')
    chunks.write_text(json.dumps([C1, C2]))
    given = ("--one", reply, "--retrieved", chunks, "--manifest", files.manifest)
    done = ragauge("audit", *given, "--docs", files.docs, "--embedder", "ngram")
    said = json.loads(done.stdout)
    assert (done.returncode, said["ok"], said["depth"]) == (0, True, "text")
    assert said["embedder"] == "ngram:v1:1024"
    assert (said["reported_deltaS"], said["reported_lambda"]) == (0.3, "convergent")
    chunks.write_text(json.dumps([{**C1, "text": HANDBOOK[3:43]}, C2]))
    done = ragauge("audit", *given, "--docs", files.docs)
    assert (done.returncode, json.loads(done.stdout)["error"]) == (1, "span_text_mismatch")
    chunks.write_text(json.dumps([{**C1, "index_hash": "old"}]))
    done = ragauge("audit", *given)
    assert json.loads(done.stdout)["error"] == "mismatch_index_hash"


def test_a_trace_has_a_question_to_measure_from(tmp_path):
    whole = {**HOLDING[0], "q": "How often are keys turned?"}
    _, said = one(whole, "--embedder", "ngram", folder=tmp_path)
    assert 0 < said["deltaS"] < 1 and "deltaS" not in said["why"]
    _, said = one(HOLDING[0], "--embedder", "ngram", folder=tmp_path)
    assert said["deltaS"] is None and said["why"]["deltaS"]


def test_what_was_retrieved_beats_the_traces_own(tmp_path):
    chunks = tmp_path / "chunks.json"
    chunks.write_text("[]")
    assert one(HOLDING[0], "--retrieved", chunks)[1]["error"] == "not_retrieved"


def test_one_reply_is_read_as_the_settings_say(tmp_path):
    near = "“Not in context.”"
    exact = ("--refusal", "exact")
    assert one(near, *exact, folder=tmp_path)[1]["error"] == "empty_citations"
    assert one(near, folder=tmp_path)[1]["kind"] == "refusal"
    assert one("weet niet", *exact, "--refusal-tokens", "weet niet", folder=tmp_path)[0] == 0
    (tmp_path / "ragauge.toml").write_text('refusal = "near"\n')
    assert one(near, folder=tmp_path)[1]["kind"] == "refusal"
    marked = {"qid": "q1", "answer": "Every year [1].", "retrieved": [C1, C2]}
    assert one(marked)[1]["error"] == "empty_citations"
    assert one(marked, "--inline")[1]["ok"] is True
    late = f"So.\ncitations: [{FIXTURE['snippet_id']}]"
    (tmp_path / "chunks.json").write_text(json.dumps([FIXTURE]))
    given = ("--retrieved", tmp_path / "chunks.json")
    assert one(late, *given, "--no-cite-first")[1]["ok"] is True
    assert one([FIXTURE], *given, "--depth", "marker")[1]["depth"] == "marker"


@pytest.mark.parametrize(
    ("reply", "chunks", "said"),
    [
        (b"So \xff", b"[]", "not UTF-8 at byte 4"),
        (b"So.", b"[{}, 7]", "--retrieved: item 2: expected a payload or an id, got a number"),
        (b"So.", b"7", "--retrieved: item 1: expected a payload or an id, got a number"),
        (b"So.", b"{}\n{", "--retrieved: not JSON"),
        (b"So.", b"[", "--retrieved: not JSON"),
        (b'{"qid": "q1", "answer": 7}', b"[]", "the trace: answer: expected text"),
    ],
)
def test_what_cannot_be_read_is_3(tmp_path, reply, chunks, said):
    (tmp_path / "chunks.json").write_bytes(chunks)
    given = ("--one", "-", "--retrieved", tmp_path / "chunks.json")
    done = ragauge("audit", *given, stdin=reply)
    assert (done.returncode, done.stdout) == (3, b"")
    assert said in done.stderr.decode()


# Codes explained.


@pytest.mark.parametrize("code", [entry.code for entry in (*CODES, *OF_TRACES)])
def test_every_code_is_explained(code):
    done = ragauge("audit", "--explain", code)
    assert done.returncode == 0
    entry = next(one for one in (*CODES, *OF_TRACES) if one.code == code)
    said = " ".join(done.stdout.decode().split())
    assert said.startswith(code) and entry.tip in said and entry.means in said


@pytest.mark.parametrize(
    ("code", "depth", "tip"),
    [
        ("missing_rev", "payload", "Write the document's revision into every payload when it is "),
        ("bad_type_page", "payload", "Write the field as `ragauge schema citation` says"),
        ("mismatch_tokens", "payload", "Have the model copy the field"),
        ("missing_snippet_id", "marker", "Give every chunk an id"),
    ],
)
def test_a_code_of_a_family_is_explained_for_its_field(code, depth, tip):
    said = json.loads(ragauge("audit", "--explain", code, "--format", "json").stdout)
    assert (said["code"], said["depth"]) == (code, depth)
    assert said["tip"].startswith(tip)


def test_support_is_a_depth():
    said = ragauge("audit", "--explain", "unsupported").stdout.decode()
    assert "depth support" in said and "as far as words and numbers tell" in said


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("cross_section", 'did you mean "cross_section_reuse"?'),
        ("missing_colour", "did you mean"),
        ("xyzzy", "there are ok, bad_json, empty_citations"),
    ],
)
def test_what_is_no_code_is_2_with_a_hint(code, hint):
    done = ragauge("audit", "--explain", code)
    assert (done.returncode, done.stdout) == (2, b"")
    assert f'there is no code "{code}"' in done.stderr.decode() and hint in done.stderr.decode()


# Two indexes compared.
