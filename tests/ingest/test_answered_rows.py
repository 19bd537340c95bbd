"""Rows of answers: every shape gives the same rows, and nothing is lost on the way."""

import gzip
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.answers import Context
from ragauge.contracts.report import Findings
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.answers import read_answers
from ragauge.ingest.calibration import read_answer_calibrations
from ragauge.ingest.questions import read_questions

OURS = {
    "id": "r1",
    "question": "When did it open?",
    "answer": "It opened in 1800.",
    "contexts": ["The museum opened in 1800.", {"id": "p2", "text": "It is in Ede."}],
    "reference": "in 1800",
}
RAGAS = {
    "user_input": "When did it open?",
    "response": "It opened in 1800.",
    "retrieved_contexts": ["The museum opened in 1800.", "It is in Ede."],
    "reference": "in 1800",
}
DEEPEVAL = {
    "input": "When did it open?",
    "actual_output": "It opened in 1800.",
    "expected_output": "in 1800",
    "context": ["what the gold says"],
    "retrieval_context": ["The museum opened in 1800.", "It is in Ede."],
}
SCORE_ROW = {
    "sample_id": "s1",
    "question": "When did it open?",
    "answer": "It opened in 1800.",
    "ground_truth": "in 1800",
    "contexts": ["The museum opened in 1800.", "It is in Ede."],
    "faithfulness": 0.5,
}


def read(source, **options):
    problems, findings = [], Findings()
    answered = read_answers(source, problems, findings, **options)
    return answered, problems, findings


def only(source, **options):
    answered, problems, _ = read(source, **options)
    assert problems == []
    return answered.rows[0]


def problems_of(*records):
    return read(list(records))[1]


@pytest.mark.parametrize("record", [OURS, RAGAS, DEEPEVAL, SCORE_ROW])
def test_every_shape_is_the_same_row(record):
    row = only([record])
    assert row.question == "When did it open?"
    assert row.answer == "It opened in 1800."
    assert [context.text for context in row.contexts] == [*OURS["contexts"][:1], "It is in Ede."]
    assert row.references == ("in 1800",)


def test_contexts_have_ids_of_their_own():
    twice = {"id": "p", "text": "a"}
    row = only([{"answer": "a", "contexts": ["x", twice, twice]}])
    assert row.contexts == (Context("1", "x"), Context("p", "a"), Context("p#2", "a"))


def test_no_contexts_and_none_retrieved_are_two_things():
    assert only([{"answer": "a"}]).contexts is None
    assert only([{"answer": "a", "contexts": []}]).contexts == ()


@pytest.mark.parametrize("answer", [None, "", "  \n"])
def test_an_empty_answer_is_an_error_record_that_stays(answer):
    answered, problems, findings = read([{"id": "x", "answer": answer}])
    assert problems == []
    assert answered.rows[0].answer is None
    assert findings.counts == {"no_answer": 1}


def test_a_row_without_an_answer_among_others_stays_too():
    answered, problems, _findings = read([{"id": "x", "answer": "a"}, {"id": "y"}])
    assert problems == []
    assert [row.answer for row in answered.rows] == ["a", None]


def test_rows_of_which_none_has_an_answer_are_refused():
    _, problems, _ = read([{"id": "x", "text": "a"}])
    assert "no row has an answer" in problems[0]
    assert '"text"' in problems[0]


def test_a_row_without_an_id_is_called_after_its_place_in_every_format(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('\n{"answer": "a"}\n\n{"id": 7, "answer": "b"}\n')
    answered, _, findings = read(str(file))
    assert [row.id for row in answered.rows] == ["1", "7"]
    assert answered.given == [None, 7]
    assert findings.kept()[0].where == f"{file}:2"
    assert findings.counts == {"made_id": 1}
    table = tmp_path / "rows.csv"
    table.write_text("id,answer\n,a\n7,b\n")
    whole = tmp_path / "rows.json"
    whole.write_text('[{"answer": "a"}, {"id": 7, "answer": "b"}]')
    for other in (table, whole):
        assert [row.id for row in read(str(other))[0].rows] == ["1", "7"]


def test_an_id_that_stands_twice_is_told_and_both_rows_stay():
    answered, problems, findings = read([{"id": "x", "answer": "a"}, {"id": "x", "answer": "b"}])
    assert problems == []
    assert [row.id for row in answered.rows] == ["x", "x#2"]
    assert answered.given == ["x", "x"]
    assert answered.duplicates == findings.counts["duplicate_id"] == 1


def test_all_that_is_wrong_is_told_with_its_place(tmp_path):
    file = tmp_path / "rows.jsonl"
    broken = {"id": "a", "answer": 7, "contexts": [3], "kind": "poem", "label": 2, "strata": []}
    file.write_text(json.dumps(broken) + "\n{\n" + '{"id": "b", "answer": "ok"}\n')
    answered, problems, _ = read(str(file))
    assert [row.id for row in answered.rows] == ["b"]
    said = "\n".join(problems)
    for field in ("answer:", "contexts[0]:", "kind:", "label:", "strata:"):
        assert f"{file}:1: {field}" in said
    assert f"{file}:2: not JSON" in said


@pytest.mark.parametrize(
    "record",
    [
        {"user_input": [{"content": "hi", "type": "human"}], "response": "a"},
        {"turns": [{"role": "user", "content": "hi"}], "actual_output": "a"},
    ],
)
def test_conversations_are_refused_with_words(record):
    assert "is a conversation" in problems_of(record)[0]


def test_a_test_run_of_deepeval_is_its_test_cases(tmp_path):
    case = {
        "name": "one",
        "input": "When?",
        "actualOutput": "In 1800.",
        "expectedOutput": "1800",
        "retrievalContext": ["It opened in 1800."],
    }
    file = tmp_path / "run.json"
    run = {"testCases": [case], "conversationalTestCases": []}
    file.write_text(json.dumps({"testRunData": run, "testRunLink": None}))
    assert only(str(file)).answer == "In 1800."
    file.write_text(json.dumps(run, indent=1))
    row = only(str(file))
    assert (row.answer, row.references, row.question) == ("In 1800.", ("1800",), "When?")
    assert row.where == f"{file}: item 1"


def test_conversations_beside_test_cases_are_told(tmp_path):
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"testCases": [DEEPEVAL], "conversationalTestCases": [{}]}))
    answered, problems, _ = read(str(file))
    assert len(answered.rows) == 1
    assert "1 conversations" in problems[0]


DOCUMENT = {
    "page_content": "It opened in 1800.",
    "metadata": {"source": "a.pdf", "start": 0, "end": 18, "score": 0.5, "k": 1},
}


@pytest.mark.parametrize(
    "record",
    [
        {"query": "When?", "result": "In 1800.", "source_documents": [DOCUMENT]},
        {"query": "When?", "generated_answer": "In 1800.", "sources": [DOCUMENT]},
        {"question": "When?", "answer": "In 1800.", "retrieved_context": "It opened in 1800."},
        {
            "query": "When?",
            "response": "In 1800.",
            "source_nodes": [{"node": {"id_": "1", "text": "It opened in 1800."}, "score": 0.5}],
        },
        {
            "query": "When?",
            "result": "In 1800.",
            "source_documents": [{"lc": 1, "id": ["langchain", "Document"], "kwargs": DOCUMENT}],
        },
        {"Question": "When?", "ANSWER": "In 1800.", " Contexts ": ["It opened in 1800."]},
    ],
)
def test_results_of_frameworks_are_rows(record):
    row = only([record])
    assert (row.question, row.answer) == ("When?", "In 1800.")
    assert row.contexts == (Context("1", "It opened in 1800."),)


def test_columns_that_nothing_reads_are_named():
    row = {"id": "a", "answer": "x", "sources": "a.pdf", "refrence": "y", "latency_ms": 7}
    answered, _, findings = read([row])
    assert answered.unread == ("sources", "refrence")  # traces have a latency
    (finding,) = [one for one in findings.kept() if one.code == "unread_columns"]
    assert finding.message == (
        "columns not read: sources (did you mean cited?), refrence (did you mean reference?)"
    )


def test_columns_can_be_named():
    rows = [{"id": "a", "output": {"text": "x"}, "docs": [{"body": "c"}, {"body": "d"}]}]
    row = only(rows, columns={"answer": "output.text", "contexts": "docs[*].body"})
    assert (row.answer, [one.text for one in row.contexts]) == ("x", ["c", "d"])


def test_right_answers_as_squad_has_them():
    found, problems = questions(
        {"id": 1, "question": "When?", "answers": {"text": ["1800", "in 1800"]}},
        {"id": 2, "question": "Who?", "answers": ["Cuypers"]},
    )
    assert problems == []
    assert [one.references for one in found.values()] == [("1800", "in 1800"), ("Cuypers",)]


def test_traces_give_their_claim_citations_and_passages():
    row = only(
        [
            {
                "qid": "q1",
                "q": "When?",
                "chunks": [{"id": "c1", "text": "It opened in 1800."}],
                "answer": "- claim: In 1800.\n- citations: [c1]",
            }
        ]
    )
    assert (row.answer, row.cited) == ("In 1800.", ("c1",))
    assert row.contexts == (Context("c1", "It opened in 1800."),)
    fields = {"qid": "q1", "retrieved_ids": ["c1"], "answer_json": {"claim": "x", "citations": []}}
    row = only([fields])
    assert (row.answer, row.cited, row.contexts) == ("x", (), None)


def test_a_trace_that_failed_has_no_answer():
    assert only([{"qid": "q", "answer": "half an ans", "status": "error"}]).answer is None


def written(tmp_path, form):
    records = [OURS | {"group": "g1", "label": 1}, SCORE_ROW | {"id": "r2"}]
    plain = [
        {key: record.get(key) for key in ("id", "question", "answer")}
        | {"contexts": [c if isinstance(c, str) else c["text"] for c in record["contexts"]]}
        for record in records
    ]
    file = tmp_path / f"rows.{form}"
    if form == "jsonl":
        file.write_text("".join(json.dumps(one) + "\r\n" for one in plain))
    elif form == "json":
        file.write_text("\ufeff" + json.dumps(plain), encoding="utf-8")
    elif form == "jsonl.gz":
        file.write_bytes(gzip.compress("".join(json.dumps(o) + "\n" for o in plain).encode()))
    elif form == "parquet":
        pl.DataFrame(plain).write_parquet(file)
    else:
        cells = [one | {"contexts": json.dumps(one["contexts"])} for one in plain]
        pl.DataFrame(cells).write_csv(file, separator="\t" if form == "tsv" else ",")
    return str(file)


@pytest.mark.parametrize("form", ["jsonl", "json", "jsonl.gz", "parquet", "csv", "tsv"])
def test_every_format_holds_the_same_rows(tmp_path, form):
    answered, problems, _ = read(written(tmp_path, form))
    assert problems == []
    assert [row.id for row in answered.rows] == ["r1", "r2"]
    for row in answered.rows:
        assert [context.text for context in row.contexts] == [OURS["contexts"][0], "It is in Ede."]
        assert row.answer == OURS["answer"]


def test_a_frame_is_read_as_it_is():
    frame = pl.DataFrame([{"id": "a", "answer": "x", "contexts": ["c"]}])
    assert only(frame).contexts == (Context("1", "c"),)


def test_lists_as_python_writes_them_into_tables_are_lists(tmp_path):
    file = tmp_path / "ragas.csv"
    file.write_text('user_input,response,retrieved_contexts\nq,a,"[\'one\', ""it\'s two""]"\n')
    assert [context.text for context in only(str(file)).contexts] == ["one", "it's two"]


def test_strata_stand_in_fields_of_their_own_or_together(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("id,answer,strata.country,question_type,group\na,x,NL,factual,g1\n")
    assert only(str(file)).strata == {"country": "NL", "question_type": "factual", "group": "g1"}


def test_labels_and_kinds_are_read():
    row = only([{"answer": "a", "label": True, "kind": "Data-to-text", "answerable": False}])
    assert (row.label, row.kind, row.answerable) == (1.0, "data_to_text", False)


def test_a_forced_format_is_kept_to(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("id,answer\na,x\n")
    assert only(str(file), form="csv").id == "a"
    with pytest.raises(InputRejected, match="is not JSON, as --input-format jsonl says"):
        read(str(file), form="jsonl")
    with pytest.raises(UsageError, match="format"):
        read(str(file), form="xml")
    with pytest.raises(InputRejected, match="Parquet"):
        read(str(file), form="parquet")


@pytest.mark.parametrize(
    ("cell", "rows", "words"),
    [
        ("It is X.", 3_000_000, "expands more than 200 times"),
        ("It is X. " * 100_000, 200, "expands more than 200 times"),
        ("x" * (17 << 20), 1, '"answer": a value is longer than 16 MiB'),
    ],
    ids=["many rows", "one long text repeated", "a long text"],
)
def test_parquet_cannot_expand_without_bound(tmp_path, cell, rows, words):
    file = tmp_path / "rows.parquet"
    pl.DataFrame({"answer": pl.repeat(cell, rows, eager=True)}).write_parquet(file)
    with pytest.raises(InputRejected, match=words):
        read(str(file))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(("id", "answer", "contexts", "text", "label", "strata", "turns")),
                inner,
                max_size=4,
            )
        ),
        max_leaves=8,
    )
)
def test_whatever_stands_there_is_a_row_or_a_problem(value):
    answered, problems, _ = read([value, {"id": "fine", "answer": "yes"}])
    assert (len(answered.rows) == 2) != bool(problems)
    assert answered.rows[-1].answer == "yes"


GOLD = {"qid": "q1", "question": "When?", "answerable": True, "gold_claim_substr": ["1800"]}


def questions(*records):
    problems = []
    found = read_questions(list(records), problems)
    return found, problems


def test_phrases_and_wordings_are_references():
    found, problems = questions(GOLD | {"gold_claim": "It opened in 1800."})
    assert problems == []
    assert found["q1"].references == ("It opened in 1800.", "1800")


def test_the_reference_of_an_unanswerable_question_is_no_right_answer():
    found, _ = questions(GOLD | {"answerable": False, "gold_answer": "not in context"})
    assert found["q1"].references == ()
    assert found["q1"].strata == {"answerable": "false"}


def test_the_pairs_of_an_entry_are_questions():
    pair = {"question": "When?", "answer": "1800", "answer_type": "temporal"}
    entry = {"id": "e1", "text": "…", "qa_pairs": [pair, pair | {"supporting_facts": ["a", "b"]}]}
    found, problems = questions(entry | {"strata": {"country": "NL"}})
    assert problems == []
    assert [*found] == ["e1#1", "e1#2"]
    assert found["e1#2"].references == ("1800",)
    assert found["e1#2"].facts == ("a", "b")
    assert found["e1#1"].strata == {"country": "NL", "question_type": "temporal"}


def test_a_list_of_questions_and_answers_is_gold():
    found, _ = questions({"id": 3, "question": "When?", "answer": "1800", "answer_type": "factual"})
    assert found["3"].references == ("1800",)
    assert found["3"].answer is None
    assert found["3"].strata == {"question_type": "factual"}


def test_what_is_wrong_with_gold_is_told():
    found, problems = questions(GOLD, GOLD, {"qid": "q2"}, {"question": "x"}, 7)
    assert [*found] == ["q1"]
    assert any('qid: "q1" is at gold: item 1 already' in problem for problem in problems)
    assert any("question: missing" in problem for problem in problems)
    assert any("id: missing" in problem for problem in problems)
    assert len(problems) == 4


def calibration(tmp_path, name="calibration.json", **fields):
    file = tmp_path / name
    file.write_text(json.dumps(fields))
    return str(file)


def test_a_calibration_holds_thresholds_and_agreement(tmp_path):
    agreed = {
        **dict.fromkeys(("auroc", "auroc_ci", "balanced_accuracy", "kappa", "ece", "threshold")),
        **{"metric": "answers.groundedness", "judge": "lexical", "n": 9, "sources": 3},
        **{"base_rate": 0.5, "labels": "labels.jsonl"},
    }
    named = calibration(tmp_path, thresholds={"qa": 0.7}, agreement=[agreed])
    found = read_answer_calibrations([named])
    assert found.thresholds == {"qa": 0.7}
    assert found.agreement[0].n == 9
    again = calibration(tmp_path, "again.json", coefficients="x", agreement=[agreed | {"n": 10}])
    both = read_answer_calibrations([named, again])
    assert (both.thresholds, both.coefficients) == ({"qa": 0.7}, "x")
    assert [one.n for one in both.agreement] == [10]
    assert read_answer_calibrations([]) is None


@pytest.mark.parametrize(
    ("fields", "fact"),
    [
        ({"thresholds": {"poem": 0.5}}, "is no calibration of answers"),
        ({"thresholds": {"qa": 1.5}}, "thresholds.qa: is not from 0 to 1"),
        ({"threshold": 0.5}, "unknown field"),
        ({"schema": "other/1"}, "make it with"),
    ],
)
def test_what_is_no_calibration_is_refused(tmp_path, fields, fact):
    with pytest.raises(InputRejected, match=fact):
        read_answer_calibrations([calibration(tmp_path, **fields)])


def test_coefficients_alone_are_a_calibration(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('version = "7"')
    assert read_answer_calibrations([str(file)]).coefficients == 'version = "7"'
