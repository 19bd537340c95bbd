"""A recorded run keeps every answer with its place, and gives it back question by question."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading

import pytest

from ragauge import score, stability
from ragauge.contracts.history import RECORDS, REPORT, RunFilter, canonical
from ragauge.contracts.kept import ANSWERS, SUMMARY, KeptAnswer
from ragauge.contracts.stability import CELLS
from ragauge.contracts.trace import StructuredAnswer, Trace
from ragauge.runners.archive import export_runs
from ragauge.runners.recording import record
from ragauge.store.history import open_history
from tests.runners.kept_files import kept_answers, packed_file
from tests.runners.recorded import import_runs

GOLD = [
    {"qid": "q1", "question": "When?", "answerable": True, "gold_claim_substr": ["1800"],
     "gold_citations": ["p1#1"]},
    {"qid": "q2", "question": "Who?", "answerable": True, "gold_claim_substr": ["Anna"],
     "gold_citations": ["p2#1"]},
    {"qid": "q3", "question": "Why?", "answerable": False},
]  # fmt: skip
CHUNK = {"id": "p2#1", "text": "By Anna.", "score": 0.5}
TRACES = [
    {"qid": "q1", "answer_json": {"claim": "In 1800.", "citations": ["p1#1"]},
     "retrieved_ids": ["p1#1"]},
    {"q": "Who?", "answer": "By Anna. [p2#1]", "chunks": [CHUNK], "model": "m1"},
    "no json",
    {"qid": "q9", "answer": "of nobody's question", "retrieved_ids": []},
    {"qid": "q1", "answer": "In 1801.", "citations": [{"id": "p1#1", "quote": "1801"}],
     "retrieved_ids": ["p1#1"]},
]  # fmt: skip


def lines_of(records) -> str:
    lines = (one if isinstance(one, str) else json.dumps(one) for one in records)
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture
def files(tmp_path):
    gold, traces = tmp_path / "gold.jsonl", tmp_path / "traces.jsonl"
    gold.write_text(lines_of(GOLD))
    traces.write_text("\n" + lines_of(TRACES))
    return gold, traces


@pytest.fixture
def scored(files):
    return score(*files, max_bad="1")


def test_all_answers_to_a_question_are_kept_with_their_places(history, files, scored):
    kept = kept_answers(history, record(scored, history))
    traces = files[1]
    assert kept == {
        "q1": [
            KeptAnswer(
                trace=Trace(
                    qid="q1",
                    answer_json=StructuredAnswer(claim="In 1800.", citations=("p1#1",)),
                    retrieved_ids=("p1#1",),
                ),
                where=f"{traces}:2",
            ),
            KeptAnswer(
                trace=Trace(
                    qid="q1",
                    answer="In 1801.",
                    citations=("p1#1",),
                    cited=({"id": "p1#1", "quote": "1801"},),
                    retrieved_ids=("p1#1",),
                ),
                where=f"{traces}:6",
            ),
        ],
        "q2": [
            KeptAnswer(
                trace=Trace(
                    q="Who?",
                    answer="By Anna. [p2#1]",
                    retrieved_ids=("p2#1",),
                    retrieved=(CHUNK,),
                    extra={"model": "m1"},
                ),
                where=f"{traces}:3",
            )
        ],
    }


def test_one_question_is_found_alone(history, scored):
    packed = packed_file(history, record(scored, history), ANSWERS)
    found = packed.group("q1")
    assert found is not None and len(found.lines) == 2
    assert packed.group("q3") is None


def test_a_place_is_that_of_the_finding_also_in_a_packed_file(history, files, tmp_path):
    gold, traces = files
    packed = tmp_path / "traces.jsonl.gz"
    packed.write_bytes(gzip.compress(traces.read_bytes()))
    outcome = score(gold, [packed, traces], max_bad="2")
    bad = [one.where for one in outcome.report.findings if one.code == "bad_line"]
    assert bad == [f"{packed}:4", f"{traces}:4"]
    kept = kept_answers(history, record(outcome, history))
    assert [one.where for one in kept["q2"]] == [f"{packed}:3", f"{traces}:3"]


def test_what_cannot_be_read_twice_is_not_kept(history, files, tmp_path):
    gold, traces = files
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writing = threading.Thread(target=lambda: pipe.write_bytes(traces.read_bytes()))
    writing.start()
    outcome = score(gold, pipe, max_bad="1")
    writing.join()
    assert outcome.answers is None
    run = record(outcome, history)
    assert ANSWERS not in run.record.files
    assert {REPORT, SUMMARY} <= run.record.files.keys()


def test_texts_are_left_out_where_nobody_wants_them(history, scored):
    run = record(scored, history, keep=False)
    assert run.record.files.keys() == {REPORT, SUMMARY}


def test_nothing_is_read_again_unless_the_run_is_recorded(files, scored, history):
    files[1].unlink()
    assert scored.report.coverage.traces == 3
    with pytest.raises(Exception, match="no such file"):
        record(scored, history)
    assert history.runs(RunFilter()) == []


def test_the_same_run_is_the_same_bytes(history, files, scored):
    run = record(scored, history)
    again = record(score(*files, max_bad="1"), history)
    assert again.record.files == run.record.files


SWEEP = """
import json, sys
for qid, claim in (("q1", "In 1800."), ("q2", "By Anna.")):
    for seed in (0, 1):
        said = claim if seed == 0 else "Nobody knows."
        print(json.dumps({"qid": qid, "run_id": f"{qid}#seed={seed};t=0;j=none;p=0",
            "seed": seed, "answer_json": {"claim": said, "citations": ["p1#1"]},
            "retrieved": [{"id": "p1#1", "text": "In 1800."}]}))
"""


@pytest.fixture
def swept(files, tmp_path):
    runs = tmp_path / "runs.jsonl"
    made = subprocess.run([sys.executable, "-c", SWEEP], capture_output=True, check=True)
    first, *others = made.stdout.splitlines(keepends=True)
    failed = json.dumps({**json.loads(first), "answer_json": None, "status": "error"}).encode()
    runs.write_bytes(failed + b"\n" + b"".join([*others, first]))
    return stability(files[0], runs)


def test_a_sweep_keeps_the_runs_it_was_judged_on_with_their_letters(history, swept):
    run = record(swept, history)
    kept = kept_answers(history, run)
    rows = {row.unit: row.detail for row in history.units(run.id)}
    assert {unit: [one.cell for one in answers] for unit, answers in kept.items()} == {
        "q1": ["+", "c"],
        "q2": ["h", "x"],
    }
    assert [one.trace.seed for one in kept["q1"]] == [0, 1]
    assert [one.where for one in kept["q1"]] == [f"{kept_file(kept)}:{n}" for n in (5, 2)]
    assert kept["q1"][0].trace.retrieved == ({"id": "p1#1", "text": "In 1800."},)
    assert {unit: detail["cells"] for unit, detail in rows.items()} == {
        "q1": "+c",
        "q2": "hx",
        "q3": "..",
    }
    assert all(letter in CELLS for detail in rows.values() for letter in detail["cells"])
    assert rows["q1"]["failed"] == list(swept.report.details["q1"].failed)
    assert any(rows["q1"]["failed"])


def kept_file(kept) -> str:
    return kept["q1"][0].where.rpartition(":")[0]


def test_the_rows_of_the_heat_map_are_the_reports(history, swept):
    run = record(swept, history)
    cells = {row.unit: row.detail["cells"] for row in history.units(run.id)}
    assert cells == swept.report.cells
    assert all(len(row) == len(swept.report.columns) for row in cells.values())


def test_the_files_go_with_an_archive_and_are_verified(history, scored, tmp_path):
    run = record(scored, history)
    archive = tmp_path / "runs.ragauge"
    export_runs(history, [run], archive)
    other = open_history(str(tmp_path / "other"))
    import_runs(other, archive)
    [found] = other.runs(RunFilter())
    assert found.record == run.record
    assert kept_answers(other, found) == kept_answers(history, run)
    assert other.verify().whole == (run.id,)
    other.close()


def test_a_damaged_file_of_answers_is_found_by_verify(history, scored, tmp_path):
    run = record(scored, history)
    with history.file(run, ANSWERS) as path:
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:-1])
    assert run.id in history.verify().faults


def test_a_run_of_an_earlier_version_goes_on_working(history, scored, monkeypatch, tmp_path):
    monkeypatch.setattr("ragauge.runners.recording._files", only_the_report)
    run = record(scored, history)
    assert run.record.files.keys() == {REPORT}
    assert history.verify().whole == (run.id,)
    archive = tmp_path / "runs.ragauge"
    export_runs(history, [run], archive)
    other = open_history(str(tmp_path / "other"))
    import_runs(other, archive)
    assert [one.id for one in other.runs(RunFilter())] == [run.id]
    other.close()


def only_the_report(outcome, folder, *, keep):
    (folder / REPORT).write_bytes(canonical(outcome.report))
    yield REPORT, folder / REPORT


def test_rows_of_traces_stand_beside_the_answers(history, files, tmp_path):
    outcome = score(*files, max_bad="1", out=tmp_path / "rows.parquet")
    run = record(outcome, history)
    assert run.record.files.keys() == {ANSWERS, RECORDS, REPORT, SUMMARY}
