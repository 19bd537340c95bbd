"""Score rows in a column a metric: every format gives the same rows, and no score is lost."""

import gzip
import json
import math

import polars as pl
import pytest
import zstandard
from msgspec import structs

from ragauge.contracts.answers import Context
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.scored.scored_file import read_scores

ROWS = [
    {
        "sample_id": "s1",
        "question": "When did it open?",
        "answer": "It opened in 1800.",
        "ground_truth": "in 1800",
        "contexts": ["The museum opened in 1800.", "It is in Ede."],
        "retrieved_ids": ["p1", "p2"],
        "faithfulness": 1.0,
        "noise_sensitivity": 0.25,
        "country": "NL",
    },
    {
        "sample_id": "s2",
        "question": "Who runs it?",
        "answer": "The city.",
        "ground_truth": "The state.",
        "contexts": [],
        "retrieved_ids": [],
        "faithfulness": None,
        "noise_sensitivity": 1,
        "country": "DE",
    },
]


def written(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def saved(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def codes(scored):
    return dict(sorted(scored.findings.counts.items()))


def plain(scored):
    """The rows without their places."""
    return [structs.replace(row, where="") for row in scored.rows]


def facts_of(error):
    return list(error.value.problems)


def test_our_own_rows():
    scored = read_scores(ROWS)
    first, second = scored.rows
    assert scored.form == "rows" and scored.metrics == ("faithfulness", "noise_sensitivity")
    assert (first.id, first.question, first.answer) == (
        "s1",
        "When did it open?",
        "It opened in 1800.",
    )
    assert first.reference == "in 1800"
    assert first.contexts == (
        Context("p1", "The museum opened in 1800."),
        Context("p2", "It is in Ede."),
    )
    assert first.retrieved_ids == ("p1", "p2") and first.strata == {"country": "NL"}
    assert first.values == {"faithfulness": 1.0, "noise_sensitivity": 0.25} and not first.invalid
    assert second.contexts == () and second.retrieved_ids == ()
    assert second.values == {"noise_sensitivity": 1.0} and second.invalid == {
        "faithfulness": "null"
    }
    assert codes(scored) == {} and scored.renamed == {} and scored.rejected == 0


def test_every_format_holds_the_same_rows(tmp_path):
    expected = plain(read_scores(ROWS))
    lines = written(ROWS)
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    keyed = {
        name: {str(at): row[name] for at, row in enumerate(ROWS)} for name in ROWS[0]
    }  # pandas writes so
    split = {"columns": list(ROWS[0]), "index": [0, 1], "data": [[*row.values()] for row in ROWS]}
    by_row = {str(at): row for at, row in enumerate(ROWS)}
    files = [
        saved(tmp_path / "a.jsonl", lines),
        saved(tmp_path / "b.jsonl", b"\xef\xbb\xbf" + lines.replace(b"\n", b"\r\n\r\n")),
        saved(tmp_path / "c.jsonl.gz", gzip.compress(lines)),
        saved(tmp_path / "d.jsonl.zst", zstandard.compress(lines)),
        saved(tmp_path / "e.json", json.dumps(ROWS)),
        saved(tmp_path / "f.json", json.dumps({"rows": ROWS, "name": "run 7"}, indent=2)),
        saved(tmp_path / "g.json", json.dumps(columns)),
        saved(tmp_path / "h.json", json.dumps(keyed, indent=1)),
        saved(tmp_path / "i.json", json.dumps(split)),
        saved(tmp_path / "j.json", json.dumps(by_row)),
    ]
    pl.DataFrame(ROWS).write_parquet(tmp_path / "k.parquet")
    for file in (*files, tmp_path / "k.parquet"):
        assert plain(read_scores(file)) == expected, file
    assert plain(read_scores(pl.DataFrame(ROWS))) == expected
    assert plain(read_scores(iter(ROWS))) == expected
    assert plain(read_scores({"rows": ROWS})) == expected


def test_cells_of_a_table_are_numbers_lists_and_gaps(tmp_path):
    file = saved(
        tmp_path / "s.csv",
        "id,question,answer,contexts,retrieved_ids,gold_ids,faithfulness,context_recall,strata.lang\n"
        'a,When?,In 1800.,"[\'x y\', \'z\']",p1 p2,"[""p1""]",0.5,,nl\n'
        'b,Who?,NaN,[],,p3,NaN,"0,25",de\n'
        "c,What?,So.,only one,,,1e-1,n/a,\n",
    )
    scored = read_scores(file)
    a, b, c = scored.rows
    assert a.contexts == (Context("p1", "x y"), Context("p2", "z")) and a.gold_ids == ("p1",)
    assert a.values == {"faithfulness": 0.5} and a.invalid == {"context_recall": "null"}
    assert b.contexts == () and b.retrieved_ids is None and b.gold_ids == ("p3",)
    assert b.invalid == {"faithfulness": "NaN"} and b.values == {"context_recall": 0.25}
    assert c.contexts == (Context("1", "only one"),)
    assert c.values == {"faithfulness": 0.1} and c.invalid == {"context_recall": 'text "n/a"'}
    assert [row.strata for row in scored.rows] == [{"lang": "nl"}, {"lang": "de"}, {}]
    assert b.where == f"{file}:3"


def test_a_row_without_an_answer_beside_answers_is_a_failed_call():
    told = [{"id": "a", "answer": "x", "tone": 1}, {"id": "b", "answer": None, "tone": 0}]
    assert [row.answer for row in read_scores(told).rows] == ["x", ""]
    untold = [{"id": "a", "tone": 1}, {"id": "b", "answer": None, "tone": 0}]
    assert [row.answer for row in read_scores(untold).rows] == [None, None]


@pytest.mark.parametrize(
    ("field", "value"),
    [("question", "q"), ("q", "q"), ("user_input", "q"), ("input", "q"), ("query", "q")],
)
def test_questions_of_other_tools(field, value):
    assert read_scores([{field: value, "faithfulness": 1}]).rows[0].question == "q"


@pytest.mark.parametrize("field", ["answer", "response", "actual_output", "output", "prediction"])
def test_answers_of_other_tools(field):
    assert read_scores([{field: "a", "faithfulness": 1}]).rows[0].answer == "a"


@pytest.mark.parametrize(
    "field", ["reference", "ground_truth", "expected_output", "expected", "expected_answer"]
)
def test_references_of_other_tools(field):
    assert read_scores([{field: "r", "faithfulness": 1}]).rows[0].reference == "r"


@pytest.mark.parametrize(
    "field", ["contexts", "retrieved_contexts", "retrieval_context", "context", "documents"]
)
def test_contexts_of_other_tools(field):
    row = read_scores([{field: ["c"], "faithfulness": 1}]).rows[0]
    assert row.contexts == (Context("1", "c"),) and row.retrieved_ids is None


def test_an_answer_that_is_there_beats_an_output():
    row = read_scores([{"output": "o", "response": "a", "faithfulness": 1}]).rows[0]
    assert row.answer == "a"
    row = read_scores([{"output": "o", "answer": None, "faithfulness": 1}]).rows[0]
    assert row.answer == "o"


def test_ids_of_passages_come_from_wherever_they_are():
    rows = read_scores(
        [
            {"contexts": [{"id": "p1", "text": "a"}], "faithfulness": 1},
            {"chunks": [{"id": "p1"}, {"id": "p2"}], "faithfulness": 1},
            {"retrieved_context_ids": ["p3", 4], "faithfulness": 1},
            {"gold_ids": "p1, p2", "reference": "r", "faithfulness": 1},
            {"reference_context_ids": ["p5", "p5"], "faithfulness": 1},
            {"gold_citations": [], "faithfulness": 1},
            {"citations": ["p7"], "answer": "a", "faithfulness": 1},
        ]
    ).rows
    assert [row.retrieved_ids for row in rows[:4]] == [("p1",), ("p1", "p2"), ("p3", "4"), None]
    assert [row.gold_ids for row in rows[2:6]] == [None, ("p1", "p2"), ("p5",), ()]
    assert rows[6].cited == ("p7",)


@pytest.mark.parametrize("ids", [["p1"], ["p1", "p1"], ["p1", "p2", "p1"]])
def test_ids_that_do_not_match_the_passages_are_told(ids):
    row = {"id": "a", "contexts": ["x", "y"], "retrieved_ids": ids, "faithfulness": 1}
    scored = read_scores([row])
    assert scored.rows[0].contexts == (Context("1", "x"), Context("2", "y"))
    assert scored.rows[0].retrieved_ids == tuple(ids)
    assert codes(scored) == {"unmatched_ids": 1}


def test_what_an_answer_cites_in_its_text_is_read_where_ids_were_retrieved():
    told = {"answer": "It opened in 1800.\nSources: [p1]", "retrieved_ids": ["p1"]}
    row = read_scores([{**told, "faithfulness": 1}]).rows[0]
    assert row.cited == ("p1",) and row.answer == "It opened in 1800."


def test_ids_are_given_or_made_and_never_lost():
    scored = read_scores(
        [
            {"sample_id": "a", "qid": "q", "tone": 0.5},
            {"qid": "q", "tone": 0.5},
            {"qid": "q", "tone": 0.5},
            {"tone": 0.5},
            {"id": 7, "tone": 0.5},
            {"unit": "u", "tone": 0.5},
        ]
    )
    assert [row.id for row in scored.rows] == ["a", "q", "q#2", "row 4", "7", "u"]
    assert codes(scored) == {"duplicate_id": 1, "made_id": 1}
    messages = {one.code: one.message for one in scored.findings.kept()}
    assert messages["duplicate_id"] == '"q" is at scores: item 2 already; this one is q#2'
    assert '"row 4"' in messages["made_id"]


def test_scores_may_stand_under_one_field():
    row = {"id": "a", "scores": {"faithfulness": 0.5, "tone": "bad"}}
    scored = read_scores([row, {"id": "b", "scores": {"faithfulness": float("inf")}}])
    assert scored.metrics == ("faithfulness", "tone")
    assert scored.rows[0].invalid == {"tone": 'text "bad"'}
    assert scored.rows[1].invalid == {"faithfulness": "infinite", "tone": "absent"}


def test_scores_of_two_judges_keep_their_judges():
    row = {
        "id": "a",
        "house": {"faithfulness": 0.0},
        "ragas": {"faithfulness": 0.75},
        "m": {"x": 1},
    }
    scored = read_scores([row])
    assert scored.rows[0].values == {"house.faithfulness": 0.0, "ragas.faithfulness": 0.75}
    assert codes(scored) == {"extra_field": 1}
    both = read_scores([{"id": "a", "faithfulness": 0.5, "ragas": {"faithfulness": 0.75}}])
    assert both.rows[0].values == {"ragas.faithfulness": 0.75, "faithfulness": 0.5}
    alone = read_scores([{"id": "a", "ragas": {"context_recall": 0.5}}])
    assert alone.metrics == ("context_recall",)


def test_rows_are_found_under_any_name(tmp_path):
    held = {"ragas": {"faithfulness": 1.0}, "details": [{"id": "x"}], "case_metrics": ROWS}
    file = saved(tmp_path / "run.json", json.dumps(held, indent=1))
    assert plain(read_scores(file)) == plain(read_scores(ROWS))


def test_a_row_a_metric_is_refused(tmp_path):
    file = saved(tmp_path / "means.csv", "metric,score\nfaithfulness,1.0\ncontext_recall,0.5\n")
    with pytest.raises(
        InputRejected, match="has a row for each metric, not for each sample; write"
    ):
        read_scores(file)


def test_means_without_samples_are_told():
    scored = read_scores([{"num_samples": 30, "faithfulness": 0.7}])
    assert codes(scored)["bare_scores"] == 1
    assert "bare_scores" not in codes(read_scores([{"user_input": "q", "faithfulness": 0.7}]))
    assert "bare_scores" not in codes(read_scores([{"id": "a", "faithfulness": 0.7}]))


def test_a_file_of_our_own_evaluation_keeps_the_ids_of_metrics(tmp_path):
    file = saved(
        tmp_path / "rows.csv",
        "unit,right,answers.lexical_faithfulness,answers.rougeL\na,true,0.5,0.1\nb,,,0.2\n",
    )
    scored = read_scores(file)
    assert scored.metrics == ("right", "answers.lexical_faithfulness", "answers.rougeL")
    assert scored.rows[1].invalid == {"right": "null", "answers.lexical_faithfulness": "null"}


def test_claims_are_taken_as_they_are(tmp_path):
    claims = {
        "answer": [{"text": "It is red.", "chunks": [True, False], "other": True}],
        "reference": [{"text": "It is big.", "other": None}],
    }
    row = {"id": "a", "contexts": ["x", "y"], "claims": claims, "faithfulness": 1}
    taken = read_scores([row]).rows[0].claims
    assert taken.judge == "imported" and taken.chunks == 2
    assert taken.answer[0].chunks == (True, False) and taken.answer[0].other is True
    assert taken.reference[0].chunks == () and taken.reference[0].other is None
    cell = json.dumps(claims).replace('"', '""')
    file = saved(
        tmp_path / "c.csv", f'id,contexts,claims,faithfulness\na,"[""x"",""y""]","{cell}",1\n'
    )
    assert read_scores(file).rows[0].claims == taken


@pytest.mark.parametrize(
    ("claims", "fact"),
    [
        ([], "claims: expected an object with answer and reference, got a list"),
        ({"question": []}, 'claims: "question" is not known; claims have answer and reference'),
        ({"answer": "x"}, "claims.answer: expected a list of claims, got text"),
        (
            {"answer": ["x"]},
            "claims.answer[0]: expected an object with text, chunks and other, got",
        ),
        ({"answer": [{"chunks": [True]}]}, "claims.answer[0].text: expected text, got null"),
        ({"answer": [{"text": "x", "chunk": [True]}]}, 'claims.answer[0]: "chunk" is not known'),
        ({"answer": [{"text": "x", "chunks": [1]}]}, "claims.answer[0].chunks[0]: expected true"),
        ({"answer": [{"text": "x", "chunks": "yes"}]}, "claims.answer[0].chunks: expected a list"),
        ({"answer": [{"text": "x", "other": "y"}]}, "claims.answer[0].other: expected true, false"),
        (
            {"answer": [{"text": "x", "chunks": [True, True]}]},
            "has 2 verdicts in chunks, and there",
        ),
        ("{", "claims: not JSON"),
    ],
)
def test_claims_that_cannot_be_read_are_told_with_their_place(claims, fact):
    row = {"id": "a", "contexts": ["x"], "claims": claims, "faithfulness": 1}
    with pytest.raises(InputRejected) as error:
        read_scores([row])
    assert facts_of(error)[0].startswith("scores: item 1: ") and fact in facts_of(error)[0]


def test_several_references_and_rival_answers_are_told():
    row = {"id": "a", "ground_truths": ["x", "y"], "answer": "1", "response": "2", "tone": 1}
    scored = read_scores([row])
    assert scored.rows[0].reference == "x" and scored.rows[0].answer == "1"
    assert codes(scored) == {"more_references": 1, "rival_answers": 1}


class Frame:
    """What a pandas frame shows to whoever does not import pandas."""

    iloc = None

    def __init__(self, rows):
        self._rows = rows
        self.columns = list(rows[0])

    def itertuples(self, *, index, name):
        assert (index, name) == (False, None)
        return (tuple(row.values()) for row in self._rows)


class NAType:
    def __str__(self):
        return "<NA>"


def test_frames_of_pandas_have_gaps_that_are_no_mistakes():
    nan = math.nan
    rows = [
        {"user_input": "q", "reference": nan, "response": "a", "faithfulness": nan},
        {"user_input": "r", "reference": "x", "response": nan, "faithfulness": 0.5},
        {"user_input": "s", "reference": None, "response": "b", "faithfulness": NAType()},
    ]
    scored = read_scores(Frame(rows))
    assert [row.reference for row in scored.rows] == [None, "x", None]
    assert [row.answer for row in scored.rows] == ["a", "", "b"]
    assert [row.invalid for row in scored.rows] == [
        {"faithfulness": "null"},  # pandas has no other way to say that there is nothing
        {},
        {"faithfulness": "null"},
    ]


def test_a_result_that_can_become_a_frame_is_one():
    class Result:
        def to_pandas(self):
            return Frame([{"user_input": "q", "faithfulness": 0.5}])

    assert read_scores(Result()).rows[0].values == {"faithfulness": 0.5}


def test_a_table_of_arrow_is_read_by_rows():
    class Table:
        def to_pylist(self):
            return [{"id": "a", "faithfulness": 0.5}]

    assert read_scores(Table()).rows[0].values == {"faithfulness": 0.5}


def test_what_holds_no_rows_is_refused():
    with pytest.raises(UsageError, match="int is not a source of records"):
        read_scores(7)


def test_columns_can_be_named():
    rows = [{"prompt": {"text": "When?"}, "reply": "In 1800.", "faithfulness": 0.5}]
    row = read_scores(rows, columns={"question": "prompt.text", "answer": "reply"}).rows[0]
    assert (row.question, row.answer) == ("When?", "In 1800.")
    with pytest.raises(InputRejected, match='no score row has "missing"; there is "prompt"'):
        read_scores(rows, columns={"answer": "missing"})


def test_headings_of_tables_need_not_be_exact(tmp_path):
    file = saved(tmp_path / "s.csv", "Sample ID, Question ,ANSWER,faithfulness\na,When?,x,0.5\n")
    row = read_scores(file).rows[0]
    assert (row.id, row.question, row.answer) == ("a", "When?", "x")


def test_results_of_langchain_are_answers_with_passages():
    passage = {"page_content": "It opened in 1800.", "metadata": {"start": 0, "score": 0.5, "k": 1}}
    row = {"query": "When?", "result": "In 1800.", "source_documents": [passage]}
    (read,) = read_scores([{**row, "faithfulness": 1}]).rows
    assert (read.answer, read.contexts) == ("In 1800.", (Context("1", "It opened in 1800."),))
    verdicts = [{"id": "a", "result": "passed", "faithfulness": 1}]
    assert read_scores(verdicts).rows[0].strata == {"result": "passed"}
