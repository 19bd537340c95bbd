"""Audited answers are kept with what was found, beside the documents they point into."""

from __future__ import annotations

import pytest

from ragauge import audit
from ragauge.contracts.kept import DOCUMENTS, document_key
from ragauge.runners.recording import record
from tests.runners.audited import C1, HANDBOOK, TRACES, rev_of, trace, written
from tests.runners.kept_files import kept_answers, kept_documents
from tests.runners.traced_system import ALL_STATES, REV, evaluated, write_handbook

STALE = {**C1, "snippet_id": "c8", "rev": "elsewhere"}
ODD = trace("q1", [{"quote": "no id"}, "c1"], C1)
LINES = [*TRACES, trace("q9", ["c8"], STALE), ODD, {"qid": "q3", "status": "error", "error": "off"}]


@pytest.fixture
def files(tmp_path):
    return written(tmp_path, LINES)


@pytest.fixture
def audited(files):
    return audit(files.traces, gold=files.gold, docs=files.docs, manifest=files.manifest)


def test_every_audited_answer_is_kept_with_its_code_and_findings(history, files, audited):
    kept = kept_answers(history, record(audited, history))
    told = [
        (unit, one.where, one.code, len(one.findings))
        for unit, answers in kept.items()
        for one in answers
    ]
    rows = {(row.where, row.qid): row for row in audited.report.answers}
    assert len(told) == len(LINES)
    assert {(where, unit): code for unit, where, code, _ in told if code != "error_record"} == {
        place: row.code for place, row in rows.items()
    }
    assert all(rows[where, unit].findings == n for unit, where, code, n in told if n)
    assert [one.code for one in kept["q3"]] == ["ok", "error_record"]


def test_a_trace_that_only_an_audit_can_read_is_kept_as_far_as_it_tells(history, audited):
    odd = kept_answers(history, record(audited, history))["q1"][1].trace
    assert odd.citations == ("c1",)
    assert odd.cited == ({"quote": "no id"},)
    assert odd.retrieved_ids == ("c1",)
    assert odd.retrieved == (C1,)


def test_units_tell_all_codes_of_their_answers_and_what_the_last_one_cites(history, audited):
    run = record(audited, history)
    found = {row.unit: row for row in history.units(run.id)}
    kept = kept_answers(history, run)
    for unit, answers in kept.items():
        codes = {finding.code for one in answers for finding in one.findings}
        assert set(found[unit].detail["codes"]) == codes
        assert found[unit].label in {"error_record", "ok", *codes}
    assert found["q2"].detail["codes"][0] == found["q2"].label
    assert found["q2"].detail["cited"] == ["c9"]


def test_the_documents_that_are_cited_or_anchored_are_kept_once(history, audited):
    kept = kept_documents(history, record(audited, history))
    rev = rev_of(HANDBOOK)
    assert kept.keys() == {document_key("handbook", rev)}
    assert kept[document_key("handbook", rev)].text == HANDBOOK


def test_without_a_folder_there_are_no_documents(history, files):
    run = record(audit(files.traces, gold=files.gold), history)
    assert DOCUMENTS not in run.record.files


def test_with_several_workers_the_same_is_kept(files, monkeypatch):
    monkeypatch.setattr("ragauge.ingest.lines.BLOCK", 2_000)
    one, two = (list(audit(files.traces, workers=n).answers()) for n in (1, 2))
    assert one == two
    assert [kept.where for _, kept in one] == [f"{files.traces}:{n + 1}" for n in range(len(LINES))]


def test_a_trace_evaluation_keeps_its_runs_in_the_order_of_the_plan(history, tmp_path):
    docs, manifest = write_handbook(tmp_path)
    outcome = evaluated(tmp_path, ALL_STATES, docs=str(docs), manifest=str(manifest))
    run = record(outcome, history)
    kept = kept_answers(history, run)
    told = {one.qid: [run.code for run in one.runs] for one in outcome.report.questions}
    assert {unit: [one.code for one in answers] for unit, answers in kept.items()} == told
    ids = {one.qid: [run.run_id for run in one.runs] for one in outcome.report.questions}
    assert {unit: [one.trace.run_id for one in runs] for unit, runs in kept.items()} == ids
    assert kept_documents(history, run).keys() == {document_key("handbook", REV)}
