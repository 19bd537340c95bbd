"""Every dialect of traces and of gold sets is read into the same records."""

from __future__ import annotations

import gzip
import io
import json
import sys

import msgspec
import pytest
import zstandard

from ragauge import score
from ragauge.ingest.gold import read_gold
from ragauge.ingest.traces import read_trace

CLAIM = "X is a constrained mapping."
SAME_ANSWER = {
    "A": {
        "ts": 1700000000,
        "q": "What is X?",
        "chunks": [{"id": "p1#1", "text": "…"}, {"id": "p1#2"}],
        "answer": f"- claim: {CLAIM}\n- citations: [p1#1]",
        "ok": True,
    },
    "A with question and a citations field": {
        "question": "What is X?",
        "chunks": ["p1#1", "p1#2"],
        "answer": CLAIM,
        "citations": ["p1#1"],
    },
    "B": {
        "qid": "q1",
        "q": "What is X?",
        "retrieved_ids": ["p1#1", "p1#2"],
        "answer_json": {"claim": CLAIM, "citations": ["p1#1"], "constraints_echo": ["X."]},
        "stage_ms": {"retrieve": 12},
        "reason": "fine",
    },
    "B with q_id": {
        "q_id": "q1",
        "retrieved_ids": ["p1#1", "p1#2"],
        "answer_json": {"answer": CLAIM, "citations": [{"id": "p1#1"}]},
    },
    "ours": {
        "qid": "q1",
        "run_id": "r1",
        "seed": 7,
        "temperature": 0,
        "jitter": "none",
        "paraphrase": 2,
        "question_sent": "What's X?",
        "status": "ok",
        "error": None,
        "latency_ms": 812.5,
        "attempt": 1,
        "retrieved": [{"snippet_id": "p1#1"}, {"snippet_id": "p1#2"}],
        "segments": [{"text": CLAIM}],
        "usage": {"tokens": 9},
        "labels": {"judge": "ok"},
        "schema_version": 1,
        "answer_json": {"claim": CLAIM, "citations": "p1#1"},
    },
}
GOLD = {
    "qid": "q1",
    "question": "What is X?",
    "answerable": True,
    "gold_claim_substr": ["constrained mapping"],
    "gold_citations": ["p1#1"],
}


@pytest.fixture
def files(tmp_path):
    """Writes a gold set and traces, and gives their paths."""

    def write(traces, gold=(GOLD,), pack=bytes):
        (tmp_path / "gold").write_text("\n".join(map(json.dumps, gold)))
        (tmp_path / "traces").write_bytes(pack("\n".join(map(json.dumps, traces)).encode()))
        return tmp_path / "gold", [tmp_path / "traces"]

    return write


@pytest.mark.parametrize("dialect", SAME_ANSWER)
def test_dialects_give_the_same_row(files, dialect):
    (row,) = score(*files([SAME_ANSWER[dialect]])).report.questions
    assert (row.label, row.hit, row.contained, row.in_scope) == ("OK", True, True, True)
    assert (row.cited_count, row.gold_found, row.gold_depth) == (1, True, 1)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_packed_files_and_standard_input_give_the_same_report(files, pack, monkeypatch):
    gold, traces = files([SAME_ANSWER["A"]], pack=pack)
    expected = score(*files([SAME_ANSWER["A"]])).report
    content = pack((json.dumps(SAME_ANSWER["A"]) + "\n").encode())
    traces[0].write_bytes(content)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    for source in (traces, ["-"]):
        assert score(gold, source).report.metrics == expected.metrics


def test_standard_input_is_named_in_places(files, monkeypatch):
    gold, _ = files([])
    content = json.dumps(SAME_ANSWER["B"]).encode() + b"\n17\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    report = score(gold, "-", max_bad="1").report
    assert [f.where for f in report.findings if f.code == "bad_line"] == ["stdin:2"]


GOLD_FORMS = {
    "q": {"question": None, "q": "What is X?"},
    "user_input": {"question": None, "user_input": "What is X?"},
    "reference": {"gold_claim_substr": None, "reference": "constrained mapping"},
    "ground_truth": {"gold_claim_substr": None, "ground_truth": "constrained mapping"},
    "expected_output": {"gold_claim_substr": None, "expected_output": "constrained mapping"},
    "gold_claim": {"gold_claim_substr": [], "gold_claim": "constrained mapping"},
    "gold_ids": {"gold_citations": None, "gold_ids": ["p1#1"]},
    "reference_context_ids": {"gold_citations": None, "reference_context_ids": ["p1#1"]},
}


@pytest.mark.parametrize("alias", GOLD_FORMS)
def test_aliases_of_gold(alias):
    (question,) = read_gold([GOLD | GOLD_FORMS[alias]])
    assert (question.question, question.phrases) == ("What is X?", ("constrained mapping",))
    assert (question.gold_citations, question.extra) == (("p1#1",), {})


def test_our_own_name_wins_over_its_alias_which_is_kept():
    (question,) = read_gold([GOLD | {"q": "short", "gold_ids": ["p9"]}])
    assert (question.question, question.gold_citations) == ("What is X?", ("p1#1",))
    assert question.extra == {"q": "short", "gold_ids": ["p9"]}


def test_the_qaset_array_loads_and_may_stand_on_many_lines(tmp_path):
    qaset = [
        {"qid": "q1", "q": "X?", "answerable": True, "gold_ids": ["p1"], "gold_claim": "X maps."},
        {"qid": "q2", "q": "Z?", "answerable": False, "gold_ids": [], "gold_claim": ""},
    ]
    for number, indent in enumerate((None, 2)):
        file = tmp_path / f"qaset{number}.json"
        file.write_text("\ufeff \r\n" + json.dumps(qaset, indent=indent), encoding="utf-8")
        first, second = read_gold(str(file))
        assert (first.phrases, first.gold_citations) == (("X maps.",), ("p1",))
        assert (second.answerable, second.phrases, second.extra) == (False, (), {})


def test_unknown_keys_are_kept_in_their_order_nulls_too():
    extra = {"zeta": None, "alpha": {"deep": [1]}, "mid": 3}
    assert read_trace({"qid": "q1", **extra}).extra == extra
    assert list(read_trace({"qid": "q1", **extra}).extra) == list(extra)
    assert read_gold([GOLD | extra])[0].extra == extra


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (1700000000, 1700000000),
        (1700000000.5, 1700000000.5),
        (1700000000500, 1700000000.5),
        ("2026-11-15T16:32:45Z", "2026-11-15T16:32:45Z"),
        (0, 0),
    ],
)
def test_timestamps_in_seconds_milliseconds_or_text(written, seconds):
    assert read_trace({"qid": "q1", "ts": written}).ts == seconds


RETRIEVED = {
    "retrieved_ids": (["a", "b"], ("a", "b")),
    "chunks": ([{"id": "a"}, "b", {"chunk_id": "c"}, {"id": "", "snippet_id": "d e"}], "abc"),
    "retrieved": ([{"snippet_id": "a", "doc_id": "x"}, {"id": "b"}], ("a", "b")),
}


def test_retrieved_ids_come_from_ids_payloads_or_chunks():
    for field, (value, ids) in RETRIEVED.items():
        found = read_trace({"qid": "q1", field: value}).retrieved_ids
        assert found == (("a", "b", "c", "d e") if ids == "abc" else ids)
    assert read_trace({"qid": "q1", "chunks": []}).retrieved_ids == ()
    assert read_trace({"qid": "q1"}).retrieved_ids is None
    both = {"qid": "q1", "retrieved_ids": ["a"], "chunks": [{"id": "b"}]}
    assert read_trace(both).retrieved_ids == ("a",)


def test_repeated_citations_count_once():
    trace = read_trace({"qid": "q1", "citations": ["a", {"id": "b"}, "a"]})
    assert trace.citations == ("a", "b")


FIELD_AND_TEXT = [
    ({"answer": f"{CLAIM}\ncitations: [p1#1]", "citations": []}, 0),
    ({"answer": f"{CLAIM}\ncitations: [p1#1]", "citations": None}, 1),
    ({"answer_json": {"claim": f"{CLAIM}\ncitations: [p1#1]", "citations": []}}, 0),
    ({"answer_json": {"claim": CLAIM, "citations": []}, "citations": ["p1#1"]}, 0),
    ({"answer_json": {"claim": CLAIM}, "citations": ["p1#1"]}, 1),
]


@pytest.mark.parametrize(("fields", "cited"), FIELD_AND_TEXT)
def test_an_empty_list_in_a_field_beats_the_text(files, fields, cited):
    (row,) = score(*files([{"qid": "q1", **fields}])).report.questions
    assert (row.cited_count, row.hit) == (cited, bool(cited))


def test_questions_join_trimmed_and_in_nfkc(files):
    gold = [GOLD | {"question": "  Ｗhat is a cafe\u0301 ﬁlm? "}]
    traces = [{"q": "What is a café film?\n", "answer": CLAIM}]
    assert score(*files(traces, gold)).report.coverage.traced == 1


def test_a_question_that_stands_twice_needs_a_qid(files):
    gold = [GOLD, GOLD | {"qid": "q2"}]
    traces = [{"q": "What is X?", "answer": CLAIM}, {"qid": "q2", "answer": CLAIM}]
    report = score(*files(traces, gold)).report
    assert (report.coverage.traced, report.coverage.unknown) == (1, 1)
    (finding,) = [f for f in report.findings if f.code == "ambiguous_question"]
    assert finding.message == (
        'question "What is X?" appears twice in the gold set; give the trace a qid'
    )


def test_questions_join_over_runs_of_spaces(files):
    gold = [GOLD | {"question": "Explain Y."}]
    traces = [{"q": " Explain  Y. ", "answer": CLAIM}, {"q": "Explain\u00a0Y.", "answer": CLAIM}]
    report = score(*files(traces, gold)).report
    assert (report.coverage.traces, report.coverage.unknown) == (2, 0)


def test_a_question_nobody_knows_is_shown_as_the_trace_has_it(files):
    traces = [{"q": " Explain  Z.\n", "answer": CLAIM}, {"qid": "q1", "answer": CLAIM}]
    (finding,) = score(*files(traces)).report.findings
    assert finding.message == 'question " Explain  Z.\\n" is not in the gold set'


NOT_OK = [
    ({"answer": CLAIM, "ok": False, "reason": "guard: no citation"}, "guard: no citation"),
    ({"answer": CLAIM, "ok": False}, 'the trace says "ok": false'),
    ({"answer_json": {"claim": CLAIM, "citations": ["p1#1"]}, "ok": False}, None),
]


@pytest.mark.parametrize(("fields", "reason"), NOT_OK)
def test_a_trace_that_is_not_ok_is_an_error_record(files, fields, reason):
    report = score(*files([{"qid": "q1", **fields}])).report
    (row,) = report.questions
    assert (row.label, report.coverage.errors) == ("ERROR", 1)
    assert row.reason == (reason or 'the trace says "ok": false')
    assert report.finding_counts == {"error_record": 1}


def test_a_refusal_that_is_not_ok_stays_a_refusal(files):
    report = score(*files([{"qid": "q1", "answer": "not in context", "ok": False}])).report
    assert [row.label for row in report.questions] == ["OVER_REFUSAL"]
    assert report.finding_counts == {"not_ok": 1}


def test_a_record_read_is_a_record_that_can_be_written():
    for record in SAME_ANSWER.values():
        assert msgspec.json.encode(read_trace(record))


def test_a_question_needs_no_reference_wording(tmp_path):
    gold, traces = tmp_path / "gold.jsonl", tmp_path / "traces.jsonl"
    gold.write_text('{"qid": "a", "question": "A?", "answerable": true, "gold_ids": ["p"]}\n')
    traces.write_text('{"qid": "a", "answer": "Yes.", "citations": ["p"]}\n')
    metrics = score(gold, traces).report.metrics
    assert metrics["quality.citation_hit_rate"].value == 1
    assert metrics["quality.claim_containment"].value is None
    assert metrics["quality.claim_containment"].reason == "nothing to score: no gold phrases (1)"
