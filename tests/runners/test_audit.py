"""An audit of traces: every dialect and depth, numbers counted by hand, nothing by chance."""

from __future__ import annotations

import gzip
import io
import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

import ragauge
from ragauge.citations.codes import OF_TRACES, explain
from ragauge.citations.log_line import parse_line
from ragauge.contracts.audit import AuditReport
from ragauge.contracts.report import ROWS_KEPT
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest import lines
from ragauge.ingest.lines import Block
from ragauge.reports.rendering import render
from ragauge.runners.audit import audit
from ragauge.runners.audit_blocks import in_one_unit, unit_in
from ragauge.runners.calibrate import calibrate_deltas
from ragauge.runners.compare import compare
from ragauge.runners.recording import record
from ragauge.store.serving_log import read_entries
from tests.runners.audited import (
    C1,
    C2,
    C3,
    C4,
    FAQ,
    GOLD,
    HANDBOOK,
    HOLDING,
    TRACES,
    Files,
    payload,
    rev_of,
    span,
    trace,
    write_lines,
    written,
)
from tests.runners.calibrated import corpus, swap
from tests.store.databases import place, postgres_server

__all__ = ["place", "postgres_server"]

WHOLE = "traceability."


@pytest.fixture
def files(tmp_path) -> Files:
    return written(tmp_path)


def report_of(files: Files, *options: str, **more: Any) -> AuditReport:
    """The report with some of the files; `options` are their names."""
    given = {name: getattr(files, name) for name in options}
    return audit(files.traces, **given, **more).report


def of_traces(folder: Path, *traces: Any, **options: Any) -> AuditReport:
    return audit(write_lines(folder / "these.jsonl", traces), **options).report


def codes(report: AuditReport) -> dict[str, int]:
    return {one.code: one.findings for one in report.codes}


def value(report: AuditReport, name: str) -> float | None:
    return report.metrics[WHOLE + name].value


def reason(report: AuditReport, name: str) -> str:
    """Why there is no value: the reasons of all traces, with how often each is met."""
    return report.metrics[WHOLE + name].reason or ""


ALL = ("gold", "docs", "manifest")


def test_traces_in_which_everything_holds_pass(tmp_path):
    files = written(tmp_path, HOLDING)
    report = report_of(files, *ALL)
    assert report.passed
    assert report.depth == "text"
    assert (report.codes, report.findings, report.finding_counts) == ((), (), {})
    assert {name: (one.ok, one.checked) for name, one in report.depths.items()} == {
        "marker": (2, 2),
        "payload": (2, 2),
        "text": (2, 2),
    }
    assert [row.code for row in report.answers] == ["ok"] * 3


def test_the_function_is_there_to_be_imported():
    assert ragauge.audit is audit
    assert ragauge.CitationValidator and ragauge.audit is audit, "whatever else was asked for"


def test_a_citation_that_does_not_hold_is_told_with_its_place_and_the_next_step(files):
    report = report_of(files, *ALL)
    assert not report.passed
    [finding] = report.findings
    assert (finding.code, finding.where, finding.qid) == (
        "not_retrieved",
        f"{files.traces}:3",
        "q2",
    )
    assert (finding.field, finding.item, finding.got) == ("snippet_id", 0, "c9")
    assert finding.message == 'citations[0].snippet_id: "c9", expected ' + finding.expected
    assert finding.tip
    [counted] = report.codes
    assert (counted.code, counted.depth, counted.answers) == ("not_retrieved", "marker", 1)
    assert report.answers[0].where == f"{files.traces}:3", "what went wrong stands first"
    assert [row.code for row in report.answers] == ["not_retrieved", "ok", "ok", "ok"]
    coverage = report.coverage
    assert (coverage.traces, coverage.audited, coverage.refusals) == (4, 4, 1)
    assert (coverage.citations, coverage.gold, coverage.missing) == (3, 3, 0)


# Numbers, by hand. q1: c1 is 0–40 and c2 30–80 of the target 0–100, and c1 is cited; the anchor
# is 10–60. q2, first: c3 is 100–170 of the target 100–200, and cited; the anchor is 120–180. q2,
# again: c3 and c4 are all of the target; c9 is cited. q3 is a refusal.


OF = {"unanswered": 4, "rerank_uplift": 4}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("valid", (1, 1, 0)),
        ("checked", (1, 1, 1)),
        ("unanswered", (0, 0, 0, 0)),
        ("marker", (1, 1, 0)),
        ("payload", (1, 1)),
        ("text", (1, 1)),
        ("match_rate", (1, 1, 0)),
        ("coverage", (0.80, 0.70, 1.00)),
        ("cited_coverage", (0.40, 0.70)),
        ("span_precision", (30 / 40, 50 / 70)),
        ("span_recall", (30 / 50, 50 / 60)),
        ("rerank_tau", (-1, 1, -1)),
        ("rerank_uplift", (1 / math.log2(3) - 1,)),
    ],
)
def test_the_numbers_are_those_counted_by_hand(files, name, values):
    score = report_of(files, *ALL).metrics[WHOLE + name]
    assert score.value == pytest.approx(sum(values) / len(values), abs=1e-9)
    # Of the four traces one is a refusal, which has no citation to hold.
    assert (score.n, score.of) == (len(values), OF.get(name, 3))


def test_a_row_has_its_own_coverage_and_match(files):
    rows = {row.where.rpartition(":")[2]: row for row in report_of(files, *ALL).answers}
    assert [rows[n].coverage for n in "123"] == [0.8, 0.7, 1.0]
    assert [rows[n].matched for n in "1234"] == [True, True, False, None]
    assert rows["1"].cited == ("c1",)


@pytest.mark.parametrize(
    ("start", "end", "matched"),
    [(90, 210, True), (90, 211, False), (89, 210, False), (120, 180, True), (0, 100, False)],
)
def test_a_citation_matches_within_thirty_characters_of_the_anchor(tmp_path, start, end, matched):
    cited = payload("x", start, end, section_id="access")
    report = audit(written(tmp_path, [trace("q2", ["x"], cited)]).traces, gold=_gold(tmp_path))
    assert report.report.answers[0].matched is matched
    elsewhere = trace("q2", ["x"], {**cited, "section_id": "keys"})
    report = audit(written(tmp_path, [elsewhere]).traces, gold=_gold(tmp_path))
    assert report.report.answers[0].matched is False


def _gold(folder: Path) -> Path:
    return folder / "gold.jsonl"


def test_what_does_not_hold_does_not_match(tmp_path):
    stale = trace("q1", ["c1"], {**C1, "analyzer": "other"})
    files = written(tmp_path, [stale])
    assert report_of(files, "gold").answers[0].matched is True
    assert report_of(files, "gold", "manifest").answers[0].matched is False


def test_without_what_was_retrieved_nobody_can_say_whether_it_matches(tmp_path):
    own = trace("q1", [C1], retrieved=...)
    wrong = trace("q2", [C1], retrieved=...)
    report = report_of(written(tmp_path, [own, wrong]), "gold")
    assert [row.matched for row in report.answers] == [None, False]
    assert (report.metrics[WHOLE + "match_rate"].n, value(report, "marker")) == (1, None)
    assert "what was retrieved is unknown (2)" in reason(report, "marker")


# Absent is None, with a reason.


def test_of_ids_alone_no_place_is_known(tmp_path):
    only_ids = {"qid": "q1", "answer_json": {"claim": "So.", "citations": ["c1"]}}
    files = written(tmp_path, [{**only_ids, "retrieved_ids": ["c1", "c2"]}])
    report = report_of(files, "gold", depth="marker")
    for name in ("coverage", "cited_coverage", "span_precision", "span_recall", "rerank_tau"):
        assert value(report, name) is None
        assert "a payload is unknown, or not whole" in reason(report, name)
    assert report.answers[0].coverage is None
    assert value(report, "match_rate") == 1.0, "ids decide"
    assert value(report, "payload") is None
    assert "shallower depth" in reason(report, "payload")


def test_where_nothing_was_retrieved_the_coverage_is_zero(tmp_path):
    report = report_of(written(tmp_path, [trace("q1", ["c1"])]), "gold")
    assert value(report, "coverage") == 0.0
    assert codes(report) == {"not_retrieved": 1}


def test_a_chunk_that_tells_no_place_covers_nothing(tmp_path):
    nowhere = {**C2, "offsets": None}
    report = report_of(written(tmp_path, [trace("q1", ["c1"], C1, nowhere)]), "gold")
    assert value(report, "coverage") == pytest.approx(0.4)
    assert value(report, "rerank_tau") is None, "nor is the order whole"


def test_an_answer_without_citations_has_no_payload_that_could_hold(tmp_path):
    report = report_of(written(tmp_path, [trace("q1", [], C1, C2)]), "gold", "docs")
    assert codes(report) == {"empty_citations": 1}
    assert value(report, "marker") == 0
    assert (value(report, "payload"), value(report, "text")) == (None, None)
    assert "no citations (1)" in reason(report, "payload")
    assert "no citations (1)" in reason(report, "text")
    assert value(report, "match_rate") == 0
    assert value(report, "cited_coverage") == 0
    assert "no citations (1)" in reason(report, "span_precision")


def test_no_question_without_its_gold(files):
    report = report_of(files)
    assert not {"traceability.match_rate", "traceability.coverage"} & set(report.metrics)
    assert report.coverage.gold is report.coverage.missing is None
    assert [gate.rule for gate in report.gates] == [
        "traceability.valid=1",
        "traceability.checked=1",
        "traceability.unanswered=0",
    ]


def test_without_words_to_compare_the_text_neither_holds_nor_fails(tmp_path):
    bare = {name: value for name, value in C1.items() if name != "text"}
    report = report_of(written(tmp_path, [trace("q1", ["c1"], bare)]), "docs")
    assert (value(report, "text"), value(report, "payload")) == (None, 1.0)
    assert "neither the snippet's text nor a quote is given (1)" in reason(report, "text")
    quoting = [{"snippet_id": "c1", "quote": "turned every year"}]
    report = report_of(written(tmp_path, [trace("q1", quoting, bare)]), "docs")
    assert value(report, "text") == 1.0


# Dialects.


def test_the_three_dialects(tmp_path):
    a = {"ts": 1, "q": "How often are keys turned?", "chunks": [{**C1, "id": "c1"}], "ok": True}
    a["answer"] = "citations: [c1]\nclaim: Every year."
    b = {"q_id": "q1", "q": "?", "retrieved_ids": ["c1"]}
    b["answer_json"] = {"claim": "Every year.", "citations": ["c1"]}
    raw = json.dumps({"citations": ["c1"], "answer": "Every year."})
    ours = {"qid": "q1", "retrieved": [C1], "answer": raw, "seed": 7, "run_id": "r1"}
    report = report_of(written(tmp_path, [a, b, ours]), "gold")
    assert [row.qid for row in report.answers] == ["q1"] * 3
    assert {row.where.rpartition(":")[2]: row.code for row in report.answers} == {
        "1": "ok",
        "2": "missing_index_hash",
        "3": "ok",
    }
    assert report.coverage.missing == 2


def test_dialect_b_holds_as_deep_as_it_goes(tmp_path):
    b = {"q_id": "q1", "retrieved_ids": ["c1"], "answer_json": {"claim": "x", "citations": ["c1"]}}
    report = of_traces(tmp_path, b, depth="marker")
    assert report.passed
    assert list(report.depths) == ["marker", "payload"]
    assert report.depths["payload"].checked == 0


# Records that are no answers.


def test_traces_that_failed_are_neither_answers_nor_refusals(tmp_path):
    failed = [
        {"qid": "q1", "status": "error", "error": "timeout", "retrieved": [C1, C2]},
        {"qid": "q1", "answer": None},
        {"qid": "q1", "answer": "  "},
        {"qid": "q1", "answer": "", "citations": ["c1"], "retrieved": [C1]},
        {"qid": "q1", "answer_json": {"claim": None, "citations": ["c1"]}},
    ]
    report = report_of(written(tmp_path, [*failed, HOLDING[1]]), "gold", "docs")
    assert (report.coverage.errors, report.coverage.audited) == (5, 1)
    assert report.finding_counts == {"error_record": 5, "missing_trace": 1}
    messages = [one.message for one in report.findings if one.code == "error_record"]
    assert messages == ["timeout", *["the answer is empty"] * 4]
    assert [row.qid for row in report.answers] == ["q2"], "they are no answers"
    assert report.metrics[WHOLE + "valid"].n == 1
    assert value(report, "coverage") == pytest.approx(0.7), "nor is what they retrieved"
    assert value(report, "unanswered") == pytest.approx(6 / 7), "and a question nobody asked"
    assert not report.passed


def test_a_trace_that_is_not_ok_is_an_error_record_unless_it_refuses(tmp_path):
    refused = {"qid": "q3", "answer": "not in context", "ok": False, "retrieved": [C1]}
    lines = [{**HOLDING[0], "ok": False, "reason": "guard"}, refused]
    report = report_of(written(tmp_path, lines), "gold")
    assert (report.coverage.errors, report.coverage.refusals) == (1, 1)
    assert [one.message for one in report.findings if one.code == "error_record"] == ["guard"]


def test_an_error_that_the_model_reports_counts_against_it(tmp_path):
    told = {"qid": "q1", "answer": '{"error": "no index", "fix": "build it"}', "retrieved": [C1]}
    cut = {"qid": "q2", "answer": '{"citations": ["c3"], "answ', "retrieved": [C3]}
    report = report_of(written(tmp_path, [told, cut]), "gold")
    assert codes(report) == {"bad_json": 1, "model_reported_error": 1}
    assert value(report, "valid") == 0
    assert report.metrics[WHOLE + "match_rate"].n == 0
    assert report.coverage.errors == 0
    assert [row.kind for row in report.answers] == ["error", "error"]


def test_unknown_questions_and_questions_without_a_trace_are_findings(tmp_path):
    strays = [{**HOLDING[0], "qid": "q9"}, {"q": "Is it so?", "answer": "not in context"}]
    report = report_of(written(tmp_path, [*strays, HOLDING[1]]), "gold")
    assert report.finding_counts == {"missing_trace": 2, "unknown_question": 2}
    assert (report.coverage.unknown, report.coverage.missing) == (2, 2)
    unknown = [one for one in report.findings if one.code == "unknown_question"]
    assert unknown[0].where.endswith(":1")
    assert unknown[0].message == 'qid "q9" is not in the gold set'
    missing = [one.where for one in report.findings if one.code == "missing_trace"]
    assert missing == ["q1", "q3"]
    assert [row.qid for row in report.answers] == ["q9", "Is it so?", "q2"], "audited all the same"


def test_a_question_that_stands_twice_needs_a_qid(tmp_path):
    again = [*GOLD, {**GOLD[2], "qid": "q4"}]
    stray = {"q": GOLD[2]["question"], "answer": "not in context"}
    report = report_of(written(tmp_path, [stray, HOLDING[0]], again), "gold")
    assert report.finding_counts["ambiguous_question"] == 1


# Lines that cannot be read.

BROKEN = [
    "{broken",
    '{"qid": "q1", "answer": 7, "seed": 0.5, "retrieved": {}}',
    "[]",
    '{"qid": "q1", "qid": "q2", "answer": "x"}',
]


def test_bad_lines_are_refused_with_place_and_fact(tmp_path):
    files = written(tmp_path, [*HOLDING, *BROKEN])
    with pytest.raises(InputRejected) as refused:
        report_of(files)
    place = f"{files.traces}:"
    problems = [one.removeprefix(place) for one in refused.value.problems]
    assert problems[0].startswith("4: not JSON: expecting property name enclosed")
    assert problems[1:4] == [
        "5: answer: expected text, got a number",
        "5: seed: expected a whole number, got 0.5",
        "5: retrieved: expected a list, got an object",
    ]
    assert problems[4] == "6: line: expected an object, got a list"
    assert problems[5].startswith('7: key "qid" appears 2 times')


@pytest.mark.parametrize(("allowed", "passes"), [("4", True), ("3", False), ("60%", True)])
def test_some_bad_lines_may_be_allowed(tmp_path, allowed, passes):
    files = written(tmp_path, [*HOLDING, *BROKEN])
    if not passes:
        with pytest.raises(InputRejected):
            report_of(files, max_bad=allowed)
        return
    report = report_of(files, max_bad=allowed)
    assert report.passed
    assert report.coverage.rejected == 4
    assert report.finding_counts == {"bad_line": 6}, "each fault of a line is told"


def test_where_every_line_is_bad_nothing_was_audited(tmp_path):
    files = written(tmp_path, BROKEN)
    with pytest.raises(InputRejected):
        report_of(files)
    with pytest.raises(InputRejected, match="nothing to audit: no traces"):
        report_of(files, max_bad="100%")
    with pytest.raises(InputRejected, match="nothing to audit"):
        of_traces(tmp_path)


def test_an_array_is_audited_as_lines_are(tmp_path):
    files = written(tmp_path, HOLDING)
    report = report_of(files)
    Path(files.traces).write_text(json.dumps([*HOLDING], indent=1))
    assert report_of(files) == report


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"depth": "text"}, "--docs DIR"),
        ({"depth": "deep"}, "audit: "),
        ({"no_such": 1}, "audit: "),
        ({"workers": 0}, "audit: "),
        ({"docs": "nowhere"}, "nowhere: there is no such folder"),
        ({"tokenizer": "no-such"}, 'tokenizer "no-such" is not known'),
        ({"embedder": "no-such"}, 'embedder "no-such" is not known'),
        ({"calibration": "x.json"}, "--calibration belongs to an embedder"),
        ({"to_db": "x.sqlite"}, "--to-db needs the run"),
        ({"to_db": "mysql://h/d", "run": "r"}, "mysql:// is not understood"),
        ({"gold": "-", "manifest": "-"}, "only one of the files can be standard input"),
        ({"allow_cross_section": "keys"}, "no such file, and no pair"),
        ({"gates": "no_such>=1"}, "no_such"),
        ({"gates": "valid>=1 where tier=front"}, 'no question has "tier"'),
        ({"gates": "answer_convergent>=1"}, "answer_convergent"),
        ({"max_bad": "many"}, "--max-bad"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_wrong_option_is_a_usage_error(files, options, said):
    with pytest.raises(UsageError) as refused:
        report_of(files, **options)
    assert said in str(refused.value)


def test_every_wrong_option_is_told_at_once(files):
    with pytest.raises(UsageError) as refused:
        report_of(files, depth="text", calibration="x", to_db="y")
    assert len(refused.value.problems) == 3


# Where traces come from, and who reads them.


def test_several_files_are_numbered_each_by_itself(tmp_path):
    files = written(tmp_path)
    packed = tmp_path / "more.jsonl.gz"
    packed.write_bytes(gzip.compress(files.traces.read_bytes()))
    report = audit([files.traces, packed, files.traces], gold=files.gold).report
    assert [one.where for one in report.findings] == [
        f"{files.traces}:3",
        f"{packed}:3",
        f"{files.traces}:3",
    ]
    assert report.coverage.traces == 12


def test_traces_from_standard_input(files, monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(files.traces.read_bytes()))
    monkeypatch.setattr("sys.stdin", stdin)
    report = audit("-", gold=files.gold).report
    assert [one.where for one in report.findings] == ["stdin:3"]


def many(folder: Path, times: int = 60) -> Files:
    filler = [trace("q2", ["c3"], C3), trace("q1", ["c1", "c1"], C1, C2), "{broken"]
    again = [{**TRACES[0], "status": "error", "error": "lost"}, trace("q7", ["c4"], C3, C4)]
    return written(folder, [*TRACES, *filler, *again] * times)


def test_the_same_bytes_with_any_number_of_workers_and_any_size_of_block(tmp_path, monkeypatch):
    files = many(tmp_path)
    options = {"gold": files.gold, "docs": files.docs, "manifest": files.manifest}
    options |= {"embedder": "ngram", "max_bad": "60"}
    whole = render(audit(files.traces, **options).report, "json")
    monkeypatch.setattr(lines, "BLOCK", 40_000)
    for workers in (1, 2):
        assert render(audit(files.traces, workers=workers, **options).report, "json") == whole
    assert json.loads(whole)["coverage"]["rejected"] == 60


def test_a_fault_of_the_options_is_told_in_words_with_workers_too(tmp_path, monkeypatch):
    files = many(tmp_path)
    monkeypatch.setattr(lines, "BLOCK", 40_000)
    with pytest.raises(UsageError, match="there is no such folder"):
        audit(files.traces, docs=tmp_path / "nowhere", workers=2, max_bad="60")


def test_more_answers_than_a_report_holds_are_all_counted(tmp_path):
    line = json.dumps({"qid": "q", "answer": "So.", "citations": ["c1"], "retrieved_ids": ["c1"]})
    wrong = json.dumps({"qid": "w", "answer": "So.", "citations": ["c9"], "retrieved_ids": ["c1"]})
    report = of_traces(tmp_path, *[line] * ROWS_KEPT, *[wrong] * 120, depth="marker")
    assert len(report.answers) == ROWS_KEPT
    assert [row.qid for row in report.answers[:121]] == ["w"] * 120 + ["q"]
    assert codes(report) == {"not_retrieved": 120}
    assert len(report.findings) == 100
    assert report.metrics[WHOLE + "valid"].of == ROWS_KEPT + 120


# Depths.


def test_the_depth_is_text_with_documents_and_payload_without(files):
    assert report_of(files, "docs").depth == "text"
    assert report_of(files).depth == "payload"
    assert report_of(files, "docs", depth="payload").depth == "payload"


@pytest.mark.parametrize(
    ("depth", "found"),
    [
        ("marker", {"not_retrieved"}),
        ("payload", {"not_retrieved", "analyzer_mismatch"}),
        ("text", {"not_retrieved", "analyzer_mismatch", "span_text_mismatch"}),
    ],
)
def test_each_depth_asks_more(tmp_path, depth, found):
    drifted = {**C3, "offsets": {"start": 103, "end": 173, "unit": "char"}}
    traces = [trace("q1", ["c1"], {**C1, "analyzer": "old"}), trace("q2", ["c3"], drifted)]
    files = written(tmp_path, [*traces, TRACES[2]])
    report = report_of(files, "docs", "manifest", depth=depth)
    assert set(codes(report)) == found
    assert set(report.depths) == {"marker", "payload", "text"} - (
        set() if depth == "text" else {"text"}
    )


def test_words_that_stand_in_another_document_are_named(tmp_path):
    quoting = [{"snippet_id": "c1", "quote": "without flash, in every room"}]
    report = report_of(written(tmp_path, [trace("q1", quoting, C1)]), "docs", "manifest")
    [finding] = report.findings
    assert finding.code == "misattributed"
    assert finding.message.startswith("citations[0].quote: not in the cited handbook: faq ")


def test_documents_that_cannot_be_read_are_findings(tmp_path):
    files = written(tmp_path, [trace("q1", [{"snippet_id": "c1", "quote": "no such words"}], C1)])
    (files.docs / "scan.md").write_bytes(b"\xff\xfe\x00\xd8")
    report = report_of(files, "docs")
    assert report.finding_counts["unreadable_document"] == 1
    [unread] = [one for one in report.findings if one.code == "unreadable_document"]
    assert "scan.md" in unread.message


def test_a_revision_that_nothing_proves_is_a_finding(tmp_path):
    claimed = {**C1, "rev": "v7"}
    report = report_of(written(tmp_path, [trace("q1", ["c1"], claimed)]), "docs")
    assert report.finding_counts == {"unproven_revision": 1}
    assert "handbook" in report.findings[0].message and "v7" in report.findings[0].message


def test_every_code_of_a_finding_is_explained(tmp_path):
    traces = [
        *("{broken", {"qid": "q1", "status": "error"}, {**HOLDING[0], "qid": "q9"}),
        *({"q": GOLD[2]["question"], "answer": "x"}, trace("q1", ["c1"], {**C1, "rev": "v7"})),
        trace("q2", [{"snippet_id": "c3", "quote": "no such words"}], C3),
    ]
    files = written(tmp_path, traces, [*GOLD, {**GOLD[2], "qid": "q4"}])
    (files.docs / "scan.md").write_bytes(b"\xff\xfe\x00\xd8")
    found = report_of(files, "gold", "docs", max_bad="1").finding_counts
    assert {entry.code for entry in OF_TRACES} - {"not_checked", "few_wordings"} <= set(found)
    assert all(explain(code) for code in found)


def test_what_was_asked_for_and_could_not_be_looked_at_fails(tmp_path):
    untold = trace("q1", [C1], retrieved=...)
    report = report_of(written(tmp_path, [untold]))
    gates = {gate.metric.partition(".")[2]: gate.verdict for gate in report.gates}
    assert gates == {"valid": "pass", "checked": "fail", "unanswered": "pass"}
    assert codes(report) == {} and not report.passed


@pytest.mark.parametrize(("counted", "start"), [("utf-16", 16), ("bytes", 18)])
def test_offsets_may_count_other_things_than_characters(tmp_path, counted, start):
    files = written(tmp_path)
    text = "🏛 Rijksmuseum: open every day."
    (files.docs / "museum.md").write_text(text, encoding="utf-8")
    opened = payload("m", 0, 4, doc_id="museum", rev=rev_of(text), text="open")
    opened["offsets"] = {"start": start, "end": start + 4}
    write_lines(files.traces, [trace("q1", ["m"], opened)])
    assert report_of(files, "docs", offsets_in=counted).passed
    assert codes(report_of(files, "docs")) == {"span_text_mismatch": 1}


def test_offsets_in_tokens_need_a_tokenizer(tmp_path):
    words = HANDBOOK.split()
    chunk = payload("t", 0, 40, offsets={"token_start": 0, "token_end": 5}, text=...)
    chunk["text"] = " ".join(words[:5])
    files = written(tmp_path, [trace("q1", ["t"], chunk)])
    assert report_of(files, "docs", tokenizer="whitespace").passed
    report = report_of(files, "docs")
    assert value(report, "text") is None
    assert "offsets in tokens, and no tokenizer is declared (1)" in reason(report, "text")


# Sections, units, what is said before what.


@pytest.mark.parametrize(
    ("pairs", "passed"),
    [
        (None, False),
        ("keys+access", True),
        ("handbook#keys+access", True),
        ("keys+safe", False),
        ("all", True),
        ("FILE", True),
    ],
)
def test_pairs_of_sections_may_be_allowed(tmp_path, pairs, passed):
    listed = write_lines(tmp_path / "pairs.txt", ["# together", "keys\taccess"])
    retrieved = [payload("k", 0, 40, 1), payload("a", 100, 150, 2)]
    files = written(tmp_path, [trace("q1", ["k", "a"], *retrieved)])
    chosen = str(listed) if pairs == "FILE" else pairs
    report = report_of(files, allow_cross_section=chosen)
    assert report.passed is passed
    assert codes(report) == ({} if passed else {"cross_section_reuse": 1})
    shown = report.identity["options"]["allow_cross_section"]
    assert shown == {None: [], "all": "all"}.get(pairs, shown)


def test_pairs_may_come_from_standard_input(tmp_path, monkeypatch):
    """They are read once: a pipe has nothing to say the second time."""
    files = written(tmp_path, HOLDING)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'[["keys", "access"]]')))
    report = report_of(files, allow_cross_section="-")
    assert report.identity["options"]["allow_cross_section"] == [["access", "keys"]]


def test_citations_after_the_answer_are_refused_unless_allowed(tmp_path):
    late = {"qid": "q1", "answer": "Every year.\ncitations: [c1]", "retrieved": [C1, C2]}
    files = written(tmp_path, [late])
    assert codes(report_of(files)) == {"cite_after_answer": 1}
    assert report_of(files, cite_first=False).passed
    fields = {"qid": "q1", "answer": "Every year.", "citations": ["c1"], "retrieved": [C1, C2]}
    assert of_traces(tmp_path, fields).passed


def test_near_refusals_and_other_tokens(tmp_path):
    near = {"qid": "q3", "answer": "- Not in context."}
    own = {"qid": "q3", "answer": "weet ik niet"}
    files = written(tmp_path, [near, own])
    assert codes(report_of(files, refusal="exact")) == {"empty_citations": 2}
    assert report_of(files).coverage.refusals == 2
    assert report_of(files, refusal="near").coverage.refusals == 1
    report = report_of(files, refusal="near", refusal_tokens=("not in context", "weet ik niet"))
    assert (codes(report), report.coverage.refusals) == ({}, 2)
    assert report.gates[0].verdict == "not_evaluated", "there is no answer that could hold"


def test_markers_in_the_text_are_citations_when_asked_for(tmp_path):
    marked = {"qid": "q1", "answer": "Every year [1].", "retrieved": [C1, C2]}
    files = written(tmp_path, [marked])
    assert codes(report_of(files)) == {"empty_citations": 1}
    report = report_of(files, "gold", inline=True)
    assert report.answers[0].cited == ("c1",) and report.answers[0].matched is True


TOKENS = payload("t", 100, 150, offsets={"start": 4, "end": 9, "unit": "token"})


def test_a_run_has_one_unit_that_of_its_first_payload(tmp_path):
    chars, tokens = trace("q1", ["c1"], C1, C2), trace("q2", ["t"], TOKENS)
    report = of_traces(tmp_path, chars, tokens, tokens)
    assert codes(report) == {"mixed_units": 2}
    assert report.findings[0].message == (
        "offsets.unit: 0 in characters, 1 in tokens, expected all in the run's unit, char"
    )
    report = of_traces(tmp_path, tokens, chars)
    assert [one.where.rpartition(":")[2] for one in report.findings] == ["2"]
    assert of_traces(tmp_path, tokens, tokens).passed


@pytest.mark.parametrize("workers", [1, 2])
def test_the_first_payload_may_stand_in_a_later_block(tmp_path, monkeypatch, workers):
    bare = {"qid": "q1", "answer": "not in context", "retrieved_ids": ["c1"] * 20}
    tokens, chars = trace("q2", ["t"], TOKENS), trace("q1", ["c1"], C1, C2)
    monkeypatch.setattr(lines, "BLOCK", 2_000)
    traces = [*[bare] * 40, tokens, *[bare] * 40, chars]
    report = of_traces(tmp_path, *traces, workers=workers)
    assert [(one.code, one.where.rpartition(":")[2]) for one in report.findings] == [
        ("mixed_units", "82")
    ]


def test_an_earlier_file_says_the_unit_of_a_later_one(tmp_path):
    first = write_lines(tmp_path / "1.jsonl", [trace("q1", ["c1"], C1, C2)])
    second = write_lines(tmp_path / "2.jsonl", [trace("q2", ["t"], TOKENS)])
    assert codes(audit([first, second]).report) == {"mixed_units": 1}
    assert codes(audit([second, first]).report) == {"mixed_units": 1}


@pytest.mark.parametrize(
    ("record", "unit"),
    [
        ({"retrieved": [TOKENS]}, "token"),
        ({"retrieved": ["c1", {"snippet_id": "x"}, C1]}, "char"),
        ({"chunks": [TOKENS]}, "token"),
        ({"citations": [TOKENS]}, "token"),
        ({"cited": [TOKENS]}, "token"),
        ({"answer_json": {"claim": "x", "citations": [TOKENS]}}, "token"),
        ({"segments": [{"text": "x", "citations": [TOKENS]}]}, "token"),
        ({"answer": json.dumps({"citations": [TOKENS], "answer": "x"})}, "token"),
        ({"retrieved": [{**C1, "offsets": None, "tokens": {"start": 1, "end": 3}}]}, "token"),
        ({"retrieved": [{**C1, "offsets": [9, 4]}]}, None),
        ({"retrieved": ["c1"]}, None),
        ({"answer": "offsets and tokens"}, None),
    ],
    ids=range(12),
)
def test_a_unit_is_found_wherever_a_payload_stands(record, unit):
    content = b"{broken offsets\n" + json.dumps({"qid": "q1", "answer": "x", **record}).encode()
    assert unit_in(content) == unit
    [piece] = in_one_unit([Block("f", 0, len(content), content)])
    assert piece[1] == unit


# Gates.


def test_the_gates_of_an_audit(files):
    report = report_of(files, "gold", gates="match_rate>=0.5, coverage>=0.9")
    assert {gate.rule: gate.verdict for gate in report.gates} == {
        "traceability.valid=1": "fail",
        "traceability.checked=1": "pass",
        "traceability.unanswered=0": "pass",
        "traceability.match_rate>=0.5": "pass",
        "traceability.coverage>=0.9": "fail",
    }


def test_gates_where_and_per_question(files):
    rules = (
        "valid=1 where tier=front, coverage>=0.75 per question, valid>=0.5 where answerable=true"
    )
    gates = report_of(files, "gold", gates=rules).gates
    verdicts = {gate.rule: (gate.verdict, gate.value, gate.n) for gate in gates}
    assert verdicts["traceability.valid=1 where tier=front"] == ("pass", 1.0, 1)
    value = verdicts["traceability.valid>=0.5 where answerable=true"][1]
    assert value == pytest.approx(2 / 3)
    assert verdicts["traceability.coverage>=0.75 per question"][0] == "pass"
    stricter = report_of(files, "gold", gates="coverage>=0.81 per question").gates
    assert [gate.verdict for gate in stricter if "per question" in gate.rule] == ["fail"]


def test_a_gate_on_what_cannot_be_measured_is_not_passed(tmp_path):
    report = report_of(written(tmp_path, HOLDING), gates="match_rate>=0.5")
    gate = next(gate for gate in report.gates if "match_rate" in gate.rule)
    assert (gate.verdict, report.passed) == ("not_evaluated", False)
    assert gate.reason


def test_coverage_is_gated_where_a_question_has_a_target(tmp_path):
    bare = [{k: v for k, v in one.items() if k != "target_section"} for one in GOLD]
    files = written(tmp_path, HOLDING, bare)
    metrics = {gate.metric.partition(".")[2] for gate in report_of(files, "gold").gates}
    assert metrics == {"valid", "checked", "unanswered", "match_rate"}
    files = written(tmp_path, HOLDING)
    assert "traceability.coverage" in [gate.metric for gate in report_of(files, "gold").gates]


def test_questions_weigh_what_they_stand_for(tmp_path):
    gold = [{**GOLD[0], "weight": 3.0}, {**GOLD[1], "weight": 1.0}, {**GOLD[2], "weight": 1.0}]
    traces = [trace("q1", ["c1"], C1, C2), trace("q2", ["c9"], C3), {**HOLDING[0], "qid": "q8"}]
    report = report_of(written(tmp_path, traces, gold), "gold")
    assert value(report, "valid") == pytest.approx((3 + 0 + 1) / 5)
    assert value(report, "match_rate") == pytest.approx(3 / 4)


# ΔS.


@pytest.fixture(scope="module")
def calibrations(tmp_path_factory) -> dict[str, Path]:
    """A calibration that can be gated on, one that cannot, and one of another embedder."""
    folder = tmp_path_factory.mktemp("calibrated")
    made = {}
    for name in ("usable", "unusable"):
        place = folder / name
        place.mkdir()
        gold, docs = corpus(place)
        if name == "unusable":
            swap(gold, 10)
        report = calibrate_deltas(gold, embedder="ngram", docs=docs).report
        assert report.passed == (name == "usable")
        made[name] = folder / f"{name}.json"
        made[name].write_text(render(report, "json"))
    other = json.loads(made["usable"].read_text()) | {"embedder": "minilm:6"}
    made["other"] = folder / "other.json"
    made["other"].write_text(json.dumps(other))
    return made


def deltas_gates(report: AuditReport) -> list[tuple[str, str]]:
    return [(one.verdict, one.reason or "") for one in report.gates if "deltaS" in one.metric]


def test_the_gate_on_deltas_joins_once_the_embedder_is_calibrated(files, calibrations):
    assert deltas_gates(report_of(files, *ALL, embedder="ngram")) == []
    report = report_of(files, *ALL, embedder="ngram", calibration=calibrations["usable"])
    [(verdict, _)] = deltas_gates(report)
    assert verdict in ("pass", "fail")
    report = report_of(files, *ALL, embedder="ngram", calibration=calibrations["unusable"])
    [(verdict, why)] = deltas_gates(report)
    assert verdict == "not_evaluated" and "AUC 0." in why


@pytest.mark.parametrize(
    ("calibration", "reason"), [(None, "not calibrated"), ("unusable", "AUC 0.")]
)
def test_a_gate_on_deltas_without_a_calibration_is_not_evaluated(
    files, calibrations, calibration, reason
):
    chosen = calibrations.get(calibration)
    options = {"calibration": chosen} if chosen else {}
    report = report_of(files, *ALL, embedder="ngram", gates="deltaS_chunk<=0.45", **options)
    [(verdict, why)] = deltas_gates(report)
    assert verdict == "not_evaluated" and reason in why
    assert not report.passed


def test_a_calibration_of_another_embedder_is_refused(files, calibrations):
    with pytest.raises(UsageError, match="calibrate this one too"):
        report_of(files, embedder="ngram", calibration=calibrations["other"])


def test_deltas_are_told_by_name_with_the_embedder(files):
    report = report_of(files, *ALL, embedder="ngram")
    names = {"context", "chunk", "anchor", "decoy"}
    assert set(report.answers[1].deltaS) == names
    assert set(report.answers[-1].deltaS) == {"context", "chunk"}, "q3 has no anchor"
    assert "embedder:ngram:v1:1024" in report.metrics[WHOLE + "deltaS_anchor"].signature
    assert report.identity["options"]["embedder"] == "ngram:v1:1024"
    assert value(report, "deltaS_anchor") < value(report, "deltaS_decoy")


def test_why_there_is_no_delta(tmp_path):
    bare = [{**one, "text": None} for one in (C1, C2)]
    report = report_of(written(tmp_path, [trace("q1", ["c1"], *bare)]), "gold", embedder="ngram")
    for name in ("context", "chunk", "anchor", "decoy"):
        assert value(report, f"deltaS_{name}") is None
        assert reason(report, f"deltaS_{name}")


# The history.


def test_two_audits_are_recorded_and_compared(tmp_path, history):
    worse = written(tmp_path)
    before = audit(write_lines(tmp_path / "a.jsonl", HOLDING), gold=worse.gold)
    after = audit(worse.traces, gold=worse.gold)
    runs = [record(one, history, name="audit") for one in (before, after)]
    assert [run.record.command for run in runs] == ["audit", "audit"]
    report = compare(history, runs[0].id, runs[1].id)
    change = report.compared[WHOLE + "valid"]
    assert (change.before, change.after) == (1.0, pytest.approx(2 / 3))


def test_identity_says_what_the_numbers_depend_on(tmp_path, files):
    plain = report_of(files).identity
    assert plain["command"] == "audit"
    assert plain["manifest"] is plain["gold_sha256"] is None
    more = report_of(files, *ALL, refusal="near", workers=2).identity
    assert more["manifest"] == "2f7d9a" and more["gold_sha256"]
    assert more["options"]["depth"] == "text"
    assert more["options"]["refusal"] == "near"
    assert "workers" not in more["options"]
    assert str(tmp_path) not in json.dumps(more), "no path of this machine"


# The serving log.


def test_log_lines_are_read_back(tmp_path):
    segments = [
        {"text": "One.", "citations": ["c1"]},
        {"text": "Two.", "citations": ["c2", {"id": "c9"}]},
    ]
    traces = [
        trace("q1", ["c1"], C1, C2, ts="2025-08-28T11:30:00+02:00", q="How often?"),
        trace("q2", [], C1, C2, answer_json={"answer": "x", "segments": segments}, ts=1.5),
        {"qid": "q 3", "answer": "not in context", "ts": 1_756_373_400_000},
        {"qid": "q1", "status": "error", "error": "lost"},
        trace("q4", [], C1),
    ]
    log = tmp_path / "serving.log"
    report = of_traces(tmp_path, *traces, log=log, embedder="ngram")
    read_at = datetime.fromtimestamp((tmp_path / "these.jsonl").stat().st_mtime, UTC)
    entries = [parse_line(line) for line in log.read_text("utf-8").splitlines()]
    assert [(one.qid, one.seg, one.citations) for one in entries] == [
        ("q1", 1, ("c1",)),
        ("q2", 1, ("c1",)),
        ("q2", 2, ("c2", "c9")),
        ("q 3", 1, ()),
        ("q4", 1, ()),
    ]
    first, second, third, refusal, undated = entries
    assert first.ts == datetime(2025, 8, 28, 9, 30, tzinfo=UTC)
    assert (first.store, first.index_hash, first.k) == ("ngram", "2f7d9a", 2)
    assert (first.kpos, first.kfinal, first.scores) == ((1,), (2,), (0.9,))
    assert (first.section_id, first.embed_model) == ("keys", "ngram")
    assert second.ts.timestamp() == 1.5
    assert third.kpos == (2, None)
    assert refusal.ts == datetime(2025, 8, 28, 9, 30, tzinfo=UTC)
    assert undated.ts == read_at, "the same file gives the same log"
    by_place = sorted(report.answers, key=lambda row: int(row.where.rpartition(":")[2]))
    assert first.deltaS == by_place[0].deltaS["context"]


@pytest.mark.parametrize("ts", ["gestern", "0001-01-01T00:00:00+14:00", 1e17, -1e17])
def test_a_time_that_is_none_is_that_of_the_file(tmp_path, ts):
    log = tmp_path / "serving.log"
    of_traces(tmp_path, trace("q1", ["c1"], C1, C2, ts=ts), log=log)
    read_at = datetime.fromtimestamp((tmp_path / "these.jsonl").stat().st_mtime, UTC)
    assert parse_line(log.read_text()).ts == read_at


def test_a_place_that_no_log_can_hold_is_not_known(tmp_path):
    log = tmp_path / "serving.log"
    far = {**C1, "k_pos": 2**40, "k_final": None}
    assert of_traces(tmp_path, trace("q1", ["c1"], far), log=log).passed
    assert parse_line(log.read_text()).kpos == (None,)


def test_what_is_rejected_leaves_no_log(tmp_path, files):
    log = tmp_path / "logs" / "serving.log"
    log.parent.mkdir()
    for traces, options in (
        ([*HOLDING, "{broken"], {}),
        (["{broken"], {"max_bad": "100%"}),
        (HOLDING, {"gates": "valid=1 where no_such=1"}),
        (HOLDING, {"to_db": str(files.gold / "x.db"), "run": "r"}),
    ):
        with pytest.raises((InputRejected, UsageError)):
            of_traces(tmp_path, *traces, log=log, **options)
        assert list(log.parent.iterdir()) == []


def test_entries_go_to_a_database(place, tmp_path):
    files = written(tmp_path)
    dated = [{**one, "ts": number} for number, one in enumerate([TRACES[0], TRACES[1], TRACES[3]])]
    write_lines(files.traces, dated)
    log = tmp_path / "serving.log"
    report_of(files, "gold", to_db=place, run="nightly", log=log)
    entries = list(read_entries(place, "nightly"))
    assert [(one.qid, one.citations) for one in entries] == [
        ("q1", ("c1",)),
        ("q2", ("c3",)),
        ("q3", ()),
    ]
    written_lines = [parse_line(line) for line in log.read_text("utf-8").splitlines()]
    assert written_lines == [msgspec.structs.replace(one, run=None) for one in entries]
    report_of(files, "gold", to_db=place, run="nightly")
    assert len(list(read_entries(place))) == 3, "the same again is not there twice"


def test_of_a_question_answered_twice_the_last_answer_is_kept_whole(place, tmp_path):
    parts = [{"text": f"Part {n}.", "citations": [f"c{n}"]} for n in (1, 2)]
    several = trace("q2", [], C1, C2, answer_json={"answer": "x", "segments": parts})
    files = written(tmp_path, [several, trace("q2", ["c3"], C3), several | {"qid": "q1"}])
    report_of(files, to_db=place, run="nightly")
    entries = [(one.qid, one.seg, one.citations) for one in read_entries(place)]
    assert entries == [("q1", 1, ("c1",)), ("q1", 2, ("c2",)), ("q2", 1, ("c3",))]


def test_the_runs_of_a_sweep_are_each_known_by_their_id(place, tmp_path):
    files = written(tmp_path, [{**HOLDING[0], "run_id": f"q1-{n}"} for n in (1, 2)])
    report_of(files, to_db=place, run="nightly")
    assert [one.qid for one in read_entries(place)] == ["q1-1", "q1-2"]


# Reading the answers one by one.


def test_a_document_with_many_spans_is_counted_once(tmp_path):
    """Retrieved spans that overlap, a chunk of another document, and one retrieved twice."""
    faq = payload("f", 0, 20, 9, doc_id="faq", rev=rev_of(FAQ), section_id="faq", text=FAQ[:20])
    retrieved = [C1, C2, C1, payload("c5", 60, 120, 8, k_final=9), {**faq, "k_final": 3}]
    report = report_of(written(tmp_path, [trace("q1", ["c1"], *retrieved)]), "gold")
    assert value(report, "coverage") == 1.0


def test_another_revision_covers_nothing(tmp_path):
    old = [{**one, "rev": "older"} for one in (C1, C2)]
    report = report_of(written(tmp_path, [trace("q1", ["c1"], *old)]), "gold", "manifest")
    assert value(report, "coverage") == 0.0
    assert set(codes(report)) == {"rev_mismatch"}


def test_the_target_may_name_its_revision(tmp_path):
    marked = {**GOLD[0], "target_section": {**span("keys", 0, 100), "rev": "older"}}
    report = report_of(written(tmp_path, [HOLDING[0]], [marked, *GOLD[1:]]), "gold")
    assert value(report, "coverage") == 0.0
